"""
The agents' own files of a host: read by a worker, and passed to their panes once that is done. Nothing here waits.

What lies on the same mounts is read in one go, each of these by a thread of its own. Where one hangs (a home on a
network that is gone), that reading is dropped, what lies there is read less and less often, and all
else is read as before.
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

#: A file hangs that is not read after so many seconds and so many times that it was asked for: a process that was
#: stopped, or has much to do, is no disk that hangs.
READ_HANGS_S = 2.0
HANGS_ASKED = 40
#: Readings at a time, those included that were given up and go on nevertheless: of the same mounts, and of all. One of
#: all is kept for what has responded before.
MAX_GIVEN_UP = 2
MAX_READINGS = 8
#: For how long, in seconds, it counts that a pane has wanted what hangs: its agent may be gone by then.
WANTED_S = 60.0
#: Mounts, and sets of them, that are remembered.
MAX_GROUPS = 64
JOB = "agents' files"

Id = TypeVar("Id")
#: Mounts that are read together.
Key = tuple[str, ...]


@attrs.define(eq=False)
class _Reading(Generic[Id]):
    """One reading of what lies on *key*. `run` is the worker's; all else is looked at while that goes on."""

    key: Key
    wanted: Sequence[tuple[Id, Request]]
    #: What was read by now, in the order of what is wanted: the next one is being read.
    found: list[object] = attrs.field(factory=list)
    #: What turned out to lie elsewhere, and where; it was not read.
    elsewhere: list[tuple[Id, Request, Key]] = attrs.field(factory=list)
    #: Since when that is, if it has begun, and how often was asked since.
    since: float | None = None
    asked: int = 0
    is_given_up: bool = False

    def run(self, clock: Callable[[], float], mounts: Mounts) -> None:
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
    """What lies on the same mounts: what of it waits to be read, is being read, or was given up and goes on."""

    waiting: list[tuple[Id, Request]] = attrs.field(factory=list)
    reading: _Reading[Id] | None = None
    given_up: list[_Reading[Id]] = attrs.field(factory=list)
    #: How often it did not respond, in a row; it is left alone until monotonic *until*.
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
    *read* is given what was read for a pane that is new, *told* is called once for everything that hangs.
    """

    submit: Submit
    read: Callable[[Sequence[tuple[Id, Request, object]]], None]
    told: Callable[[str], None]
    clock: Callable[[], float]
    mounts: Mounts = attrs.field(factory=Mounts)
    _groups: dict[Key, _Group[Id]] = attrs.field(factory=dict)
    #: The panes that wanted something that cannot be read: where that lies, and when they last did.
    _hanging: dict[Id, tuple[Key, float]] = attrs.field(factory=dict)
    #: What is known to lie elsewhere than the words of its first path say, and where.
    _elsewhere: dict[Path, Key] = attrs.field(factory=dict)
    _reported: set[Key] = attrs.field(factory=set)

    def hangs(self, id_: Id) -> str:
        """Where the files of a pane's agent lie, if that does not respond; else nothing."""
        key, at = self._hanging.get(id_, ((), 0.0))
        if not key or self.clock() - at >= WANTED_S:
            return ""
        well = {mount for mount in key if (group := self._groups.get((mount,))) is not None and group.is_well}
        return ", ".join([mount for mount in key if mount not in well] or key)

    def forget(self, id_: Id) -> None:
        """The pane is gone."""
        self._hanging.pop(id_, None)

    def ask(self, panes: Mapping[Id, Pane]) -> set[Id]:
        """
        Have read what *panes* want; which of them were asked.

        A pane with a reading under way is not asked: panes count how often their files were looked for in vain.
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
        """Have *want* read with what else lies on *key*, unless that hangs."""
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= MAX_GROUPS:
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
        """Read what waits of *group*, if nothing of it is being read, and not too much hangs."""
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
        """Go on without *reading*, with what it has found; nothing else is read there for a while."""
        reading.is_given_up = True
        group.given_up.append(reading)
        group.failures += 1
        group.until = now + backoff(group.failures)
        left = [id_ for id_, _ in (*reading.wanted[len(reading.found) :], *group.waiting)]
        self._hanging |= dict.fromkeys(left, (key, now))
        group.waiting = []
        if key not in self._reported and len(self._reported) < MAX_GROUPS:
            self._reported.add(key)
            self.told(f"{JOB}: {self.hangs(left[0])} does not respond; they are read when it does")
        self._hand_over(group, reading)

    def _were_read(self, reading: _Reading[Id], _: object) -> None:
        group = self._groups[reading.key]
        group.failures, group.until = 0, 0.0
        if reading is not group.reading:
            # What it hung on answers again, but what it says may be long out of date.
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
