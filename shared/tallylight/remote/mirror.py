"""
The mirror: what a broker has told of all machines.

Retained messages go in, in any order; the panes of the machines that are there come out. Of a machine that is gone its
panes are kept but not shown: no host stands behind them. So are panes of another life than the machine's present one:
those of another machine of the same name, or of before it was started anew.

All of it is bounded, whatever a broker sends, and shared fairly: where it is full, the machine that has most of it
loses a pane. So one that says too much costs panes of its own, and `cut` tells which.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from tallylight.remote.topics import (
    MachineTopic,
    MarkTopic,
    PaneTopic,
    decode_pane,
    decode_presence,
    decode_topic,
)
from tallylight.snapshot.schema import Pane

MAX_MACHINES = 512
#: Of one machine: panes, and bytes of what was told of them.
MAX_PANES, MAX_MACHINE_BYTES = 1000, 4 << 20
#: Of all machines together.
MAX_ALL_PANES, MAX_ALL_BYTES = 25_000, 48 << 20


@attrs.frozen
class _Row:
    pane: Pane
    life: str
    size: int


@attrs.define
class Machine:
    """One machine. *online* None: it has shown panes, but has not said yet whether it is there."""

    online: bool | None = None
    life: str = ""
    #: Whether it takes marks; whether another machine of its name is there; whether panes of it were left out.
    marks: bool = False
    namesake: bool = False
    is_cut: bool = False
    #: By host and pane, and the bytes of all that was told of them.
    rows: dict[tuple[str, str], _Row] = attrs.field(factory=dict)
    size: int = 0

    def panes(self) -> Iterator[tuple[str, Pane]]:
        """Host and pane of all that its present life shows."""
        for (host, _), row in sorted(self.rows.items()):
            if row.life == self.life:
                yield host, row.pane


class Mirror:
    """Every machine below *prefix*."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._machines: dict[str, Machine] = {}
        self._rows = self._size = 0
        #: Whether there were more machines than `MAX_MACHINES`.
        self.is_full = False
        #: The machines of which something has changed; who has seen to them empties it.
        self.changed: set[str] = set()

    def take(self, topic: str, payload: bytes) -> bool:
        """Take in one message; tell whether what is shown may have changed by it."""
        place = decode_topic(topic, self._prefix)
        if place is None or isinstance(place, MarkTopic):
            return False
        if place.machine not in self._machines and len(self._machines) >= MAX_MACHINES:
            self.is_full = True
            return False
        machine = self._machines.setdefault(place.machine, Machine())
        if isinstance(place, MachineTopic):
            is_changed = self._take_presence(machine, payload)
        else:
            is_changed = self._take_pane(machine, place, payload)
        if machine.online is None and not machine.rows:
            del self._machines[place.machine]
        if is_changed:
            self.changed.add(place.machine)
        return is_changed

    def clear(self) -> None:
        """Forget everything."""
        self.changed |= self._machines.keys()
        self._machines.clear()
        self._rows = self._size = 0
        self.is_full = False

    @staticmethod
    def _take_presence(machine: Machine, payload: bytes) -> bool:
        presence = decode_presence(payload) if payload else None
        if payload and presence is None:
            return False
        before = machine.online, machine.life, machine.marks, machine.namesake
        if presence is None:
            machine.online, machine.marks, machine.namesake = None, False, False
        elif presence.online or presence.life == machine.life or not machine.online:
            # Word that another life has ended says nothing of this one.
            machine.online, machine.life = presence.online, presence.life
            machine.marks, machine.namesake = presence.marks, presence.namesake
        return before != (machine.online, machine.life, machine.marks, machine.namesake)

    def _take_pane(self, machine: Machine, place: PaneTopic, payload: bytes) -> bool:
        key = (place.host, place.pane)
        told = decode_pane(payload) if payload else None
        if payload and (told is None or told.pane.id != place.pane):
            return False
        before = machine.rows.get(key)
        if before is not None:
            self._drop(machine, key)
        if told is None:
            return before is not None
        row = _Row(told.pane, told.life, len(payload) + len(place.host) + len(place.pane))
        if len(machine.rows) >= MAX_PANES or machine.size + row.size > MAX_MACHINE_BYTES:
            machine.is_cut = True
            return before is not None
        self._add(machine, key, row)
        return self._is_kept(machine, key) and (before is None or (before.pane, before.life) != (row.pane, row.life))

    def _is_kept(self, machine: Machine, key: tuple[str, str]) -> bool:
        """Whether what *machine* has just added at *key* stays, after room was made where there is too little."""
        while self._rows > MAX_ALL_PANES or self._size > MAX_ALL_BYTES:
            by_rows = self._rows > MAX_ALL_PANES
            name, most = max(self._machines.items(), key=lambda item: len(item[1].rows) if by_rows else item[1].size)
            most.is_cut = True
            self.changed.add(name)
            self._drop(most, next(reversed(most.rows)))
        return key in machine.rows

    def _add(self, machine: Machine, key: tuple[str, str], row: _Row) -> None:
        machine.rows[key] = row
        machine.size += row.size
        self._rows, self._size = self._rows + 1, self._size + row.size

    def _drop(self, machine: Machine, key: tuple[str, str]) -> None:
        size = machine.rows.pop(key).size
        machine.size -= size
        self._rows, self._size = self._rows - 1, self._size - size

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that are there."""
        return tuple(sorted(name for name, machine in self._machines.items() if machine.online))

    @property
    def gone(self) -> tuple[str, ...]:
        """The machines that were there and are not now."""
        return tuple(sorted(name for name, machine in self._machines.items() if machine.online is False))

    @property
    def cut(self) -> tuple[str, ...]:
        """The machines that are there and of which panes were left out."""
        return tuple(name for name in self.machines if self._machines[name].is_cut)

    @property
    def namesakes(self) -> tuple[str, ...]:
        """The machines that are there and say that another one of their name is, too."""
        return tuple(name for name in self.machines if self._machines[name].namesake)

    def takes_marks(self, machine: str) -> bool:
        """Whether *machine* is there and takes marks."""
        found = self._machines.get(machine)
        return found is not None and bool(found.online) and found.marks

    def panes_of(self, machine: str) -> Iterator[tuple[str, Pane]]:
        """Host and pane of all that *machine* shows, if it is there."""
        found = self._machines.get(machine)
        return found.panes() if found is not None and found.online else iter(())

    def panes(self) -> Iterator[tuple[str, str, Pane]]:
        """Machine, host and pane, of every machine that is there."""
        for name in self.machines:
            for host, pane in self.panes_of(name):
                yield name, host, pane
