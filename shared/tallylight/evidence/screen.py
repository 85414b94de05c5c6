"""
The screen of one pane over time: whether a change was the agent's output.

A terminal does not report which program wrote a text, or which keys were typed. So only the visible text and the cursor
are compared, look by look (four a second). A person's typing is not output, and neither is a clock. The rules:

1. **Where the cursor is, a person types.** Three changes are not output: in the line with the cursor, with the rows it
   wraps over; in the box drawn around it; and in the rows below it. Those are menus and hints: a program's output is
   above the cursor. A box that grew by a row, and moved everything above it, is the same. If the cursor is hidden, the
   lowest box near the end of the text is taken to be the input.
2. **A little is no output.** A change outside of it is *minor* if it stays within `MINOR_ROWS` rows, and exchanges at
   most `MINOR_CELLS` characters: a clock, a spinner, a counter. The rows had text before and have text after. So is a
   screen that comes back for the third time within a short while: something blinks.
3. **Unless it does not stop.** Minor changes in at least `LIVELY_LOOKS` of the last `WINDOW_LOOKS` looks are output
   after all. Agents that wait for an approval move 0.9 to 1.6 times a second, agents that work 7 times and more.
4. **A new size is not output**, nor is a text that is redrawn in the `SETTLING_LOOKS` looks after it.
5. **A drawing is not output.** Some agents have a logo of braille dots, which moves while they rest.
6. **A screen without text is not output.** A program that starts clears it first, and may then load for a long time.

Any other change is output. The text of one screen (`MAX_ROWS` by `MAX_COLUMNS` at most) and a few hashes are kept.
"""

from __future__ import annotations

import enum
import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import attrs

from tallylight.evidence.tail import upwards

MAX_ROWS = 500
MAX_COLUMNS = 1000
MINOR_ROWS = 2
MINOR_CELLS = 12
WINDOW_LOOKS = 8
LIVELY_LOOKS = 7
SETTLING_LOOKS = 3
#: Rows below the cursor that belong to the input.
BELOW_CURSOR_ROWS = 12
#: Characters that a person adds between two looks, at most; a paste goes on in one place.
_TYPED_CHARS = 16
#: Rows up from the last one with text in which the input box of a hidden cursor is looked for.
_BOTTOM_ROWS = 12

#: Rows below an inner terminal that may be the bars of the program around it, at most.
MAX_BAR_ROWS = 3

#: Dots of braille in one row that make a drawing.
DRAWN_DOTS = 4
_DOTS = re.compile("[\u2801-\u28ff]")
#: Characters of lines across; first those that may be in a row of ASCII.
_LINES = ("-=_", "-=_─━═╌┄┈╍▀▄▁▔")


@attrs.frozen
class Look:
    """One look at a screen: its visible rows from the top, and the cursor. Rows and columns count from 0."""

    lines: Sequence[str]
    cursor_row: int
    cursor_column: int
    columns: int
    cursor_visible: bool = True

    @property
    def before_cursor(self) -> str:
        """The row of the cursor, up to the cursor."""
        return self.lines[self.cursor_row][: self.cursor_column] if 0 <= self.cursor_row < len(self.lines) else ""

    def inside(self, size: tuple[int, int] | None) -> Look:
        """
        Return the screen without the bars of the program around an inner terminal of *size*, columns and rows.

        Unchanged if that size is unknown, or more than `MAX_BAR_ROWS` rows are below it.
        """
        around = len(self.lines) - size[1] if size is not None and size[0] == self.columns else 0
        return attrs.evolve(self, lines=self.lines[:-around]) if 0 < around <= MAX_BAR_ROWS else self


class Change(enum.Enum):
    """The kind of difference between two looks."""

    NONE = "none"
    TYPING = "typing"
    REFLOW = "reflow"
    MINOR = "minor"
    #: Minor changes without end.
    LIVELY = "lively"
    MAJOR = "major"

    @property
    def is_output(self) -> bool:
        """Return whether the program drew something: more than typing, a reflow, or a small change."""
        return self in (Change.LIVELY, Change.MAJOR)


class ScreenWatch:
    """Compares the looks at one pane. Look at every tick, also at an unchanged screen: rule 3 counts looks."""

    def __init__(self) -> None:
        self._size: tuple[int, int] | None = None
        self._raw: Sequence[str] = ()
        self._rows: list[str] = []
        self._cursor = (0, 0)
        self._area = _Area(0, 0, 0, False)
        self._settling = 0
        self._minor: deque[bool] = deque(maxlen=WINDOW_LOOKS)
        self._recent: deque[int] = deque(maxlen=WINDOW_LOOKS)

    def look(self, look: Look) -> Change:
        """Return the change since the last look; the first look, and one at a screen of a new size, start again."""
        size = (len(look.lines), look.columns)
        if size != self._size:
            is_first = self._size is None
            self._size = size
            self._settling = 0 if is_first else SETTLING_LOOKS
            self._minor.clear()
            self._recent.clear()
            self._remember(look)
            return Change.NONE if is_first else Change.REFLOW
        is_settling = self._settling > 0
        self._settling -= is_settling
        if look.lines == self._raw and (look.cursor_row, look.cursor_column) == self._cursor:
            self._minor.append(False)
            return Change.NONE
        old_rows, old_area, old_cursor = self._rows, self._area, self._cursor
        self._remember(look)
        if self._rows == old_rows:
            self._minor.append(False)
            return Change.NONE
        is_blank = not any(self._rows)
        change = (
            Change.REFLOW if is_settling or is_blank else self._compare(old_rows, old_area, old_cursor, look.columns)
        )
        if change is Change.MAJOR:
            digest = hash(tuple(self._rows))
            self._recent.append(digest)
            if self._recent.count(digest) > 2:  # it blinks
                change = Change.MINOR
        self._minor.append(change is Change.MINOR)
        if change is Change.MINOR and sum(self._minor) >= LIVELY_LOOKS:
            return Change.LIVELY
        return change

    def _remember(self, look: Look) -> None:
        """Keep the text, the cursor and the typing area of *look*."""
        self._raw = list(look.lines) if isinstance(look.lines, list) else look.lines
        self._rows = [_without_drawing(line[:MAX_COLUMNS].rstrip()) for line in look.lines[:MAX_ROWS]]
        self._cursor = (min(max(look.cursor_row, 0), max(len(self._rows) - 1, 0)), max(look.cursor_column, 0))
        self._area = _typing_area(self._rows, self._cursor, look.columns, look.cursor_visible)

    def _compare(self, old: list[str], before: _Area, old_cursor: tuple[int, int], columns: int) -> Change:
        """Return the kind of change between the old rows and the present ones."""
        new, after = self._rows, self._area
        end = after.end
        if not after.is_box and self._cursor[0] != old_cursor[0]:
            # A program that prints moves the cursor down; the rows above it are compared, and so are all below.
            end = after.line_end
        rows, cells = _difference(old, before.top, new, after.top, end, is_box=after.is_box and before.is_box)
        if rows == 0:
            own = old[after.top : after.line_end] != new[after.top : after.line_end]
            if own or before.top != after.top:
                return Change.TYPING
            # Only what is below changed, and nobody typed: a menu, or a spinner there.
            rows, cells = _count(old[after.line_end :], new[after.line_end :])
            return Change.MINOR if _is_minor(rows, cells) else Change.TYPING
        if self._is_wrapped_typing(old, old_cursor, columns):
            return Change.TYPING
        return Change.MINOR if _is_minor(rows, cells) else Change.MAJOR

    def _is_wrapped_typing(self, old: list[str], old_cursor: tuple[int, int], columns: int) -> bool:
        """
        Return whether a few characters were added or removed at the cursor of a paragraph wrapped between words.

        Such an input has no border and its rows are not full, so only its text decides: it is the same up to the cursor
        except for the typed text.
        """
        new, row = self._rows, self._cursor[0]
        if not new[row] or abs(row - old_cursor[0]) > 1:
            return False
        old_top, new_top = _paragraph_top(old, old_cursor[0]), _paragraph_top(new, row)
        was_wrapped = _is_wrapped(old, old_top, old_cursor[0], columns)
        if not was_wrapped and not _is_wrapped(new, new_top, row, columns):
            return False
        rows, _ = _difference(old, old_top, new, new_top, min(row + 1 + BELOW_CURSOR_ROWS, len(new)), is_box=True)
        if rows:
            return False
        old_text = _text_before(old, old_top, old_cursor)
        new_text = _text_before(new, new_top, self._cursor)
        is_little = abs(len(old_text) - len(new_text)) <= _TYPED_CHARS
        return is_little and (new_text.startswith(old_text) or old_text.startswith(new_text))


def _without_drawing(row: str) -> str:
    """Return *row* without a drawing of dots, such as a logo that moves; a spinner of one or two dots stays."""
    return " ".join(_DOTS.sub("", row).split()) if len(_DOTS.findall(row)) >= DRAWN_DOTS else row


class _Area(NamedTuple):
    """The area in which a person types: rows *top* to *end*; *line_end* is where the line or box itself ends."""

    top: int
    line_end: int
    end: int
    is_box: bool


def _typing_area(rows: list[str], place: tuple[int, int], columns: int, cursor_visible: bool) -> _Area:
    """Return the area in which a person types: the box or the wrapped line around the cursor."""
    cursor, column = place
    height = len(rows)
    reach = max(3, height // 2)
    inside: int | None
    if cursor_visible:
        inside, below = cursor, range(cursor + 1, min(height, cursor + reach))
        bottom = _border(rows, below, columns)
    else:
        last = next((at for at in upwards(height, height) if rows[at]), 0)
        bottom = inside = _border(rows, range(last, max(0, last - _BOTTOM_ROWS), -1), columns)
    top = _border(rows, upwards(inside, reach - 1), columns) if inside is not None else None
    if top is not None and bottom is not None and bottom - top < reach:
        return _Area(top, bottom + 1, height, True)
    first = last = cursor
    # A program prints next into an empty row with the cursor at its beginning.
    if height and (rows[cursor] or column):
        while first > 0 and len(rows[first - 1]) >= columns > 0:
            first -= 1
        while last + 1 < height and len(rows[last]) >= columns > 0:
            last += 1
    return _Area(first, last + 1, min(height, last + 1 + BELOW_CURSOR_ROWS) if cursor_visible else last + 1, False)


def _border(rows: Sequence[str], places: Iterable[int], columns: int) -> int | None:
    """Return the first of *places* with a line across a quarter of the screen; it may have a short title."""
    for at in places:
        text = rows[at].strip()
        if len(text) >= max(8, columns // 4):
            lines = _LINES[0 if text.isascii() else 1]
            if sum(map(text.count, lines)) * 10 >= len(text) * 6:
                return at
    return None


def _difference(
    old: list[str], old_top: int, new: list[str], new_top: int, end: int, *, is_box: bool
) -> tuple[int, int]:
    """
    Return how many rows and characters differ outside of the typing area, at the best fit of the parts above it.

    The part above may have been pushed up by an area that grew, or come down again.
    """
    above_old, above_new = old[:old_top], new[:new_top]
    rows, cells = _count(old[end:], new[end:])
    n, m = len(above_old), len(above_new)
    fits = []
    if n == m:
        fits.append(_count(above_old, above_new))
    elif n > m:
        fits.append(_count(above_old[n - m :], above_new))  # pushed up
        fits.append(_count(above_old[:m], above_new))  # covered
    else:
        if is_box and n:
            fits.append(_count(above_old, above_new[m - n :]))  # came down
        if above_new[n:] == old[n:m]:
            fits.append(_count(above_old, above_new[:n]))  # left alone
    best = min(fits, default=(MAX_ROWS, MAX_ROWS))
    return rows + best[0], cells + best[1]


def _count(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return how many rows differ, and by how many characters. A row that only one side has counts as too many."""
    cells = 0
    changed = [(was, now) for was, now in zip(old, new, strict=False) if was != now]
    if len(changed) > MINOR_ROWS:
        return MAX_ROWS, MAX_ROWS
    for was, now in changed:
        if not was or not now:
            cells += MINOR_CELLS + 1
            continue
        # By their letters, not their places: `9s` to `10s` moves the rest of the row.
        a, b = Counter(was), Counter(now)
        cells += max(1, (a - b).total(), (b - a).total())
    return len(changed), cells


def _is_minor(rows: int, cells: int) -> bool:
    return rows <= MINOR_ROWS and cells <= MINOR_CELLS


def _paragraph_top(rows: list[str], row: int) -> int:
    while row > 0 and rows[row - 1]:
        row -= 1
    return row


def _is_wrapped(rows: list[str], top: int, row: int, columns: int) -> bool:
    """Return whether the row above the cursor is long enough to have been wrapped."""
    return row > top and len(rows[row - 1]) * 2 >= columns


def _text_before(rows: list[str], top: int, cursor: tuple[int, int]) -> str:
    """Return the text of a paragraph from row *top* up to the cursor, without blanks."""
    row, column = cursor
    return "".join("".join([*rows[top:row], rows[row][:column] if column else rows[row]]).split())
