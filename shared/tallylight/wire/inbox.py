"""
Inbox: what programs say, read at a pace that a terminal can afford.

The first `at_once` things of each `every` seconds are read as they come, so that an ordinary report never waits. What
comes faster is kept, the newest of each key at the place of the newest, and so many at a time are read later. So the
order is kept, what was said last of each record is read, and only what was replaced before anybody could have seen it
is left out.

What waits is bounded, in number and in bytes. Beyond that what was heard of least recently goes first, as it would from
the records; what concerns the pane itself, of which there is a handful of keys, goes last. Every method takes a
constant time, except for the withdrawal of a record with others below it: that looks at all that wait.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Hashable

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire import envelope, osc88, osc1338, osc7501, pairs, user_var
from tallylight.wire.scanner import Sequence

#: The pace is counted over so many seconds, and told for so many after the last time that something was left out.
COUNT_S = 1.0
TOLD_S = 5.0

_FIELD = re.compile(r"(?:\A|;)(state|id|at|of|source)=([^;]*)")
_FIELD_7501 = re.compile(rb"(?:\A|:)\s*(state|id)\s*=\s*([^:\s]*)")
_CARRIER = f"SetUserVar={envelope.CARRIER}=".encode()

#: What is to be done at the monotonic time that it is given.
Call = Callable[[float], object]


@attributes.frozen
class Key:
    """
    What a thing is about: only the newest of one *name* is read.

    *id* is the record, None where it is of none: a title, a mark of the shell. A *clear* withdraws the record as far as
    the same voice spoke of it, which the name of such a report begins with; the id is next. Of a name that is one of
    *many* there is no telling how many there are.
    """

    name: Hashable
    id: str | None = None
    is_clear: bool = False
    is_many: bool = False


@attributes.frozen
class Limits:
    """Read at once in *every* seconds, read later in one go (things and bytes), and kept until then."""

    at_once: int = 8
    every: float = 0.05
    a_go: int = 48
    go_bytes: int = 16_384
    #: As many as a pane has records.
    kept: int = 256
    kept_bytes: int = 32_768


@attributes.frozen
class Pace:
    """How many things a second were said and read when something was last left out."""

    said: int = 0
    read: int = 0


@attributes.define
class _Item:
    key: Key
    call: Call
    size: int
    #: The first to go for want of room.
    is_spare: bool


class Inbox:
    """One program's. *is_known* tells whether there is a record of it, or any below it."""

    def __init__(self, is_known: Callable[[str], bool], limits: Limits | None = None) -> None:
        self._is_known = is_known
        self._limits = limits or Limits()
        self._items: dict[Hashable, _Item] = {}
        self._size = 0
        self._spare = 0
        #: How many things wait of each id; and how many of a record below another.
        self._ids: dict[str, int] = {}
        self._nested = 0
        self._began = float("-inf")
        self._reads = 0
        #: What was counted since, and whether something was left out.
        self._counted_at = float("-inf")
        self._said = self._read = self._left_out = 0
        self._told_at = float("-inf")
        #: None unless something was left out recently.
        self.pace: Pace | None = None

    def __len__(self) -> int:
        return len(self._items)

    def admits(self, now: float) -> bool:
        """Whether the next thing is to be read at once."""
        self._said += 1
        if self._items:
            return False
        self.count(now)
        if now - self._began >= self._limits.every or now < self._began:
            self._began, self._reads = now, 0
        if self._reads >= self._limits.at_once:
            return False
        self._reads += 1
        self._read += 1
        return True

    def keep(self, key: Key, call: Call, size: int) -> None:
        """Read *call*, of *size* bytes, later."""
        id_, name = key.id, key.name
        if key.is_clear and id_ is not None:
            self._supersede(name, id_)
            if id_ and not self._waits(id_) and not self._is_known(id_):
                self._left_out += 1
                return
        items = self._items
        if name in items:
            self._drop(name)
        is_spare = key.is_many or bool(id_)
        items[name] = _Item(key, call, size, is_spare)
        self._size += size
        self._spare += is_spare
        if id_ is not None:
            self._ids[id_] = self._ids.get(id_, 0) + 1
            self._nested += "/" in id_
        while self._spare > self._limits.kept or self._size > self._limits.kept_bytes:
            # Of the others there is a handful.
            self._drop(next((name for name in items if items[name].is_spare), None) or next(iter(items)))

    def due(self) -> float | None:
        """When to `take` next; None if nothing waits."""
        return self._began + self._limits.every if self._items else None

    def take_last(self, now: float) -> list[Call]:
        """
        What is to be read because the program ends: all of its own, and the newest of its children's, in order.

        Of those there are no more than in one go: they go with it.
        """
        spare = [name for name, item in self._items.items() if item.is_spare]
        for name in spare[: max(0, len(spare) - self._limits.a_go)]:
            self._drop(name)
        return [call for _ in range(len(self._items)) for call in self.take(now)]

    def take(self, now: float) -> list[Call]:
        """What is to be read now, in order."""
        self.count(now)
        calls: list[Call] = []
        size = 0
        limits = self._limits
        while self._items and len(calls) < limits.a_go and size < limits.go_bytes:
            item = self._remove(next(iter(self._items)))
            calls.append(item.call)
            size += item.size
        self._began, self._reads = now, limits.at_once
        self._read += len(calls)
        return calls

    def forget_but(self, kept: Hashable) -> None:
        """All that waits is void, except for what has this name."""
        if kept in self._items:
            for name in [name for name in self._items if name != kept]:
                self._drop(name)
            return
        self._left_out += len(self._items)
        self._items.clear()
        self._ids.clear()
        self._size = self._spare = self._nested = 0

    def count(self, now: float) -> None:
        """Let time pass for the `pace`."""
        passed = now - self._counted_at
        if 0 <= passed < COUNT_S:
            return
        if self._left_out:
            self._told_at = now
            self.pace = Pace(_round(self._said / passed), _round(self._read / passed)) if passed > 0 else None
        elif now - self._told_at >= TOLD_S or now < self._told_at:
            self.pace = None
        self._counted_at = now
        self._said = self._read = self._left_out = 0

    def _supersede(self, clear: Hashable, id_: str) -> None:
        """The record *id_* is withdrawn: what the same voice said of it and of those below it is not worth reading."""
        assert isinstance(clear, tuple), "the name of a withdrawal begins with who spoke"
        names: list[Hashable] = [clear, clear[:2]]
        if not id_ or self._nested:
            prefix = f"{id_}/"
            names = [
                name
                for name in self._items
                if isinstance(name, tuple)
                and name[0] == clear[0]
                and (not id_ or name[1] == id_ or name[1].startswith(prefix))
            ]
        for name in names:
            if name in self._items:
                self._drop(name)

    def _waits(self, id_: str) -> bool:
        """Whether anything waits of a record, or of those below it."""
        prefix = f"{id_}/"
        return id_ in self._ids or (self._nested > 0 and any(each.startswith(prefix) for each in self._ids))

    def _drop(self, name: Hashable) -> None:
        self._remove(name)
        self._left_out += 1

    def _remove(self, name: Hashable) -> _Item:
        item = self._items.pop(name)
        self._size -= item.size
        self._spare -= item.is_spare
        if (id_ := item.key.id) is not None:
            self._nested -= "/" in id_
            self._ids[id_] -= 1
            if not self._ids[id_]:
                del self._ids[id_]
        return item


#: Those whose key has to be read, which of the same sequence is done once. Longer ones are not remembered.
_REPEATED = (osc7501.NUMBER, osc1338.NUMBER, user_var.NUMBER)
_MOST_KNOWN, _LONGEST_KNOWN = 512, 256
_KNOWN: dict[bytes, Key | None] = {}


def _report(voice: Hashable, id_: str, *, is_clear: bool) -> Key:
    return Key((voice, id_, "clear"), id_, is_clear=True) if is_clear else Key((voice, id_), id_)


def key_of(payload: str | None, voice: int = osc1338.NUMBER) -> Key | None:
    """
    The key of a value of the carrier, as cheaply as that can be told; None if it says nothing.

    Hooks' reports are put in order by their own time, so that each counts.
    """
    if payload is None:
        return _report(voice, "", is_clear=True)
    if len(payload) > osc1338.PAYLOAD_LIMIT:
        return None
    found = dict(_FIELD.findall(payload))
    if "state" not in found:
        return Key("recipe") if payload.startswith("resume=") else None
    state, id_ = found["state"], found.get("id", "")
    if "%" in state:
        return Key(payload, id_, is_many=True)
    if "%" in id_:
        try:
            id_ = pairs.percent_decode(id_.encode("utf-8", "replace")).decode("utf-8", "replace")
        except DecodeError:
            return None
    if "at" in found:
        return Key(payload, id_, is_many=True)
    source = found.get("source")
    return _report((voice, source) if source else voice, id_, is_clear=state == "clear")


def is_readable(payload: str | None) -> bool:
    """
    Whether a value of the carrier that has a key can be read to its end.

    Asked of what is to wait beside others: what cannot be read must not take the place of what can.
    """
    return payload is None or osc1338.is_readable(payload) or osc1338.decode_recipe(payload) is not None


def key_of_sequence(sequence: Sequence) -> Key | None:
    """The key of a sequence that a relay reads; None for one that says nothing."""
    raw = sequence.raw
    if sequence.number not in _REPEATED or len(raw) > _LONGEST_KNOWN:
        return _key_of_sequence(sequence)
    if raw not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[raw] = _key_of_sequence(sequence)
    return _KNOWN[raw]


def _key_of_sequence(sequence: Sequence) -> Key | None:
    number, body = sequence.number, sequence.body
    if number == osc7501.NUMBER:
        found = dict(_FIELD_7501.findall(body))
        id_ = found.get(b"id", b"").decode("ascii", "replace")
        if found.get(b"state") not in osc7501.STATES:
            return None
        return _report(number, id_, is_clear=found[b"state"] == b"clear")
    if number == osc1338.NUMBER:
        return _readable_key(body.decode("utf-8", "replace"))
    if body.startswith(_CARRIER):
        try:
            return _readable_key(binascii.a2b_base64(body[len(_CARRIER) :]).decode("utf-8", "replace"), user_var.NUMBER)
        except binascii.Error:
            return None
    if number == osc88.NUMBER:
        return Key(osc88.NUMBER)
    # What tells only what has changed cannot be told apart; what is the same needs no second reading.
    return Key(sequence.raw, is_many=True)


def _readable_key(payload: str, voice: int = osc1338.NUMBER) -> Key | None:
    return key_of(payload, voice) if is_readable(payload) else None


def _round(rate: float) -> int:
    """To a digit or two: a figure that is shown must not change for nothing."""
    unit = 10.0 ** max(0, len(str(int(rate))) - 2)
    return int(round(rate / unit) * unit)
