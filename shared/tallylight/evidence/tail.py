"""
The end of a screen: its last rows with text, made ready for reading. Every dialog is there.

Rows from the top go in. Each row near the last one with text loses the frame of a box around it, and its text is cut.
So reading costs the same on any screen: at most `TAIL_REACH_ROWS` rows of `MAX_MATCHED_CHARS` characters.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tallylight.agents.patterns import MAX_MATCHED_CHARS
from tallylight.model.dialog import MAX_DIALOG_LINES
from tallylight.wire.text import sanitise

#: Rows up from the last one with text. The tallest dialog seen (a plan with its choices) has 30.
TAIL_REACH_ROWS = 48
#: Sides of boxes, and the bars that some agents draw at the left of a dialog.
_SIDES = "│┃║█▌▐▊▎▏╎╏┆┊|"
_DRAWN_SIDES = tuple(_SIDES.replace("|", ""))
#: Sides of boxes without a margin inside.
_TIGHT_SIDES = "│┃║"
#: The right side may have a scroll bar in it.
_RIGHT_SIDES = f"{_SIDES}░▒"
#: Boxes in boxes that are removed, at most.
_NESTED_BOXES = 2
#: The characters of a box's edge.
_EDGE_CHARACTERS = "─━═╌┄┈╍┅┉╭╮╰╯┌┐└┘├┤┏┓┗┛╔╗╚╝▀▄▁▔▊▎_-╴╶╸╺╹╻╷╵ "
_EDGE = frozenset(_EDGE_CHARACTERS)
#: The characters of an edge with a title in it, and its least length.
_LINES = "─━═╌┄┈╍┅┉▀▄▁▔"
_TITLED_CHARS = 24
#: The edge of a box of ASCII, an edge from corner to corner with whatever is in it, and the upper end of a bar.
_FRAME = re.compile(
    r"[+/\\][-=]{2}(?:.*[-=]{2})?[+/\\]|[╰└┗╚][─━═ ].*[─━═][╯┘┛╝]|[╭┌┏╔][─━═ ].*[─━═][╮┐┓╗]|[╭┌┏╔] {2}\S.*"
)
#: A count of the rows of a list, with a line beside it.
_COUNT = re.compile(r"\d{1,6}/\d{1,6}(?: \(\d{1,6}\))? [─━]{8,}")
#: Characters that are read as others: no-break spaces, where nothing is to be wrapped, and wide marks of a question.
#: Left out is the selector behind a mark that has it drawn as text: terminals keep it, recordings do not.
_PLAIN = str.maketrans("\u00a0？：", " ?:", "\ufe0e")
#: Marks alone in a row: that a list continues, and the lower end of a bar. A scroll bar is right of so many columns.
_MORE, _BAR, _SCROLL_BAR_COLUMNS = ("▲", "▼", "└", "╰", "┗", "╚"), frozenset("▁▂▃▄▅▆▇█▀"), 24
#: Cells of a line of a dialog that are kept for display.
DIALOG_LINE_CELLS = 240


class Row(NamedTuple):
    """
    One row: its number on the screen, the indentation of its text, and the text.

    *is_edge*: it is a line across, the edge of a box; its text is its title, if it has one. *is_boxed*: it is in a box,
    or beside a bar.
    """

    number: int
    indent: int
    text: str
    is_edge: bool = False
    is_boxed: bool = False


def read_tail(lines: Sequence[str]) -> tuple[Row, ...]:
    """Return the last rows of *lines*, from the top, up to the last one with text; none for an empty screen."""
    last = len(lines) - 1
    while last >= 0 and not lines[last].strip():
        last -= 1
    first = max(0, last - TAIL_REACH_ROWS + 1)
    return tuple([Row(number, *_read(lines[number][:MAX_MATCHED_CHARS])) for number in range(first, last + 1)])


def is_edge(line: str) -> bool:
    """Return whether *line* is a line across, the edge of a box."""
    return _read(line[:MAX_MATCHED_CHARS])[2]


def without_frame(line: str) -> str | None:
    """
    Return *line* for display without the sides of its box; None for only the edge of a box.

    Only line characters make a box: a `|` may be a person's own.
    """
    text = line.rstrip(" ")
    bare = text.lstrip(" ")
    while bare[:1] in _DRAWN_SIDES and bare[1:2] in ("", " "):
        inner = bare[1:]
        if inner[-1:] in _RIGHT_SIDES and inner[-1:] != "|" and inner[-2:-1] in ("", " "):
            inner = inner[:-1]
        text = inner.rstrip(" ")
        bare = text.lstrip(" ")
    return None if bare and not bare.isascii() and _EDGE.issuperset(bare) else text


def clean_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """
    Return *lines* for display, at most `MAX_DIALOG_LINES` of `DIALOG_LINE_CELLS` cells, without empty ones at the ends.
    """
    cleaned = [sanitise(line, cells=DIALOG_LINE_CELLS).rstrip() for line in lines[:MAX_DIALOG_LINES]]
    while cleaned and not cleaned[0]:
        del cleaned[0]
    while cleaned and not cleaned[-1]:
        del cleaned[-1]
    return tuple(cleaned)


def clean_line(text: str) -> str:
    """Return *text* for display, as one line."""
    return next(iter(clean_lines([text])), "")


def upwards(below: int, most: int) -> range:
    """Return the places of at most *most* rows above the one at *below*, the nearest first."""
    return range(below - 1, max(-1, below - 1 - most), -1)


def is_in(pattern: re.Pattern[str], rows: Iterable[Row]) -> bool:
    """Return whether the text of one of *rows* begins with *pattern*."""
    return any(pattern.match(row.text) for row in rows)


def _unboxed(text: str) -> tuple[str, str, bool]:
    """Return *text* without the right sides of boxes, the same without the left ones, and whether it is in a box."""
    bare = text.lstrip()
    is_boxed = False
    for _ in range(_NESTED_BOXES):
        is_tight = len(bare) > 2 and bare[0] in _TIGHT_SIDES and bare[0] == bare[-1]
        if bare[:1] != "" and bare[0] in _SIDES and (is_tight or bare[1:2] in ("", " ")):
            is_boxed, bare = True, bare[1:].lstrip()
        if bare and bare[-1] in _RIGHT_SIDES and (is_tight or len(bare) == 1 or bare[-2] == " "):
            text, bare = text[:-1].rstrip(), bare[:-1].rstrip()
    return text, bare, is_boxed


#: Cached: most rows are the same at the next look.
@functools.lru_cache(maxsize=2048)
def _read(line: str) -> tuple[int, str, bool, bool]:
    """Return the indentation and the text of one row, whether it is an edge, and whether it is in a box."""
    text, bare, is_boxed = _unboxed(line.translate(_PLAIN).rstrip())
    if not bare or bare in _MORE or (bare in _BAR and len(text) > _SCROLL_BAR_COLUMNS):
        return 0, "", False, is_boxed
    if len(bare) >= 3 and bare[0] in _EDGE:
        if _EDGE.issuperset(bare):
            return 0, "", True, is_boxed
        if len(bare) >= _TITLED_CHARS and sum(map(bare.count, _LINES)) * 10 >= len(bare) * 6:
            return 0, bare.strip(_EDGE_CHARACTERS), True, is_boxed
    if _COUNT.fullmatch(bare):
        return 0, "", True, is_boxed
    if _FRAME.fullmatch(bare):
        return 0, bare.strip(f"{_EDGE_CHARACTERS}+/\\|="), True, is_boxed
    return len(text) - len(bare), bare, False, is_boxed
