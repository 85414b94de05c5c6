"""
The agents' own files in kitty: read by the worker, and told to their panes once that is done. Nothing here waits.

All are read in one go. Where one hangs (a home on a network that is gone), that reading is given up, its directory is
left alone for longer and longer times, and the other panes' files are read by another thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Set
from pathlib import Path

import attrs

from tallylight.hosts.jobs import backoff
from tallylight.hosts.worker import Worker
from tallylight.pane.file_request import Request
from tallylight.pane.pane import Pane

#: A file hangs that is not read after so many seconds and so many times that its reader was lent time: a process that
#: was stopped, or has much to do, is no disk that hangs.
HANGS_S = 2.0
HANGS_LENT = 40
#: Readings that are given up and go on nevertheless, at most. One is kept for what has not hung before.
MAX_GIVEN_UP = 3
#: Directories that are remembered for hanging.
MAX_RESTING = 64
JOB = "agents' files"


#: A window, and which of its requests.
_Key = tuple[int, int]


@attrs.define(eq=False)
class _Reading:
    """One reading of the files of many panes. `run` is the worker's; all else is looked at while that goes on."""

    wanted: dict[_Key, Request]
    number: int
    found: dict[_Key, object] = attrs.field(factory=dict)
    #: The one that is being read, since when, and how often its reader was lent time since.
    current: _Key | None = None
    since: float = 0.0
    lent: int = 0
    is_given_up: bool = False

    def run(self, clock: Callable[[], float]) -> None:
        for key, want in self.wanted.items():
            if self.is_given_up:
                return
            self.since, self.lent, self.current = clock(), 0, key
            self.found[key] = want.read()
        self.current = None

    def hanging(self, now: float) -> Request | None:
        """What this reading hangs on, if it does."""
        key = self.current
        is_late = now - self.since >= HANGS_S and self.lent >= HANGS_LENT
        return self.wanted[key] if key is not None and is_late else None


@attrs.define
class _Rest:
    """A directory whose disk did not answer, *failures* times in a row: left alone until monotonic *until*."""

    until: float = 0.0
    failures: int = 0


@attrs.define
class FileReader:
    """
    *panes* are the host's, by window id; *guarded* makes a call whose faults cost the feature that it names; *told* is
    told once of every directory that hangs, *heard* which window's pane has heard something.
    """

    panes: Mapping[int, Pane]
    worker: Worker
    guarded: Callable[[str, Callable[..., None]], Callable[..., None]]
    told: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    heard: Callable[[int], None] = attrs.field(default=lambda _: None, kw_only=True)
    _reading: _Reading | None = None
    _given_up: list[_Reading] = attrs.field(factory=list)
    _resting: dict[Path, _Rest] = attrs.field(factory=dict)
    _count: int = 0

    @property
    def is_reading(self) -> bool:
        """Whether something is being read: an answer may come any moment."""
        return self._reading is not None

    def ask_in_turn(self, often: Set[int], tick: int) -> None:
        """As `ask`: in every other tick for all panes, in the others for those of *often*, which do not rest."""
        panes = self.panes
        asked = {id_: panes[id_] for id_ in often & panes.keys()} if tick % 2 else panes
        self.ask({id_: pane for id_, pane in asked.items() if pane.has_files}, tick)

    def ask(self, panes: Mapping[int, Pane], tick: int = 0) -> None:
        """Have read what *panes* want at this *tick*, unless the last reading goes on; tell what was read by now."""
        now = self.clock()
        if self._reading is not None:
            self._reading.lent += 1
            if (hanging := self._reading.hanging(now)) is not None:
                self._give_up(self._reading, hanging, now)
        # While a reading goes on, nobody is asked: panes count how often their files were looked for in vain.
        wanted = {
            (id_, number): want
            for id_, pane in (panes.items() if self._reading is None else ())
            for number, want in enumerate(pane.requests(tick))
            if self._may_be_read(want, now)
        }
        if wanted and len(self._given_up) < MAX_GIVEN_UP:
            self._count += 1
            reading = _Reading(wanted, self._count)
            if self.worker.submit(
                JOB, lambda: reading.run(self.clock), lambda _: self._were_read(reading), number=reading.number
            ):
                self._reading = reading
        self.worker.lend()

    def _may_be_read(self, want: Request, now: float) -> bool:
        if not self._resting:
            return True  # a folder is not asked for in vain: that costs more than all else here
        rest = self._resting.get(want.folder)
        if rest is None or not rest.failures:
            return True
        return now >= rest.until and len(self._given_up) < MAX_GIVEN_UP - 1

    def _give_up(self, reading: _Reading, hanging: Request, now: float) -> None:
        """Go on without *reading*, with what it has found."""
        reading.is_given_up = True
        self._given_up.append(reading)
        self._reading = None
        folder = hanging.folder
        if folder not in self._resting:
            self.told(f"{JOB}: {folder} does not respond; they are read when it does")
            while len(self._resting) >= MAX_RESTING:
                del self._resting[next(iter(self._resting))]
        rest = self._resting.setdefault(folder, _Rest())
        rest.failures += 1
        rest.until = now + backoff(rest.failures)
        self.guarded(JOB, self._tell)(reading, dict(reading.found))

    def _were_read(self, reading: _Reading) -> None:
        for key in reading.found:
            if (rest := self._resting.get(reading.wanted[key].folder)) is not None:
                rest.until, rest.failures = 0.0, 0
        if reading is self._reading:
            self._reading = None
            self.guarded(JOB, self._tell)(reading, reading.found)
        else:
            # What it hung on answers again, but what it says may be long out of date.
            self._given_up.remove(reading)

    def _tell(self, reading: _Reading, found: dict[_Key, object]) -> None:
        now = self.clock()
        for key, what in found.items():
            if what is not None and (pane := self.panes.get(key[0])) is not None:
                pane.answered(reading.wanted[key], what, now)
                self.heard(key[0])
