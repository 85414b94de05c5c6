"""
Inbox: reads the input of a program at a pace that a terminal can afford.

The first `at_once` items of each `every` seconds are read as they come, so that an ordinary report never waits. Faster
items are kept and read later, some at a time: a new item replaces an older one of the same key and goes to the end. So
the order stays, the newest report of each record is read, and only replaced reports are left out.

The waiting items are bounded in number and in bytes. Beyond that the oldest item goes first, as in the records; items
about the pane itself, which have few keys, go last. Every method takes constant time, except `take` and `forget_but`,
which visit the items that they take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable

from tallylight.model import attributes
from tallylight.model.report import Source
from tallylight.wire import osc1338

#: The pace is counted over so many seconds.
COUNT_S = 1.0
#: It is shown for so many seconds after an item was last left out.
PACE_SHOWN_S = 5.0

#: ASCII payloads with a key that is found without decoding: those of floods, and most others.
_OTHER = r"(?:;(?!(?:state|id|at|source)=)[^;%]*+)*+"
_PLAIN = re.compile(rf"state=({'|'.join(osc1338.STATUSES)}){_OTHER}(?:;id=({osc1338.ID.pattern})?)?{_OTHER}")
#: The same for a hook's payload, which contains its time.
_HOOK = re.compile(rf"state=(?:{'|'.join(osc1338.STATUSES)})(?:;(?!(?:state|id)=)[^;%]*+|;id={osc1338.ID.pattern})*+")

#: The name of the key for recipes.
RECIPE = "recipe"
#: Reads one item at the monotonic time in its argument.
Call = Callable[[float], object]


@attributes.define
class Key:
    """
    The subject of an item: only the newest item of one *name* is read, and none of the name that it *replaces*.

    *is_many*: there may be any number of such names. A key is made for every item and never changes, though nothing
    enforces that.
    """

    name: Hashable
    is_many: bool = False
    replaces: Hashable = None
    #: A second item of the same name is left out: the first keeps its place.
    stays: bool = False


def record_key(voice: Hashable, id_: str, *, is_clear: bool) -> Key:
    """Return the key of a report of *voice* about a record. A withdrawal replaces all earlier reports about it."""
    name = (voice, id_)
    return Key((*name, "clear"), bool(id_), name) if is_clear else Key(name, bool(id_))


def key_of(payload: str | None, voice: Hashable = None) -> Key | None:
    """
    Return the key of a value of the `tally` variable, or of a similar one from *voice*; None if it is unreadable.

    Reports of hooks are ordered by their own time, so each one counts.
    """
    text = payload or ""
    if text.isascii() and len(text) <= osc1338.PAYLOAD_LIMIT:
        if plain := _PLAIN.fullmatch(text):
            return record_key((voice, Source.PROTOCOL), plain[2] or "", is_clear=plain[1] == osc1338.CLEAR)
        if ";at=" in text and _HOOK.fullmatch(text):
            return Key(payload, is_many=True, stays=True)
    if osc1338.decode_recipe(payload) is not None:
        return Key(RECIPE)
    report = osc1338.decode_variable(payload)
    if report is None:
        return None
    if ";at=" in text or text.startswith("at="):
        return Key(payload, is_many=True, stays=True)
    return record_key((voice, report.source), report.id, is_clear=report.status is None)


@attributes.frozen
class Limits:
    """
    The pace of an inbox: items read at once in *every* seconds, items and bytes of one later step, and kept items.
    """

    at_once: int = 8
    every: float = 0.05
    a_go: int = 48
    go_bytes: int = 16_384
    #: The most records of a pane, and some items of no record.
    kept: int = 264
    kept_bytes: int = 32_768


@attributes.frozen
class Pace:
    """The items a second that *arrived* and that were *read*, as of when an item was last left out."""

    arrived: int = 0
    read: int = 0


class Inbox:
    """The input of one program that waits to be read. Times are monotonic seconds."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        #: The waiting items in order, by the name of their key: is it one of many, how to read it, its bytes.
        self._items: dict[Hashable, tuple[bool, Call, int]] = {}
        self._size = 0
        self._began = float("-inf")
        self._reads = self._read_bytes = 0
        #: The begin of the present count, the items counted since, and how many were left out.
        self._counted_at = float("-inf")
        self._came = self._read = self._left_out = 0
        self._left_out_at = float("-inf")
        #: None unless an item was left out recently.
        self.pace: Pace | None = None

    def __len__(self) -> int:
        return len(self._items)

    def is_full(self, now: float) -> bool:
        """Return whether the next item must wait."""
        if self._items:
            return True
        has_room = self._reads < self._limits.at_once and self._read_bytes < self._limits.go_bytes
        return not has_room and 0 <= now - self._began < self._limits.every

    def admits(self, now: float, size: int = 0) -> bool:
        """Count an item of *size* bytes that has come; return whether to read it at once."""
        self._came += 1
        if self._items:
            return False
        self.count(now)
        if self.is_full(now):
            return False
        if now - self._began >= self._limits.every or now < self._began:
            self._began, self._reads, self._read_bytes = now, 0, 0
        self._reads += 1
        self._read_bytes += size
        self._read += 1
        return True

    def keep(self, key: Key, call: Call, size: int) -> None:
        """Keep an item, which *call* reads later, in place of an earlier one of the same key."""
        items, limits = self._items, self._limits
        if key.name in items:
            if key.stays:
                self._left_out += 1
                return
            self._drop(key.name)
        if key.replaces is not None and key.replaces in items:
            self._drop(key.replaces)
        items[key.name] = (key.is_many, call, size)
        self._size += size
        while len(items) > limits.kept or self._size > limits.kept_bytes:
            oldest = next(iter(items))
            if not items[oldest][0]:
                # Items about the pane itself are few, and are dropped last.
                oldest = next((name for name in items if items[name][0]), oldest)
            self._drop(oldest)

    def due(self) -> float | None:
        """Return when to `take` next; None if nothing waits."""
        return self._next() if self._items else None

    def _next(self) -> float:
        return self._began + self._limits.every

    def take(self, now: float, *, is_last: bool = False) -> list[Call]:
        """Remove and return the items to read now, in order. *is_last*: the program ends, so return all."""
        self.count(now)
        calls: list[Call] = []
        size = 0
        limits = self._limits
        while self._items and (is_last or (len(calls) < limits.a_go and size < limits.go_bytes)):
            _, call, bytes_ = self._items.pop(next(iter(self._items)))
            calls.append(call)
            size += bytes_
        self._size -= size
        self._began, self._reads = now, limits.at_once
        self._read += len(calls)
        return calls

    def forget_but(self, kept: Hashable) -> None:
        """Drop all waiting items except the one with the name *kept*."""
        for name in [name for name in self._items if name != kept]:
            self._drop(name)

    def count(self, now: float) -> None:
        """Update the `pace` if its time has come."""
        passed = now - self._counted_at
        if 0 <= passed < COUNT_S:
            return
        if self._left_out:
            self._left_out_at = now
            self.pace = Pace(_round(self._came / passed), _round(self._read / passed)) if passed > 0 else None
        elif now - self._left_out_at >= PACE_SHOWN_S or now < self._left_out_at:
            self.pace = None
        self._counted_at = now
        self._came = self._read = self._left_out = 0

    def _drop(self, name: Hashable) -> None:
        """Drop the waiting item *name*, and count it as left out."""
        self._size -= self._items.pop(name)[2]
        self._left_out += 1


def _round(rate: float) -> int:
    """Return *rate* rounded to two digits, so that a shown figure does not change all the time."""
    unit = 10.0 ** max(0, len(str(int(rate))) - 2)
    return int(round(rate / unit) * unit)
