"""
`tally panel`: the list of agents as a panel: narrow, beside the work, and there until it is closed.

In kitty and WezTerm a key opens it in a split of its own; this program runs there, and in any terminal.
"""

from __future__ import annotations

import os

from tallylight.cli import agents
from tallylight.cli.parser import Parser
from tallylight.ui import colours


def make_parser() -> Parser:
    parser = Parser(
        prog="tally panel",
        description="The list of agents as a panel: narrow, and open until you close it with q. Press ? for help.",
        examples={
            "tally panel": "in a split that you have made narrow",
            "kitten panel --edge=left --columns=32 tally panel": "at the edge of the desktop, by kitty",
        },
        codes={0: "you closed the panel", 1: "no terminal to draw in"},
    )
    parser.add_color()
    return parser


def main(argv: list[str]) -> int:
    """Show the panel until the person closes it."""
    options = make_parser().parse_args(argv)
    agents.show(colours.depth(colours.chosen(os.environ, options.color)), is_panel=True)
    return 0
