"""
The outbox: what a broker has yet to be told of this machine, and whether it may be told under this machine's name.

Only the last state of a pane counts. While the broker is away nothing piles up; when it returns, everything that is
true now is sent, and what it still holds of panes that have gone meanwhile is taken back. Memory grows with the panes,
never with time.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import attrs

from tallylight.remote.topics import (
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
    #: Who came after us and is there.
    _follower: str | None = None
    _is_to_tell: bool = False
    _ask_until: float = 0.0

    @property
    def presence(self) -> bytes:
        """What is to be said of us."""
        return encode_presence(attrs.evolve(self.own, namesake=self.has_namesake))

    @property
    def has_namesake(self) -> bool:
        """Whether somebody of the same name came after us and is there."""
        return self._follower is not None

    def is_own(self, payload: bytes) -> bool:
        """Whether *payload* is what was said of us, and not of another one of our name."""
        found = decode_presence(payload)
        return found is not None and found.life == self.own.life

    def heard(self, payload: bytes, now: float, *, is_stored: bool) -> None:
        """Somebody has said this of the machine of our name, or the broker had it in store."""
        found = decode_presence(payload)
        if found is None or found.life == self.own.life:
            return
        if not found.online:
            if self.holder is not None and found.life == self.holder.life:
                self.holder = None
            if found.life == self._follower:
                self._follower = None
        elif is_stored:
            self._ask_until = now + OBJECTION_S
        elif (found.at, found.life) < (self.own.at, self.own.life):
            self._is_to_tell = self._is_to_tell or self.holder is None
            self.holder = found
        else:
            self._follower = found.life

    def word(self) -> bytes:
        """What to tell once on the topic of namesakes: to the one that goes first, which may not have heard of us."""
        told, self._is_to_tell = self._is_to_tell, False
        return encode_presence(self.own) if told else b""

    def lost(self) -> None:
        """The broker is away: who else is there is to be found out again."""
        self.holder, self._follower, self._ask_until = None, None, 0.0

    def asks(self, now: float) -> bool:
        """Whether another one of our name may still say that it is there."""
        return now < self._ask_until


class Outbox:
    """The state of *machine* below *prefix*, in this *life* of it."""

    def __init__(self, prefix: str, machine: str, life: str = "") -> None:
        self._prefix = prefix
        self._machine = machine
        self._life = life
        self._place = topic(prefix, machine, "machine")
        self._wanted: dict[str, bytes] = {}
        #: What the broker holds, as far as it has said; while it is away, nothing is known.
        self._held: dict[str, bytes] = {}
        self._sent: dict[str, bytes] = {}

    def be(self, presence: bytes) -> None:
        """Take the *presence* that the machine is to have."""
        self._wanted[self._place] = presence

    def show(self, snapshots: Iterable[Snapshot], presence: bytes) -> None:
        """Take what this machine shows now, and the *presence* it is to have."""
        self._wanted = {self._place: presence}
        for host in snapshots:
            for pane in host.panes:
                place = topic(self._prefix, self._machine, "pane", host.name, pane.id)
                self._wanted[place] = encode_pane(pane, self._life)

    def found(self, place: str, payload: bytes) -> None:
        """The broker says that it holds *payload* under the topic *place*."""
        machine, kind, *_ = names_of(place, self._prefix) or ("", "")
        if machine != self._machine or kind == "namesake":
            return
        if payload and (place in self._held or len(self._held) < MAX_TOPICS):
            self._held[place] = payload
        elif not payload:
            self._held.pop(place, None)

    def take(self, name: Name | None = None, now: float = 0.0) -> dict[str, bytes]:
        """
        What to send now, by its topic. Each is to be answered with `acknowledged`, or all of them with `lost`.

        While somebody else may have the *name*, that is only that we are there; where somebody has, only what takes
        back what was told in this life.
        """
        wanted, left = self._wanted, [place for place in self._held if place not in self._wanted]
        if name is not None and name.holder is not None:
            wanted, left = {}, [place for place, payload in self._held.items() if self._is_own(payload)]
        elif name is not None and name.asks(now):
            wanted, left = {self._place: self._wanted[self._place]}, []
        news = {place: payload for place, payload in wanted.items() if self._held.get(place) != payload}
        news |= {place: b"" for place in left if place != self._place}
        unsent = ((place, payload) for place, payload in news.items() if place not in self._sent)
        found = dict(islice(unsent, MAX_UNACKNOWLEDGED - len(self._sent)))
        self._sent |= found
        return found

    @property
    def is_empty(self) -> bool:
        """Whether the broker holds exactly what this machine shows."""
        return not self._sent and self._held == self._wanted

    def acknowledged(self, place: str) -> None:
        """The broker has taken what was sent under the topic *place*."""
        if place in self._sent:
            self.found(place, self._sent.pop(place))

    def _is_own(self, payload: bytes) -> bool:
        told = decode_pane(payload, "")
        return told is not None and told.life == self._life

    def lost(self) -> None:
        """The broker is away; what it will hold when it returns nobody knows."""
        self._held.clear()
        self._sent.clear()
