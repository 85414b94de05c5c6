"""
The tape of one pane: what its light of the last two minutes was made of, in memory and nowhere else.

Every input that the pane reads goes in, with the time of the reading: what a flood replaces before that does not. A
screen is packed against the one before it. What is older than `SPAN_S`, or more than `LIMIT` bytes, is dropped, a
stretch at a time; each begins with what was so before it.
`told` is all of it as bytes, and `entries` reads them again, in whichever process a person asks what was wrong.
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

#: For how long, in seconds, and in how many bytes one pane is remembered, and in how many all of them are.
SPAN_S, LIMIT, LIMIT_OF_ALL = 120.0, 256 * 1024, 16 * 1024 * 1024
#: Of one stretch: what is dropped at once.
_STRETCH_S, _STRETCH = 15.0, 8
#: What Python needs for one entry beside its bytes.
_OVERHEAD = 200
#: Of one entry, read again; a screen of 500 rows by 1000 columns fits.
_MOST = 4 * 1024 * 1024
_HEAD = struct.Struct("<dBBI")
#: The kinds of entries, by their numbers on the tape. `was` holds another one, of what was so when a stretch began.
KINDS = ("look", "again", "unlooked", "foreground", "report", "title", "carrier", "mark", "bar", "seen", "tick", "was")
#: Of a report, what a recording has of it.
_FIELDS = tuple(
    "id kind agent rule session title project cwd worktree mode message what detail background".split()  # noqa: SIM905
)
_ALL: weakref.WeakSet[Tape] = weakref.WeakSet()


def plain(report: Report, **more: float) -> dict[str, Any]:
    """*report* as a recording has it."""
    fields = {name: value for name in _FIELDS if (value := getattr(report, name))}
    return {"type": "report", "source": report.source.word, "status": report.status, **fields, **more}


class Tape:
    """What came to one pane; *begin* notes what holds at the start of a stretch. *now* is monotonic seconds."""

    def __init__(self, begin: Callable[[float], None]) -> None:
        self._begin = begin
        #: Stretches, the oldest first: since when, their size, and the entries.
        self._stretches: deque[tuple[float, list[int], list[bytes]]] = deque()
        self._look: Look | None = None
        self._before = b""
        #: Whether a stretch begins, and what is noted shows what was so before.
        self._begins = False
        self.size = 0
        _ALL.add(self)

    def note(self, kind: str, now: float, *data: Any) -> None:
        """Something of this *kind* came."""
        self._keep(kind, now, json.dumps(data, separators=(",", ":")).encode() if data else b"")

    def look(self, look: Look, now: float) -> None:
        """The screen was looked at."""
        self._turn(now)
        if look == self._look:
            self._keep("again", now, b"")
            return
        self._look = look
        place = [look.cursor_row, look.cursor_column, look.columns, int(look.cursor_visible)]
        text = "\n".join([json.dumps(place), *look.lines]).encode("utf-8", "surrogatepass")
        self._keep("look", now, text)

    @property
    def told(self) -> bytes:
        """All that is remembered, as `entries` reads it."""
        return b"".join(part for _, _, parts in self._stretches for part in parts)

    def _keep(self, kind: str, now: float, data: bytes) -> None:
        self._turn(now)
        packed = data
        if kind == "look":
            packer = zlib.compressobj(1, zlib.DEFLATED, -15, 8, zlib.Z_DEFAULT_STRATEGY, self._before[-32768:])
            packed, self._before = packer.compress(data) + packer.flush(), data
        limit = min(LIMIT, LIMIT_OF_ALL // max(1, len(_ALL)))
        if len(packed) + _OVERHEAD > limit // 2:
            self._forget()
        # What a stretch begins with may have been too much already.
        if not self._stretches:
            return
        _, size, parts = self._stretches[-1]
        entry = _HEAD.pack(now, KINDS.index(kind), not parts, len(packed)) + packed
        parts.append(entry)
        size[0] += len(entry) + _OVERHEAD
        self.size += len(entry) + _OVERHEAD
        while len(self._stretches) > 1 and (self.size > limit or now - self._stretches[1][0] > SPAN_S):
            self.size -= self._stretches.popleft()[1][0]
        if self.size > limit:
            self._forget()

    def _forget(self) -> None:
        """One entry is too much to be kept: nothing of what it belongs to is."""
        self._stretches.clear()
        self._look, self._before, self.size = None, b"", 0

    def _turn(self, now: float) -> None:
        """Begin another stretch, if it is time."""
        last = self._stretches[-1] if self._stretches else None
        if self._begins or (last is not None and now - last[0] <= _STRETCH_S and last[1][0] <= LIMIT // _STRETCH):
            return
        self._look, self._before = None, b""
        self._stretches.append((now, [0], []))
        self._begins = True
        self._begin(now)
        self._begins = False


def entries(told: bytes) -> Iterator[tuple[float, str, Any]]:
    """
    The entries of a tape: time, kind and data, first those of the state before.

    `ValueError` for bytes that are no tape.
    """
    at, before, stretches = 0, b"", 0
    while at < len(told):
        if len(told) - at < _HEAD.size:
            raise ValueError("a tape breaks off")
        now, number, begins, length = _HEAD.unpack_from(told, at)
        data = told[at + _HEAD.size : at + _HEAD.size + length]
        at += _HEAD.size + length
        if number >= len(KINDS) or len(data) != length:
            raise ValueError("a tape breaks off")
        kind = KINDS[number]
        if begins:
            before, stretches = b"", stretches + 1
        try:
            if kind == "look":
                before = zlib.decompressobj(-15, before[-32768:]).decompress(data, _MOST)
                place, *lines = before.decode("utf-8", "surrogatepass").split("\n")
                row, column, columns, visible = values.load(place)
                yield now, kind, Look(lines, int(row), int(column), int(columns), bool(visible))
            elif kind != "was":
                yield now, kind, values.load(data) if data else []
            elif stretches == 1:
                kind, *data_before = values.load(data)
                yield now, str(kind), data_before
        except (zlib.error, ValueError, TypeError) as error:
            raise ValueError(f"a tape is damaged: {error}") from None
