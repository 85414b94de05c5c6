"""`tally snooze`, `tally unread` and `tally seen`: what a person does about a pane, said to the host that shows it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from tallylight.cli import fleet
from tallylight.cli.output import clean, complain
from tallylight.cli.parser import Parser, within
from tallylight.cli.status import nothing
from tallylight.model.status import NEEDS_PERSON, Status
from tallylight.pane.marks import MAX_MINUTES
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import Found, add_pane, pick, read_panes
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane
from tallylight.ui.layout import left

#: How long the host may take to do it, in seconds; it looks four times a second.
DONE_S = 3.0
_ANY_MACHINE = "a pane of any machine of the fleet whose configuration allows it"
_MARKS = {
    "seen": "Mark a pane as looked at. This answers no question: a waiting pane stays waiting.",
    "unread": "Mark a pane as not looked at: what was done before you looked shows as done again.",
}


def make_parser() -> Parser:
    """What `tally snooze` takes."""
    parser = Parser(
        prog="tally snooze",
        description="Let what a pane needs of you rest: no notification, no pulse, and `tally jump` leaves it out. It "
        "ends after some minutes or when the status changes.",
        examples={
            "tally snooze": "this pane, else the neediest",
            "tally snooze 3 60": "pane 3, for an hour",
            "tally snooze 3 0": "end it",
            "tally snooze --broker atlas/kitty-4711:3": "a pane of another machine of the fleet",
        },
        codes={1: "no such pane, it does not need you, or its terminal did not do it"},
    )
    add_pane(parser, nargs="?")
    parser.add_broker(_ANY_MACHINE)
    how_long = "how long; 0 ends it; 15 unless configured"
    parser.add_argument("minutes", nargs="?", type=within(0, MAX_MINUTES, float), metavar="MINUTES", help=how_long)
    return parser


def main(argv: list[str]) -> int:
    """Put the question of a pane off."""
    options = make_parser().parse_args(argv)
    if options.broker:
        return fleet.mark("snooze", options.pane, options.minutes, _rests)
    found = find(options.pane)
    if found is None:
        return 1
    if found.pane.status not in NEEDS_PERSON:
        complain("snooze", f"{found.name} does not need you now: it is {found.pane.status}")
        return 1
    args = () if options.minutes is None else (f"{options.minutes:g}",)
    request = Request("snooze", found.pane.id, args)
    return ask(found, request, lambda new: bool(new.pane.snoozed_until) == (args != ("0",)), _rests)


def _rests(pane: Pane) -> str:
    """What a snooze has come to."""
    now = time.time()
    if pane.snoozed_until <= now:
        return "is no longer snoozed"
    clock = time.strftime("%H:%M", time.localtime(pane.snoozed_until))
    return f"is snoozed for {left(pane.snoozed_until - now)}, until {clock} or until its status changes"


def make_marker(verb: str) -> Parser:
    """What `tally seen` and `tally unread` take."""
    parser = Parser(
        prog=f"tally {verb}",
        description=_MARKS[verb],
        examples={f"tally {verb}": "this pane, else the neediest", f"tally {verb} 3": "pane 3"},
        codes={1: "no such pane, or its terminal did not do it"},
    )
    add_pane(parser, nargs="?")
    if verb == "seen":
        parser.add_broker(_ANY_MACHINE)
    return parser


def mark(verb: str, argv: list[str]) -> int:
    """Mark a pane as looked at, or as not looked at."""
    options = make_marker(verb).parse_args(argv)
    if verb == "seen" and options.broker:
        return fleet.mark(verb, options.pane, None, _looked_at)
    found = find(options.pane)
    if found is None:
        return 1
    outcome = _looked_at if verb == "seen" else lambda _: "is marked as not looked at"
    return ask(found, Request(verb, found.pane.id), lambda new: bool(getattr(new.pane, verb)), outcome)


def _looked_at(pane: Pane) -> str:
    waits = ", and still waits for you" if pane.status is Status.WAITING else ""
    return f"is marked as looked at{waits}"


def find(wanted: str | None) -> Found | None:
    """The pane that *wanted* names; None, and a line that says so, if there is no pane at all."""
    panes = read_panes(os.environ)
    if not panes.panes and wanted is None:
        sys.stdout.write(f"{nothing(panes)}\n")
        return None
    return pick(panes, wanted, os.environ)


def ask(found: Found, request: Request, is_done: Callable[[Found], bool], outcome: Callable[[Pane], str]) -> int:
    """Ask the host, wait until its snapshot shows that it was done, and print what that came to, by *outcome*."""
    called = f"{found.name} ({clean(found.pane.project, 40)})" if found.pane.project else found.name
    requests.send(found.host, request, os.environ)
    end = time.monotonic() + DONE_S
    while time.monotonic() < end:
        now = next((new for new in read_panes(os.environ).panes if new.address == found.address), None)
        if now is None or is_done(now):
            sys.stdout.write(f"{called} {outcome(now.pane) if now is not None else 'is gone'}\n")
            return 0
        time.sleep(0.05)
    complain(request.verb, f"{found.host} did not do it; is it the same version?")
    return 1
