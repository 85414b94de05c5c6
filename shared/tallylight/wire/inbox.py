"""
Inbox: what programs say, read at a pace that a terminal can afford.

The first `at_once` things of each `every` seconds are read as they come, so that an ordinary report never waits. What
comes faster is kept, the newest of each key at the place of the newest, and so many at a time are read later. So the
order is kept, the newest report of each record is read, and only a report that was replaced before it could be seen
is left out.

What waits is bounded, in number and in bytes. Beyond that what was heard of least recently goes first, as it would from
the records; what concerns the pane itself, a handful of keys, goes last. Every method takes a
constant time, except for `take` and `forget_but`, which look at what they take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable

from tallylight.model import attributes
from tallylight.model.report import Source
from tallylight.wire import osc1338

#: The pace is counted over so many seconds, and told for so many after the last time that something was left out.
COUNT_S = 1.0
TOLD_S = 5.0

#: ASCII with a key that is found without decoding it: floods, and nearly everything else.
_OTHER = r"(?:;(?!(?:state|id|at|source)=)[^;%]*+)*+"
_PLAIN = re.compile(rf"state=({'|'.join(osc1338.STATUSES)}){_OTHER}(?:;id=({osc1338.ID.pattern})?)?{_OTHER}")
#: The like of a hook, which has its time in it.
_HOOK = re.compile(rf"state=(?:{'|'.join(osc1338.STATUSES)})(?:;(?!(?:state|id)=)[^;%]*+|;id={osc1338.ID.pattern})*+")

#: The name of how to start the program again.
RECIPE = "recipe"
#: What is to be done at the monotonic time that it is given.
Call = Callable[[float], object]


@attributes.define
class Key:
    """
    What a thing is about: only the newest of one *name* is read, and nothing of the name that it *replaces*.

    Of a name that is one of *many* there is no telling how many there are. One is made for all that comes: it does not
    change, though nothing enforces it.
    """

    name: Hashable
    is_many: bool = False
    replaces: Hashable = None
    #: The same once more is not read once more: the first stays where it is.
    stays: bool = False


def record_key(voice: Hashable, id_: str, *, is_clear: bool) -> Key:
    """The key of what *voice* says of a record; of a withdrawal, which leaves nothing worth reading of that record."""
    name = (voice, id_)
    return Key((*name, "clear"), bool(id_), name) if is_clear else Key(name, bool(id_))


def key_of(payload: str | None, voice: Hashable = None) -> Key | None:
    """
    The key of a value of the carrier, or of a similar one that *voice* said; None for one that cannot be read.

    Hooks' reports are put in order by their own time, so that each counts.
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
    """Read at once in *every* seconds, read later in one go (things, and bytes of either), and kept until then."""

    at_once: int = 8
    every: float = 0.05
    a_go: int = 48
    go_bytes: int = 16_384
    #: As many as a pane has records, and what is of none.
    kept: int = 264
    kept_bytes: int = 32_768


@attributes.frozen
class Pace:
    """How many things a second arrived and were read when something was last left out."""

    said: int = 0
    read: int = 0


class Inbox:
    """One program's."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        #: What waits, by the name of its key, in order: is it one of many, how to read it, and its bytes.
        self._items: dict[Hashable, tuple[bool, Call, int]] = {}
        self._size = 0
        self._began = float("-inf")
        self._reads = self._read_bytes = 0
        #: What was counted since, and whether something was left out.
        self._counted_at = float("-inf")
        self._came = self._read = self._left_out = 0
        self._left_out_at = float("-inf")
        #: None unless something was left out recently.
        self.pace: Pace | None = None

    def __len__(self) -> int:
        return len(self._items)

    def is_full(self, now: float) -> bool:
        """Whether the next thing is not to be read at once."""
        if self._items:
            return True
        has_room = self._reads < self._limits.at_once and self._read_bytes < self._limits.go_bytes
        return not has_room and 0 <= now - self._began < self._limits.every

    def admits(self, now: float, size: int = 0) -> bool:
        """Whether the next thing, which has come and has *size* bytes, is to be read at once."""
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
        """Read *call*, of *size* bytes, later."""
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
                # Of those that are not one of many there is a handful.
                oldest = next((name for name in items if items[name][0]), oldest)
            self._drop(oldest)

    def due(self) -> float | None:
        """When to `take` next; None if nothing waits."""
        return self._next() if self._items else None

    def _next(self) -> float:
        return self._began + self._limits.every

    def take(self, now: float, *, is_last: bool = False) -> list[Call]:
        """What is to be read now, in order; all there is where this *is_last*, because the program ends."""
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
        """All that waits is void, except for what has this name."""
        for name in [name for name in self._items if name != kept]:
            self._drop(name)

    def count(self, now: float) -> None:
        """Let time pass for the `pace`."""
        passed = now - self._counted_at
        if 0 <= passed < COUNT_S:
            return
        if self._left_out:
            self._left_out_at = now
            self.pace = Pace(_round(self._came / passed), _round(self._read / passed)) if passed > 0 else None
        elif now - self._left_out_at >= TOLD_S or now < self._left_out_at:
            self.pace = None
        self._counted_at = now
        self._came = self._read = self._left_out = 0

    def _drop(self, name: Hashable) -> None:
        self._size -= self._items.pop(name)[2]
        self._left_out += 1


def _round(rate: float) -> int:
    """To a digit or two: a figure that is shown must not change for nothing."""
    unit = 10.0 ** max(0, len(str(int(rate))) - 2)
    return int(round(rate / unit) * unit)
