"""
Scanner: splits bytes into whole control sequences and text. Grammar: https://vt100.net/emu/dec_ansi_parser

`feed` takes the next bytes of one stream and returns the completed items in order: `Text` (forward it) and `Sequence`
(whole, with its raw bytes). Nothing is lost or changed: the raw bytes of every item so far, followed by `pending()`,
are the input. At most *limit* bytes are held, and every byte is looked at a bounded number of times.

It differs from the chart at the link where today's terminals do:

* 7-bit introducers and terminators only. 0x9D and 0x9C are C1 OSC and ST, but also the middle of `”` and `✜` in UTF-8.
* BEL ends an OSC and no other string. CAN, SUB, or an ESC that does not begin ST aborts any string. The aborting byte
  is read again as ground, so `ESC ] … ESC ]` is a broken OSC and a new one.
* A sequence over the limit is scanned to its end and returned as `Text` that is not drawn: forwarded, never decoded.
* A DCS that begins `tmux;` is tmux's envelope and may hold ESC pairs. With `screen=True` (we run inside GNU Screen)
  any DCS may hold ESC, because that is how Screen wraps.
"""

from __future__ import annotations

import functools
import re
from typing import TypeAlias

from tallylight.model import attributes
from tallylight.wire.scanner import MAX_SEQUENCE_BYTES, Sequence, SequenceKind, whole

#: The most bytes of one CSI. Real ones stay below 100; terminals stop at 16 to 256 parameters.
CSI_LIMIT = 4096

_ESC = 0x1B
_BACKSLASH = 0x5C


# An item is made for every few bytes of a stream: frozen classes would take too much time.
@attributes.define
class Text:
    """
    Bytes to pass through: text and C0 controls.

    *drawn* is False for the remains of a sequence that was aborted or ran over the limit. A terminal shows nothing
    for them; a relay still forwards them.
    """

    raw: bytes
    drawn: bool = True


Item: TypeAlias = Text | Sequence

#: A whole sequence: a CSI (which may contain C0 controls), a short escape, or a string without an ESC in it. The slow
#: path finds the end of an envelope with one.
_WHOLE = re.compile(
    rb"\x1b(?:"
    rb"\[[\x00-\x17\x19\x1c-\x3f\x7f]*[@-~]"
    rb"|[ -/]{1,8}[0-~]"
    rb"|[0-OQ-WYZ\\`-~]"
    rb"|\][^\x07\x18\x1a\x1b]*(?:\x07|\x1b\\)"
    rb"|[PX^_][^\x18\x1a\x1b]*\x1b\\"
    rb")"
)
#: The fast path: whole sequences and texts in one search; an ESC that begins no whole sequence takes the rest.
_PIECES = re.compile(rb"[^\x1b]+|" + _WHOLE.pattern + rb"|\x1b.*", re.DOTALL)
#: The start of a sequence that may yet become whole.
_SHORT_START = re.compile(rb"\x1b(?:\[[\x00-\x17\x19\x1c-\x3f\x7f]*|[ -/]{0,8})")
#: Sequences that an ESC aborts, any number of them: the fast path for a flood.
_ABORTED = re.compile(
    rb"(?:\x1b(?:(?=\x1b)|\[[\x00-\x17\x19\x1c-\x3f\x7f]*(?=\x1b)"
    rb"|\][^\x07\x18\x1a\x1b]*(?=\x1b[^\\])|[X^_][^\x18\x1a\x1b]*(?=\x1b[^\\])))+",
    re.DOTALL,
)
_CSI_END = re.compile(rb"[^\x00-\x17\x19\x1c-\x3f\x7f]")
#: The inside of an envelope: tmux reads ESC in pairs, GNU Screen ends at the first ESC \ in any case.
_TMUX_BODY = re.compile(rb"(?:[^\x18\x1a\x1b]+|\x1b[^\\])*+", re.DOTALL)
_SCREEN_BODY = re.compile(rb"(?:[^\x18\x1a\x1b]+|\x1b(?=[^\\]))*+", re.DOTALL)
_OSC_STOP = re.compile(rb"[\x07\x18\x1a\x1b]")
_STRING_STOP = re.compile(rb"[\x18\x1a\x1b]")
_STRINGS = {ord(kind.value): kind for kind in SequenceKind if kind.value and kind.value in "]P_^X"}


#: Sequences up to so many bytes are cached: a redraw repeats a few colours and moves thousands of times. Longer ones
#: differ each time, and a search would cost more.
_CACHED_BYTES = 20
_known = functools.lru_cache(maxsize=1024)(whole)


#: States. ESCAPE: an ESC or the start of a CSI is held back. CSI_OVER: inside a CSI that is over its limit.
_GROUND, _ESCAPE, _CSI_OVER, _STRING = range(4)


class Scanner:
    """Splits one stream into text and sequences. Feed it in order; it never raises."""

    def __init__(self, limit: int = MAX_SEQUENCE_BYTES, *, screen: bool = False) -> None:
        self.limit = limit
        self._csi_limit = min(limit, CSI_LIMIT)
        self._screen = screen
        self._state = _GROUND
        self._held = bytearray()
        self._kind = SequenceKind.OSC
        self._over = False
        #: The last held byte is an ESC, and the next byte has not arrived yet.
        self._escaped = False
        #: Whether the string is an envelope, which an ESC does not abort; None until the first ESC.
        self._envelope: bool | None = None

    def pending(self) -> bytes:
        """Return the bytes of a sequence that has begun and not ended."""
        return bytes(self._held)

    @property
    def is_idle(self) -> bool:
        """Return whether no sequence has begun."""
        return self._state is _GROUND

    def feed(self, data: bytes) -> list[Item]:
        """Take the next bytes; return the items that they complete."""
        items: list[Item] = []
        at = 0
        if self._state is _STRING and data:
            at = self._continue_string(data, items)
        elif self._state is _CSI_OVER:
            stop = _CSI_END.search(data)
            if stop is None:
                self._broken(items, data)
                return items
            at = stop.start() + (0x40 <= stop[0][0] <= 0x7E)
            self._broken(items, data[:at])
            self._ground()
        if self._state is _ESCAPE:
            # Short by construction, so that the copy is bounded.
            data = bytes(self._held) + data[at:]
            at = 0
            self._held.clear()
            self._state = _GROUND
        size = len(data)
        while at < size:
            found = data.find(b"\x1b", at)
            if found < 0:
                items.append(Text(data[at:] if at else data))
                break
            if found > at:
                items.append(Text(data[at:found]))
            # At most the longest CSI at a time, so that a cut-off rest is cheap to read again.
            pieces = _PIECES.findall(data, found, found + self._csi_limit)
            last = pieces.pop()
            at = min(found + self._csi_limit, size) - len(last)
            items += [
                Text(piece) if piece[0] != _ESC else _known(piece) if len(piece) <= _CACHED_BYTES else whole(piece)
                for piece in pieces
            ]
            if last[0] == _ESC:
                at = self._escape(data, at, items)
        return items

    def _escape(self, data: bytes, start: int, items: list[Item]) -> int:
        """Take the sequence that begins with the ESC at *start*, also a broken or unfinished one; return its end."""
        if found := _WHOLE.match(data, start):
            raw = found[0]
            if len(raw) > (self._csi_limit if raw[1] == 0x5B else self.limit):
                self._broken(items, raw)
            else:
                items.append(_known(raw) if len(raw) <= _CACHED_BYTES else whole(raw))
            return found.end()
        if aborted := _ABORTED.match(data, start):
            self._broken(items, aborted[0])
            return aborted.end()
        after = start + 1
        if after < len(data) and (kind := _STRINGS.get(data[after])):
            self._state = _STRING
            self._kind = kind
            self._envelope = None
            return self._scan_string(data, start, start + 2, items)
        begun = _SHORT_START.match(data, start)
        assert begun, "an ESC begins something"
        end = begun.end()
        if end == len(data) and end - start < self._csi_limit:
            self._held += data[start:end]
            self._state = _ESCAPE
            return end
        self._broken(items, data[start:end])
        if end == len(data):
            self._state = _CSI_OVER
        return end

    def _continue_string(self, data: bytes, items: list[Item]) -> int:
        """Continue a string that may end in a held ESC; return where to go on."""
        if not self._escaped:
            return self._scan_string(data, 0, 0, items)
        self._escaped = False
        if data[0] == _BACKSLASH:
            return self._end_string(data, 0, 1, items)
        if self._holds_escapes(bytes(self._held[:7])):
            return self._scan_string(data, 0, 0 if self._screen else 1, items)
        self._broken(items, bytes(self._held[:-1]))
        self._ground()
        self._held += b"\x1b"
        self._state = _ESCAPE
        return 0

    def _scan_string(self, data: bytes, start: int, at: int, items: list[Item]) -> int:
        """Search the end of a string from *at*; data[start:] is not held yet. Return where to go on."""
        search = (_OSC_STOP if self._kind is SequenceKind.OSC else _STRING_STOP).search
        while stop := search(data, at):
            found = stop.start()
            if data[found] == 0x07:
                return self._end_string(data, start, found + 1, items)
            if data[found] == _ESC:
                if found + 1 == len(data):
                    self._escaped = True
                    break
                if data[found + 1] == _BACKSLASH:
                    return self._end_string(data, start, found + 2, items)
                if self._holds_escapes(bytes(self._held[:7]) + data[start : start + 7]):
                    body = (_SCREEN_BODY if self._screen else _TMUX_BODY).match(data, found)
                    at = body.end() if body else found
                    continue
            self._broken(items, bytes(self._held) + data[start:found])
            self._ground()
            return found
        self._held += data[start:]
        if self._over or len(self._held) >= self.limit:
            # Any terminator would now be over the limit, so no end of the string is awaited.
            self._holds_escapes(bytes(self._held[:7]))
            self._over = True
            cut = len(self._held) - self._escaped
            self._broken(items, bytes(self._held[:cut]))
            del self._held[:cut]
        return len(data)

    def _holds_escapes(self, beginning: bytes) -> bool:
        """Return whether the string is an envelope, in which an ESC ends nothing."""
        if self._envelope is None:
            dcs = self._kind is SequenceKind.DCS
            self._envelope = dcs and (self._screen or beginning.startswith(b"\x1bPtmux;"))
        return self._envelope

    def _end_string(self, data: bytes, start: int, end: int, items: list[Item]) -> int:
        """Add the string that ends at *end* to *items*, as a sequence, or as text if it is too long; return *end*."""
        raw = bytes(self._held) + data[start:end]
        if self._over or len(raw) > self.limit:
            self._broken(items, raw)
        else:
            items.append(whole(raw))
        self._ground()
        return end

    def _ground(self) -> None:
        """Go back to the ground state, outside of any sequence."""
        self._state = _GROUND
        self._held.clear()
        self._over = False
        self._escaped = False

    @staticmethod
    def _broken(items: list[Item], raw: bytes) -> None:
        if raw:
            items.append(Text(raw, False))
