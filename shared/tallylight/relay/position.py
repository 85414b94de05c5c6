"""
Position: the state of a reader of control sequences after the bytes so far, found with little work.

`note` takes the next bytes. An ESC interrupts any sequence, so only the bytes after the last one count. `note_later` is
for the many pieces after which no state is needed: it keeps only the last of them, and reads it when asked. The
envelope of a multiplexer may contain ESC: the code that finds an envelope sets the state and skips its content.
"""

from __future__ import annotations

import enum
import re

_CSI_END = re.compile(rb"[^\x00-\x17\x19\x1c-\x3f\x7f]")
_NOT_INTERMEDIATE = re.compile(rb"[^ -/]")
#: Several searches for one byte are much faster than one for a set of bytes, and images have megabytes.
_OSC_END = (b"\x07", b"\x18", b"\x1a")
_STRING_END = (b"\x18", b"\x1a")


class State(enum.Enum):
    """The part of a sequence that the reader is in."""

    GROUND = enum.auto()
    ESCAPE = enum.auto()
    CSI = enum.auto()
    OSC = enum.auto()
    #: DCS, APC, PM, SOS.
    STRING = enum.auto()
    ENVELOPE = enum.auto()
    #: An envelope, after an ESC in it.
    ENVELOPE_ESCAPE = enum.auto()


ENVELOPES = (State.ENVELOPE, State.ENVELOPE_ESCAPE)


class Position:
    """The part of a control sequence that one stream is in, and whether other bytes may be written there."""

    def __init__(self) -> None:
        #: The state before `_later`.
        self._state = State.GROUND
        #: The last three bytes, to see whether a character is whole.
        self._last = b""
        #: The bytes that were not read yet, and the index of the last ESC in them.
        self._later = b""
        self._escape = -1

    @property
    def state(self) -> State:
        """The state of the reader now."""
        if self._later:
            self._read_later()
        return self._state

    @state.setter
    def state(self, state: State) -> None:
        if self._later:
            self._read_later()
        self._state = state

    @property
    def is_in_envelope(self) -> bool:
        """Return whether the reader is inside an envelope."""
        return self._state in ENVELOPES

    @property
    def is_safe(self) -> bool:
        """Return whether other bytes may be written here without cutting a sequence or a character."""
        if self._later:
            self._read_later()
        return self._state is State.GROUND and not unfinished(self._last)

    def note(self, data: bytes, start: int, end: int) -> None:
        """Take in data[start:end]."""
        if self._later:
            self._read_later()
        if start >= end:
            return
        escape = data.rfind(b"\x1b", start, end)
        if escape >= 0:
            self._state = _after(State.ESCAPE, data, escape + 1, end)
        elif self._state is not State.GROUND:
            self._state = _after(self._state, data, start, end)
        self._last = data[end - 3 : end] if end - start >= 3 else (self._last + data[start:end])[-3:]

    def passed(self, data: bytes, end: int) -> None:
        """Take in a whole sequence, or the end of an envelope, that ends at *end* of data."""
        if self._later:
            self._read_later()
        self._state = State.GROUND
        self._last = data[max(0, end - 3) : end]

    def note_later(self, data: bytes, escape: int) -> None:
        """Take in all of *data*, outside of an envelope; its last ESC is at *escape*, -1 for none."""
        is_short = len(data) < 3 and not data.isascii()  # which may be the middle of a character
        if escape < 0 and (self._escape >= 0 or self._state is not State.GROUND or is_short):
            self.note(data, 0, len(data))
        else:
            # Earlier bytes do not matter: an ESC interrupts them, and without one the ground state stays.
            self._later, self._escape = data, escape

    def _read_later(self) -> None:
        """Read the bytes that `note_later` has kept."""
        data, self._later = self._later, b""
        if self._escape >= 0:
            self._state = _after(State.ESCAPE, data, self._escape + 1, len(data))
            self._escape = -1
        self._last = data[-3:]


def _after(state: State, data: bytes, at: int, end: int) -> State:
    """Return the state after data[at:end], which contains no ESC, starting from *state*."""
    if state is State.ESCAPE:
        found = _NOT_INTERMEDIATE.search(data, at, end)
        if found is None:
            return State.ESCAPE
        at = found.end()
        if found[0] == b"[":
            state = State.CSI
        elif found[0] == b"]":
            state = State.OSC
        elif found[0] in b"PX^_":
            state = State.STRING
        else:
            return State.GROUND
    if state is State.CSI:
        return State.GROUND if _CSI_END.search(data, at, end) else state
    ends = _OSC_END if state is State.OSC else _STRING_END
    return State.GROUND if any(data.find(byte, at, end) >= 0 for byte in ends) else state


def unfinished(data: bytes) -> int:
    """Return the number of bytes at the end of *data* that begin a UTF-8 character and do not end it."""
    for back, byte in enumerate(reversed(data[-3:]), 1):
        if byte & 0xC0 != 0x80:
            length = 2 if 0xC2 <= byte < 0xE0 else 3 if 0xE0 <= byte < 0xF0 else 4 if 0xF0 <= byte < 0xF5 else 1
            return back if back < length else 0
    return 0
