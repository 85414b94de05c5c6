"""
The visible text of a screen, drawn from output as a terminal would. https://vt100.net/docs/vt510-rm/

It serves recordings, which have no terminal. It takes scanned output, and returns rows of text and the cursor, as
`ScreenWatch` needs them. It handles text, cursor movement, erasing, inserting, scrolling, margins, tabs, line drawing
and the alternate screen. Colours and all else that leaves the text unchanged are ignored. Rows are at most `MAX_ROWS`,
columns `MAX_COLUMNS`, and numbers are cut to those, so that no sequence costs more than a screen.

It differs from a terminal in three ways. Nothing is wrapped again at a new size. A character and its marks are one cell
without the marks. An emoji of several characters takes the cells of all of them.
"""

from __future__ import annotations

import codecs
import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable

from tallylight.evidence.screen import MAX_COLUMNS, MAX_ROWS
from tallylight.parts.lab.scanner import Item, Text
from tallylight.wire.scanner import SequenceKind

_CONTROLS = re.compile("([\x00-\x1f\x7f-\x9f]+)")
_CSI = re.compile(rb"([<=>?]?)([0-9;:]*)([ -/]*)([@-~])")
_TAB = 8
#: DEC's line drawing, `ESC ( 0`.
_DRAWING = {ord(plain): line for plain, line in zip("jklmnqtuvwx", "┘┐┌└┼─├┤┴┬│", strict=True)}
#: Modes of the alternate screen.
_ALTERNATE = (47, 1047, 1049)


class Grid:
    """A screen of *columns* by *rows*. Rows and columns count from 0."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = min(max(columns, 1), MAX_COLUMNS)
        self.rows = min(max(rows, 1), MAX_ROWS)
        self._reset()

    def _reset(self) -> None:
        """Empty both screens, and set everything to its default."""
        self.cursor_row = self.cursor_column = 0
        self.cursor_visible = True
        self._lines = self._blank()
        #: The hidden screen and its cursor, while the alternate one is shown.
        self._other: tuple[list[list[str]], tuple[int, int]] | None = None
        self._saved = (0, 0)
        self._top, self._bottom = 0, self.rows - 1
        #: The cursor is after the last column: the next character wraps.
        self._wraps = False
        self._last = " "
        self._is_drawing = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def lines(self) -> list[str]:
        """The visible rows from the top."""
        return ["".join(line).rstrip() for line in self._lines]

    def resize(self, columns: int, rows: int) -> None:
        """Resize the screen. Empty rows are lost at the bottom, else rows at the top."""
        self.columns, self.rows = min(max(columns, 1), MAX_COLUMNS), min(max(rows, 1), MAX_ROWS)
        above = max(0, self.cursor_row - self.rows + 1)
        self._lines = self._fitted(self._lines, above)
        if self._other is not None:
            self._other = self._fitted(self._other[0], 0), self._other[1]
        self._top, self._bottom = 0, self.rows - 1
        self._move(self.cursor_row - above, self.cursor_column)

    def _fitted(self, lines: list[list[str]], above: int) -> list[list[str]]:
        kept = [(line + [" "] * self.columns)[: self.columns] for line in lines[above : above + self.rows]]
        return kept + [[" "] * self.columns for _ in range(self.rows - len(kept))]

    def draw(self, items: Iterable[Item]) -> None:
        """Draw the program's output."""
        #: Text with nothing but colours in between.
        text: list[bytes] = []
        for item in items:
            if isinstance(item, Text):
                if item.drawn:
                    text.append(item.raw)
            elif item.kind is SequenceKind.CSI and not item.payload.endswith(b"m"):
                self._text(text)
                self._csi(item.payload)
            elif item.kind is SequenceKind.ESC:
                self._text(text)
                self._escape(item.payload)
        self._text(text)

    # Text ----------------------------------------------------------------------------------------------------

    def _text(self, raw: list[bytes]) -> None:
        """Draw all of *raw*, and empty it."""
        if not raw:
            return
        text = self._decoder.decode(b"".join(raw))
        raw.clear()
        for part in _CONTROLS.split(text):
            if not part:
                continue
            if part[0] >= " " and not "\x7f" <= part[0] <= "\x9f":
                self._print(part.translate(_DRAWING) if self._is_drawing else part)
                continue
            for control in part:
                if control == "\r":
                    self.cursor_column = 0
                    self._wraps = False
                elif control in "\n\v\f":
                    self._line_feed()
                elif control == "\b":
                    self._move(self.cursor_row, self.cursor_column - 1)
                elif control == "\t":
                    self._move(self.cursor_row, (self.cursor_column // _TAB + 1) * _TAB)

    def _print(self, text: str) -> None:
        """Draw *text* at the cursor, which wraps at the right edge."""
        for wide, run in [(1, text)] if text.isascii() else itertools.groupby(text, _width):
            cells = list(run)
            at = 0 if wide == 1 else len(cells)
            while at < len(cells):
                self._wrap(1)
                end = at + self.columns - self.cursor_column
                self._put(cells[at:end])
                at = end
            for character in cells if wide > 1 else ():
                self._wrap(wide)
                self._put([character] if self.columns < 2 else [character, ""])

    def _wrap(self, wide: int) -> None:
        """Begin another line if a character *wide* cells wide has no room in this one."""
        if self._wraps or self.cursor_column + wide > self.columns > 1:
            self.cursor_column = 0
            self._line_feed()

    def _put(self, cells: list[str]) -> None:
        """Put *cells* at the cursor; blank the halves of wide characters that are cut."""
        line, end = self._lines[self.cursor_row], self.cursor_column + len(cells)
        # Half of a wide character is none.
        if not line[self.cursor_column]:
            line[self.cursor_column - 1] = " "
        if end < self.columns and not line[end]:
            line[end] = " "
        line[self.cursor_column : end] = cells
        self._last = cells[-1] or cells[0]
        self._wraps = end >= self.columns
        self.cursor_column = min(end, self.columns - 1)

    # Movement ------------------------------------------------------------------------------------------------

    def _move(self, row: int, column: int) -> None:
        """Move the cursor, at most to the edges."""
        self.cursor_row = min(max(row, 0), self.rows - 1)
        self.cursor_column = min(max(column, 0), self.columns - 1)
        self._wraps = False

    def _line_feed(self) -> None:
        """Move the cursor down; at the lower margin scroll."""
        self._wraps = False
        if self.cursor_row == self._bottom:
            self._scroll(1)
        elif self.cursor_row < self.rows - 1:
            self.cursor_row += 1

    def _scroll(self, count: int, top: int | None = None) -> None:
        """Move the text between *top*, the margin's by default, and the lower margin up; down if *count* is below 0."""
        first = self._top if top is None else top
        size = self._bottom + 1 - first
        count = max(-size, min(count, size))
        for _ in range(abs(count)):
            del self._lines[first if count > 0 else self._bottom]
            self._lines.insert(self._bottom if count > 0 else first, [" "] * self.columns)

    # Sequences -----------------------------------------------------------------------------------------------

    def _escape(self, payload: bytes) -> None:
        """Apply an escape sequence."""
        if payload == b"7":
            self._saved = (self.cursor_row, self.cursor_column)
        elif payload == b"8":
            self._move(*self._saved)
        elif payload in (b"D", b"E"):
            self._line_feed()
            self.cursor_column = 0 if payload == b"E" else self.cursor_column
        elif payload == b"M":
            if self.cursor_row == self._top:
                self._scroll(-1)
            else:
                self._move(self.cursor_row - 1, self.cursor_column)
        elif payload == b"c":
            self._reset()
        elif payload[:1] == b"(":
            self._is_drawing = payload == b"(0"

    def _csi(self, payload: bytes) -> None:
        """Apply a control sequence."""
        private, numbers, final = _parsed(payload)
        if private:
            for mode in numbers if private == b"?" and final in ("h", "l") else ():
                self._set_mode(mode, final == "h")
            return
        first, second = (*numbers, 0, 0)[:2]
        place = self._place(final, max(first, 1), max(second, 1))
        if place is not None:
            self._move(*place)
        else:
            self._edit(final, first, second)

    def _place(self, final: str, count: int, second: int) -> tuple[int, int] | None:
        """Return the cursor's new place; None for a sequence that does not move it."""
        row, column = self.cursor_row, self.cursor_column
        match final:
            case "A":
                return max(row - count, self._top if row >= self._top else 0), column
            case "B" | "e":
                return min(row + count, self._bottom if row <= self._bottom else self.rows), column
            case "C" | "a":
                return row, column + count
            case "D":
                return row, column - count
            case "E":
                return row + count, 0
            case "F":
                return row - count, 0
            case "G" | "`":
                return row, count - 1
            case "H" | "f":
                return count - 1, second - 1
            case "d":
                return count - 1, column
            case "u":
                return self._saved
        return None

    def _edit(self, final: str, first: int, second: int) -> None:
        """Change the text or the margins."""
        row, column, count = self.cursor_row, self.cursor_column, max(first, 1)
        line = self._lines[row]
        up = 1 if final in ("M", "S") else -1
        match final:
            case "J":
                self._erase_screen(first)
            case "K":
                self._erase_line(first)
            case "L" | "M":
                if self._top <= row <= self._bottom:
                    self._scroll(up * count, row)
                    self._move(row, 0)
            case "P":
                self._lines[row] = (line[:column] + line[column + count :] + [" "] * count)[: self.columns]
            case "@":
                self._lines[row] = (line[:column] + [" "] * min(count, self.columns) + line[column:])[: self.columns]
            case "X":
                end = min(column + count, self.columns)
                line[column:end] = [" "] * (end - column)
            case "S" | "T":
                self._scroll(up * count)
            case "b":
                self._print(self._last * min(count, self.columns))
            case "r":
                bottom = min(second or self.rows, self.rows) - 1
                if count - 1 < bottom:
                    self._top, self._bottom = count - 1, bottom
                    self._move(0, 0)
            case "s":
                self._saved = (row, column)

    def _set_mode(self, mode: int, is_on: bool) -> None:
        """Set or reset a private mode: the cursor, or the alternate screen."""
        if mode == 25:
            self.cursor_visible = is_on
        elif mode in _ALTERNATE and is_on != (self._other is not None):
            if self._other is None:
                self._other = self._lines, (self.cursor_row, self.cursor_column)
                self._lines = self._blank()
            else:
                self._lines, cursor = self._other
                self._other = None
                if mode == 1049:
                    self._move(*cursor)

    def _erase_screen(self, what: int) -> None:
        """Erase from the cursor on (0), up to it (1), or all (2)."""
        if what == 2:
            self._lines = self._blank()
        if what > 1:
            return
        self._erase_line(what)
        rows = range(self.cursor_row + 1, self.rows) if what == 0 else range(self.cursor_row)
        for row in rows:
            self._lines[row] = [" "] * self.columns

    def _erase_line(self, what: int) -> None:
        """Erase the line from the cursor on (0), up to it (1), or all of it (2)."""
        line, column = self._lines[self.cursor_row], self.cursor_column
        start, end = {0: (column, self.columns), 1: (0, column + 1), 2: (0, self.columns)}.get(what, (0, 0))
        line[start:end] = [" "] * (end - start)

    def _blank(self) -> list[list[str]]:
        return [[" "] * self.columns for _ in range(self.rows)]


@functools.lru_cache(maxsize=1024)
def _parsed(payload: bytes) -> tuple[bytes, tuple[int, ...], str]:
    """Return the private prefix, the numbers and the final byte of a CSI; no final byte for an unknown one."""
    match = _CSI.fullmatch(payload)
    if match is None or match[3]:
        return b"", (), ""
    # Cut before int(): no screen has more rows or columns, and modes have four digits.
    numbers = [int(word[:4] or b"0") for word in match[2].split(b";", 16)[:16] if b":" not in word]
    return match[1], tuple(numbers), match[4].decode()


@functools.lru_cache(maxsize=1024)
def _width(character: str) -> int:
    """Return the cells of *character*: 0, 1 or 2."""
    if character < "\u0300":
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
