"""`tally seen` and `tally unread`: mark a pane, by a request to the host that shows it."""

from __future__ import annotations

import os
import sys

from tallylight.cli.parser import Parser
from tallylight.cli.reaching import ANY_MACHINE, request_and_wait
from tallylight.model.status import Status
from tallylight.parts import index
from tallylight.snapshot.addresses import add_pane, pick, read_panes
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane

_MARKS = {
    "seen": "Mark a pane as looked at. This answers no question: a waiting pane stays waiting.",
    "unread": "Mark a pane as not looked at: a turn that was done shows as done again.",
}


def make_parser(verb: str = "seen") -> Parser:
    parser = Parser(
        prog=f"tally {verb}",
        description=_MARKS[verb],
        examples={f"tally {verb}": "this pane, else the most urgent", f"tally {verb} 3": "pane 3"},
        codes={1: "no such pane, or its terminal did not respond"},
    )
    add_pane(parser, nargs="?")
    if verb == "seen":
        parser.add_broker(ANY_MACHINE)
    return parser


def main(argv: list[str], verb: str = "seen") -> int:
    """Mark a pane as looked at, or as not looked at."""
    options = make_parser(verb).parse_args(argv)
    if verb == "seen" and options.broker:
        code: int = index.need("fleet", "other machines").mark(verb, options.pane, None, _looked_at)
        return code
    panes = read_panes(os.environ)
    if not panes.panes and options.pane is None:
        sys.stdout.write(f"{panes.why_none}\n")
        return 1
    found = pick(panes, options.pane, os.environ)
    outcome = _looked_at if verb == "seen" else lambda _: "is marked as not looked at"
    is_done = lambda new: bool(getattr(new.pane.attention, verb))  # noqa: E731
    return request_and_wait(found, Request(verb, found.pane.id), is_done, outcome)


def _looked_at(pane: Pane) -> str:
    waits = ", and still waits for you" if pane.status is Status.WAITING else ""
    return f"is marked as looked at{waits}"
