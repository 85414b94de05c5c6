"""
`tally quiet`: no notifications of a pane, a project or everything for a time; the hosts that notify get the request.

It never means a pane without a name, except for the one that it is called in.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
import time

from tallylight.cli.output import UNBOUNDED_CELLS, clean, complain
from tallylight.cli.parser import Parser, span
from tallylight.cli.reaching import ANY_MACHINE, request_and_wait
from tallylight.model.errors import TallyError
from tallylight.model.status import NEEDS_PERSON
from tallylight.pane.marks import MAX_MINUTES
from tallylight.parts import index
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import NAMED, Panes, Row, add_pane, own, pick, read_panes
from tallylight.snapshot.elsewhere import is_elsewhere, parts
from tallylight.snapshot.names import spellings
from tallylight.snapshot.requests import Request, RequestError
from tallylight.snapshot.schema import Pane
from tallylight.tracker.mutes import ALL, MAX_MUTE_S, PROJECT, TAB
from tallylight.ui.layout import left

#: Seconds that it lasts if no time is given.
DEFAULT_S = 3600.0
#: The word that ends it.
OFF = "off"
_CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")


def make_parser() -> Parser:
    parser = Parser(
        prog="tally quiet",
        description="Stop notifications of a pane's tab, a project or everything, for an hour or another time. "
        "Lights stay, but do not pulse, and `tally jump` skips those panes until their status changes. Missed "
        "notifications are not shown later.",
        examples={
            "tally quiet": "this pane and its tab, for an hour",
            "tally quiet 3 20m": "pane 3 and its tab",
            "tally quiet shop 14:30": "the project shop, in every tab, until half past two",
            "tally quiet all 2h": "everything",
            "tally quiet off": "notify again of this pane; so do `tally quiet shop off` and `tally quiet all off`",
        },
        codes={1: "no such pane, or its terminal did not respond"},
    )
    add_pane(parser, nargs="?", help_=f"{NAMED}; a project; or all. By default the pane that you are in")
    how_long = f"90s, 20m, 2h, 1d, or until a time of day, 14:30; {OFF} ends it; an hour by default"
    parser.add_argument("time", nargs="?", metavar="TIME", help=how_long)
    parser.add_broker(ANY_MACHINE)
    return parser


def main(argv: list[str]) -> int:
    """Stop notifications, or start them again."""
    parser = make_parser()
    options = parser.parse_args(argv)
    wanted, time_ = options.pane, options.time
    # In either order; a single word that is a time is for the pane that this is called in.
    if wanted is not None and _is_time(wanted) and (time_ is None or not _is_time(time_)):
        wanted, time_ = time_, wanted
    try:
        seconds = DEFAULT_S if time_ is None else _time(time_)
    except argparse.ArgumentTypeError as error:
        parser.error(f"argument TIME: {error}")
    if options.broker:
        fleet = index.need("fleet", "other machines")
        code: int = fleet.mark("snooze", wanted, min(seconds / 60, MAX_MINUTES), _snooze_message)
        return code
    panes = read_panes(os.environ)
    if wanted is not None and (scope := _scope(wanted, panes)) is not None:
        return _mute_all(panes, scope, seconds)
    found = _named_pane(parser, panes, wanted)
    if found.pane.status in NEEDS_PERSON:
        request = Request("snooze", found.pane.id, (f"{min(seconds / 60, MAX_MINUTES):g}",))
        if is_elsewhere(found.host):
            is_done = lambda new: bool(new.pane.attention.snoozed_until) == bool(seconds)  # noqa: E731
            return request_and_wait(found, request, is_done, _snooze_message)
        requests.send(found.host, request, os.environ)
    return _mute(found, seconds)


def _is_time(word: str) -> bool:
    return word == OFF or span(word) is not None or _CLOCK.fullmatch(word) is not None


def _scope(wanted: str, panes: Panes) -> tuple[str, str] | None:
    """Return everything, or the project of some of *panes* that *wanted* names; None if it names a pane."""
    if wanted == ALL:
        return ALL, ""
    if any(wanted in spellings(found.host, found.pane.id) for found in panes.panes):
        return None
    projects = (found.pane.project for found in panes.panes)
    named = next((project for project in projects if project.casefold() == wanted.casefold()), "")
    return (PROJECT, named) if named else None


def _named_pane(parser: Parser, panes: Panes, wanted: str | None) -> Row:
    """Return the pane that *wanted* names; without a name the one that this is called in, and never another."""
    if wanted is not None:
        return pick(panes, wanted, os.environ)
    if not panes.hosts:
        raise TallyError(panes.why_none)
    found = own(panes, os.environ)
    # A multiplexer keeps the variables of the window that it was started in, which may not be the one around it.
    if found is None or (not found.host.startswith("sessions-") and {"TMUX", "STY"} & os.environ.keys()):
        parser.error("there is no pane here: name one, as in `tally quiet 3`")
    return found


def _snooze_message(pane: Pane) -> str:
    """Return the message about the snooze of *pane*."""
    now = time.time()
    if pane.attention.snoozed_until <= now:
        return "is no longer snoozed"
    clock = time.strftime("%H:%M", time.localtime(pane.attention.snoozed_until))
    return f"is snoozed for {left(pane.attention.snoozed_until - now)}, until {clock} or until its status changes"


def _mute(found: Row, seconds: float) -> int:
    """Stop notifications of the tab of *found* for *seconds*; 0 starts them again."""
    if is_elsewhere(found.host):
        machine = clean(parts(found.pane.id)[0])
        complain("quiet", f"the notifications of {machine} are its own: run `tally quiet` there", cells=UNBOUNDED_CELLS)
        return 1

    def is_done(new: Row) -> bool:
        # A host without a light for the pane does not repeat the mute.
        return bool(new.pane.attention.muted_until) == bool(seconds) or not new.is_lit

    request = Request("mute", found.pane.id, (TAB, "", f"{seconds:g}"))
    wider = "its project or everything is quiet: run `tally quiet PROJECT off` or `tally quiet all off`"
    return request_and_wait(
        found, request, is_done, lambda _: f"and its tab: {_mute_message(seconds)}", "" if seconds else wider
    )


def _mute_all(panes: Panes, scope: tuple[str, str], seconds: float) -> int:
    """Ask every host; one that takes no requests is named, and costs only itself."""
    if not panes.hosts:
        raise TallyError(panes.why_none)
    request = Request("mute", "", (*scope, f"{seconds:g}"))
    done = 0
    for host in panes.hosts:
        try:
            requests.send(host, request, os.environ)
        except RequestError as error:
            complain("quiet", error)
        else:
            done += 1
    if done:
        what = f"project {clean(scope[1], 80)}" if scope[1] else "everything"
        sys.stdout.write(f"{what}: {_mute_message(seconds)}\n")
    return 0 if done else 1


def _mute_message(seconds: float) -> str:
    """Return the message about a mute of *seconds*."""
    if not seconds:
        return "notifications are on"
    end = time.localtime(time.time() + seconds)
    return f"notifications are off for {left(seconds)}, until {time.strftime('%H:%M', end)}"


def _time(text: str) -> float:
    """Return the seconds that *text* means: a span, up to the next time that a clock shows it, or none for `OFF`."""
    if text == OFF:
        return 0.0
    if (clock := _CLOCK.fullmatch(text)) is not None:
        now = datetime.datetime.now().astimezone()
        end = now.replace(hour=int(clock[1]), minute=int(clock[2]), second=0, microsecond=0)
        return (end - now).total_seconds() + (86_400 if end <= now else 0)
    seconds = span(text)
    if seconds is None or not 0 < seconds <= MAX_MUTE_S:
        raise argparse.ArgumentTypeError(f"must be a span like 90s, 20m, 2h or 1d, a time like 14:30, or {OFF}")
    return seconds
