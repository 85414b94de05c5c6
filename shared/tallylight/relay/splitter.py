"""
Splitter: finds the few sequences that a relay reads in a stream that it otherwise passes on.

`feed` appends the bytes to pass on to a list, uncopied if possible. It passes every whole sequence of interest to
*take*, which returns whether it is consumed. It finds the same sequences as the scanner, and a test compares them. It
is a second reader of the same grammar for speed: the scanner makes an object of every colour change. It can be short
because an ESC interrupts any sequence: only the envelope of a multiplexer, which may contain ESC, needs memory.

Only an unfinished sequence of interest is held back: `ESC`, the start of an introducer in `INTRODUCERS`, or the body
after one, up to `MAX_SEQUENCE_BYTES` bytes. `release` passes it on; its rest is then passed on unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tallylight.relay.position import ENVELOPES, Position, State
from tallylight.wire import cli_agent, osc3008, osc21337, user_var
from tallylight.wire.envelope import CARRIER
from tallylight.wire.registry import OURS
from tallylight.wire.scanner import BEL, MAX_SEQUENCE_BYTES, ST, Sequence, SequenceKind, whole

#: The beginnings of sequences that are consumed with any content.
_OWN = *(b"%d;" % number for number in OURS), b"777;" + cli_agent.PREFIX
_VARIABLE = user_var.BEGINNING + CARRIER.encode()
#: The beginnings of all sequences of interest. For a number that others use, too, they include more of the content.
INTRODUCERS = tuple(
    b"\x1b]" + start for start in (*_OWN[:-1], b"21337;", *osc3008.BEGINNINGS, b"777;notify;", b"9;", b"99;", _VARIABLE)
)
#: Further sequences with a meaning for a terminal: titles, and marks of the shell.
HEARD = (b"\x1b]0;", b"\x1b]2;", b"\x1b]133;")
#: A progress bar has the number of a notification, but is of no interest to a relay.
BAR = b"\x1b]9;4;"
_TMUX = b"\x1bPtmux;"
_SCREEN = b"\x1bP"
_RESET = b"\x1bc"

_STOP = re.compile(rb"[\x07\x18\x1a\x1b]")
#: The pairs of an envelope are skipped in one step, so that a flood of them is cheap.
_TMUX_STOP = re.compile(rb"(?:[^\x18\x1a\x1b]+|\x1b[^\\])*+(?:([\x18\x1a]|\x1b\\)|(\x1b)\Z|\Z)", re.DOTALL)
_SCREEN_STOP = re.compile(rb"(?:[^\x18\x1a\x1b]+|\x1b(?=[^\\]))*+(?:([\x18\x1a]|\x1b\\)|(\x1b)\Z|\Z)", re.DOTALL)


def _branches(words: list[bytes]) -> list[bytes]:
    """Return *words* as a pattern in the form of a trie: one branch for each first byte."""
    found: dict[bytes, list[bytes]] = {}
    for word in words:
        found.setdefault(word[:1], []).append(word[1:])
    return [
        re.escape(first) + (b"" if b"" in rests else b"(?:" + b"|".join(_branches(rests)) + b")")
        for first, rests in found.items()
    ]


#: The beginnings to search for, by envelope and by whether `HEARD` is of interest, too.
_STARTS = {
    (envelope, is_all): (envelope, *INTRODUCERS, *(HEARD if is_all else ()))
    for envelope in (_TMUX, _SCREEN)
    for is_all in (False, True)
}
#: The search for any beginning but `BAR`, and for RIS, several in a row at once. A trie is fast, and every ESC of the
#: stream is looked up.
_SEARCH = {
    (envelope, is_all): re.compile(
        rb"\x1b(?:c(?:\x1bc)*+|"
        + b"|".join(_branches([start[1:] for start in starts]))
        + (b")" if is_all else rb")(?<!\]9;(?=4;))")
    ).search
    for (envelope, is_all), starts in _STARTS.items()
}
_PARTIAL = {
    key: frozenset(start[:size] for start in starts for size in range(1, len(start))) for key, starts in _STARTS.items()
}
_LONGEST = max(map(len, INTRODUCERS))
#: With so many bytes between two sequences of interest each is read by itself: to read all between them costs more.
DENSE = 256


#: The contents of a flood: consumed sequences, passed-on ones of interest, and others after which a sequence may be
#: removed. The others are text in whole characters, colours, RIS, titles and similar.
_BODY = rb"[^\x07\x18\x1a\x1b]*+(?:\x07|\x1b\\)"
_CONSUMED = rb"\x1b\](?:%b)%b|\x1b\](?:%b|%b)[ -~]{0,4000}(?:\x07|\x1b\\)" % (
    b"|".join(map(re.escape, _OWN)), _BODY, osc21337.CERTAIN, osc3008.CERTAIN,
)  # fmt: skip
_PASSED = rb"\x1b\](?:%b|9;(?!4;)|99;|777;notify;(?!warp://cli-agent;))%b" % (re.escape(_VARIABLE), _BODY)
_OTHER = (
    rb"[ -~\r\n\t]++|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
    rb"|\x1b\[[0-?]*[ -/]*[@-~]|\x1bc"
    rb"|\x1b\](?:[0-8];|9;4;|133;|3008;(?![^\x07\x1b]*;(?:event|kind)=)|21337;(?![^\x07\x1b]*[;a-z]=))" + _BODY
)
#: Sequences that an ESC aborts, several in a row.
_BROKEN = re.compile(rb"(?:\x1b\][^\x07\x18\x1a\x1b]*+(?=\x1b[^\\]))*+", re.DOTALL).match
_FLOOD = re.compile(rb"(?:" + _CONSUMED + rb"|" + _PASSED + rb"|" + _OTHER + rb")*+").match
_FLOOD_READ = re.compile(_CONSUMED + rb"|" + _PASSED).findall
_FLOOD_CONSUMED = re.compile(_CONSUMED).sub


def _ending(data: bytes, at: int) -> tuple[int, bytes] | None:
    """
    Return the end of an OSC from *at* on, and its terminator, empty for an aborted one; None if it has not ended.
    """
    stop = _STOP.search(data, at)
    if stop is None:
        return None
    at = stop.start()
    if data[at] == 0x07:
        return at + 1, BEL
    if data.startswith(ST, at):
        return at + 2, ST
    return None if data[at] == 0x1B and stop.end() == len(data) else (at, b"")


class Splitter:
    """
    Splits one stream. *take* is called with each sequence of interest, *reset* at each RIS.

    *open_envelope* gets a copy of each envelope of a multiplexer. *flood* is a pair: a function that returns whether
    *take* would defer a sequence now, and one that defers many at once and returns whether they are consumed. *screen*:
    we run inside GNU Screen, where any DCS may contain ESC. *hears_all*: titles, bars and marks of the shell are of
    interest, too.
    """

    def __init__(
        self,
        take: Callable[[Sequence], bool],
        reset: Callable[[], None],
        open_envelope: Callable[[Sequence], None] | None = None,
        *,
        flood: tuple[Callable[[], bool], Callable[[list[bytes], int], bool]] | None = None,
        screen: bool = False,
        hears_all: bool = False,
    ) -> None:
        self._flood = flood
        self._take = take
        self._reset = reset
        self._open = open_envelope
        self._envelope = bytearray()
        envelope = _SCREEN if screen else _TMUX
        self._hears_all = hears_all
        self._search = _SEARCH[envelope, hears_all]
        self._envelope_stop = (_SCREEN_STOP if screen else _TMUX_STOP).match
        self._envelope_start = envelope
        self._partial = _PARTIAL[envelope, hears_all]
        #: The position of the terminal's parser after all that was passed on.
        self.position = Position()
        #: The start of an envelope's introducer that was released before it was whole.
        self._tail = b""
        self._held = bytearray()
        #: Whether the held bytes have a whole introducer.
        self._in_body = False
        #: Whether the data begins with bytes that were held before.
        self._is_same = False
        #: How often bytes were held back.
        self.holds = 0
        #: The index in `feed`'s list at which another write is safe: in place of the last consumed sequence.
        self.gap: int | None = None

    @property
    def held(self) -> int:
        """The number of bytes that are held back."""
        return len(self._held)

    def release(self, out: list[bytes]) -> None:
        """Pass on the held bytes to *out*; they are no sequence of interest any more."""
        if not self._held:
            return
        data = bytes(self._held)
        self._held.clear()
        self._in_body = False
        self._tail = data if self._envelope_start.startswith(data) or _RESET.startswith(data) else b""
        self.position.note(data, 0, len(data))
        out.append(data)

    def feed(self, data: bytes, out: list[bytes]) -> bool:
        """Take the next bytes and append to *out* those to pass on. Return True if that was all of them."""
        self.gap = None
        if not data:
            return not self._held
        if not (self._held or self._tail or self.position.is_in_envelope):
            # Most pieces have no sequence of interest: they cost one search.
            last = data.rfind(b"\x1b")
            if last < 0 or (self._search(data) is None and self._partial_start(data, last) == len(data)):
                self.position.note_later(data, last)
                out.append(data)
                return True
        self._split(data, out)
        return False

    def _partial_start(self, data: bytes, last: int) -> int:
        """Return *last*, the index of the last ESC, if that may yet become an introducer, else the end of *data*."""
        may_become = last >= 0 and len(data) - last < _LONGEST and data[last:] in self._partial
        return last if may_become else len(data)

    def _split(self, data: bytes, out: list[bytes]) -> None:
        """Pass on *data*, and take the sequences of interest in it; hold back one that has not ended."""
        position, note, take = self.position, self.position.note, self._take
        data, begin, at = self._resume(data, out)
        if begin < 0:
            return
        noted = begin
        if position.state in ENVELOPES:
            at = noted = self._skip_envelope(data, at)
            self._copy(data[:at])
        while found := self._search(data, at):
            start, end = found.span()
            kind = data[start + 1]
            if kind == 0x5D:
                if noted < start:
                    note(data, noted, start)
                    noted = start
                if (flood := self._flood_end(data, at, start)) > start:
                    self._pass_flood(data, begin, start, flood, out)
                    at = begin = noted = flood
                    continue
                if (ending := _ending(data, end)) is None:
                    if start > begin:
                        out.append(data[begin:start])
                    self._in_body = True
                    self._hold(data, start, out)
                    return
                at, terminator = ending
                if not terminator or at - start > MAX_SEQUENCE_BYTES:
                    at = _BROKEN(data, at).end()  # type: ignore[union-attr]  # it may be empty
                    continue  # the aborting byte is read again
                if take(whole(data[start:at])):
                    if start > begin:
                        out.append(data[begin:start])
                    self.gap = len(out)
                    begin = at
                else:
                    position.passed(data, at)
                noted = at
            elif kind == 0x63:
                at = noted = end
                position.passed(data, end)
                self._reset()
            else:
                note(data, noted, start)
                position.state = State.ENVELOPE
                at = noted = self._skip_envelope(data, end)
                self._copy(data[start:at])
        stop_at = self._partial_start(data, data.rfind(b"\x1b", at))
        self._hold(data, stop_at, out)
        note(data, noted, stop_at)
        if begin < stop_at:
            out.append(data[begin:stop_at])

    def _flood_end(self, data: bytes, last: int, start: int) -> int:
        """
        Return the end of the sequences from *start* that a flood defers; *start* itself if there is no flood.

        *last* is the end of the sequence before it.
        """
        if start - last >= DENSE or self._flood is None or len(data) > MAX_SEQUENCE_BYTES:
            return start
        if not self._flood[0]() or not self.position.is_safe:
            return start
        found = _FLOOD(data, start)
        return found.end() if found else start

    def _pass_flood(self, data: bytes, begin: int, start: int, end: int, out: list[bytes]) -> None:
        """Pass on data[begin:end] without the consumed sequences after *start*, and defer those of interest."""
        assert self._flood, "there is one"
        defer = self._flood[1]
        flood = data[start:end]
        reset = flood.rfind(_RESET)
        if reset >= 0:
            defer(_FLOOD_READ(flood[:reset]), reset)
            self._reset()
        if defer(_FLOOD_READ(flood[reset + 1 :]), end - start):
            flood = _FLOOD_CONSUMED(b"", flood)
        out += [piece for piece in (data[begin:start], flood) if piece]
        self.gap = len(out)
        if flood:
            self.position.passed(flood, len(flood))

    def _hold(self, data: bytes, at: int, out: list[bytes]) -> None:
        """Hold back data[at:], unless it is empty or too long."""
        if at < len(data):
            self._held += data[at:]
            self.holds += not self._is_same or at > 0
            if len(self._held) >= MAX_SEQUENCE_BYTES:
                self.release(out)

    def _resume(self, data: bytes, out: list[bytes]) -> tuple[bytes, int, int]:
        """
        Go on with held or released bytes. Return the data to split, the index of its first byte that has yet to be
        passed on, and the index to search from. The indexes are -1 if nothing is left to split.
        """
        self._is_same = False
        if not self._held:
            return data, 0, self._note_late_introducer(data) if self._tail else 0
        if not self._in_body:
            self._is_same = True
            data = bytes(self._held) + data
            self._held.clear()
            return data, 0, 0
        if self._held[-1] == 0x1B:
            del self._held[-1]
            data = b"\x1b" + data
        ending = _ending(data, 0)
        if ending is None:
            self._held += data
            if len(self._held) >= MAX_SEQUENCE_BYTES:
                self.release(out)
            return data, -1, -1
        end, terminator = ending
        held = bytes(self._held)
        self._held.clear()
        self._in_body = False
        raw = held + data[:end]
        is_whole = terminator and len(raw) <= MAX_SEQUENCE_BYTES and (self._hears_all or not raw.startswith(BAR))
        if is_whole and self._take(whole(raw)):
            self.gap = len(out)
            return data, end, end
        self.position.note(held, 0, len(held))
        out.append(held)
        return data, 0, end

    def _note_late_introducer(self, data: bytes) -> int:
        """Check whether *data* completes an envelope's introducer or a RIS that was released; return where to go on."""
        joined = self._tail + data[:_LONGEST]
        passed, self._tail = len(self._tail), b""
        if joined.startswith(_RESET):
            self._reset()
        elif joined.startswith(self._envelope_start):
            self.position.state = State.ENVELOPE
            self._copy(joined[:passed])
            return len(self._envelope_start) - passed
        elif self._envelope_start.startswith(joined):
            self._tail = joined
        return 0

    def _copy(self, piece: bytes) -> None:
        """Collect an envelope while it passes, and pass a copy to `open_envelope` once it is whole."""
        if self._open is None:
            return
        self._envelope += piece[: MAX_SEQUENCE_BYTES + 1 - len(self._envelope)]
        if self.position.state is State.GROUND:
            raw = bytes(self._envelope)
            self._envelope.clear()
            if len(raw) <= MAX_SEQUENCE_BYTES and raw.endswith(ST):
                self._open(Sequence(SequenceKind.DCS, raw[2:-2], ST, raw))

    def _skip_envelope(self, data: bytes, at: int) -> int:
        """Follow the inside of an envelope from *at*; return its end."""
        position = self.position
        start = at
        if position.state is State.ENVELOPE_ESCAPE and at < len(data):
            position.state = State.ENVELOPE
            if data[at] == 0x5C:
                position.passed(data, at + 1)
                return at + 1
            if self._envelope_start is _TMUX:
                at += 1
        stop = self._envelope_stop(data, at)
        assert stop, "the end of the data is one, too"
        if stop[1]:
            position.passed(data, stop.end())
        elif stop[2]:
            position.state = State.ENVELOPE_ESCAPE
        return max(start, stop.end())
