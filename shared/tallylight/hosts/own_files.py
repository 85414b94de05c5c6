"""
Reads the agents' own files for a host on threads, and passes the contents to their panes. Nothing here waits.

Files on the same mounts are one group, with a thread of its own. A group hangs when, for example, a home is on a
network that is down. Its reading is then abandoned and its files are read less and less often; all other groups go on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import attrs

from tallylight.files.mounts import Mounts
from tallylight.hosts.jobs import backoff
from tallylight.model.jobs import Submit
from tallylight.pane.file_request import Request
from tallylight.pane.pane import Pane

#: A file hangs if it is not read after so many seconds, and after it was asked for so many times. Time alone is not
#: enough: the process may have been paused, or be busy.
READ_HANGS_S = 2.0
HANGS_ASKED = 40
#: Readings at a time, including abandoned ones that still run: in one group, and in all. One of them is kept for groups
#: that have responded before.
MAX_GIVEN_UP = 2
MAX_READINGS = 8
#: For so long, in seconds, a pane counts as waiting for a file that hangs: its agent may be gone after that.
WANTED_S = 60.0
#: Groups that are remembered.
MAX_MOUNT_GROUPS = 64
JOB = "agents' files"

Id = TypeVar("Id")
#: The mounts of a group.
Key = tuple[str, ...]


@attrs.define(eq=False)
class _Reading(Generic[Id]):
    """One reading of the files of the group *key*. Only `run` runs on a thread; the loop reads the fields meanwhile."""

    key: Key
    wanted: Sequence[tuple[Id, Request]]
    #: The contents read so far, in the order of *wanted*.
    found: list[object] = attrs.field(factory=list)
    #: Requests with files on other mounts, and those mounts; they were not read.
    elsewhere: list[tuple[Id, Request, Key]] = attrs.field(factory=list)
    #: When the current file was begun, and how often files were asked for since.
    since: float | None = None
    asked: int = 0
    is_given_up: bool = False

    def run(self, clock: Callable[[], float], mounts: Mounts) -> None:
        """
        Read the wanted files one after the other, until given up. Those that are found on other mounts are noted
        instead.
        """
        for id_, want in self.wanted:
            if self.is_given_up:
                return
            self.asked, self.since = 0, clock()
            key = tuple(sorted({mounts.behind(path) for path in want.paths}))
            if key != self.key:
                self.elsewhere.append((id_, want, key))
            self.found.append(want.read() if key == self.key else None)

    def is_hanging(self, now: float) -> bool:
        is_late = self.since is not None and now - self.since >= READ_HANGS_S and self.asked >= HANGS_ASKED
        return is_late and len(self.found) < len(self.wanted)


@attrs.define(eq=False)
class _Group(Generic[Id]):
    """The files on the same mounts: those that wait, the reading under way, and abandoned readings that still run."""

    waiting: list[tuple[Id, Request]] = attrs.field(factory=list)
    reading: _Reading[Id] | None = None
    given_up: list[_Reading[Id]] = attrs.field(factory=list)
    #: How often it hung in a row; nothing is read before monotonic *until*.
    failures: int = 0
    until: float = 0.0
    has_responded: bool = False

    @property
    def is_well(self) -> bool:
        return self.has_responded and not self.failures

    @property
    def is_idle(self) -> bool:
        return not (self.waiting or self.reading or self.given_up or self.failures)


@attrs.define
class FileReader(Generic[Id]):
    """
    Reads agents' files on threads, one group for each set of mounts.

    *read* gets the new contents for panes. *report* gets one line for each group that hangs.
    """

    submit: Submit
    read: Callable[[Sequence[tuple[Id, Request, object]]], None]
    report: Callable[[str], None]
    clock: Callable[[], float]
    mounts: Mounts = attrs.field(factory=Mounts)
    _groups: dict[Key, _Group[Id]] = attrs.field(factory=dict)
    #: Panes with a request for a group that hangs: which group, and when the pane last asked.
    _hanging: dict[Id, tuple[Key, float]] = attrs.field(factory=dict)
    #: Files known to lie on other mounts than their path suggests, and which.
    _elsewhere: dict[Path, Key] = attrs.field(factory=dict)
    _reported: set[Key] = attrs.field(factory=set)

    def hangs(self, id_: Id) -> str:
        """Return the mounts of a pane's files that do not respond, as text; empty if all do."""
        key, at = self._hanging.get(id_, ((), 0.0))
        if not key or self.clock() - at >= WANTED_S:
            return ""
        well = {mount for mount in key if (group := self._groups.get((mount,))) is not None and group.is_well}
        return ", ".join([mount for mount in key if mount not in well] or key)

    def forget(self, id_: Id) -> None:
        """Forget a pane that is gone."""
        self._hanging.pop(id_, None)

    def ask(self, panes: Mapping[Id, Pane]) -> set[Id]:
        """
        Start reading the files that *panes* request; return the panes that were asked for requests.

        A pane with a reading under way is not asked: panes count how often a file was not found.
        """
        now = self.clock()
        if self.mounts.refresh(now):
            self._elsewhere.clear()
        busy: set[Id] = set()
        for key, group in self._groups.items():
            if (reading := group.reading) is not None:
                reading.asked += 1
                if reading.is_hanging(now):
                    self._give_up(key, group, reading, now)
                else:
                    busy.update(id_ for id_, _ in reading.wanted)
            busy.update(id_ for id_, _ in group.waiting)
        asked = panes.keys() - busy
        for id_ in asked:
            for want in panes[id_].requests():
                path = want.paths[0]
                self._put(id_, want, self._elsewhere.get(path) or (self.mounts.of(path),), now)
        for key, group in list(self._groups.items()):
            self._start(key, group)
        return asked

    def _put(self, id_: Id, want: Request, key: Key, now: float) -> None:
        """Add *want* to the group *key*, unless that hangs."""
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= MAX_MOUNT_GROUPS:
                idle = [other for other, one in self._groups.items() if one.is_idle]
                if not idle:
                    return
                del self._groups[idle[0]]
            group = self._groups[key] = _Group()
        if group.failures:
            self._hanging[id_] = key, now
            if now < group.until or len(group.given_up) >= MAX_GIVEN_UP:
                return
        group.waiting.append((id_, want))

    def _start(self, key: Key, group: _Group[Id]) -> None:
        """Start reading what waits in *group*, unless it is being read already or too much hangs."""
        if group.reading is not None or not group.waiting:
            return
        going_on = sum(len(one.given_up) + (one.reading is not None) for one in self._groups.values())
        if going_on < (MAX_READINGS if group.is_well else MAX_READINGS - 1):
            reading = group.reading = _Reading(key, group.waiting)
            group.waiting = []
            done = functools.partial(self._were_read, reading)
            if not self.submit((JOB, id(reading)), lambda: reading.run(self.clock, self.mounts), done, done):
                group.reading = None

    def _give_up(self, key: Key, group: _Group[Id], reading: _Reading[Id], now: float) -> None:
        """Abandon *reading*: use what it has read, and read nothing else there for a while."""
        reading.is_given_up = True
        group.given_up.append(reading)
        group.failures += 1
        group.until = now + backoff(group.failures)
        left = [id_ for id_, _ in (*reading.wanted[len(reading.found) :], *group.waiting)]
        self._hanging |= dict.fromkeys(left, (key, now))
        group.waiting = []
        if key not in self._reported and len(self._reported) < MAX_MOUNT_GROUPS:
            self._reported.add(key)
            self.report(f"{JOB}: {self.hangs(left[0])} does not respond; they are read when it does")
        self._hand_over(group, reading)

    def _were_read(self, reading: _Reading[Id], _: object) -> None:
        group = self._groups[reading.key]
        group.failures, group.until = 0, 0.0
        if reading is not group.reading:
            # The disk responds again, but what was read may be long out of date.
            group.given_up.remove(reading)
            return
        group.has_responded = True
        for id_, _ in reading.wanted:
            if self._hanging.get(id_, ((), 0.0))[0] == reading.key:
                del self._hanging[id_]
        for id_, want, key in reading.elsewhere:
            self._elsewhere[want.paths[0]] = key
            self._put(id_, want, key, self.clock())
        self._hand_over(group, reading)

    def _hand_over(self, group: _Group[Id], reading: _Reading[Id]) -> None:
        group.reading = None
        both = zip(reading.wanted, list(reading.found), strict=False)
        self.read([(id_, want, found) for (id_, want), found in both if found is not None])
