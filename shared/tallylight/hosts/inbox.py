"""
Inbox: what a terminal tells of one pane, read at a pace that a terminal's thread can afford.

The first `AT_ONCE` things of each `GO_S` seconds are read as they come, so that an ordinary report never waits. What
comes faster is kept, the newest of each key at the place of the newest, and read `A_GO` things at a time every `GO_S`
seconds. So the order is kept, what was said last of each record is read, and only what was replaced before anybody could
have seen it is left out. At most `KEPT` things of children and of hooks wait, as many as a pane has records, and
`KEPT_BYTES` of all; beyond that the one heard of least recently goes, as it would from the records. What concerns the
pane itself goes last. Every method takes a constant time, but for the withdrawal of a record with others below it: that
looks at all that wait.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable

import attrs

from tallylight.errors import DecodeError
from tallylight.report import Source
from tallylight.wire import osc1338, pairs

AT_ONCE = 8
#: In seconds.
GO_S = 0.05
#: Things read in one go, and of how many bytes.
A_GO = 64
GO_BYTES = 16_384
#: Things that wait.
KEPT = 256
KEPT_BYTES = 32_768
#: The pace is counted over so many seconds, and told for so many after the last time that something was left out.
COUNT_S = 1.0
TOLD_S = 5.0

_NOTIFICATION = Source.NOTIFICATION.word
_FIELD = re.compile(r"(?:\A|;)(state|id|at|of|source)=([^;]*)")

Call = Callable[[float], None]


@attrs.frozen
class Key:
    """
    What a thing is about: only the newest of one *name* is read.

    *id* is the record, None where it is of none: a title, a mark of the shell. A *clear* withdraws the record.
    """

    name: Hashable
    id: str | None = None
    is_clear: bool = False

    @property
    def is_first_to_go(self) -> bool:
        """Whether it may be left out for want of room: a child's, or one of the many things that a hook may say."""
        return bool(self.id) or (isinstance(self.name, tuple) and self.name[0] == "hook")


def key_of(payload: str | None) -> Key | None:
    """
    The key of a value of the carrier, as cheaply as that can be told; None if it says nothing.

    Of a hook's report the tool belongs to the key: the end of one does not end the wait for another.
    """
    if payload is None:
        return Key("clear", "", is_clear=True)
    if len(payload) > osc1338.PAYLOAD_LIMIT:
        return None
    found = dict(_FIELD.findall(payload))
    if "state" not in found:
        return Key("recipe") if payload.startswith("resume=") else None
    state, id_ = found["state"], found.get("id", "")
    if "%" in id_:
        try:
            id_ = pairs.percent_decode(id_.encode("utf-8", "replace")).decode("utf-8", "replace")
        except DecodeError:
            return None
    if "at" in found:
        return Key(("hook", id_, state, found.get("of")), id_)
    if state == "clear":
        return Key(("clear", id_), id_, is_clear=True)
    return Key((found.get("source"), id_), id_)


@attrs.frozen
class _Item:
    key: Key
    call: Call
    size: int


@attrs.frozen
class Pace:
    """How many things a second were said and read when something was last left out."""

    said: int = 0
    read: int = 0


class Inbox:
    """One pane's. *is_known* tells whether the pane has a record, or any below it."""

    def __init__(self, is_known: Callable[[str], bool]) -> None:
        self._is_known = is_known
        self._items: dict[Hashable, _Item] = {}
        self._size = 0
        #: How many of them are the first to go.
        self._spare = 0
        #: How many of the ids that wait are below another one.
        self._nested = 0
        self._began = float("-inf")
        self._reads = 0
        #: What was counted since, and whether something was left out.
        self._counted_at = float("-inf")
        self._said = self._read = self._left_out = 0
        self._told_at = float("-inf")
        #: None unless something was left out of late.
        self.pace: Pace | None = None

    def __len__(self) -> int:
        return len(self._items)

    def admits(self, now: float) -> bool:
        """Whether the next thing is to be read at once."""
        self.count(now)
        self._said += 1
        if now - self._began >= GO_S or now < self._began:
            self._began, self._reads = now, 0
        if self._items or self._reads >= AT_ONCE:
            return False
        self._reads += 1
        self._read += 1
        return True

    def keep(self, key: Key, call: Call, size: int) -> None:
        """Read *call*, of *size* bytes, later."""
        id_ = key.id
        if key.is_clear and id_ is not None:
            self._supersede(id_)
            if id_ and not self._is_known(id_):
                self._left_out += 1
                return
        self._drop(key.name)
        self._items[key.name] = _Item(key, call, size)
        self._size += size
        self._spare += key.is_first_to_go
        self._nested += "/" in (id_ or "")
        while self._spare > KEPT or self._size > KEPT_BYTES:
            # Of the others there is a handful.
            oldest = next((name for name, item in self._items.items() if item.key.is_first_to_go), None)
            self._drop(next(iter(self._items)) if oldest is None else oldest)

    def due(self) -> float | None:
        """When to `take` next; None if nothing waits."""
        return self._began + GO_S if self._items else None

    def take(self, now: float, *, everything: bool = False) -> list[Call]:
        """What is to be read now, in order."""
        self.count(now)
        calls: list[Call] = []
        size = 0
        while self._items and (everything or (len(calls) < A_GO and size < GO_BYTES)):
            item = self._remove(next(iter(self._items)))
            calls.append(item.call)
            size += item.size
        self._began, self._reads = now, AT_ONCE
        self._read += len(calls)
        return calls

    def _supersede(self, id_: str) -> None:
        """The record *id_* is withdrawn: what waits of it and of those below it would be read for nothing."""
        prefix = f"{id_}/"
        names: list[Hashable] = []
        if not id_ or self._nested:
            names = [
                name
                for name, item in self._items.items()
                if (of := item.key.id) is not None and (not id_ or of == id_ or of.startswith(prefix))
            ]
        else:
            names = [(None, id_), (_NOTIFICATION, id_)]
        for name in names:
            if not (isinstance(name, tuple) and name[0] == "hook"):  # put in order by their own time
                self._drop(name)

    def _drop(self, name: Hashable) -> None:
        if name in self._items:
            self._remove(name)
            self._left_out += 1

    def _remove(self, name: Hashable) -> _Item:
        item = self._items.pop(name)
        self._size -= item.size
        self._spare -= item.key.is_first_to_go
        self._nested -= "/" in (item.key.id or "")
        return item

    def count(self, now: float) -> None:
        """Let time pass for the `pace`."""
        passed = now - self._counted_at
        if 0 <= passed < COUNT_S:
            return
        if self._left_out:
            self._told_at = now
            self.pace = Pace(_round(self._said / passed), _round(self._read / passed))
        elif now - self._told_at >= TOLD_S or now < self._told_at:
            self.pace = None
        self._counted_at = now
        self._said = self._read = self._left_out = 0


def _round(rate: float) -> int:
    """To a digit or two: a figure that is shown must not change for nothing."""
    unit = 10 ** max(0, len(str(int(rate))) - 1) // 2 or 1
    return round(rate / unit) * unit
