"""
The outbox: what a broker has yet to be told of this machine.

Only the last state of a pane counts. While the broker is away nothing piles up; when it returns, everything that is
true now is sent, and what it still holds of panes that have gone meanwhile is taken back. Memory grows with the panes,
never with time.
"""

from __future__ import annotations

from collections.abc import Iterable

from tallylight.hosts.fleet.messages import MachineTopic, Message, PaneTopic, decode_topic, encode_pane
from tallylight.snapshot.schema import Snapshot

#: Messages handed out and not acknowledged, at most.
MAX_UNACKNOWLEDGED = 64
#: Topics of a former life that are taken back, at most.
MAX_TOPICS = 10_000


class Outbox:
    """The state of *machine* below *prefix*."""

    def __init__(self, prefix: str, machine: str) -> None:
        self._prefix = prefix
        self._machine = machine
        self._wanted: dict[str, bytes] = {}
        #: What the broker holds, as far as it has said; while it is away, nothing is known.
        self._held: dict[str, bytes] = {}
        self._sent: dict[str, bytes] = {}

    def show(self, snapshots: Iterable[Snapshot], presence: bytes) -> None:
        """Take what this machine shows now, and the *presence* it is to have."""
        self._wanted = {MachineTopic(self._machine).encode(self._prefix): presence}
        for host in snapshots:
            for pane in host.panes:
                topic = PaneTopic(self._machine, host.name, pane.id).encode(self._prefix)
                self._wanted[topic] = encode_pane(pane)

    def found(self, topic: str, payload: bytes) -> None:
        """The broker says that it holds *payload* under *topic*."""
        place = decode_topic(topic, self._prefix)
        if place is None or place.machine != self._machine:
            return
        if payload and (topic in self._held or len(self._held) < MAX_TOPICS):
            self._held[topic] = payload
        elif not payload:
            self._held.pop(topic, None)

    def take(self) -> list[Message]:
        """What to send now. Each is to be answered with `acknowledged`, or all of them with `lost`."""
        room = MAX_UNACKNOWLEDGED - len(self._sent)
        found: list[Message] = []
        for topic, payload in self._wanted.items():
            if len(found) < room and topic not in self._sent and self._held.get(topic) != payload:
                found.append(Message(topic, payload))
        for topic in self._held:
            if len(found) < room and topic not in self._sent and topic not in self._wanted:
                found.append(Message(topic, b""))
        self._sent.update((message.topic, message.payload) for message in found)
        return found

    @property
    def is_empty(self) -> bool:
        """Whether the broker holds exactly what this machine shows."""
        return not self._sent and self._held == self._wanted

    def acknowledged(self, topic: str) -> None:
        """The broker has taken what was sent under *topic*."""
        if topic in self._sent:
            self.found(topic, self._sent.pop(topic))

    def lost(self) -> None:
        """The broker is away; what it will hold when it returns nobody knows."""
        self._held.clear()
        self._sent.clear()
