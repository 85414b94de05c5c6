"""The splitter: it finds what the scanner finds, and touches nothing else."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.position import unfinished
from tallylight.relay.splitter import BAR, INTRODUCERS, Splitter
from tallylight.wire.scanner import MAX_SEQUENCE_BYTES, Sequence, SequenceKind
from tests.relay.streams import FOREIGN, READ, streams
from tests.strategies import chunkings
from tests.tables import each


class Split:
    """One stream through a splitter that consumes everything it finds, or nothing."""

    def __init__(self, *, consume: bool = True, screen: bool = False) -> None:
        self.taken: list[Sequence] = []
        self.resets = 0
        self.consume = consume
        self.out: list[bytes] = []
        self.splitter = Splitter(self._take, self._reset, screen=screen)

    def _take(self, sequence: Sequence) -> bool:
        self.taken.append(sequence)
        return self.consume

    def _reset(self) -> None:
        self.resets += 1

    def feed(self, *pieces: bytes) -> bytes:
        """Feed pieces; return what was passed on for them."""
        before = len(self.out)
        for piece in pieces:
            self.splitter.feed(piece, self.out)
        return b"".join(self.out[before:])


def scanned(data: bytes, *, screen: bool) -> tuple[list[Sequence], bytes, list[int]]:
    """What the scanner finds of interest in *data*, the rest of the bytes, and how long each row of RIS is."""
    scanner = Scanner(screen=screen)
    found, rest, rows, is_reset = [], b"", [], False
    for item in scanner.feed(data):
        is_osc = isinstance(item, Sequence) and item.kind is SequenceKind.OSC
        was_reset, is_reset = is_reset, item.raw == b"\x1bc"
        if isinstance(item, Sequence) and is_osc and item.raw.startswith(INTRODUCERS) and not item.raw.startswith(BAR):
            found.append(item)
        else:
            rest += item.raw
        if is_reset:
            rows[-1:] = [rows[-1] + 1] if was_reset else [*rows[-1:], 1]
    return found, rest + scanner.pending(), rows


@pytest.mark.slow
@given(chunkings(streams()), st.booleans())
@example((b"\x1bc\x1bc", [b"\x1bc\x1bc"]), False)
def test_it_agrees_with_the_scanner(stream: tuple[bytes, list[bytes]], screen: bool) -> None:
    """
    In any bytes in any pieces, the sequences found and the bytes left are the scanner's.

    Of resets in a row one is enough: a second one changes nothing. None is seen that the scanner does not see.
    """
    data, pieces = stream
    split = Split(screen=screen)
    split.feed(*pieces)
    split.splitter.release(split.out)
    found, rest, rows = scanned(data, screen=screen)

    assert (split.taken, b"".join(split.out)) == (found, rest)
    assert len(rows) <= split.resets <= sum(rows)


@given(chunkings(streams()), st.booleans())
def test_it_knows_where_the_terminal_stands(stream: tuple[bytes, list[bytes]], screen: bool) -> None:
    """It is safe to write exactly where a scanner has nothing pending and no UTF-8 character is unfinished."""
    data, pieces = stream
    split = Split(consume=False, screen=screen)
    split.feed(*pieces)
    passed = b"".join(split.out)
    scanner = Scanner(screen=screen)
    scanner.feed(passed)

    assert passed == data[: len(data) - split.splitter.held]
    assert split.splitter.position.is_safe == (not scanner.pending() and not unfinished(passed[-3:]))


@given(streams(), st.integers(0, 200), streams())
def test_a_release_loses_nothing(before: bytes, at: int, after: bytes) -> None:
    """Whatever is released when, every byte is passed on, and the terminal is followed through the rest."""
    data = before + after
    split = Split(consume=False)
    split.feed(data[:at])
    split.splitter.release(split.out)
    assert not split.splitter.held
    split.feed(data[at:])
    split.splitter.release(split.out)
    scanner = Scanner()
    scanner.feed(data)

    assert b"".join(split.out) == data
    assert split.splitter.position.is_safe == (not scanner.pending() and not unfinished(data[-3:]))


@each("text", ["a", "é", "✓", "💡"])
def test_it_is_unsafe_inside_a_character(text: str) -> None:
    """Behind every byte of a character but the last it is not safe to write, in one piece or several."""
    data = text.encode()
    split = Split()

    for byte in data[:-1]:
        split.feed(bytes([byte]))
        assert not split.splitter.position.is_safe
    split.feed(data[-1:])
    assert split.splitter.position.is_safe


def test_latin_1_does_not_silence_us() -> None:
    """Bytes that no UTF-8 character starts with do not count as the start of one."""
    split = Split()
    split.feed(b"abc\x9c")
    assert split.splitter.position.is_safe
    split.feed(b"\xff")
    assert split.splitter.position.is_safe


@each("data", [b"plain text", b"\x1b[1mbold\x1b[m", b"\x1b]0;title\x07", b"\x1b_Gq;AAAA\x1b\\", *FOREIGN])
def test_what_is_not_of_interest_is_not_copied(data: bytes) -> None:
    """A chunk without anything consumed goes out as the object that came in."""
    split = Split(consume=False)
    split.splitter.feed(data, split.out)

    assert split.out[0] is data


@each(
    "data",
    [
        b"\x1b]52;c;AAAA", b"\x1b]1337;File=name=YQ==:AA", b"\x1b]8;;http://a", b"\x1b]133;A", b"\x1b]0;tit", b"\x1b(",
        b"\x1b]777;n;", b"\x1b[38;5", b"\x1b_Ga=T,f=100;AAAA", b"\x1bPq#0;2;0;0;0",
        b"\x1b]3008;sta=",
    ],
)  # fmt: skip
def test_what_cannot_become_ours_is_not_held(data: bytes) -> None:
    """An unfinished sequence that is certainly none of ours is passed on at once."""
    split = Split()

    assert split.feed(b"x" + data) == b"x" + data
    assert not split.splitter.held


@each("data", READ)
def test_a_sequence_is_found_at_every_cut(data: bytes) -> None:
    """Each of ours is found wherever it is cut, and nothing of it gets out before it is whole."""
    for at in range(1, len(data)):
        split = Split()
        assert split.feed(b"x" + data[:at]) == b"x"
        assert split.splitter.held == at
        assert split.feed(data[at:] + b"y") == b"y"
        assert [sequence.raw for sequence in split.taken] == [data]


@each(("size", "is_found"), [(MAX_SEQUENCE_BYTES, True), (MAX_SEQUENCE_BYTES + 1, False)])
@each("chunk", [MAX_SEQUENCE_BYTES * 2, 4096, 65_536])
def test_the_limit(size: int, is_found: bool, chunk: int) -> None:
    """A sequence of the limit is found, one a byte longer is passed on, and more than the limit is never held."""
    data = b"\x1b]1338;" + b"x" * (size - 8) + b"\x07"
    split = Split()
    for at in range(0, size, chunk):
        split.feed(data[at : at + chunk])
        assert split.splitter.held <= MAX_SEQUENCE_BYTES

    assert bool(split.taken) is is_found
    assert b"".join(split.out) == (b"" if is_found else data)


def test_an_endless_sequence_is_passed_on() -> None:
    """One that never ends is given up at the limit, after which its bytes go out as they come."""
    split = Split()
    split.feed(b"\x1b]1338;" + b"x" * (MAX_SEQUENCE_BYTES - 7))

    assert not split.splitter.held
    assert split.feed(b"more") == b"more"
    assert not split.splitter.position.is_safe
    assert split.feed(b"\x07") == b"\x07"
    assert split.splitter.position.is_safe


@pytest.mark.parametrize(
    ("first", "rest", "resets"), [(b"\x1b", b"c", 1), (b"\x1bPtm", b"ux;\x1b\x1b]7501;?\x07\x1b\\", 0)]
)
def test_what_was_released_too_early(first: bytes, rest: bytes, resets: int) -> None:
    """The rest of a reset or of an envelope is still understood after its start was released."""
    split = Split()
    split.feed(first)
    split.splitter.release(split.out)
    split.feed(rest)

    assert split.resets == resets
    assert not split.taken
    assert split.splitter.position.is_safe


@each("data", READ)
def test_the_rest_of_what_was_released_is_passed_on(data: bytes) -> None:
    """Released at any cut, a sequence goes to the terminal whole and unread, and the next one is found."""
    for at in range(1, len(data)):
        split = Split()
        split.feed(data[:at])
        split.splitter.release(split.out)
        split.feed(data[at:], data)
        assert b"".join(split.out) == data
        assert [sequence.raw for sequence in split.taken] == [data]


@pytest.mark.parametrize(("screen", "is_safe"), [(True, True), (False, False)])
def test_an_escape_at_a_cut_in_an_envelope(screen: bool, is_safe: bool) -> None:
    r"""tmux reads ESC in pairs, so that `ESC | ESC \` does not end its envelope; GNU Screen's ends there."""
    split = Split(screen=screen)
    split.feed(b"\x1bPtmux;\x1b", b"\x1b\\")

    assert split.splitter.position.is_safe is is_safe


def test_an_envelope_in_crumbs() -> None:
    """The start of an envelope that was released is understood however small the pieces of the rest are."""
    split = Split()
    split.feed(b"\x1bP")
    split.splitter.release(split.out)
    split.feed(b"t", b"mux", b";\x1b\x1b]7501;?\x07")

    assert not split.taken
    assert not split.splitter.position.is_safe
    split.feed(b"\x1b", b"\\")
    assert split.splitter.position.is_safe
