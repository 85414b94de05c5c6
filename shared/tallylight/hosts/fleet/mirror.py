"""
The mirror: what a broker has told of all machines.

Retained messages go in, in any order; the panes of the machines that are there come out. Of a machine that is gone its
panes are kept but not shown: no host stands behind them. All of it is bounded, whatever a broker sends.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from tallylight.hosts.fleet.messages import MachineTopic, PaneTopic, decode_pane, decode_presence, decode_topic
from tallylight.snapshot.schema import Pane

MAX_MACHINES = 256
#: Of one machine.
MAX_PANES = 1000


@attrs.define
class Machine:
    """One machine. *online* None: it has shown panes, but has not said yet whether it is there."""

    online: bool | None = None
    #: By host and pane.
    panes: dict[tuple[str, str], Pane] = attrs.field(factory=dict)


class Mirror:
    """Every machine below *prefix*."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._machines: dict[str, Machine] = {}

    def take(self, topic: str, payload: bytes) -> bool:
        """Take in one message; tell whether what is shown may have changed by it."""
        place = decode_topic(topic, self._prefix)
        if place is None or (place.machine not in self._machines and len(self._machines) >= MAX_MACHINES):
            return False
        machine = self._machines.setdefault(place.machine, Machine())
        before = machine.online
        if isinstance(place, MachineTopic):
            presence = decode_presence(payload) if payload else None
            if payload and presence is None:
                return False
            machine.online = presence.online if presence is not None else None
            changed = machine.online is not before
        else:
            changed = self._take_pane(machine, place, payload)
        if machine.online is None and not machine.panes:
            del self._machines[place.machine]
        return changed

    def clear(self) -> None:
        """Forget everything."""
        self._machines.clear()

    def _take_pane(self, machine: Machine, place: PaneTopic, payload: bytes) -> bool:
        key = (place.host, place.pane)
        pane = decode_pane(payload) if payload else None
        if payload and (pane is None or pane.id != place.pane):
            return False
        if pane is None:
            return machine.panes.pop(key, None) is not None
        if key not in machine.panes and len(machine.panes) >= MAX_PANES:
            return False
        changed = machine.panes.get(key) != pane
        machine.panes[key] = pane
        return changed

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that are there."""
        return tuple(sorted(name for name, machine in self._machines.items() if machine.online))

    @property
    def gone(self) -> tuple[str, ...]:
        """The machines that were there and are not now."""
        return tuple(sorted(name for name, machine in self._machines.items() if machine.online is False))

    def panes(self) -> Iterator[tuple[str, str, Pane]]:
        """Machine, host and pane, of every machine that is there."""
        for name in self.machines:
            for (host, _), pane in sorted(self._machines[name].panes.items()):
                yield name, host, pane
