"""
The mirror: a copy of a broker's reports about all machines.

It takes retained messages, in any order, and returns the panes of machines that are online. The panes of an offline
machine are kept but not shown: they have no host. So are panes of another life than the machine's present one: of
another machine with its name, or from before its restart.

Everything is limited, and shared fairly: when it is full, the machine with most panes loses one. So a machine that
sends too much loses its own panes, and `Panes.is_cut` shows that.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from tallylight.parts.remote.panes import Key, Panes, Row
from tallylight.parts.remote.topics import Presence, decode_pane, decode_presence, names_of
from tallylight.snapshot.schema import Pane

MAX_FLEET_MACHINES = 512
#: Limits of one machine: panes, and their bytes.
MAX_MACHINE_PANES, MAX_MACHINE_BYTES = 1000, 4 << 20
#: Limits of all machines together.
MAX_ALL_PANES, MAX_ALL_BYTES = 25_000, 48 << 20


@attrs.define
class Machine:
    """One machine. *presence* is None: it has sent panes, but not yet whether it is online."""

    presence: Presence | None = None
    panes: Panes = attrs.field(factory=lambda: Panes(MAX_MACHINE_PANES, MAX_MACHINE_BYTES))


@attrs.define
class Mirror:
    """Every machine below *prefix*."""

    _prefix: str
    _machines: dict[str, Machine] = attrs.field(init=False, factory=dict)
    _rows: int = attrs.field(init=False, default=0)
    _size: int = attrs.field(init=False, default=0)
    #: Whether there were more machines than `MAX_FLEET_MACHINES`.
    is_full: bool = attrs.field(init=False, default=False)
    #: The machines with changes; the code that handles them empties it.
    changed: set[str] = attrs.field(init=False, factory=set)

    def take(self, topic: str, payload: bytes) -> bool:
        """Read one message; return whether the visible state may have changed."""
        name, kind, *place = names_of(topic, self._prefix) or ("", "")
        if kind not in ("machine", "pane"):
            return False
        if name not in self._machines and len(self._machines) >= MAX_FLEET_MACHINES:
            self.is_full = True
            return False
        machine = self._machines.setdefault(name, Machine())
        if kind == "pane":
            is_changed = self._take_pane(machine, (place[0], place[1]), payload)
        else:
            is_changed = self._take_presence(machine, payload)
        if machine.presence is None and not machine.panes.rows:
            del self._machines[name]
        if is_changed:
            self.changed.add(name)
        return is_changed

    def clear(self) -> None:
        self.changed |= self._machines.keys()
        self._machines.clear()
        self._rows = self._size = 0
        self.is_full = False

    @staticmethod
    def _take_presence(machine: Machine, payload: bytes) -> bool:
        """Apply whether *machine* is online; return whether that changed anything."""
        presence, before = decode_presence(payload), machine.presence
        if payload and presence is None:
            return False
        # The end of another life does not concern this one.
        if presence is None or presence.online or before is None or not before.online or presence.life == before.life:
            machine.presence = presence
        return machine.presence != before

    def _take_pane(self, machine: Machine, key: Key, payload: bytes) -> bool:
        """Apply a pane of *machine*, an empty payload removes it; return whether that changed anything."""
        message = decode_pane(payload, key[0])
        if payload and (message is None or message.pane.id != key[1]):
            return False
        panes = machine.panes
        rows, size, before = len(panes.rows), panes.size, panes.rows.get(key)
        if message is None:
            is_new = panes.drop(key)
        else:
            is_new = panes.put(key, Row(message.pane, len(payload) + len(key[0]) + len(key[1]), message.life))
        self._rows, self._size = self._rows + len(panes.rows) - rows, self._size + panes.size - size
        # Where all machines together have too much, the one with most loses panes.
        while self._rows > MAX_ALL_PANES or self._size > MAX_ALL_BYTES:
            by_rows = self._rows > MAX_ALL_PANES
            name, most = max(
                self._machines.items(), key=lambda item: len(item[1].panes.rows) if by_rows else item[1].panes.size
            )
            last, row = next(reversed(most.panes.rows.items()))
            most.panes.drop(last)
            most.panes.is_cut = True
            self._rows, self._size = self._rows - 1, self._size - row.size
            self.changed.add(name)
        return is_new and (key in panes.rows or before is not None)

    @property
    def known(self) -> dict[str, bool]:
        """Every machine, and whether it is online; the online ones first."""
        found = {name: one.presence.online for name, one in sorted(self._machines.items()) if one.presence is not None}
        return dict(sorted(found.items(), key=lambda item: not item[1]))

    @property
    def there(self) -> dict[str, tuple[Presence, Panes]]:
        """The machines that are online, in order: their presence, and their panes."""
        known = ((name, one.presence, one.panes) for name, one in sorted(self._machines.items()))
        return {name: (presence, panes) for name, presence, panes in known if presence is not None and presence.online}

    def panes_of(self, machine: str) -> Iterator[tuple[str, Pane]]:
        """Return the host and the pane of all panes in the present life of *machine*; none if it is offline."""
        found = self._machines.get(machine)
        if found is not None and found.presence is not None and found.presence.online:
            for (host, _), row in sorted(found.panes.rows.items()):
                if row.life == found.presence.life:
                    yield host, row.pane

    def panes(self) -> Iterator[tuple[str, str, Pane]]:
        """Return the machine, host and pane of every machine that is online."""
        for name in sorted(self._machines):
            for host, pane in self.panes_of(name):
                yield name, host, pane
