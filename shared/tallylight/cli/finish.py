"""
`tally finish`: finish a git worktree that `tally start` or `tally fork` made: merge, keep or drop its commits.

Each command is shown before anything is done, and nothing is forced; `actions.finish` has the rules.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tallylight.actions import finish
from tallylight.actions.finish import Finish, Way
from tallylight.actions.fork_page import command_line
from tallylight.actions.gate import Refusal
from tallylight.cli.exit_codes import REFUSED
from tallylight.cli.output import Output, clean, refused
from tallylight.cli.parser import Parser
from tallylight.cli.status import JSON_VERSION
from tallylight.files.system import System
from tallylight.model.status import Status
from tallylight.snapshot.addresses import read_panes


def make_parser() -> Parser:
    """What `tally finish` takes."""
    parser = Parser(
        prog="tally finish",
        description="Finish a git worktree that `tally start` or `tally fork` made, once its agent has left. It "
        "removes the directory, and merges the commits, keeps them on their branch or drops them. Commit all "
        "changes first. Each command is shown before it runs.",
        examples={
            "tally finish ../app-parser --merge": "fast-forward the branch that it came from, then remove it",
            "tally finish --keep": "keep only the branch of this worktree",
            "tally finish ../app-parser --drop": "remove it with its branch",
        },
        codes={
            0: "finished",
            1: "you said no, or there was no terminal to ask on",
            REFUSED: "a rule or git refused it; the message lists the commands that ran",
        },
    )
    parser.add_argument(
        "directory",
        metavar="DIRECTORY",
        nargs="?",
        default=".",
        help="the worktree; by default this one",
    )
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument(
        "--merge", dest="way", action="store_const", const=Way.MERGE, help="into the branch that it came from"
    )
    way.add_argument("--keep", dest="way", action="store_const", const=Way.KEEP, help="leave its branch as it is")
    way.add_argument("--drop", dest="way", action="store_const", const=Way.DROP, help="remove its branch as well")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="print the commands and do nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object; it needs --yes or --dry-run")
    return parser


def main(argv: list[str]) -> int:
    """Show what would be done, and do it."""
    parser = make_parser()
    options = parser.parse_args(argv)
    if options.json and not (options.yes or options.dry_run):
        parser.error("--json needs --yes or --dry-run")
    if not options.directory.strip():
        parser.error("the directory is empty; name one, or give none for this one")
    directory = os.path.realpath(options.directory)
    found = finish.inspect(directory, options.way)
    if isinstance(found, Finish):
        found = _at_work(found) or found
    if isinstance(found, Refusal):
        return _report(None, found, as_json=options.json)
    output = Output.to(sys.stderr, os.environ)
    for note in found.notes:
        output.line(f"# {clean(note)}")
    for step in found.steps:
        output.line(command_line(finish.command(found, step)))
    if options.dry_run:
        return _report(found, None, as_json=options.json, is_done=False)
    if not options.yes and not System().ask("Run these commands?"):
        output.line("Nothing was done.")
        return 1
    os.chdir(found.root)  # this process may be inside what is removed
    return _report(found, finish.carry_out(found), as_json=options.json)


def _at_work(found: Finish) -> Refusal | None:
    """Whether an agent still runs in the worktree, as far as the terminals say."""
    for one in read_panes(os.environ).panes:
        pane = one.pane
        places = {place for place in (pane.cwd, pane.conversation.cwd) if place}
        is_there = any(Path(place).is_relative_to(found.path) for place in places)
        if pane.agent and is_there and pane.status not in (Status.DOWN, Status.ACTIVE):
            return Refusal("at-work", f"{clean(pane.agent, 20)} runs in it, in pane {one.name}: end it first")
    return None


def _report(found: Finish | None, refusal: Refusal | None, *, as_json: bool, is_done: bool = True) -> int:
    if as_json:
        document = {
            "version": JSON_VERSION,
            **{name: getattr(found, name, None) for name in ("path", "branch", "commit")},
            "commands": [finish.command(found, step) for step in found.steps] if found is not None else [],
            "done": is_done and refusal is None,
            "refused": refusal.rule if refusal is not None else None,
            "text": clean(refusal.text) if refusal is not None else "",
        }
        sys.stdout.write(json.dumps(document) + "\n")
    return refused("finish", refusal) if refusal is not None else 0
