"""What a terminal sends, as events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.ui.keys import MAX_KEY_BYTES, MAX_PASTE_BYTES, Decoder, Event, Key, Mouse, Paste, TerminalColour
from tests.tables import each

VECTORS: dict[str, tuple[bytes, list[Event]]] = {
    "letters": (b"a/?", [Key("a"), Key("/"), Key("?")]),
    "utf-8": ("é日🦊".encode(), [Key("é"), Key("日"), Key("🦊")]),
    "not utf-8": (b"\xffa", [Key("a")]),
    "enter": (b"\r", [Key("enter")]),
    "line ends": (
        b"\n\x1b\r\x1b[13;2u\x1b[13;3u",
        [Key("ctrl+j"), *map(Key, ("alt+enter", "shift+enter", "alt+enter"))],
    ),
    "kitty's protocol": (
        b"\x1b[27u\x1b[99;5u\x1b[106;5:1u\x1b[9;2u\x1b[57414u\x1b[57419;129u\x1b[127;1u",
        [*map(Key, ("escape", "ctrl+c", "ctrl+j", "shift+tab", "enter", "up", "backspace"))],
    ),
    "kitty's protocol, no key of ours": (
        b"\x1b[97;3u\x1b[27;5u\x1b[13;4u\x1b[99;x\x1b[u\x1b[99;5;5u\x1b[1114112;5u",
        [],
    ),
    "num lock": (b"\x1b[1;129A\x1b[5;193~", [Key("up"), Key("page_up")]),
    "backspace": (b"\x7f\x08", [Key("backspace")] * 2),
    "control": (b"\x03\x15", [Key("ctrl+c"), Key("ctrl+u")]),
    "arrows": (b"\x1b[A\x1b[B\x1bOA\x1bOB", [Key("up"), Key("down")] * 2),
    "home, end": (b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1bOH", [Key("home"), Key("end"), Key("home"), Key("end"), Key("home")]),
    "pages": (b"\x1b[5~\x1b[6~", [Key("page_up"), Key("page_down")]),
    "with a modifier": (b"\x1b[1;5A", []),
    "alt and a letter": (b"\x1ba", []),
    "escape twice": (b"\x1b\x1b[A", [Key("escape"), Key("up")]),
    "click": (b"\x1b[<0;5;3M\x1b[<0;5;3m", [Mouse("press", 2, 4)]),
    "other buttons": (b"\x1b[<2;5;3M\x1b[<32;5;3M", []),
    "wheel": (b"\x1b[<64;1;1M\x1b[<65;1;1M", [Mouse("wheel_up", 0, 0), Mouse("wheel_down", 0, 0)]),
    "mouse of old": (b"\x1b[M aa1", [Key("1")]),
    "paste": (b"\x1b[200~a1\r\x1b[A\x1b[201~b", [Paste("a1\r\x1b[A"), Key("b")]),
    "unknown sequence": (b"\x1b[?1;2c\x1b[97;6ux", [Key("x")]),
    "broken sequence": (b"\x1b[1\x01", []),
    "colours of the terminal": (
        b"\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\\x1b]10;rgb:00/80/ff\x07a",
        [TerminalColour(True, (253, 246, 227)), TerminalColour(False, (0, 128, 255)), Key("a")],
    ),
    "other strings": (b"\x1b]52;c;MQ==\x07\x1b]11;rgb:zz/0/0\x07\x1b]4;1;rgb:0/0/0\x1b\\x", [Key("x")]),
}


@each("name", VECTORS)
def test_whole_and_byte_by_byte(name: str) -> None:
    """Each sequence is the same events, whether it comes whole or a byte at a time."""
    data, expected = VECTORS[name]
    slow = Decoder()

    assert Decoder().feed(data) == expected
    assert [event for byte in data for event in slow.feed(bytes([byte]))] == expected


def test_a_lone_escape_is_a_key_when_nothing_follows() -> None:
    """ESC waits for what may follow it; when nothing does, it was the key."""
    decoder = Decoder()

    assert (decoder.feed(b"\x1b"), decoder.is_pending) == ([], True)
    assert (decoder.flush(), decoder.is_pending) == ([Key("escape")], False)


def test_half_a_sequence_is_no_key() -> None:
    """What breaks off in the middle is forgotten, and does not turn into letters."""
    decoder = Decoder()

    assert decoder.feed(b"\x1b[1;") + decoder.flush() + decoder.feed(b"x") == [Key("x")]


def test_a_pause_does_not_end_a_paste() -> None:
    """However slowly it comes, the whole of it is a paste; none of it is a key."""
    decoder = Decoder()

    assert decoder.feed(b"\x1b[200~a") == [] and not decoder.is_pending
    assert decoder.flush() == []
    assert decoder.feed(b"b\x1b[201~") == [Paste("ab")]


@pytest.mark.parametrize(("size", "kept"), [(MAX_PASTE_BYTES, MAX_PASTE_BYTES), (MAX_PASTE_BYTES + 1, MAX_PASTE_BYTES)])
def test_a_paste_is_bounded(size: int, kept: int) -> None:
    """At the limit all of a paste is there; what is over it is dropped."""
    events = Decoder().feed(b"\x1b[200~" + b"x" * size + b"\x1b[201~")

    assert events == [Paste("x" * kept)]


def test_a_sequence_is_bounded() -> None:
    """A sequence without an end holds up the keys behind it only so long."""
    decoder = Decoder()

    assert decoder.feed(b"\x1b[" + b"1" * (MAX_KEY_BYTES - 3)) == [] and decoder.is_pending
    assert decoder.feed(b"1") == [] and not decoder.is_pending
    assert decoder.feed(b"x") == [Key("x")]


@given(st.lists(st.binary(max_size=20), max_size=20))
def test_any_bytes_are_read(pieces: list[bytes]) -> None:
    """Whatever comes, in whatever pieces, nothing fails; and what is pending is bounded."""
    decoder = Decoder()
    for piece in pieces:
        for event in decoder.feed(piece):
            assert isinstance(event, Event)
    decoder.flush()
    assert not decoder.is_pending
