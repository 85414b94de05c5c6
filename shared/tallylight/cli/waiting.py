"""Waiting for panes: the states that a verb waits for, for how long, and its output."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable

import attrs

from tallylight.cli.exit_codes import FAILED, NOTHING, TIMED_OUT, WAITS
from tallylight.cli.exit_codes import GONE as IS_GONE
from tallylight.cli.output import GAP, JSON_VERSION, Output, clean, complain, complain_once, status_words
from tallylight.cli.parser import Parser, within
from tallylight.model.status import NEEDS_PERSON, Status
from tallylight.snapshot.addresses import Panes, Row
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import Pane
from tallylight.tracker.tracker import SEEN

#: Seconds between two looks.
POLL_SNAPSHOTS_S = 0.1
#: Seconds that a pane must be missing before it counts as gone: a host may be writing its file again.
PANE_GONE_S = 1.0
#: The word for a pane that was closed, or has no agent any more.
GONE = "gone"
#: The word for a pane without a turn after the sent text; and the seconds until one should begin.
NO_TURN = "no-turn"
QUEUED_TURN_S = 10.0
#: Seconds that the end of a turn is held back while the agent's record still has the reply of an earlier one.
REPLY_SETTLES_S = 2.0
#: The states of a pane that needs a person or has finished; an agent at its prompt has neither.
FINISHED = frozenset((*(status.value for status in NEEDS_PERSON), GONE))
AT_REST = FINISHED | {Status.QUIET.value, Status.IDLE.value}
_CODES = {
    Status.WAITING.value: WAITS,
    Status.LIMITED.value: WAITS,
    Status.ERROR.value: FAILED,
    Status.DOWN.value: FAILED,
    GONE: IS_GONE,
    NO_TURN: NOTHING,
}
#: The states in the order that decides the exit code, if several panes ended.
_ORDER = tuple(_CODES)


def add_timeout(parser: Parser) -> None:
    seconds = within(0, 999_999_999, float)
    parser.add_argument(
        "--timeout", type=seconds, default=math.inf, metavar="SECONDS", help="stop waiting after so long"
    )


def follow(verb: str, wait: Wait, feed: Feed, timeout_s: float) -> tuple[End, ...]:
    """Read *feed* until *wait* is over, and return its ends; none after *timeout_s*, with a message."""
    end, reported = time.monotonic() + timeout_s, set[str]()
    panes = Panes.of(feed.snapshots, feed.problems)
    while True:
        now = time.monotonic()
        complain_once(verb, panes.problems, reported)
        ends = wait.look(panes.panes, now)
        for found in ends:
            if found.state == NO_TURN:
                complain(verb, f"no turn followed in {found.address}")
        if ends:
            return ends
        if now >= end:
            complain(verb, f"still waiting after {timeout_s:g} s")
            return ()
        time.sleep(min(POLL_SNAPSHOTS_S, end - now))
        if feed.poll(time.monotonic()):
            panes = Panes.of(feed.snapshots, feed.problems)


@attrs.frozen
class End:
    """The end of a wait for a pane: its *state*, the word of a status or `GONE`, and its last entry."""

    address: str
    state: str
    found: Row | None


@attrs.define
class Wait:
    """
    A wait for panes, and their states so far.

    *chosen* are the addresses of the panes. *since*: only statuses that began later count, in seconds since the epoch,
    by *clock*; None for all. *is_turn*: a text was sent then, and the wait is for the end of its turn, which should
    begin within *starts_s*. Times given to `look` are monotonic.
    """

    wanted: frozenset[str]
    is_all: bool
    since: float | None
    chosen: tuple[str, ...]
    is_turn: bool = False
    starts_s: float = QUEUED_TURN_S
    clock: Callable[[], float] = attrs.Factory(lambda: time.time)
    _last: dict[str, Row] = attrs.Factory(dict)
    #: The status of each pane, and since when; `done` also once somebody has looked at it, which makes it `idle`.
    _shown: dict[str, tuple[Status, float]] = attrs.Factory(dict)
    _missing_since: dict[str, float] = attrs.Factory(dict)
    _had_agent: set[str] = attrs.Factory(set)
    #: When a queued text was last seen to wait; and the panes with a turn that was seen.
    _typed: dict[str, float] = attrs.Factory(dict)
    _begun: set[str] = attrs.Factory(set)
    #: The last reply of each agent at the first look.
    _reply: dict[str, str] = attrs.Factory(dict)

    def look(self, panes: Iterable[Row], now: float) -> tuple[End, ...]:
        """Return the ends by *now*, in the order of `chosen`, if the wait is over; nothing if it is not."""
        present = {found.address: found for found in panes if found.address in self.chosen}
        ends = []
        for address in self.chosen:
            state = self._state(address, present.get(address), now)
            if state in self.wanted or state == NO_TURN:
                ends.append(End(address, state, self._last.get(address)))
        is_there = len(ends) == len(self.chosen) if self.is_all else bool(ends)
        return tuple(ends) if is_there else ()

    def _state(self, address: str, found: Row | None, now: float) -> str:
        """Return the state of one pane; "" while it does not count."""
        if found is None:
            return GONE if now - self._missing_since.setdefault(address, now) >= PANE_GONE_S else ""
        self._missing_since.pop(address, None)
        pane = found.pane
        if pane.agent:
            self._had_agent.add(address)
        elif address in self._had_agent and pane.status in (Status.IDLE, Status.ACTIVE):
            return GONE
        self._last[address] = found
        before = self._shown.get(address, (pane.status, pane.since))
        is_looked_at = before[0] is Status.DONE and pane.status is Status.IDLE and pane.reason.rule.endswith(SEEN)
        self._shown[address] = before if is_looked_at else (pane.status, pane.since)
        if self.is_turn:
            return self._of_turn(address, pane)
        status, since = self._shown[address]
        return status.value if self.since is None or since > self.since else ""

    def _of_turn(self, address: str, pane: Pane) -> str:
        """Return the state of the turn that follows the text; "" while it has yet to begin."""
        (status, since), now = self._shown[address], self.clock()
        self._reply.setdefault(address, pane.reply)
        if pane.queue.text and not pane.queue.problem:
            self._typed[address] = now
            return ""
        sent = self._typed.get(address, self.since or 0.0)
        # A pane that is idle without having worked was looked at between the text and its turn.
        if since > sent and (status is not Status.IDLE or address in self._begun):
            self._begun.add(address)
            return status.value if now - since >= self._settles(address, pane) else ""
        if status is Status.WORKING or (now - sent < self.starts_s and not pane.queue.problem):
            return ""
        return status.value if since > sent or status in (Status.WAITING, Status.LIMITED) else NO_TURN

    def _settles(self, address: str, pane: Pane) -> float:
        """Return for how long, in seconds, an end is held back: the record has the reply of an earlier turn."""
        is_late = pane.status is Status.DONE and pane.reply and pane.reply == self._reply[address]
        return REPLY_SETTLES_S if is_late else -math.inf


def exit_code(ends: tuple[End, ...]) -> int:
    """Return the exit code of the most urgent of *ends*; without any the time was over."""
    states = {end.state for end in ends}
    return next((_CODES[state] for state in _ORDER if state in states), 0 if ends else TIMED_OUT)


def print_ends(ends: tuple[End, ...], *, as_json: bool) -> int:
    """Print for each pane its name, state, agent, project and question, or in JSON everything; return the exit code."""
    output = Output.to(sys.stdout, os.environ)
    for end in ends:
        pane = end.found.pane if end.found is not None else None
        if as_json:
            document = {
                "version": JSON_VERSION,
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
    return exit_code(ends)
