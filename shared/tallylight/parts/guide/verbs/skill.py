"""
`tally skill`: prints a skill file, which teaches an agent to work with the agents in other panes.

The format is that of https://agentskills.io : a head with a name and a description, and text in Markdown. `SKILL.md`
has it, with the names of exit codes in braces.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tallylight.cli import exit_codes
from tallylight.cli.parser import Parser


def make_parser() -> Parser:
    return Parser(
        prog="tally skill",
        description="Print a skill file. It teaches an agent to start, wait for, read and instruct others.",
        examples={"tally skill > ~/.claude/skills/tally/SKILL.md": "for Claude Code"},
        codes={1: "standard output cannot be written"},
    )


def main(argv: list[str]) -> int:
    make_parser().parse_args(argv)
    text = Path(__file__).parents[1].joinpath("SKILL.md").read_text("utf-8")
    sys.stdout.write(text.format_map(vars(exit_codes)))
    return 0
