"""The reader of a fleet: the panes of all machines, from the broker, and marks for them."""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Iterator

from tallylight.config.fleet import Fleet
from tallylight.model.errors import TallyError
from tallylight.parts.remote.broker import DRAIN_S, Link, machine_name
from tallylight.parts.remote.mirror import MAX_FLEET_MACHINES, Mirror
from tallylight.parts.remote.topics import Mark, encode_mark, names_of, topic
from tallylight.snapshot.elsewhere import harmless
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.ui.layout import clean
from tallylight.wire.values import digits

#: A level that no machine has: a message there shows a subscriber that it has received everything.
SYNC = ".sync"
#: Seconds without a message after which everything counts as received: the machines, and one machine's panes.
ALL_RECEIVED_S, PANES_QUIET_S = 1.0, 0.1
#: The most machines that are asked for panes during one connection.
MAX_ASKED = 2 * MAX_FLEET_MACHINES
#: Seconds that it waits for an answer while the broker sends its store.
STORE_ANSWER_S = 0.005


class Subscriber:
    """
    The panes of all machines of *fleet*, from the broker; a `feed.Hosts` with hosts named `machine/kitty-4711`.

    Argument lists and keys are left out: another machine's text is shown here, but never run or typed.

    A broker queues only so many messages for a client (mosquitto: 1000) and drops the others. So machines are asked for
    first, and then the panes of one machine after the other.
    """

    def __init__(self, fleet: Fleet) -> None:
        self.mirror = Mirror(fleet.prefix)
        self.link = Link(fleet, subscribe=f"{fleet.prefix}/+/machine", take=self._take, changed=self._changed, qos=0)
        #: Whether everything in the broker's store has arrived.
        self.is_complete = False
        self._mark = f"{fleet.prefix}/{SYNC}/{uuid.uuid4().hex}"
        self._is_changed = False
        self._received_at: float | None = None
        #: The machines that were asked for panes, those still to ask, and the number of requests so far.
        self._asked: set[str] = set()
        self._waiting: deque[str] = deque()
        self._steps = 0
        self._is_busy = False
        #: The snapshots of every host of every machine, while the broker is connected.
        self.snapshots: tuple[Snapshot, ...] = ()
        self._by_machine: dict[str, tuple[Snapshot, ...]] = {}

    @property
    def others(self) -> tuple[Snapshot, ...]:
        """The snapshots without the hosts of this machine, which writes its own."""
        own = f"{machine_name(self.link.fleet)}/"
        return tuple(found for found in self.snapshots if not found.host.startswith(own))

    @property
    def problem(self) -> str:
        """Why the broker cannot be reached; empty while it can."""
        return "" if self.link.is_up else f"the broker {self.link.standing}"

    def poll(self, now: float) -> bool:
        """Read the broker's messages at monotonic *now*; return whether anything has changed."""
        if not self.step(now, 0.0):
            return False
        if self.is_complete:
            for machine in self.mirror.changed:
                if shown := tuple(self._snapshots(machine)):
                    self._by_machine[machine] = shown
                else:
                    self._by_machine.pop(machine, None)
            self.mirror.changed.clear()
        elif not self.link.is_up:
            self.mirror.changed |= self._by_machine.keys()
            self._by_machine.clear()
        before = self.snapshots
        self.snapshots = tuple(found for name in sorted(self._by_machine) for found in self._by_machine[name])
        return self.snapshots != before

    def descriptors(self) -> None:
        """Return None: the broker's client has no descriptor to wait for."""

    def _snapshots(self, machine: str) -> Iterator[Snapshot]:
        """Return the hosts of one machine."""
        panes: dict[str, list[Pane]] = {}
        for host, pane in self.mirror.panes_of(machine):
            panes.setdefault(f"{machine}/{host}", []).append(harmless(pane))
        for name, shown in sorted(panes.items()):
            host, _, pid = name.rpartition("-")
            number = digits(pid, 10)
            yield Snapshot(host=host if number else name, pid=number, started=0.0, written=0.0, panes=tuple(shown))

    def ask(self, host: str, pane: Pane, verb: str, minutes: float | None) -> None:
        """Ask for a mark of *pane* as it is shown; raise `TallyError` if its machine accepts none."""
        machine, _, there = host.rpartition("/")
        presence, _ = self.mirror.there.get(machine, (None, None))
        if presence is None or not presence.marks:
            raise TallyError(
                f"{clean(machine, 40)} takes no marks: `marks = true` in [fleet] of its configuration allows them"
            )
        self.mark(machine, there, pane.id, Mark(verb, pane.status, pane.since, minutes))

    def mark(self, machine: str, host: str, pane: str, mark: Mark) -> None:
        """Ask for *mark* of a pane. The machine's later reports show the result."""
        place = topic(self.link.fleet.prefix, machine, "mark", host, pane)
        self.link.send(place, encode_mark(mark), is_kept=False)

    def notes(self) -> list[str]:
        """Return the reasons why panes are missing, for a person."""
        notes = []
        for name, (presence, panes) in self.mirror.there.items():
            if panes.is_cut:
                notes.append(f"{name} has too many panes; some are left out")
            if presence.namesake:
                remedy = "rename it with `machine` in its [fleet]"
                notes.append(f"another machine also uses the name {name}, and is not shown; {remedy}")
        if self.mirror.is_full or len(self._asked) >= MAX_ASKED:
            notes.append(f"there are more machines than {MAX_FLEET_MACHINES}; the others are left out")
        denied = sorted(self.link.denied - {self._mark})
        return notes + [f"the broker does not let this machine read {filter_}" for filter_ in denied]

    def step(self, now: float, timeout: float) -> bool:
        """Read messages, for at most *timeout* seconds; return whether the visible state may have changed."""
        self._is_changed = False
        end = time.monotonic() + DRAIN_S
        self.link.step(now, timeout)
        while self._is_busy and self.link.is_up and time.monotonic() < end:
            self.link.hurry()
            self.link.step(now, STORE_ANSWER_S)
        if self._is_changed or self._received_at is None:
            self._received_at = now
        # A reader that may not write never receives its own message.
        if (
            self.link.is_up
            and self._is_busy
            and now - self._received_at > (PANES_QUIET_S if self._asked else ALL_RECEIVED_S)
        ):
            self._received_at = now
            self._go_on()
        return self._is_changed

    def _take(self, place: str, payload: bytes, _is_stored: bool) -> None:
        """Apply a message to the mirror; one of our own shows that everything before has arrived."""
        if place == self._mark:
            if payload == str(self._steps).encode():
                self._go_on()
        elif self.mirror.take(place, payload):
            self._is_changed = True
            machine, kind, *_ = names_of(place, self.link.fleet.prefix)
            if kind == "machine" and machine not in self._asked and len(self._asked) < MAX_ASKED:
                self._asked.add(machine)
                self._waiting.append(machine)
                if not self._is_busy:
                    self._go_on()

    def _go_on(self) -> None:
        """Ask for the next machine's panes: all replies have arrived."""
        self._is_changed = True
        self._is_busy = bool(self._waiting)
        if self._is_busy:
            self._ask(f"{topic(self.link.fleet.prefix, self._waiting.popleft(), 'pane')}/#")
        else:
            self.is_complete = True

    def _ask(self, filter_: str) -> None:
        """Subscribe to *filter_*, and send ourselves a message that arrives after its store."""
        self._steps += 1
        self._is_busy = True
        self.link.listen(filter_)
        # The broker answers in order: after the subscription with its store, then with this.
        self.link.send(self._mark, str(self._steps).encode(), is_kept=False)

    def _changed(self, is_up: bool) -> None:
        """Begin again once the link is up: forget the old panes, and ask for the machines."""
        self._is_changed = True
        self.is_complete = False
        if is_up:
            # A broker that lost its store must not leave us with old panes.
            self.mirror.clear()
            self._received_at = None
            self._asked.clear()
            self._waiting.clear()
            self._ask(self._mark)
