"""
Sequences: whole control sequences, and the limit of their length. Grammar: https://vt100.net/emu/dec_ansi_parser

7-bit introducers and terminators only: 0x9D and 0x9C are C1 OSC and ST, but also the middle of `”` and `✜` in UTF-8.
BEL ends an OSC and no other string. CAN, SUB, or an ESC that does not begin ST aborts any string.
"""

from __future__ import annotations

import enum
import re

from tallylight.model import attributes

#: The most bytes of one sequence with introducer and terminator. vibeflow has the same limit, xterm less, kitty 1 MiB.
MAX_SEQUENCE_BYTES = 131_072

BEL = b"\x07"
ST = b"\x1b\\"


class SequenceKind(enum.Enum):
    """The introducer of a sequence. The value is the byte after ESC; a plain escape sequence has none."""

    OSC = "]"
    DCS = "P"
    APC = "_"
    PM = "^"
    SOS = "X"
    CSI = "["
    ESC = ""


# One is made for every few bytes of a stream: frozen classes would take too much time.
@attributes.define
class Sequence:
    """
    One whole sequence.

    *payload* is the part between introducer and terminator; for an OSC it includes the number. *number* is None for
    all but an OSC. It has at most five decimal digits, without sign or leading zero, and `;` or the end follows.
    """

    kind: SequenceKind
    payload: bytes
    terminator: bytes
    raw: bytes
    number: int | None = None

    @property
    def body(self) -> bytes:
        """The payload after its first `;`, for an OSC the part after the number."""
        return self.payload.partition(b";")[2]


_NUMBER = re.compile(rb"(0|[1-9][0-9]{0,4})(?:;|\Z)")
#: The numbers in use, recognised without a look at their digits.
_IN_USE = (0, 2, 4, 8, 9, 10, 11, 26, 52, 88, 99, 133, 777, 1337, 1338, 3008, 7501, 21337)
_NUMBERS = {b"%d" % number: number for number in _IN_USE}
_STRINGS = {ord(kind.value): kind for kind in SequenceKind if kind.value and kind.value in "]P_^X"}
_OSC, _CSI, _ESCAPE_KIND = SequenceKind.OSC, SequenceKind.CSI, SequenceKind.ESC


def whole(raw: bytes) -> Sequence:
    """Return the sequence with exactly the bytes *raw*."""
    byte = raw[1]
    if byte == 0x5D:
        terminator = BEL if raw[-1] == 0x07 else ST
        payload = raw[2 : -len(terminator)]
        number = _NUMBERS.get(payload.partition(b";")[0])
        if number is None and (match := _NUMBER.match(payload)):
            number = int(match[1])
        return Sequence(_OSC, payload, terminator, raw, number)
    if byte == 0x5B:
        return Sequence(_CSI, raw[2:], b"", raw)
    if kind := _STRINGS.get(byte):
        return Sequence(kind, raw[2:-2], ST, raw)
    return Sequence(_ESCAPE_KIND, raw[1:], b"", raw)
