"""
`tally wait`: wait until agents need you or have finished, for scripts and for other agents.

It reads what the hosts publish and asks no agent anything. A pane that already is in one of the wanted states counts at
once, unless `--new` is given. The exit code says what was found; docs/commands.md has the table.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterable

import attrs

from tallylight.cli.exit_codes import FAILED, TIMED_OUT, WAITS
from tallylight.cli.exit_codes import GONE as IS_GONE
from tallylight.cli.output import GAP, Output, clean, complain, complain_once, status_words
from tallylight.cli.parser import Parser, within
from tallylight.model.errors import TallyError
from tallylight.model.status import URGENCY, Status
from tallylight.snapshot.addresses import NAMED, Found, Panes, add_pane, own_place, pick
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.writer import directory

#: Seconds between two looks.
POLL_S = 0.1
#: Seconds for which a pane must be missing before it counts as gone: a host may be writing its file again.
GONE_S = 1.0
#: The word for a pane that was closed, or whose agent has ended.
GONE = "gone"
#: Statuses of an agent that is not at work.
AT_REST = (Status.WAITING, Status.ERROR, Status.DOWN, Status.DONE, Status.IDLE)
_CODES = {Status.WAITING.value: WAITS, Status.ERROR.value: FAILED, Status.DOWN.value: FAILED, GONE: IS_GONE}
#: What decides the exit code, if several were waited for.
_ORDER = (Status.WAITING.value, Status.ERROR.value, Status.DOWN.value, GONE)
_WORDS = (*(status.value for status in URGENCY if status is not Status.ACTIVE), GONE)


def make_parser() -> Parser:
    """What `tally wait` takes."""
    parser = Parser(
        prog="tally wait",
        description="Wait until an agent needs you or has finished.",
        examples={
            "tally wait": "until any agent needs you or has finished",
            "tally wait --all --timeout 3600": "until all have, at most an hour",
            "tally wait 3 --for waiting": "until pane 3 asks something",
            "tally wait 3 4 --for done,error --json": "one JSON object a pane",
        },
        codes={
            0: "done, idle, or another status that you asked for",
            1: "nothing to wait for, or no such pane",
            WAITS: "an agent waits for a person",
            FAILED: "an agent failed, or vanished in the middle of a turn",
            IS_GONE: "the pane or its agent is gone",
            TIMED_OUT: "the timeout passed",
        },
    )
    add_pane(parser, nargs="*", help_=f"{NAMED}; by default every agent but the one in this pane")
    parser.add_argument(
        "--for",
        dest="wanted",
        type=_statuses,
        metavar="STATUS,…",
        help=f"statuses to wait for, of {', '.join(_WORDS)}; by default every one in which the agent does not work",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--any", action="store_true", help="return when one of the panes is there (the default)")
    which.add_argument("--all", action="store_true", help="return when all of the panes are there")
    parser.add_argument("--new", action="store_true", help="count only what begins after this command")
    parser.add_argument(
        "--timeout",
        type=within(0, 999_999_999, float),
        default=math.inf,
        metavar="SECONDS",
        help="give up after so long",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per pane that was waited for")
    return parser


def main(argv: list[str]) -> int:
    """Wait, print a line for each pane that was waited for, and return the exit code of what was found."""
    options = make_parser().parse_args(argv)
    feed = Feed(directory(os.environ))
    feed.poll(time.monotonic())
    panes, reported = Panes.of(feed.snapshots, feed.problems), set[str]()
    if options.pane:
        chosen = tuple(dict.fromkeys(pick(panes, wanted, os.environ).address for wanted in options.pane))
    else:
        own = ":".join(own_place(os.environ, panes.hosts))
        chosen = tuple(found.address for found in panes.panes if found.is_lit and found.address != own)
    if not chosen:
        raise TallyError("no agent runs in any tab: there is nothing to wait for")
    wait = Wait(
        wanted=options.wanted or frozenset((*(status.value for status in AT_REST), GONE)),
        is_all=options.all,
        since=time.time() if options.new else None,
        chosen=chosen,
    )
    end = time.monotonic() + options.timeout
    while True:
        now = time.monotonic()
        complain_once("wait", panes.problems, reported)
        ends = wait.look(panes.panes, now)
        if ends:
            break
        if now >= end:
            complain("wait", f"still waiting after {options.timeout:g} s")
            return TIMED_OUT
        time.sleep(min(POLL_S, end - now))
        if feed.poll(time.monotonic()):
            panes = Panes.of(feed.snapshots, feed.problems)
    _print(ends, as_json=options.json)
    return exit_code(ends)


def _statuses(text: str) -> frozenset[str]:
    words = frozenset(text.split(","))
    unknown = sorted(words - set(_WORDS))
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown status {unknown[0]!r}; known are {', '.join(_WORDS)}")
    return words


@attrs.frozen
class End:
    """A pane that was waited for: its *state*, the word of a status or `GONE`, and what was last known of it."""

    address: str
    state: str
    found: Found | None


@attrs.define
class Wait:
    """
    What is waited for, and what was seen so far.

    *chosen* are the addresses of the panes. *since*: only statuses that began later than this count, in seconds since
    the epoch; None for all. Times given to `look` are monotonic.
    """

    wanted: frozenset[str]
    is_all: bool
    since: float | None
    chosen: tuple[str, ...]
    _last: dict[str, Found] = attrs.Factory(dict)
    _missing_since: dict[str, float] = attrs.Factory(dict)
    _had_agent: set[str] = attrs.Factory(set)

    def look(self, panes: Iterable[Found], now: float) -> tuple[End, ...]:
        """What was waited for, in the order of `chosen`, if it is there by *now*; nothing if it is not."""
        present = {found.address: found for found in panes if found.address in self.chosen}
        ends = []
        for address in self.chosen:
            state = self._state(address, present.get(address), now)
            if state in self.wanted:
                ends.append(End(address, state, self._last.get(address)))
        is_there = len(ends) == len(self.chosen) if self.is_all else bool(ends)
        return tuple(ends) if is_there else ()

    def _state(self, address: str, found: Found | None, now: float) -> str:
        """The state of one pane; empty while it does not count."""
        if found is None:
            return GONE if now - self._missing_since.setdefault(address, now) >= GONE_S else ""
        self._missing_since.pop(address, None)
        pane = found.pane
        if pane.agent:
            self._had_agent.add(address)
        elif address in self._had_agent and pane.status in (Status.IDLE, Status.ACTIVE):
            return GONE
        self._last[address] = found
        return pane.status.value if self.since is None or pane.since > self.since else ""


def exit_code(ends: tuple[End, ...]) -> int:
    """The exit code for *ends*: of the most urgent one."""
    states = {end.state for end in ends}
    return next((_CODES[state] for state in _ORDER if state in states), 0)


def _print(ends: tuple[End, ...], *, as_json: bool) -> None:
    """Write of each pane what it is called, its state, its agent, its name and what it asks; or all that is known."""
    output = Output.to(sys.stdout, os.environ)
    for end in ends:
        pane = end.found.pane if end.found is not None else None
        if as_json:
            document = {
                "address": end.address,
                "state": end.state,
                "pane": pane.to_json() if pane is not None else None,
            }
            output.line(json.dumps(document))
        elif end.found is None or pane is None:
            output.line(f"{end.address}{GAP}{end.state}")
        else:
            is_there = end.state == pane.status
            words = status_words(pane.status, pane.kind) if is_there else end.state
            asks = pane.question or pane.message if is_there else ""
            cells = end.found.name, words, clean(pane.agent, 20), clean(pane.project or pane.title), clean(asks)
            output.line(GAP.join(filter(None, cells)))
