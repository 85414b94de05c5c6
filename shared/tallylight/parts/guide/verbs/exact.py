"""`tally exact`: the three ways to make a light exact, and which of them to choose."""

from __future__ import annotations

import sys

from tallylight.cli.parser import Parser, paragraph, two_columns

_FIRST = (
    "Every agent has a light without any setup; Tallylight reads its screen, its title and its files. A light is exact "
    "if the agent itself reports what it does. There are three ways. Take the first that works with your agent:"
)
_WAYS = {
    "tally hooks install": "The agent itself reports each event, if `tally hooks` lists it. This changes the settings "
    "of the agent; `tally hooks remove` takes that back.",
    "tally shell-init SHELL": "For agents that write their status as escape sequences, which most terminals drop. Put "
    "the line that it prints into your shell's file once; each known agent that you start then goes through `tally "
    "run`.",
    "tally run AGENT": "The same for one start: in a script, in an alias, or on another machine.",
}
_LAST = "You can combine them. `tally why` shows which source lit a pane."


def make_parser() -> Parser:
    return Parser(
        prog="tally exact",
        description="Explain the three ways to make a light exact: hooks, your shell, or one command.",
        examples={"tally exact": "which there are, and which to choose"},
        codes={1: ""},
    )


def main(argv: list[str]) -> int:
    make_parser().parse_args(argv)
    sys.stdout.write(f"{paragraph(_FIRST)}\n{two_columns(_WAYS.items())}\n{paragraph(_LAST)}")
    return 0
