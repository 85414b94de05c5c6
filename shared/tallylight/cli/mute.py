"""`tally mute` and `tally unmute`: of what there are no notifications, said to the hosts that notify."""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
import time

from tallylight.cli.output import UNBOUNDED, clean, complain
from tallylight.cli.parser import Parser
from tallylight.cli.snooze import ask, find
from tallylight.cli.status import nothing
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import Found, add_pane, read_panes
from tallylight.snapshot.elsewhere import is_elsewhere, parts
from tallylight.snapshot.requests import Request, RequestError
from tallylight.tracker.mutes import ALL, MAX_S, PROJECT, TAB
from tallylight.ui.layout import left

_DESCRIPTIONS = {
    "mute": "Stop notifications of a pane's tab, of a project or of everything. The lights go on; what is "
    "missed is not told later. A mute ends at its time, with `tally unmute`, or with its terminal.",
    "unmute": "Notify again: take back the mute of the same tab, the same project or everything.",
}
_EXAMPLES = {
    "mute": {
        "tally mute": "the tab of this pane, else of the neediest",
        "tally mute 3 --for 2h": "the tab of pane 3",
        "tally mute --project api --until 14:30": "a project, in every tab",
    },
    "unmute": {"tally unmute": "the tab of this pane, else of the neediest", "tally unmute --all": "everything"},
}
_SPAN = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,3})?)(s|m|min|h|d)")
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")


def make_parser(verb: str = "mute") -> Parser:
    """What `tally mute` and `tally unmute` take."""
    parser = Parser(
        prog=f"tally {verb}",
        description=_DESCRIPTIONS[verb],
        examples=_EXAMPLES[verb],
        codes={1: "no such pane, or no terminal took it"},
    )
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--project", metavar="NAME", help="the project of that name, in every tab")
    scope.add_argument("--all", action="store_true", help="everything")
    add_pane(parser, nargs="?")
    if verb == "mute":
        end = parser.add_mutually_exclusive_group()
        end.add_argument("--for", type=_span, dest="seconds", metavar="SPAN", help="how long: 90s, 20m, 2h or 1d")
        end.add_argument("--until", type=_clock, dest="seconds", metavar="HH:MM", help="until this time of day")
    return parser


def main(argv: list[str], verb: str = "mute") -> int:
    """Stop notifications, or take that back."""
    options = make_parser(verb).parse_args(argv)
    seconds = "0"
    if verb == "mute":
        seconds = "" if options.seconds is None else f"{options.seconds:g}"
    is_wide = options.all or options.project is not None
    if options.pane and is_wide:
        complain(verb, "give a pane, --project or --all, and only one of them")
        return 2
    if is_wide:
        args = (ALL, "", seconds) if options.all else (PROJECT, options.project, seconds)
        return _ask_hosts(verb, Request("mute", "", args))
    found = find(options.pane)
    if found is None:
        return 1
    if is_elsewhere(found.host):
        machine = clean(parts(found.pane.id)[0])
        complain(verb, f"the notifications of {machine} are its own: run `tally {verb}` there", cells=UNBOUNDED)
        return 1

    def is_done(new: Found) -> bool:
        # What has no light is not told again to anybody before it has one.
        return bool(new.pane.muted_until) == (verb == "mute") or not new.is_lit

    request = Request("mute", found.pane.id, (TAB, "", seconds))
    return ask(found, request, is_done, lambda _: f"and its tab: {_outcome(seconds)}")


def _ask_hosts(verb: str, request: Request) -> int:
    """Ask every host; one that takes no requests is named, and costs itself."""
    panes = read_panes(os.environ)
    done = 0
    for host in panes.hosts:
        try:
            requests.send(host, request, os.environ)
        except RequestError as error:
            complain(verb, error)
        else:
            done += 1
    if not panes.hosts:
        sys.stdout.write(f"{nothing(panes)}\n")
    if done:
        scope, name, seconds = request.args
        what = "everything" if scope == ALL else f"project {clean(name, 80)}"
        sys.stdout.write(f"{what}: {_outcome(seconds)}\n")
    return 0 if done else 1


def _outcome(seconds: str) -> str:
    """What a mute of *seconds*, as a request has them, comes to."""
    if seconds == "0":
        return "notifications are on"
    if not seconds:
        return "notifications are off until `tally unmute`"
    end = time.localtime(time.time() + float(seconds))
    return f"notifications are off for {left(float(seconds))}, until {time.strftime('%H:%M', end)}"


def _span(text: str) -> float:
    found = _SPAN.fullmatch(text)
    seconds = float(found[1]) * _UNITS[found[2]] if found is not None else 0.0
    if not 0 < seconds <= MAX_S:
        raise argparse.ArgumentTypeError("must be a span like 90s, 20m, 2h or 1d, of at most 7d")
    return seconds


def _clock(text: str) -> float:
    """The seconds from now to the next time that a clock shows *text*."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError("must be a time of day like 14:30")
    now = datetime.datetime.now().astimezone()
    end = now.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
    if end <= now:
        end += datetime.timedelta(days=1)
    return (end - now).total_seconds()
