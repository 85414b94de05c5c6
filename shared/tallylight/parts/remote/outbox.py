"""
The outbox: messages that this machine still has to send to a broker, and whether it may use its name.

Only the last state of a pane counts. While the broker is away nothing piles up. When it returns, the present state is
sent, and its messages about panes that have closed are removed. Memory grows with the panes, never with time.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import attrs

from tallylight.parts.remote.topics import (
    Presence,
    decode_pane,
    decode_presence,
    encode_pane,
    encode_presence,
    names_of,
    topic,
)
from tallylight.snapshot.schema import Snapshot

#: The most messages that are sent and not acknowledged.
MAX_UNACKNOWLEDGED = 64
#: The most topics of an earlier life that are removed.
MAX_TOPICS = 10_000
#: Seconds that another machine of our name has to report that it is online.
OBJECTION_S = 2.0


@attrs.define
class Name:
    """
    Decides whether a name is ours: of two online machines with the same one, the earlier one keeps it.

    Each reads the other's messages under the name. A stored message may be from a life that has ended. So that machine
    is asked, by a message that we are online; it has `OBJECTION_S` to send the same.
    """

    own: Presence
    #: The machine that goes first, as long as it is online.
    holder: Presence | None = None
    #: The life of a later machine that is online.
    follower: str | None = None
    #: Until when another machine of our name may still report.
    ask_until: float = 0.0
    _is_to_tell: bool = False

    @property
    def presence(self) -> bytes:
        """The message about us."""
        return encode_presence(attrs.evolve(self.own, namesake=self.follower is not None))

    def is_own(self, payload: bytes) -> bool:
        """Return whether *payload* is about us, and not about another machine of our name."""
        found = decode_presence(payload)
        return found is not None and found.life == self.own.life

    def received(self, payload: bytes, now: float, *, is_stored: bool) -> None:
        """Read a message about the machine of our name; *is_stored*: from the broker's store."""
        found = decode_presence(payload)
        if found is None or found.life == self.own.life:
            return
        if not found.online:
            if self.holder is not None and found.life == self.holder.life:
                self.holder = None
            if found.life == self.follower:
                self.follower = None
        elif is_stored:
            self.ask_until = now + OBJECTION_S
        elif (found.at, found.life) < (self.own.at, self.own.life):
            self._is_to_tell = self._is_to_tell or self.holder is None
            self.holder = found
        else:
            self.follower = found.life

    def word(self) -> bytes:
        """Return the message to send once to the namesake that goes first, which may not know of us; else nothing."""
        is_due, self._is_to_tell = self._is_to_tell, False
        return encode_presence(self.own) if is_due else b""

    def lost(self) -> None:
        """Forget other machines: the broker is away."""
        self.holder, self.follower, self.ask_until = None, None, 0.0


class Outbox:
    """The state of *machine* below *prefix* to send; *own* is its presence in this life."""

    def __init__(self, prefix: str, machine: str, own: Presence) -> None:
        self._prefix = prefix
        self._machine = machine
        self._place = topic(prefix, machine, "machine")
        self.name = Name(own)
        #: The panes that the broker should store.
        self._panes: dict[str, bytes] = {}
        #: The messages that the broker has stored, as far as known; empty while it is away.
        self._held: dict[str, bytes] = {}
        self._sent: dict[str, bytes] = {}

    def show(self, snapshots: Iterable[Snapshot]) -> None:
        """Take the present panes of this machine."""
        self._panes = {
            topic(self._prefix, self._machine, "pane", host.name, pane.id): encode_pane(pane, self.name.own.life)
            for host in snapshots
            for pane in host.panes
        }

    def received(self, place: str, payload: bytes, now: float, *, is_stored: bool) -> None:
        """Read *payload* of the topic *place*, sent by any machine or from the broker's store."""
        machine, kind, *_ = names_of(place, self._prefix) or ("", "")
        if machine != self._machine:
            return
        if kind in ("machine", "namesake"):
            self.name.received(payload, now, is_stored=is_stored)
        # Our own messages come back too, and may be older than those acknowledged since.
        if kind != "namesake" and (is_stored or (kind == "machine" and not self.name.is_own(payload))):
            self._hold(place, payload)

    def _hold(self, place: str, payload: bytes) -> None:
        """Note what the broker has stored for the topic *place*."""
        if payload and (place in self._held or len(self._held) < MAX_TOPICS):
            self._held[place] = payload
        elif not payload:
            self._held.pop(place, None)

    def take(self, now: float) -> dict[str, bytes]:
        """
        Return the messages to send now, by topic. Call `acknowledged` for each, or `lost` for all.

        While another machine may have the name, only our presence is sent. If one has it, only removals of messages of
        this life are sent.
        """
        wanted = {self._place: self.name.presence} | self._panes
        left = self._held.keys() - wanted.keys()
        if self.name.holder is not None:
            wanted, left = {}, {place for place, payload in self._held.items() if self._is_of_this_life(payload)}
        elif now < self.name.ask_until:
            wanted, left = {self._place: self.name.presence}, set()
        news = {place: payload for place, payload in wanted.items() if self._held.get(place) != payload}
        news |= {place: b"" for place in self._held if place in left and place != self._place}
        unsent = ((place, payload) for place, payload in news.items() if place not in self._sent)
        found = dict(islice(unsent, MAX_UNACKNOWLEDGED - len(self._sent)))
        self._sent |= found
        return found

    def _is_of_this_life(self, payload: bytes) -> bool:
        """Return whether *payload* is about a pane of this run."""
        pane = decode_pane(payload, "")
        return pane is not None and pane.life == self.name.own.life

    def acknowledged(self, place: str) -> None:
        """Note that the broker has accepted the message of the topic *place*."""
        if place in self._sent:
            self._hold(place, self._sent.pop(place))

    def lost(self) -> None:
        """Forget the contents of the broker and other machines: it is away."""
        self._held.clear()
        self._sent.clear()
        self.name.lost()
