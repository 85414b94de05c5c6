"""The grid: the text a terminal would show."""

from __future__ import annotations

from pathlib import Path

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.evidence.screen import MAX_COLUMNS, MAX_ROWS
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.scanner import Scanner
from tests.tables import each

SEEDS = Path(__file__).parents[1] / "fuzz" / "seeds"
#: What ends a program on the alternate screen, which pyte does not know.
LEAVES = b"\x1b[?1049l"


def drawn(data: bytes, columns: int = 20, rows: int = 5) -> Grid:
    grid = Grid(columns, rows)
    grid.draw(Scanner().feed(data))
    return grid


def reference(data: bytes, columns: int = 20, rows: int = 5) -> pyte.Screen:
    screen = pyte.Screen(columns, rows)
    pyte.ByteStream(screen).feed(data)
    return screen


@each("seed", sorted(SEEDS.glob("*.raw")), ids=lambda path: path.stem)
def test_real_programs_look_the_same(seed: Path) -> None:
    """Recorded programs leave the screen that another emulator draws of them, however they are cut."""
    data = seed.read_bytes().partition(LEAVES)[0]
    lines = [line.rstrip() for line in reference(data, 80, 24).display]
    cut, scanner = Grid(80, 24), Scanner()
    for at in range(0, len(data), 7):
        cut.draw(scanner.feed(data[at : at + 7]))

    assert drawn(data, 80, 24).lines == lines
    assert cut.lines == lines


#: Pieces of which both emulators think alike.
PIECES = st.one_of(
    st.sampled_from(["a", "bc", "hello ", "a long line of text, longer than the screen", "\r", "\n", "\r\n", "\b"]),
    st.builds("\x1b[{}{}".format, st.sampled_from(["", *map(str, range(8))]), st.sampled_from("ABCDEFGdLP@X")),
    st.builds("\x1b[{};{}H".format, st.integers(0, 8), st.integers(0, 25)),
    st.builds("\x1b[{}{}".format, st.sampled_from(["", "0", "1", "2"]), st.sampled_from("JK")),
    st.sampled_from(["\x1bM", "\x1bD", "\x1b[1;31m", "\x1b[?2026h", "\x1b]0;t\x07", "\x1b[?25l", "\x1b[?25h"]),
)


def away_from_the_edge(pieces: list[str]) -> bytes:
    """*pieces*, but none that moves or erases just after the last column was written: there emulators differ."""
    data = b""
    for piece in pieces:
        if piece[0] in "\x1b\n\b" and reference(data).cursor.x >= 20:
            data += b"\r"
        data += piece.encode()
    return data


@given(st.lists(PIECES, max_size=30))
def test_any_sequence_looks_the_same(pieces: list[str]) -> None:
    """Text, movement, erasing, inserting and scrolling in any order leave what another emulator shows."""
    data = away_from_the_edge(pieces)
    grid, screen = drawn(data), reference(data)

    assert grid.lines == [line.rstrip() for line in screen.display]
    assert (grid.cursor_row, grid.cursor_column) == (screen.cursor.y, min(screen.cursor.x, 19))
    assert grid.cursor_visible is not screen.cursor.hidden


@each(
    ("data", "lines"),
    [
        ("old\x1b[?1049hnew", ["   new"]),
        ("old\x1b[?1049hnew\x1b[?1049l!", ["old!"]),
        ("a\tb", ["a       b"]),
        ("\x1b(0lqk\x1b(Bx", ["┌─┐x"]),
        ("e\u0301\u200bx", ["ex"]),
        ("ab\x1b7cd\x1b8X", ["abXd"]),
        ("ab\x1b[3b", ["abbbb"]),
        ("ab\x1bcx", ["x"]),
        ("1\r\n2\r\n3\x1b[2H\x1b[M", ["1", "3"]),
        ("1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[4H\n\nx", ["1", "4", "", "x", "5"]),
        ("1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[2H\x1bMx", ["1", "x", "2", "3", "5"]),
        ("1\r\n2\r\n3\r\n4\r\n5\x1b[2;4r\x1b[3H\x1b[L", ["1", "2", "", "3", "5"]),
        ("1\r\n2\x1b[2;9r\x1b[1H\x1bMx", ["x", "2"]),
        ("ab\x1bEx", ["ab", "x"]),
        ("漢字\x1b[1;2Hx\x1b[1;3Hy", [" xy"]),
        ("\x1b[18G漢字", [" " * 17 + "漢", "字"]),
        ("1\r\n2\r\n3\x1b[2S", ["3"]),
        ("1\r\n2\x1b[T", ["", "1", "2"]),
        ("\x1b[9999999999;99999999H.", ["", "", "", "", " " * 19 + "."]),
        ("a\x1b[99999999Pb\x1b[99999999@c", ["abc"]),
        ("x\x1b]broken\x18y", ["xy"]),
    ],
)
def test_what_else_it_knows(data: str, lines: list[str]) -> None:
    """The alternate screen, tabs, line drawing, marks, saved cursors, and numbers no screen is large enough for."""
    found = drawn(data.encode()).lines
    while found and not found[-1]:
        found.pop()

    assert found == lines


def test_a_new_size_keeps_what_fits() -> None:
    """A smaller screen keeps the rows up to the cursor and cuts columns, a larger one adds empty ones."""
    grid = drawn(b"one\r\ntwo\r\nthree\r\nfour")

    grid.resize(4, 2)
    assert grid.lines == ["thre", "four"]
    assert (grid.cursor_row, grid.cursor_column) == (1, 3)

    grid.resize(10, 4)
    grid.draw(Scanner().feed(b"\x1b[4;1Hend"))
    assert grid.lines == ["thre", "four", "", "end"]


@pytest.mark.slow
@given(st.binary(max_size=200), st.integers(0, 5000), st.integers(0, 5000))
def test_no_bytes_raise(data: bytes, columns: int, rows: int) -> None:
    """Any bytes on a screen of any size leave a screen of that size, within the limits."""
    grid = Grid(columns, rows)
    grid.draw(Scanner().feed(b"\x1b[" + data + b"\x1b[5;7H" + data))
    grid.resize(rows, columns)
    grid.draw(Scanner().feed(data))

    assert len(grid.lines) == min(max(columns, 1), MAX_ROWS)
    assert all(len(line) <= MAX_COLUMNS for line in grid.lines)
    assert 0 <= grid.cursor_row < grid.rows
    assert 0 <= grid.cursor_column < grid.columns
