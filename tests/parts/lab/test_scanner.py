"""The scanner: what ends a sequence, what is held, what is given out, and that nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.parts.lab.scanner import CSI_LIMIT, Item, Scanner, Text
from tallylight.wire.scanner import MAX_SEQUENCE_BYTES, Sequence, SequenceKind
from tests.helpers import coalesce, is_linear, raw
from tests.strategies import chunkings, streams
from tests.tables import each

OSC, DCS, CSI, ESC = SequenceKind.OSC, SequenceKind.DCS, SequenceKind.CSI, SequenceKind.ESC


def scan(data: bytes, **options: bool) -> list[Item]:
    return Scanner(**options).feed(data)


def kinds(items: list[Item]) -> list[object]:
    """What came, in short: a kind for a sequence, bytes for drawn text, None for the remains of a sequence."""
    return [item.kind if isinstance(item, Sequence) else item.raw if item.drawn else None for item in items]


def test_plain_text_is_one_item() -> None:
    """Text without ESC is handed on as it came, C1 bytes and UTF-8 included."""
    data = "plain ✜ “text”\r\n".encode() + b"\x9d\x9c\x90\x9b\x07\x00"

    assert scan(data) == [Text(data)]


def test_osc_fields() -> None:
    """An OSC knows its number, its payload, its terminator and its raw bytes."""
    assert scan(b"\x1b]1338;state=done\x1b\\") == [
        Sequence(OSC, b"1338;state=done", b"\x1b\\", b"\x1b]1338;state=done\x1b\\", 1338)
    ]


@each(
    ("payload", "number"),
    [
        (b"0;x", 0), (b"9;4", 9), (b"1338", 1338), (b"30001;x", 30001), (b"99999;", 99999), (b"100000;x", None),
        (b"00;x", None),
        (b"01338;x", None), (b"+9;x", None), (b"-9;x", None), (b"", None), (b";x", None), (b"9oops", None),
        (b" 9;x", None),
        (b"9 ;x", None), ("٩;x".encode(), None), (b"9\n", None), (b"9\n;", None), (b"1" * 5000 + b";", None),
        (b"L", None),
    ],
)  # fmt: skip
def test_osc_number(payload: bytes, number: int | None) -> None:
    """An OSC number is one to five ASCII digits, no sign and no leading zero, before a ; or the end."""
    (item,) = scan(b"\x1b]" + payload + b"\x07")

    assert isinstance(item, Sequence)
    assert item.number == number


@each(
    ("data", "expected"),
    [
        (b"\x1b[31mx", [CSI, b"x"]),
        (b"\x1b[?2004h\x1b[>4;2m\x1b[ q\x1b[!p", [CSI, CSI, CSI, CSI]),
        (b"\x1b[3\n1m", [CSI]),
        (b"\x1b[31\xe2m", [None, b"\xe2m"]),
        (b"\x1b[31\x18m", [None, b"\x18m"]),
        (b"\x1b[31\x1b[0m", [None, CSI]),
        (b"\x1b(B\x1b7\x1bc\x1b=\x1b#8\x1b\\", [ESC] * 6),
        (b"\x1b\x1b]0;a\x07", [None, OSC]),
        (b"\x1b\x1b\x1b\x1b[m", [None, CSI]),
        (b"\x1b\nx", [None, b"\nx"]),
        (b"\x1b\x80x", [None, b"\x80x"]),
        (b"\x1b\x7fx", [None, b"\x7fx"]),
        (b"\x1bPq#0~\x1b\\x", [DCS, b"x"]),
        (b"\x1bPa\x07b\x1b\\", [DCS]),
        (b"\x1b_Gi=1\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\", [SequenceKind.APC, SequenceKind.PM, SequenceKind.SOS]),
        (b"\x1b]0;a\x1b]0;b\x07", [None, OSC]),
        (b"\x1b]0;a\x1bPb\x1b\\", [None, DCS]),
        (b"\x1b]0;a\x1b[mb", [None, CSI, b"b"]),
        (b"\x1bPa\x1b]0;b\x07c\x1b\\", [None, OSC, b"c", ESC]),
        (b"\x1b]0;a\x18b\x07", [None, b"\x18b\x07"]),
        (b"\x1b]0;a\x1ab\x07", [None, b"\x1ab\x07"]),
        (b"\x1b_a\x18b", [None, b"\x18b"]),
        (b"\x1b]0;a\nb\x00\x7f\x01c\x07", [OSC]),
        (b"\x1b]0;\xe2\x9c\x9c\xe2\x80\x9d\x07", [OSC]),
        (b"\x1b]\x07\x1b]\x1b\\", [OSC, OSC]),
    ],
)  # fmt: skip
def test_boundaries(data: bytes, expected: list[object]) -> None:
    """Each kind of sequence begins and ends where a terminal ends it, and a stray ESC, CAN or SUB aborts it."""
    assert kinds(scan(data)) == expected
    assert raw(scan(data)) == data


def test_tmux_envelope_holds_escapes() -> None:
    """A DCS that begins `tmux;` ends at an ESC \\ that is not the second half of a pair."""
    data = b"\x1bPtmux;\x1b\x1b]0;a\x1b\x1b\\\x1b\\x"

    assert kinds(scan(data)) == [DCS, b"x"]


def test_screen_envelope_needs_screen() -> None:
    """A DCS that holds an ESC is whole inside GNU Screen only; elsewhere it is aborted, as terminals abort it."""
    data = b"\x1bP\x1b]0;a\x07\x1b\\"

    assert kinds(scan(data, screen=True)) == [DCS]
    assert kinds(scan(data)) == [None, OSC, ESC]


def test_cut_between_escape_and_cancel() -> None:
    """In Screen's envelope CAN aborts after an ESC too, whether or not a chunk ends between them."""
    scanner = Scanner(screen=True)
    items = scanner.feed(b"\x1bPa\x1b") + scanner.feed(b"\x18b")

    assert coalesce(items) == scan(b"\x1bPa\x1b\x18b", screen=True) == [Text(b"\x1bPa\x1b", False), Text(b"\x18b")]


def test_escape_at_the_end_is_held() -> None:
    """An ESC that ends a chunk is neither text nor sequence until the next byte comes."""
    scanner = Scanner()

    assert scanner.feed(b"a\x1b") == [Text(b"a")]
    assert scanner.pending() == b"\x1b"
    assert scanner.feed(b"") == []
    assert kinds(scanner.feed(b"]0;t\x07b")) == [OSC, b"b"]
    assert scanner.pending() == b""


@each("terminator", [b"\x07", b"\x1b\\"])
@each("step", [1, 7, MAX_SEQUENCE_BYTES * 2])
def test_limit(terminator: bytes, step: int) -> None:
    """A sequence of exactly the limit is whole; one byte more and it is forwarded, never believed."""
    limit = 200
    for size, whole in ((limit - 1, True), (limit, True), (limit + 1, False), (limit + 50, False)):
        data = b"\x1b]0;".ljust(size - len(terminator), b"x") + terminator + b"after"
        scanner = Scanner(limit)
        items: list[Item] = []
        for at in range(0, len(data), step):
            items += scanner.feed(data[at : at + step])
            assert len(scanner.pending()) < limit

        assert kinds(coalesce(items)) == [OSC if whole else None, b"after"]
        assert raw(items) == data


def test_default_limit() -> None:
    """The default limit is 128 KiB, at it and one byte over it."""
    fits = b"\x1b]0;".ljust(MAX_SEQUENCE_BYTES - 1, b"x") + b"\x07"

    assert MAX_SEQUENCE_BYTES == 131_072
    assert kinds(scan(fits)) == [OSC]
    assert kinds(scan(b"\x1b]0;x" + fits[4:])) == [None]


def test_over_the_limit_it_keeps_looking_for_the_end() -> None:
    """Over the limit nothing is held but a last ESC, and the next sequence after the end is whole again."""
    scanner = Scanner()
    items = scanner.feed(b"\x1b]0;" + b"x" * 1_048_576)
    assert scanner.pending() == b""
    items += scanner.feed(b"yyy\x1b")
    assert scanner.pending() == b"\x1b"
    items += scanner.feed(b"\\text\x1b]0;a\x07")

    assert kinds(coalesce(items)) == [None, b"text", OSC]


def test_over_the_limit_an_escape_aborts() -> None:
    """An overlong OSC is aborted by ESC and CAN as a short one is."""
    for end in (b"\x1b]0;a\x07", b"\x18\x1b]0;a\x07"):
        items = Scanner(64).feed(b"\x1b]0;" + b"x" * 100 + end)
        assert OSC in kinds(items)


def test_a_full_buffer_is_given_up() -> None:
    """One byte short of the limit is held, for a terminator may still come; at the limit nothing is."""
    scanner = Scanner(64)
    scanner.feed(b"\x1b]0;".ljust(63, b"x"))
    assert len(scanner.pending()) == 63

    assert scanner.feed(b"x") == [Text(b"\x1b]0;".ljust(64, b"x"), drawn=False)]
    assert scanner.pending() == b""


@pytest.mark.slow
def test_overlong_csi() -> None:
    """A CSI of the limit is whole; one byte more and it is skipped to its final byte without being held."""
    fits = b"\x1b[".ljust(CSI_LIMIT - 1, b"1") + b"m"
    over = b"\x1b[".ljust(CSI_LIMIT + 5, b"1") + b"m"
    scanner = Scanner()
    items: list[Item] = []
    for byte in over * 2 + b"x":
        items += scanner.feed(bytes([byte]))
        assert len(scanner.pending()) < CSI_LIMIT

    assert CSI_LIMIT == 4096
    assert raw(items) == over * 2 + b"x"
    assert kinds(scan(fits)) == [CSI]
    assert kinds(scan(over + b"x")) == [None, b"x"]
    assert kinds(scan(b"\x1b[".ljust(CSI_LIMIT, b"1") + b"mx")) == [None, b"x"]
    assert kinds(coalesce(items)) == [None, b"x"]


def test_a_low_limit_holds_for_a_csi_in_any_pieces() -> None:
    """A CSI over the limit of its scanner is none, whole or cut, also where it is shorter than those remembered."""
    data = b"x\x1b[" + b"1" * 20 + b"mx"
    for piece in (1, 7, len(data)):
        scanner = Scanner(16)
        items = [item for at in range(0, len(data), piece) for item in scanner.feed(data[at : at + piece])]
        assert not any(isinstance(item, Sequence) for item in items)
        assert raw(items) == data


#: Streams in which each lane ends strings, with what a wrong memory of an ESC or of an envelope would end elsewhere.
CUT = (
    b"\x1b]0;a\x1b[mbc\x07d",
    b"\x1b]0;a\x1bPb\x1b\\c",
    b"\x1b]0;a\x18b\x07c\\",
    b"\x1b]0;a\x07\x1b]0;b\\c\x07",
    b"\x1b]0;a\x1b\\\x1bPb\\c\x1b\\",
    b"\x1b_a\x1b]0;b\x07\x1b\\",
    b"\x1bPtmux;\x1b\x1ba\\b\x1b\x1b\\\x1b\\c",
    b"\x1bPtmux;\x1b\x1ba\x18b\\\x1b]0;\x1bc\x07",
    b"\x1bPtmux\x1b\x1ba\x1b\\",
    b"\x1bP\x1b]0;a\x07\\b\x1b\\c",
    b"\x1bP\x1b]0;a\x1b\\\x1b]0;b\x1b[mc",
    b"\x1bX\x1b\x1b\x1b[mab\x1b",
)


def test_two_cuts_change_nothing() -> None:
    """Wherever a stream is cut twice, in Screen or not, the same comes out as when it is whole."""
    wrong = []
    for data in CUT:
        for screen in (False, True):
            whole = Scanner(64, screen=screen)
            expected = coalesce(whole.feed(data))
            for first in range(len(data)):
                for second in range(first, len(data)):
                    scanner = Scanner(64, screen=screen)
                    pieces = data[:first], data[first:second], data[second:]
                    items = [item for piece in pieces for item in scanner.feed(piece)]
                    if (coalesce(items), scanner.pending()) != (expected, whole.pending()):
                        wrong.append((pieces, screen))

    assert wrong == []


@given(chunkings(streams()), st.booleans())
def test_a_cut_changes_nothing(chunked: tuple[bytes, list[bytes]], screen: bool) -> None:
    """However a stream is cut, the scanner gives the same items, loses no byte and holds no more than its limit."""
    data, pieces = chunked
    whole, cut, single = (Scanner(64, screen=screen) for _ in range(3))
    expected = coalesce(whole.feed(data))
    items: list[Item] = []
    for piece in pieces:
        items += cut.feed(piece)
        assert len(cut.pending()) < 64
    singles = [item for byte in data for item in single.feed(bytes([byte]))]

    assert coalesce(items) == expected
    assert coalesce(singles) == expected
    assert cut.pending() == whole.pending() == single.pending()
    assert raw(expected) + whole.pending() == data


@given(streams())
def test_whole_sequences_keep_the_shape(data: bytes) -> None:
    """A whole sequence begins with ESC, is its introducer, payload and terminator, and holds no stray ESC."""
    for item in scan(data):
        if isinstance(item, Sequence):
            assert item.raw == b"\x1b" + item.kind.value.encode() + item.payload + item.terminator
            assert b"\x1b" not in item.payload or item.payload.startswith(b"tmux;")


FLOODS = {
    "esc": b"\x1b",
    "osc-introducers": b"\x1b]",
    "dcs-introducers": b"\x1bP",
    "csi-introducers": b"\x1b[",
    "tmux-envelopes": b"\x1bPtmux;",
    "intermediates": b"\x1b    ",
    "colours": b"\x1b[31m",
    "osc-payload": b"x",
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize("step", [1, 65536])
def test_floods_are_linear(unit: bytes, step: int) -> None:
    """Four times as many bytes take about four times as long, in large chunks and byte by byte."""
    start = b"\x1b]0;" if unit == b"x" else b""

    def feed(size: int) -> Callable[[], None]:
        data = start + (unit * (size // len(unit) + 1))[:size]

        def work() -> None:
            scanner = Scanner(limit=1_000_000)
            for at in range(0, size, step):
                scanner.feed(data[at : at + step])

        return work

    assert is_linear(feed, 4_000 if step == 1 else 50_000)
