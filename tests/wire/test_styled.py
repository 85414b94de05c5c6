"""Styled text: what SGR makes of a screen's text, and that nothing else of it is left, whatever stands there."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.wire.styled import (
    MAX_COLUMNS,
    MAX_ROWS,
    MAX_STYLED_ROW_CHARS,
    PLAIN,
    Reader,
    Run,
    Style,
    apply,
    cut,
    plain,
    read_screen,
)
from tallylight.wire.text import sanitise, width
from tests.helpers import is_linear
from tests.tables import each

_RED, _RGB = Style(foreground=1), Style(foreground=(1, 2, 3))


def line(text: str, columns: int = 40) -> list[tuple[str, Style]]:
    return [(run.text, run.style) for run in Reader(columns).line(text)]


@each(
    ("parameters", "style"),
    [
        ("", PLAIN),
        ("0", PLAIN),
        ("1", Style(is_bold=True)),
        ("1;2;3;4;7;8;9", Style(is_bold=True, is_dim=True, is_italic=True, is_underlined=True, is_reverse=True,
                                is_hidden=True, is_struck=True)),
        ("1;22", PLAIN), ("2;22", PLAIN), ("3;23", PLAIN), ("4;24", PLAIN), ("7;27", PLAIN),
        ("8;28", PLAIN), ("9;29", PLAIN),
        ("22;1;38:2:1:2:3", Style(foreground=(1, 2, 3), is_bold=True)),
        ("31", _RED), ("97", Style(foreground=15)), ("40", Style(background=0)), ("107", Style(background=15)),
        ("31;39", PLAIN), ("41;49", PLAIN), ("1;0;31", _RED), ("1;;31", _RED), (";31", _RED),
        ("38;5;200", Style(foreground=200)), ("48:5:7", Style(background=7)), ("48;5;0", Style(background=0)),
        ("38;2;1;2;3", _RGB), ("38:2::1:2:3", _RGB), ("38:2:1:2:3", _RGB), ("38:2:0:1:2:3:0:1", _RGB),
        ("38;2;1;2;3;1", Style(foreground=(1, 2, 3), is_bold=True)),
        ("58;2;9;9;9;31", _RED), ("58;5;9;31", _RED), ("58:2::9:9:9;31", _RED), ("59;31", _RED),
        ("4:3", Style(is_underlined=True)), ("4:0", PLAIN), ("21", Style(is_underlined=True)), ("21;24", PLAIN),
        ("4;4:0;31", _RED),
    ],
)  # fmt: skip
def test_what_sgr_says(parameters: str, style: Style) -> None:
    """Attributes and colours in every notation that terminals write."""
    assert apply(PLAIN, parameters) == style


@each(
    "parameters",
    ["5", "6", "10", "26", "38", "48", "38;5;256", "38;2;1;2;300", "38:5:999", "38:9:1", "38:2:1", "38:5:1:2", "48;7",
     "50", "98", "99999999999999999999", "1000", "58", "58:2", "38:2::300:1:1", "108", "89", "38;9", "38:2:1:2"],
)  # fmt: skip
def test_what_is_not_known_does_nothing(parameters: str) -> None:
    """What is no colour and no attribute of ours leaves the style as it is."""
    before = Style(foreground=3, is_bold=True)

    assert apply(before, parameters) == before


@each(
    ("parameters", "colour"),
    [("38;5", 0), ("38:5:", 0), ("38;2", (0, 0, 0)), ("38;2;1;2", (1, 2, 0)), ("38:2::::", (0, 0, 0))],
)
def test_a_number_left_out_is_nought(parameters: str, colour: object) -> None:
    """As for every terminal."""
    assert apply(PLAIN, parameters).foreground == colour


def test_only_so_many_parameters_are_read() -> None:
    """Of a sequence as long as a screen the first parameters count."""
    assert apply(PLAIN, "1;" * 1000 + "31") == Style(is_bold=True)


@each(
    ("written", "shown"),
    [
        ("", []),
        ("plain", [("plain", PLAIN)]),
        ("\x1b[m\x1b[31mred\x1b[39m not", [("red", _RED), (" not", PLAIN)]),
        ("\x1b[31mr\x1b[31me\x1b[0;31md", [("red", _RED)]),
        # Blanks at the end that nobody sees.
        ("a  \x1b[31m   \x1b[m  ", [("a", PLAIN)]),
        ("a\x1b[44m  ", [("a", PLAIN), ("  ", Style(background=4))]),
        ("a\x1b[7m ", [("a", PLAIN), (" ", Style(is_reverse=True))]),
        # Tabs, as far as the next column that can be divided by eight; and blanks of two cells.
        ("a\tb", [("a       b", PLAIN)]),
        ("世\tb", [("世      b", PLAIN)]),
        ("\x1b[31ma\x1b[m\tb", [("a", _RED), ("       b", PLAIN)]),
        ("a\u3000b", [("a  b", PLAIN)]),
        # What is hidden is not shown here either.
        ("a\x1b[8msecret\x1b[28mb", [("a", PLAIN), ("      ", Style(is_hidden=True)), ("b", PLAIN)]),
        # Line drawing as tmux writes it.
        ("\x0elqk\x0fx", [("┌─┐x", PLAIN)]),
        # Everything that is no SGR goes, whole.
        ("a\x1b]8;;http://evil/\x1b\\link\x1b]8;;\x1b\\b", [("alinkb", PLAIN)]),
        ("a\x1b]8;;http://evil/\x07link\x1b]8;;\x07b", [("alinkb", PLAIN)]),
        ("a\x1b]52;c;cm0gLXJm\x07b", [("ab", PLAIN)]),
        ("a\x1b]0;title without an end", [("a", PLAIN)]),
        # OSC 66, as kitty writes what was drawn by it: text, in cells of its own count.
        ("\x1b[31ma\x1b]66;w=1;⇆\x07b", [("a⇆b", _RED)]),
        ("a\x1b]66;w=2;x\x1b\\b", [("ax b", PLAIN)]),
        ("a\x1b]66;s=2;xy\x07b", [("axy  b", PLAIN)]),
        ("a\x1b]66;s=2:w=3:n=1:d=2;xy\x07b", [("axy    b", PLAIN)]),
        ("a\x1b]66;w=1;世\x07b", [("a b", PLAIN)]),
        ("a\x1b]66;;x\x07b\x1b]66;w=9;y\x07\x1b]66;w=x:s=-1;z\x07", [("axby      z", PLAIN)]),
        ("a\x1b]66;w=1;\x07\x1b]66;x\x07b", [("a b", PLAIN)]),
        ("x" * 39 + "\x1b]66;w=4;yyyy\x07z", [("x" * 39 + "y", PLAIN)]),
        ("a\x1b]66;w=1;\x1b[31mb", [("a", PLAIN), ("b", _RED)]),
        ("a\x1b[8m\x1b]66;w=4;word\x07", [("a", PLAIN)]),
        ("a\x1b]0;title\x1b[31mb", [("a", PLAIN), ("b", _RED)]),
        ("a\x1bPq#0;2;0;0;0~~\x1b\\b", [("ab", PLAIN)]),
        ("a\x1b_Gf=100;AAAA\x1b\\b", [("ab", PLAIN)]),
        ("a\x1b^pm\x1b\\\x1bXsos\x1b\\b", [("ab", PLAIN)]),
        ("a\x1b]133;A\x1b\\\x1b[31mb", [("a", PLAIN), ("b", _RED)]),
        ("a\x1b[2Jb\x1b[10;10Hc\x1b[6nd\x1b[?1049he", [("abcde", PLAIN)]),
        ("a\x1b[>4;2mb\x1b[?31mc\x1b[31 mX", [("abcX", PLAIN)]),
        ("a\x1bcb\x1b7c\x1b(0d\x1b#8e\x1b%Gf", [("abcdef", PLAIN)]),
        ("a\x1b[", [("a", PLAIN)]), ("a\x1b", [("a", PLAIN)]), ("a\x1b\x1b\x1b[31mb", [("a", PLAIN), ("b", _RED)]),
        ("a\x1b[31\x1b[mb", [("ab", PLAIN)]),
        ("a\x07b\x08c\rd\x00e\x7ff\x85g\x9b31mh", [("abc def g31mh", PLAIN)]),
        # Bidirectional controls, what draws nothing, stacks of marks.
        ("a\u202eb\u2066c\u200bd\ufeffe", [("abcde", PLAIN)]),
        ("e\u0301\u0301\u0301\u0301\u0301\u0301\u0301", [("é\u0301\u0301\u0301\u0301", PLAIN)]),
        ("\x1b[31m\u0301\u0302x", [("x", _RED)]),
        ("\ud800lone", [("lone", PLAIN)]),
        ("👩\u200d💻 שלום", [("👩\u200d💻 שלום", PLAIN)]),
    ],
)  # fmt: skip
def test_a_line(written: str, shown: list[tuple[str, Style]]) -> None:
    """Text with its styles, and nothing that a terminal would act upon."""
    assert line(written) == shown


def test_a_style_goes_on_in_the_next_line() -> None:
    """As in what `tmux capture-pane -e` writes; so does its line drawing."""
    screen = read_screen(["\x1b[31mred", "still \x1b[1mbold", "\x1b[m\x0eq", "q\x0fq", "", ""], 20)

    assert [[(run.text, run.style) for run in row] for row in screen.lines] == [
        [("red", _RED)],
        [("still ", _RED), ("bold", Style(foreground=1, is_bold=True))],
        [("─", PLAIN)],
        [("─q", PLAIN)],
    ]


@each(
    ("columns", "text"),
    [(0, ""), (1, "a"), (2, "a"), (3, "a世"), (4, "a世b"), (5, "a世b"), (6, "a世b界"), (9, "a世b界c")],
)
def test_a_line_is_cut_at_a_column(columns: int, text: str) -> None:
    """A wide character that would stand across the edge is not drawn, and neither is anything behind it."""
    whole = (Run("a世b", _RED), Run("界c"))

    assert plain(cut(whole, columns)) == text
    assert all(run.text for run in cut(whole, columns))
    if columns:
        assert plain(Reader(columns).line("\x1b[31ma世b\x1b[m界c")) == text


@each(
    ("start", "columns", "text"),
    [
        (0, 3, "ab"), (0, 4, "ab日"), (2, 9, "日本 cd"), (3, 9, " 本 cd"), (4, 9, "本 cd"), (5, 2, "  "), (6, 2, " c"),
        (3, 1, " "), (3, 2, " "), (3, 3, " 本"), (8, 9, "d"), (9, 9, ""), (99, 9, ""),
    ],
)  # fmt: skip
def test_a_line_is_cut_from_a_column_on(start: int, columns: int, text: str) -> None:
    """A blank stands where the left edge parts a wide character, and nothing where the right one does."""
    whole = Reader(80).line("ab\x1b[31m日本\x1b[m cd")

    assert plain(cut(whole, columns, start)) == text


def test_a_screen_has_bounds() -> None:
    """Rows, columns and what one row may be made of."""
    screen = read_screen(["x" * 2000] * 600, 5000, 10_000)
    assert (len(screen.lines), screen.columns, len(plain(screen.lines[0]))) == (MAX_ROWS, MAX_COLUMNS, MAX_COLUMNS)
    assert len(read_screen(["x"] * 600, 80, 24).lines) == 24
    assert line("\x1b[31m" * MAX_STYLED_ROW_CHARS + "x") == []


@given(
    st.lists(
        st.sampled_from(["\x1b[31m", "\x1b[", "\x1b]8;;x", "\x1b]66;w=7;", "\x1b\\", "\x07", "38;5;", "m"])
        | st.sampled_from(["世", "e\u0301", "\t", "\u202e", "\x0e"])
        | st.text(max_size=5),
        max_size=40,
    ),
    st.integers(1, 30),
)  # fmt: skip
def test_whatever_stands_there_nothing_can_act(parts: list[str], columns: int) -> None:
    """No text has more cells than the screen, and none that `sanitise` would change."""
    runs = Reader(columns).line("".join(parts))

    assert sum(width(run.text) for run in runs) <= columns
    assert all(run.text and sanitise(run.text) == run.text for run in runs)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", plain(runs))
    assert all(one.style != other.style for one, other in itertools.pairwise(runs))


@pytest.mark.slow
@each(
    "piece",
    [
        "\x1b[31mx",
        "\x1b[",
        "\x1b]",
        "\x1b[1;",
        "1",
        "\x0e\x0f",
        "e\u0301",
        "\t",
        "\x1b[38;5;1m",
        "\x1b]66;",
        "\x1b]66;;;",
    ],
)
def test_reading_is_linear(piece: str) -> None:
    """No text makes it slow. (A short row that has been read is remembered, and costs nothing.)"""
    assert is_linear(lambda count: lambda: read_screen([piece * count] * 20, 200), 600)
