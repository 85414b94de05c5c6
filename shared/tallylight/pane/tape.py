"""
The tape of one pane: all inputs of its light in the last two minutes, in memory and nowhere else.

Every input that the pane reads is noted with its time; an input that a flood replaced before that is not. A screen
is compressed against the one before it. Entries older than `SPAN_S`, or beyond `MAX_TAPE_BYTES`, are dropped, a stretch
at a time; each stretch begins with the state before it. `data` is the whole tape as bytes, and `entries` reads it, in
any process in which a person asks what was wrong.
"""

from __future__ import annotations

import json
import struct
import weakref
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from tallylight.evidence.screen import Look
from tallylight.model.report import Report
from tallylight.wire import values

#: The most seconds and bytes of one tape, and the most bytes of all tapes of a host.
SPAN_S, MAX_TAPE_BYTES, MAX_BYTES_OF_ALL = 120.0, 256 * 1024, 16 * 1024 * 1024
#: The most seconds of a stretch, and its share of a tape's bytes: one in so many.
_STRETCH_S, _STRETCHES = 15.0, 8
#: The memory that Python needs for one entry, in addition to its bytes.
_OVERHEAD_BYTES = 200
#: The most bytes of one uncompressed entry; a screen of 500 rows by 1000 columns fits.
_ENTRY_BYTES = 4 * 1024 * 1024
_HEAD = struct.Struct("<dBBI")
#: The kinds of entries, by their numbers on the tape. A `was` contains another entry: the state at a stretch's begin.
KINDS = ("look", "again", "unlooked", "foreground", "report", "title", "carrier", "mark", "bar", "seen", "tick", "was")
#: The fields of a report that a recording keeps.
_FIELDS = tuple(
    "id kind agent rule session title project cwd worktree mode message what detail background".split()  # noqa: SIM905
)
_ALL: weakref.WeakSet[Tape] = weakref.WeakSet()


def report_fields(report: Report, **more: float) -> dict[str, Any]:
    """Return *report* as JSON for a recording, with *more* fields."""
    fields = {name: value for name in _FIELDS if (value := getattr(report, name))}
    return {"type": "report", "source": report.source.word, "status": report.status, **fields, **more}


class Tape:
    """
    The last inputs of one pane. *now* is monotonic seconds.

    *begin* is called at the start of each stretch, to note the present state.
    """

    def __init__(self, begin: Callable[[float], None]) -> None:
        self._begin = begin
        #: Stretches, the oldest first: begin, size in bytes, and entries.
        self._stretches: deque[tuple[float, list[int], list[bytes]]] = deque()
        self._look: Look | None = None
        self._before = b""
        #: Whether a stretch begins, so that entries are about the state before it.
        self._begins = False
        self.size = 0
        _ALL.add(self)

    def note(self, kind: str, now: float, *data: Any) -> None:
        """Add an input of this *kind*."""
        self._add(kind, now, json.dumps(data, separators=(",", ":")).encode() if data else b"")

    def look(self, look: Look, now: float) -> None:
        """Add a look at the screen."""
        self._begin_stretch_if_full(now)
        if look == self._look:
            self._add("again", now, b"")
            return
        self._look = look
        place = [look.cursor_row, look.cursor_column, look.columns, int(look.cursor_visible)]
        text = "\n".join([json.dumps(place), *look.lines]).encode("utf-8", "surrogatepass")
        self._add("look", now, text)

    @property
    def data(self) -> bytes:
        """The whole tape, as `entries` reads it."""
        return b"".join(part for _, _, parts in self._stretches for part in parts)

    def _add(self, kind: str, now: float, data: bytes) -> None:
        """Add an entry, compressed against the screen before it; drop the oldest stretches beyond the limits."""
        self._begin_stretch_if_full(now)
        packed = data
        if kind == "look":
            packer = zlib.compressobj(1, zlib.DEFLATED, -15, 8, zlib.Z_DEFAULT_STRATEGY, self._before[-32768:])
            packed, self._before = packer.compress(data) + packer.flush(), data
        limit = min(MAX_TAPE_BYTES, MAX_BYTES_OF_ALL // max(1, len(_ALL)))
        if len(packed) + _OVERHEAD_BYTES > limit // 2:
            self._forget()
        # The state at the begin of a stretch may have been too large already.
        if not self._stretches:
            return
        _, size, parts = self._stretches[-1]
        entry = _HEAD.pack(now, KINDS.index(kind), not parts, len(packed)) + packed
        parts.append(entry)
        size[0] += len(entry) + _OVERHEAD_BYTES
        self.size += len(entry) + _OVERHEAD_BYTES
        while len(self._stretches) > 1 and (self.size > limit or now - self._stretches[1][0] > SPAN_S):
            self.size -= self._stretches.popleft()[1][0]
        if self.size > limit:
            self._forget()

    def _forget(self) -> None:
        """Drop everything: an entry was too large, and others are no use without it."""
        self._stretches.clear()
        self._look, self._before, self.size = None, b"", 0

    def _begin_stretch_if_full(self, now: float) -> None:
        """Begin another stretch if the last one is full."""
        last = self._stretches[-1] if self._stretches else None
        if self._begins or (
            last is not None and now - last[0] <= _STRETCH_S and last[1][0] <= MAX_TAPE_BYTES // _STRETCHES
        ):
            return
        self._look, self._before = None, b""
        self._stretches.append((now, [0], []))
        self._begins = True
        self._begin(now)
        self._begins = False


def entries(data: bytes) -> Iterator[tuple[float, str, Any]]:
    """
    Yield the entries of a tape as time, kind and data; the state before the first stretch comes first.

    Raises `ValueError` for bytes that are no tape.
    """
    at, before, stretches = 0, b"", 0
    while at < len(data):
        if len(data) - at < _HEAD.size:
            raise ValueError("a tape breaks off")
        now, number, begins, length = _HEAD.unpack_from(data, at)
        packed = data[at + _HEAD.size : at + _HEAD.size + length]
        at += _HEAD.size + length
        if number >= len(KINDS) or len(packed) != length:
            raise ValueError("a tape breaks off")
        kind = KINDS[number]
        if begins:
            before, stretches = b"", stretches + 1
        try:
            if kind == "look":
                before = zlib.decompressobj(-15, before[-32768:]).decompress(packed, _ENTRY_BYTES)
                place, *lines = before.decode("utf-8", "surrogatepass").split("\n")
                row, column, columns, visible = values.load(place)
                yield now, kind, Look(lines, int(row), int(column), int(columns), bool(visible))
            elif kind != "was":
                yield now, kind, values.load(packed) if packed else []
            elif stretches == 1:
                kind, *data_before = values.load(packed)
                yield now, str(kind), data_before
        except (zlib.error, ValueError, TypeError) as error:
            raise ValueError(f"a tape is damaged: {error}") from None
