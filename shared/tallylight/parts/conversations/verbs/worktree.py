"""
`tally worktree`: make a git worktree as `tally fork --worktree` does, for scripts that start the fork themselves.

`git worktree` would run programs from the settings of the repository; `actions.git` has the rules for this one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tallylight.actions.gate import Refusal
from tallylight.cli.exit_codes import REFUSED
from tallylight.cli.output import complain, refused
from tallylight.cli.parser import Parser
from tallylight.parts.conversations import worktrees


def make_parser() -> Parser:
    parser = Parser(
        prog="tally worktree",
        description="Make a git worktree on a new branch, at the last commit of a repository, and print it. No program "
        "that the repository names runs, but your own filters do.",
        examples={"tally worktree ../app-parser --branch parser": "from this repository"},
        codes={0: "made", REFUSED: "a rule refused it; the message has the reason"},
    )
    parser.add_argument("path", metavar="PATH", help="the new directory; it must not exist yet")
    parser.add_argument("--branch", metavar="NAME", required=True, help="the name of the new branch")
    parser.add_argument(
        "--of", metavar="DIRECTORY", default=".", help="a directory in the repository; by default this one"
    )
    return parser


def main(argv: list[str]) -> int:
    """Make it, and print its path."""
    options = make_parser().parse_args(argv)
    base = worktrees.inspect(options.of)
    path = Path(os.path.realpath(options.path))
    found = base if isinstance(base, Refusal) else worktrees.named(base, options.branch, path)
    if isinstance(found, Refusal):
        return refused("worktree", found)
    made = worktrees.make(found)
    if isinstance(made, Refusal):
        return refused("worktree", made)
    complain("worktree", *found.notes)
    sys.stdout.write(f"{found.path}\n")
    return 0
