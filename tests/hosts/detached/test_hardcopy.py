"""GNU Screen's hardcopy: bytes as Screen 4.9 and 5.0 wrote them, and what is made of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallylight.evidence.screen import MAX_COLUMNS, MAX_ROWS
from tallylight.hosts.gnu_screen.hardcopy import decode
from tests.tables import each


def low(text: str) -> bytes:
    """What Screen 4 writes of *text*: the low byte of each character."""
    return bytes(ord(c) & 0xFF for c in text)


def test_as_the_real_one_wrote_it() -> None:
    """The bytes of Screen 4.9.0, taken from a real session, are read as what was on its screen."""
    data = bytes.fromhex(
        "6f20312e205965730a000000000000000000000acf2048656c6c6f20b720e4f60a206d0000006e0a2002207820020a"
    )

    assert decode(data, keeps_text=False)[:5] == ["❯ 1. Yes", "──────────", "● Hello · äö", " ╭───╮", " │ x │"]


@each(
    "rows",
    [
        [" Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don’t ask again for: touch commands", "   3. No"],
        ["────────────────", "❯ ", "────────────────", "  ? for shortcuts"],
        ["╭──────────╮", "│ ❯ 1. Yes │", "│   2. No  │", "╰──────────╯"],
        ["› 1. Yes, proceed", "  2. No, tell it what to do"],
        ["● Bash(touch made)", "  ⎿  Running…"],
        ["✻ Mending things… (3s · esc to interrupt)"],
        ["✻ Thinking…"],
        [" Bash command", "╌" * 40, " rm", "╌" * 40, " Do you want to proceed?"],
        [" ↑ 27 more lines", "↓ 3 more", "  … +12 lines (ctrl+o to expand)", "[… 52 lines] ^a view all"],
        ["│ Always allow 'touch…' │", "  2. Always allow run 'touch *' comm…"],
        ["⏺ Read(/etc/hosts)", "✓ done — quickly", "grün, naïve, 1–2"],
    ],
)
def test_what_agents_draw_survives(rows: list[str]) -> None:
    """A prompt, a dialog, a bullet and a spinner are read as a terminal would show them."""
    read = decode(low("\n".join(rows) + "\n"), keeps_text=False)

    # `…` in the middle of a text is not told from `&`.
    assert [row.replace("Running&", "Running…") for row in read] == rows


@each(
    "text",
    [
        "go on: 1. this is no list of answers",
        "hello o world, to o 1 of it",
        "for example : 12 apples",
        "and then m or n or o or p",
        '" quoted & (in brackets)',
        "3 files changed (+) and & more",
        "sleep 10 &",
        "LLLL",
    ],
)
def test_no_word_is_changed(text: str) -> None:
    """Plain text that looks a little like what agents draw stays as it is."""
    assert decode(low(f"{text}\n"), keeps_text=False) == [text]


def test_screen_5_keeps_text() -> None:
    """UTF-8 is read as such where Screen is new; where it is none after all, as an older one's bytes."""
    assert decode("❯ 1. Yes — ●\n".encode(), keeps_text=True) == ["❯ 1. Yes — ●"]
    assert decode(low("● Hello ä\n"), keeps_text=True) == ["● Hello ä"]


@given(st.binary(max_size=400), st.booleans())
def test_anything_is_read(data: bytes, keeps_text: bool) -> None:
    """No bytes raise; no row holds a control that a terminal would obey, unless it was sent as text."""
    rows = decode(data, keeps_text=keeps_text)

    assert rows
    if not keeps_text:
        assert not any(c < " " or c == "\x7f" for c in "".join(rows).replace("\x7f", ""))


def test_limits() -> None:
    """A file of any length gives at most `MAX_ROWS` rows of `MAX_COLUMNS`."""
    rows = decode(b"x" * (MAX_COLUMNS + 1) + b"\n" + b"y\n" * MAX_ROWS, keeps_text=False)

    assert len(rows) == MAX_ROWS
    assert rows[0] == "x" * MAX_COLUMNS
    assert len(decode(b"z" * 10_000_000, keeps_text=True)[0]) == MAX_COLUMNS
