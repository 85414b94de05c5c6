"""`tally seen` and `tally unread`: mark a pane, by a request to the host that shows it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from tallylight.cli.output import clean, complain
from tallylight.cli.parser import Parser
from tallylight.cli.status import nothing
from tallylight.model.status import Status
from tallylight.parts import index
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import Found, add_pane, pick, read_panes
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane

#: How long the host may take to do it, in seconds; it looks four times a second.
DONE_S = 3.0
ANY_MACHINE = "a pane of any machine that sets [fleet] marks = true"
_MARKS = {
    "seen": "Mark a pane as looked at. This answers no question: a waiting pane stays waiting.",
    "unread": "Mark a pane as not looked at: a turn that was done shows as done again.",
}


def make_parser(verb: str = "seen") -> Parser:
    """What `tally seen` and `tally unread` take."""
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
        sys.stdout.write(f"{nothing(panes)}\n")
        return 1
    found = pick(panes, options.pane, os.environ)
    outcome = _looked_at if verb == "seen" else lambda _: "is marked as not looked at"
    return ask(found, Request(verb, found.pane.id), lambda new: bool(getattr(new.pane, verb)), outcome)


def _looked_at(pane: Pane) -> str:
    waits = ", and still waits for you" if pane.status is Status.WAITING else ""
    return f"is marked as looked at{waits}"


def ask(
    found: Found, request: Request, is_done: Callable[[Found], bool], outcome: Callable[[Pane], str], else_: str = ""
) -> int:
    """
    Ask the host, wait until its snapshot shows that it was done, and print what that came to, by *outcome*.

    *else_*: the message if it never shows it.
    """
    called = f"pane {found.name}" + (f" ({clean(found.pane.project, 40)})" if found.pane.project else "")
    requests.send(found.host, request, os.environ)
    end = time.monotonic() + DONE_S
    while time.monotonic() < end:
        now = next((new for new in read_panes(os.environ).panes if new.address == found.address), None)
        if now is None or is_done(now):
            sys.stdout.write(f"{called} {outcome(now.pane) if now is not None else 'is gone'}\n")
            return 0
        time.sleep(0.05)
    complain(
        "quiet" if request.verb in ("mute", "snooze") else request.verb,
        else_ or f"{found.host} did not respond; does it run the same version?",
    )
    return 1
