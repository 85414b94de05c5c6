"""
A recording: asciicast v2, and evidence that is not output. https://docs.asciinema.org/manual/asciicast/v2/

It has a header and events in the order of time. `o` is output of the program, `i` is input, `r` a new size, `m` a mark.
Ours is `x`, which players skip: evidence that a host has besides the output. Its data is a string, as in all events.
The string is one JSON object with a `type`, one of `parts.lab.events` or `raw`. `raw` has the bytes (`base64`) of the
next `o` or `i`, if they are not UTF-8.

`Encoder` writes lines; `parts.lab.decoder` reads them.
"""

from __future__ import annotations

import base64
import json
from typing import TypeAlias

import attrs

from tallylight.parts.lab import events
from tallylight.parts.lab.events import Evidence
from tallylight.relay.position import unfinished

VERSION = 2
#: The most bytes of one event; more are split.
EVENT_LIMIT = 1 << 16


@attrs.frozen
class Header:
    """
    The first line. *timestamp* is when it was recorded, in seconds since the epoch; 0 if unknown.

    *started* is the same with a fraction, to compare it with other records. The format has only whole seconds.
    """

    columns: int = 80
    rows: int = 24
    timestamp: int = 0
    started: float = 0.0
    command: str = ""
    title: str = ""
    env: dict[str, str] = attrs.Factory(dict)


@attrs.frozen
class Output:
    """The program wrote *data*."""

    data: bytes


@attrs.frozen
class Input:
    """The terminal sent *data*: keys, and its own answers."""

    data: bytes


@attrs.frozen
class Resize:
    """The terminal has a new size."""

    columns: int
    rows: int


@attrs.frozen
class Mark:
    """A place worth finding, such as the known truth in a test."""

    label: str


What: TypeAlias = Output | Input | Resize | Mark | Evidence


@attrs.frozen
class Event:
    """*what* happened *time* seconds after the start."""

    time: float
    what: What


class Encoder:
    """
    Writes the lines of one recording. Times are seconds since its start; an earlier time is written as the last one.
    """

    def __init__(self) -> None:
        self._time = 0.0
        #: The incomplete last character of output and of input.
        self._held = {"o": b"", "i": b""}

    def header(self, header: Header) -> bytes:
        """Return the first line."""
        fields: dict[str, object] = {"version": VERSION, "width": header.columns, "height": header.rows}
        for name in ("timestamp", "started", "command", "title", "env"):
            if value := getattr(header, name):
                fields[name] = value
        return _line(fields)

    def event(self, event: Event) -> bytes:
        """Return the lines of *event*: none for less than a character, many for a long one."""
        self._time = max(self._time, event.time)
        match event.what:
            case Output(data):
                return self._bytes("o", data)
            case Input(data):
                return self._bytes("i", data)
            case Resize(columns, rows):
                return self._event("r", f"{columns}x{rows}")
            case Mark(label):
                return self._event("m", label)
            case evidence:
                return self._evidence(events.encode(evidence))

    def finish(self) -> bytes:
        """Return the incomplete characters: the stream has ended."""
        return b"".join([self._text(code, held) for code, held in self._held.items() if held])

    def _bytes(self, code: str, data: bytes) -> bytes:
        """Return the lines of *data*, in events of whole characters; the rest is kept for the next call."""
        data = self._held[code] + data
        end = len(data) - unfinished(data)
        self._held[code] = data[end:]
        lines = []
        start = 0
        while start < end:
            stop = min(start + EVENT_LIMIT, end)
            stop -= unfinished(data[start:stop]) if stop < end else 0
            lines.append(self._text(code, data[start:stop]))
            start = stop
        return b"".join(lines)

    def _text(self, code: str, data: bytes) -> bytes:
        """Return the line of *data*; before it the bytes themselves, if they are no UTF-8."""
        try:
            return self._event(code, data.decode())
        except UnicodeDecodeError:
            # Players want text; the bytes are in the line before.
            raw = self._evidence({"type": "raw", "base64": base64.b64encode(data).decode("ascii")})
            return raw + self._event(code, data.decode("utf-8", "replace"))

    def _evidence(self, fields: dict[str, object]) -> bytes:
        return self._event("x", json.dumps(fields, ensure_ascii=False, separators=(",", ":")))

    def _event(self, code: str, data: str) -> bytes:
        return _line([round(self._time, 6), code, data])


def _line(value: object) -> bytes:
    # A title may hold a lone surrogate, which UTF-8 cannot encode: it becomes `?`.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
