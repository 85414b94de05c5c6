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

from tallylight.remote.panes import Key, Panes, Row
from tallylight.remote.topics import Presence, decode_pane, decode_presence, names_of
from tallylight.snapshot.schema import Pane

MAX_MACHINES = 512
#: Of one machine: panes, and bytes of what was told of them.
MAX_PANES, MAX_MACHINE_BYTES = 1000, 4 << 20
#: Of all machines together.
MAX_ALL_PANES, MAX_ALL_BYTES = 25_000, 48 << 20


@attrs.define
class Machine:
    """One machine. *online* None: it has shown panes, but has not said yet whether it is there."""

    presence: Presence | None = None
    told: Panes = attrs.field(factory=lambda: Panes(MAX_PANES, MAX_MACHINE_BYTES))


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
        name, kind, *place = names_of(topic, self._prefix) or ("", "")
        if kind not in ("machine", "pane"):
            return False
        if name not in self._machines and len(self._machines) >= MAX_MACHINES:
            self.is_full = True
            return False
        machine = self._machines.setdefault(name, Machine())
        if kind == "pane":
            is_changed = self._take_pane(machine, (place[0], place[1]), payload)
        else:
            is_changed = self._take_presence(machine, payload)
        if machine.presence is None and not machine.told.rows:
            del self._machines[name]
        if is_changed:
            self.changed.add(name)
        return is_changed

    def clear(self) -> None:
        """Forget everything."""
        self.changed |= self._machines.keys()
        self._machines.clear()
        self._rows = self._size = 0
        self.is_full = False

    @staticmethod
    def _take_presence(machine: Machine, payload: bytes) -> bool:
        presence, before = decode_presence(payload), machine.presence
        if payload and presence is None:
            return False
        # Word that another life has ended says nothing of this one.
        if presence is None or presence.online or before is None or not before.online or presence.life == before.life:
            machine.presence = presence
        return machine.presence != before

    def _take_pane(self, machine: Machine, key: Key, payload: bytes) -> bool:
        said = decode_pane(payload, key[0])
        if payload and (said is None or said.pane.id != key[1]):
            return False
        told = machine.told
        rows, size, before = len(told.rows), told.size, told.rows.get(key)
        if said is None:
            is_new = told.drop(key)
        else:
            is_new = told.put(key, Row(said.pane, len(payload) + len(key[0]) + len(key[1]), said.life))
        self._rows, self._size = self._rows + len(told.rows) - rows, self._size + told.size - size
        # Where there is too much of all machines, that is at the cost of the one that takes most of it.
        while self._rows > MAX_ALL_PANES or self._size > MAX_ALL_BYTES:
            by_rows = self._rows > MAX_ALL_PANES
            name, most = max(
                self._machines.items(), key=lambda item: len(item[1].told.rows) if by_rows else item[1].told.size
            )
            last, row = next(reversed(most.told.rows.items()))
            most.told.drop(last)
            most.told.is_cut = True
            self._rows, self._size = self._rows - 1, self._size - row.size
            self.changed.add(name)
        return is_new and (key in told.rows or before is not None)

    def _there(self) -> Iterator[tuple[str, Machine, Presence]]:
        for name, machine in sorted(self._machines.items()):
            if machine.presence is not None and machine.presence.online:
                yield name, machine, machine.presence

    @property
    def known(self) -> dict[str, bool]:
        """Every machine, and whether it is there; first those that are."""
        found = {name: one.presence.online for name, one in sorted(self._machines.items()) if one.presence is not None}
        return dict(sorted(found.items(), key=lambda item: not item[1]))

    @property
    def cut(self) -> tuple[str, ...]:
        """The machines that are there and of which panes were left out."""
        return tuple(name for name, machine, _ in self._there() if machine.told.is_cut)

    @property
    def namesakes(self) -> tuple[str, ...]:
        """The machines that are there and say that another one of their name is, too."""
        return tuple(name for name, _, presence in self._there() if presence.namesake)

    def takes_marks(self, machine: str) -> bool:
        """Whether *machine* is there and takes marks."""
        return any(name == machine and presence.marks for name, _, presence in self._there())

    def panes_of(self, machine: str) -> Iterator[tuple[str, Pane]]:
        """Host and pane of all that the present life of *machine* shows, if it is there."""
        found = self._machines.get(machine)
        if found is not None and found.presence is not None and found.presence.online:
            for (host, _), row in sorted(found.told.rows.items()):
                if row.life == found.presence.life:
                    yield host, row.pane

    def panes(self) -> Iterator[tuple[str, str, Pane]]:
        """Machine, host and pane, of every machine that is there."""
        for name in sorted(self._machines):
            for host, pane in self.panes_of(name):
                yield name, host, pane
