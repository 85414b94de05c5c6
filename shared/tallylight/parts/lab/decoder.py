"""
Decodes recordings: the lines of an asciicast v2 become a `Header` and `Event`s.

Reading is limited by `LINE_LIMIT` and trusts no line. A broken line becomes a `Problem` with its number, and the rest
is read.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from tallylight.model.errors import DecodeError, TallyError
from tallylight.parts.lab import events
from tallylight.parts.lab.asciicast import VERSION, Event, Header, Input, Mark, Output, Resize, What
from tallylight.parts.lab.events import Evidence, Exit, LineError, text
from tallylight.wire import values

#: The most bytes of one line. Our own are shorter: a byte becomes at most six characters.
LINE_LIMIT = 1 << 20
#: A year, in seconds. A clock that jumps further is broken.
TIME_LIMIT = 366 * 86400.0
#: The most rows or columns of a screen.
SIZE_LIMIT = 10_000

#: asciinema 3 writes it: times are since the last event. https://docs.asciinema.org/manual/asciicast/v3/
VERSION_3 = 3
_EXIT = re.compile(r"[0-9]{1,5}", re.ASCII)
_SIZE = re.compile(r"([0-9]{1,5})x([0-9]{1,5})", re.ASCII)


class RecordingError(TallyError):
    """A file that is no readable recording: the line, and the reason."""


@attrs.frozen
class Problem:
    """A problem in line *line* of a recording; the line was left out unless the text has something else."""

    line: int
    text: str


def decode(read_line: Callable[[int], bytes]) -> Iterator[Header | Event | Problem]:
    """
    Read a recording, the header first; raise `RecordingError` if it is none.

    *read_line* is a binary file's `readline`. Times of the events never decrease.
    """
    lines = _lines(read_line)
    number, line, is_whole = next(lines, (1, b"", True))
    header, is_relative = _header(line)
    yield header
    latest = 0.0
    raw: bytes | None = None
    for number, line, is_whole in lines:
        if line is None:
            yield Problem(number, f"is longer than {LINE_LIMIT} bytes")
        elif line.strip():
            try:
                time, what = _event_v3(line, latest) if is_relative else _event(line)
            except LineError as error:
                yield Problem(number, str(error) if is_whole else f"the recording breaks off here: {error}")
                continue
            if time < latest:
                yield Problem(number, f"time goes back from {latest:g} to {time:g} s; read as {latest:g} s")
            latest = max(latest, time)
            if isinstance(what, bytes):
                raw = what
                continue
            if raw is not None and isinstance(what, (Output, Input)):
                what = attrs.evolve(what, data=raw)
            raw = None
            if what is not None:
                yield Event(latest, what)


def _lines(read_line: Callable[[int], bytes]) -> Iterator[tuple[int, bytes | None, bool]]:
    """Yield each line: its number, its bytes (None if it is too long), and whether it has an end."""
    number = 0
    while piece := read_line(LINE_LIMIT + 1):
        number += 1
        is_whole = piece.endswith(b"\n")
        if is_whole or len(piece) <= LINE_LIMIT:
            yield number, piece, is_whole
            continue
        if number == 1:
            yield number, None, False  # no header: the rest is not read, and may never end
            return
        while piece and not piece.endswith(b"\n"):
            piece = read_line(LINE_LIMIT + 1)
        yield number, None, bool(piece)


def _json(words: str | bytes) -> Any:
    try:
        return values.load(words, strict=True)
    except DecodeError as error:
        raise LineError(error.detail) from None


def _header(line: bytes | None) -> tuple[Header, bool]:
    """Return the header, and whether it is of version 3: its times are since the last event."""
    where = "line 1"
    try:
        fields = _json(line) if line is not None and line.strip() else None
    except LineError as error:
        raise RecordingError(f"{where} {error}; a recording is an asciicast v2 file") from None
    if not isinstance(fields, dict) or "version" not in fields:
        raise RecordingError(f"{where} is no header; a recording is an asciicast v2 file")
    if fields["version"] not in (VERSION, VERSION_3) or isinstance(fields["version"], bool):
        hint = "; `asciinema convert --output-format asciicast-v2` makes one" if fields["version"] == 1 else ""
        known = f"versions {VERSION} and {VERSION_3}"
        raise RecordingError(f"{where} has version {fields['version']!r:.20}, this reads {known}{hint}")
    is_relative = fields["version"] == VERSION_3
    env, term = fields.get("env"), fields.get("term")
    columns, rows = fields.get("width"), fields.get("height")
    if is_relative:
        columns, rows = (term.get("cols"), term.get("rows")) if isinstance(term, dict) else (None, None)
    header = Header(
        columns=_size(columns, 80),
        rows=_size(rows, 24),
        timestamp=int(_epoch(fields.get("timestamp"))),
        started=_epoch(fields.get("started")),
        command=text(fields.get("command"), 1024),
        title=text(fields.get("title"), 256),
        env={text(k, 64): text(v, 256) for k, v in list(env.items())[:64]} if isinstance(env, dict) else {},
    )
    return header, is_relative


def _event_v3(line: bytes, before: float) -> tuple[float, What | bytes | None]:
    """Return an event with a time since the last one, *before*. Version 3 has comments, and an `x` for the exit."""
    if line.startswith(b"#"):
        return before, None
    parts = _json(line)
    if isinstance(parts, list) and len(parts) == 3 and parts[1] == "x":
        time = values.number(parts[0], 0, TIME_LIMIT)
        if time is None or not isinstance(parts[2], str) or not _EXIT.fullmatch(parts[2]):
            raise LineError("has no time, or no exit status that is a number")
        return before + time, Exit(int(parts[2]))
    time, what = _event(line)
    return before + time, what


def _event(line: bytes) -> tuple[float, What | bytes | None]:
    """Return the time and the event of a line, or raw bytes for the next one; None for an unknown code."""
    parts = _json(line)
    if not isinstance(parts, list) or len(parts) != 3 or not isinstance(parts[1], str):
        raise LineError("is no event: [time, code, data] is one")
    time, code, data = values.number(parts[0], 0, TIME_LIMIT), parts[1], parts[2]
    if time is None:
        raise LineError(f"has no time that is a number from 0 to {TIME_LIMIT:.0f}")
    if code not in ("o", "i", "r", "m", "x"):
        return time, None  # the format requires readers to skip unknown codes
    if not isinstance(data, str):
        raise LineError(f"has data of `{code}` that is no string")
    if code == "o":
        return time, Output(data.encode("utf-8", "replace"))
    if code == "i":
        return time, Input(data.encode("utf-8", "replace"))
    if code == "m":
        return time, Mark(data)
    if code == "x":
        return time, _evidence(_json(data))
    size = _SIZE.fullmatch(data)
    if size is None or not (0 < int(size[1]) <= SIZE_LIMIT and 0 < int(size[2]) <= SIZE_LIMIT):
        raise LineError("has a size that is not COLUMNSxROWS")
    return time, Resize(int(size[1]), int(size[2]))


def _evidence(fields: object) -> Evidence | bytes | None:
    """Return the evidence in *fields*, or the raw bytes for the next event; None for an unknown type."""
    if isinstance(fields, dict) and fields.get("type") == "raw":
        try:
            return base64.b64decode(fields.get("base64", ""), validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise LineError("has bytes that are no base64") from None
    return events.decode(fields)


def _epoch(value: object) -> float:
    return values.number(value, 0, values.LATEST) or 0.0


def _size(value: object, default: int) -> int:
    return values.integer(value, 1, SIZE_LIMIT) or default
