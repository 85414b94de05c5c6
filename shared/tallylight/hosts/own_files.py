"""
The agents' own files of a host: read by a worker, and told to their panes once that is done. Nothing here waits.

All are read in one go. Where one hangs (a home on a network that is gone), that reading is given up, its directory is
left alone for longer and longer times, and the other panes' files are read by another thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import attrs

from tallylight.hosts.jobs import Submit, backoff
from tallylight.pane.file_request import Request
from tallylight.pane.pane import Pane

#: A file hangs that is not read after so many seconds and so many times that it was asked for: a process that was
#: stopped, or has much to do, is no disk that hangs.
HANGS_S = 2.0
HANGS_ASKED = 40
#: Readings that are given up and go on nevertheless, at most. One is kept for what has not hung before.
MAX_GIVEN_UP = 3
#: Directories that are remembered for hanging.
MAX_RESTING = 64
JOB = "agents' files"

Id = TypeVar("Id")


@attrs.define(eq=False)
class _Reading(Generic[Id]):
    """One reading of the files of many panes. `run` is the worker's; all else is looked at while that goes on."""

    wanted: Sequence[tuple[Id, Request]]
    #: What was read by now, in the order of what is wanted: the next one is being read.
    found: list[object] = attrs.field(factory=list)
    #: Since when that is, if it has begun, and how often was asked since.
    since: float | None = None
    asked: int = 0
    is_given_up: bool = False

    def run(self, clock: Callable[[], float]) -> None:
        for _, want in self.wanted:
            if self.is_given_up:
                return
            self.asked, self.since = 0, clock()
            self.found.append(want.read())

    def hanging(self, now: float) -> Request | None:
        """What this reading hangs on, if it does."""
        is_late = self.since is not None and now - self.since >= HANGS_S and self.asked >= HANGS_ASKED
        return self.wanted[len(self.found)][1] if is_late and len(self.found) < len(self.wanted) else None


@attrs.define
class _Rest:
    """A directory whose disk did not answer, *failures* times in a row: left alone until monotonic *until*."""

    until: float = 0.0
    failures: int = 0


@attrs.define
class FileReader(Generic[Id]):
    """
    *read* is given what was read for a pane that is new, *told* told once of every directory that hangs.
    """

    submit: Submit
    read: Callable[[Sequence[tuple[Id, Request, object]]], None]
    told: Callable[[str], None]
    clock: Callable[[], float]
    _reading: _Reading[Id] | None = None
    _given_up: list[_Reading[Id]] = attrs.field(factory=list)
    _resting: dict[Path, _Rest] = attrs.field(factory=dict)

    @property
    def is_reading(self) -> bool:
        """Whether something is being read: an answer may come any moment."""
        return self._reading is not None

    def ask(self, panes: Mapping[Id, Pane]) -> bool:
        """Have read what *panes* want; False, and nothing is done, while the last reading goes on."""
        now = self.clock()
        if self._reading is not None:
            self._reading.asked += 1
            if (hanging := self._reading.hanging(now)) is None:
                return False  # nobody is asked meanwhile: panes count how often their files were looked for in vain
            self._give_up(self._reading, hanging, now)
        wanted = [(id_, want) for id_, pane in panes.items() for want in pane.requests() if self._may(want, now)]
        if wanted and len(self._given_up) < MAX_GIVEN_UP:
            reading = _Reading(wanted)
            if self.submit((JOB, id(reading)), lambda: reading.run(self.clock), lambda _: self._were_read(reading)):
                self._reading = reading
        return True

    def _may(self, want: Request, now: float) -> bool:
        """Whether it may be read: its directory does not hang."""
        if not self._resting:
            return True  # a folder is not asked for in vain: that costs more than all else here
        rest = self._resting.get(want.folder)
        if rest is None or not rest.failures:
            return True
        return now >= rest.until and len(self._given_up) < MAX_GIVEN_UP - 1

    def _give_up(self, reading: _Reading[Id], hanging: Request, now: float) -> None:
        """Go on without *reading*, with what it has found."""
        reading.is_given_up = True
        self._given_up.append(reading)
        folder = hanging.folder
        if folder not in self._resting:
            self.told(f"{JOB}: {folder} does not respond; they are read when it does")
            while len(self._resting) >= MAX_RESTING:
                del self._resting[next(iter(self._resting))]
        rest = self._resting.setdefault(folder, _Rest())
        rest.failures += 1
        rest.until = now + backoff(rest.failures)
        self._tell(reading)

    def _were_read(self, reading: _Reading[Id]) -> None:
        for (_, want), _ in zip(reading.wanted, reading.found, strict=False):
            if (rest := self._resting.get(want.folder)) is not None:
                rest.until, rest.failures = 0.0, 0
        if reading is self._reading:
            self._tell(reading)
        else:
            # What it hung on answers again, but what it says may be long out of date.
            self._given_up.remove(reading)

    def _tell(self, reading: _Reading[Id]) -> None:
        self._reading = None
        both = zip(reading.wanted, list(reading.found), strict=False)
        self.read([(id_, want, found) for (id_, want), found in both if found is not None])
