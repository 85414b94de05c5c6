"""
The outbox: what a broker has yet to receive from this machine, and whether this machine may use its name.

Only the last state of a pane counts. While the broker is away nothing piles up; when it returns, everything that is
true now is sent, and what it still holds of panes that have gone meanwhile is taken back. Memory grows with the panes,
never with time.
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

#: Messages handed out and not acknowledged, at most.
MAX_UNACKNOWLEDGED = 64
#: Topics of a former life that are taken back, at most.
MAX_TOPICS = 10_000
#: Seconds that another machine of our name has to say that it is there.
OBJECTION_S = 2.0


@attrs.define
class Name:
    """
    Whether a name is ours: of two machines that live and have the same one, it is that of the one that began first.

    Each hears what the other says under the name. What the broker has in store of another life may be left from one
    that is over, so that one is asked, by saying that we are there; it has `OBJECTION_S` to say so as well.
    """

    own: Presence
    #: Who goes first, as long as it is there.
    holder: Presence | None = None
    #: The life of who came after us and is there.
    follower: str | None = None
    #: Until when another one of our name may still say that it is there.
    ask_until: float = 0.0
    _is_to_tell: bool = False

    @property
    def presence(self) -> bytes:
        """The message about us."""
        return encode_presence(attrs.evolve(self.own, namesake=self.follower is not None))

    def is_own(self, payload: bytes) -> bool:
        """Whether *payload* is about us, and not about another machine of our name."""
        found = decode_presence(payload)
        return found is not None and found.life == self.own.life

    def received(self, payload: bytes, now: float, *, is_stored: bool) -> None:
        """Somebody has said this of the machine of our name, or the broker had it in store."""
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
        """What to send once on the topic of namesakes: to the one that goes first, which may not have heard of us."""
        is_due, self._is_to_tell = self._is_to_tell, False
        return encode_presence(self.own) if is_due else b""

    def lost(self) -> None:
        """The broker is away: who else is there is to be found out again."""
        self.holder, self.follower, self.ask_until = None, None, 0.0


class Outbox:
    """The state of *machine* below *prefix*; *own* is what it says of itself in this life of it."""

    def __init__(self, prefix: str, machine: str, own: Presence) -> None:
        self._prefix = prefix
        self._machine = machine
        self._place = topic(prefix, machine, "machine")
        self.name = Name(own)
        #: The panes that the broker is to hold.
        self._panes: dict[str, bytes] = {}
        #: What the broker holds, as far as it has said; while it is away, nothing is known.
        self._held: dict[str, bytes] = {}
        self._sent: dict[str, bytes] = {}

    def show(self, snapshots: Iterable[Snapshot]) -> None:
        """Take what this machine shows now."""
        self._panes = {
            topic(self._prefix, self._machine, "pane", host.name, pane.id): encode_pane(pane, self.name.own.life)
            for host in snapshots
            for pane in host.panes
        }

    def received(self, place: str, payload: bytes, now: float, *, is_stored: bool) -> None:
        """Somebody has sent *payload* to the topic *place*, or the broker has it in store."""
        machine, kind, *_ = names_of(place, self._prefix) or ("", "")
        if machine != self._machine:
            return
        if kind in ("machine", "namesake"):
            self.name.received(payload, now, is_stored=is_stored)
        # What we send ourselves comes back too, and may be older than what has been acknowledged since.
        if kind != "namesake" and (is_stored or (kind == "machine" and not self.name.is_own(payload))):
            self._hold(place, payload)

    def _hold(self, place: str, payload: bytes) -> None:
        if payload and (place in self._held or len(self._held) < MAX_TOPICS):
            self._held[place] = payload
        elif not payload:
            self._held.pop(place, None)

    def take(self, now: float) -> dict[str, bytes]:
        """
        What to send now, by its topic. Each is to be answered with `acknowledged`, or all of them with `lost`.

        While somebody else may have the name, that is only that we are there; where somebody has, only what takes back
        what was sent in this life.
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
        pane = decode_pane(payload, "")
        return pane is not None and pane.life == self.name.own.life

    def acknowledged(self, place: str) -> None:
        """The broker has taken what was sent under the topic *place*."""
        if place in self._sent:
            self._hold(place, self._sent.pop(place))

    def lost(self) -> None:
        """The broker is away; its contents and other machines are unknown until it returns."""
        self._held.clear()
        self._sent.clear()
        self.name.lost()
