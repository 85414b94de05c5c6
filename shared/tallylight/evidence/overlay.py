"""
A box that is drawn over the rest of the screen: its rows are a question to the person.

It has a margin on both sides. The rest continues beside it, or it is in the middle. A box without a frame is found by
another frame, which it interrupts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tallylight.agents.patterns import MAX_MATCHED_CHARS
from tallylight.evidence.tail import Row, read_tail
from tallylight.wire.text import width

#: Rows and columns of such a box, at least; columns from its middle to that of the screen, at most.
_LEAST_ROWS, _LEAST_COLUMNS, _OFF_COLUMNS = 2, 24, 3
#: Rows of one that a frame does not prove, at least.
_LEAST_BARE_ROWS = 5
#: Rows from the end of the screen that are searched.
_OVERLAY_REACH_ROWS = 200
#: Its upper edge, and its sides. Behind a wide character a side is drawn a column or two sooner.
_TOP = re.compile(r"[╭┌┏╔▛█▊▗][─━═▀▔▄ ](?:[^│┃║╮┐┓╗]*[─━═▀▔▄])[╮┐┓╗▜█▎▖]")
#: Characters around a title in an edge.
_IN_EDGES = "─━═▀▔▄┤├┨┠╡╞|[] "
_BOTTOM = re.compile(r"[╰└┗╚▙█▊▝▀]")
_AROUND = " │┃║▌▐█▊▎"
_SIDES, _WIDER_COLUMNS = frozenset(f"{_AROUND[1:]}├┤┠┨╟╢"), 2
#: The left part of an edge that is interrupted, and the right part of one.
_BROKEN_LEFT, _BROKEN_RIGHT = re.compile(r" *[╭┌╰└][─━]{2,}(?= {2}|$)"), re.compile(r"(?<=  )[─━]{2,}[╮┐╯┘]$")


class _Place(NamedTuple):
    """The inside of a box: its first row and the one behind its last, and its columns likewise."""

    top: int
    bottom: int
    left: int
    right: int


def read_overlay(lines: Sequence[str], columns: int = 0) -> tuple[Row, ...]:
    """
    Return the rows of the box that is drawn over the rest of *lines*; none if there is no such box.

    *columns* is the width of the screen; 0 for that of its longest row.
    """
    first = max(0, len(lines) - _OVERLAY_REACH_ROWS)
    near = [line[:MAX_MATCHED_CHARS].rstrip() for line in lines[first:]]
    place = _framed(near, max(columns, *map(len, near), 0)) or _bare(near)
    if place is None:
        return ()
    inside = [line[place.left : _right_of(line, place.left, place.right)] for line in near[place.top : place.bottom]]
    rows = tuple(row._replace(number=row.number + first + place.top) for row in read_tail(inside))
    upper, lower = (_title(near, place, at, first) for at in (place.top - 1, place.bottom))
    return (*upper, *_aligned(rows, place.right - place.left), *lower)


def _aligned(rows: Sequence[Row], columns: int) -> tuple[Row, ...]:
    """Return *rows* without their indentation where each of them is in the middle of so many *columns*."""
    drawn = [row for row in rows if row.text]
    are_centred = all(abs(2 * row.indent + len(row.text) - columns) <= _OFF_COLUMNS for row in drawn)
    return tuple(row._replace(indent=0) if are_centred else row for row in rows)


def _title(lines: Sequence[str], place: _Place, at: int, first: int) -> tuple[Row, ...]:
    """Return what is written in the edge *at* of a frame as a row; nothing if there is nothing."""
    text = lines[at][place.left : place.right].strip(_IN_EDGES) if 0 <= at < len(lines) else ""
    return (Row(first + at, 0, text, True),) if any(map(str.isalnum, text)) else ()


def _framed(lines: Sequence[str], columns: int) -> _Place | None:
    """Return the first whole frame with something beside it, or in the middle of *columns*."""
    for at, line in enumerate(lines):
        for edge in _TOP.finditer(line):
            left, right = edge.start(), edge.end() - 1
            if right - left < _LEAST_COLUMNS or not 1 < left < right < columns - 2:
                continue
            bottom = next((row for row in range(at + 1, len(lines)) if not _is_row_of(lines[row], left, right)), at)
            is_whole = bottom < len(lines) and _BOTTOM.match(lines[bottom], left) is not None
            if is_whole and bottom - at > _LEAST_ROWS and _is_in_front(lines[at:bottom], left, right, columns):
                return _Place(at + 1, bottom, left + 1, right)
    return None


def _is_row_of(line: str, left: int, right: int) -> bool:
    """Return whether *line* has both sides of a box, and is not its lower edge of the same blocks."""
    right = _right_of(line, left + 1, right)
    has_sides = line[left : left + 1] in _SIDES and not _SIDES.isdisjoint(line[right - _WIDER_COLUMNS : right + 1])
    return has_sides and line[left + 1 : right].strip("▄▁") != ""


def _right_of(line: str, left: int, right: int) -> int:
    """Return the place of column *right* in *line*: wide characters from *left* on take two columns and one place."""
    return right - (width(line[left:right]) - len(line[left:right]))


def _is_in_front(rows: Sequence[str], left: int, right: int, columns: int) -> bool:
    # A frame in a frame has only the sides of the outer one beside it.
    """Return whether the box covers text at both sides, or is in the middle of the screen."""
    sides = [row[:left].strip(_AROUND) for row in rows], [row[right + 1 :].strip(_AROUND) for row in rows]
    is_cut = all(map(any, sides))
    return is_cut or (left > _OFF_COLUMNS and abs(left - (columns - 1 - right)) <= _OFF_COLUMNS)


def _bare(lines: Sequence[str]) -> _Place | None:
    """Return the area that interrupts an edge, with the rows above and below that are blank at its sides."""
    broken = [at for at, line in enumerate(lines) if _BROKEN_LEFT.match(line) is not None]
    lefts = {at: _BROKEN_LEFT.match(lines[at]).end() for at in broken}  # type: ignore[union-attr]
    for at in broken:
        left = lefts[at]
        right = min(
            (edge.start() for other in broken if lefts[other] == left and (edge := _BROKEN_RIGHT.search(lines[other]))),
            default=MAX_MATCHED_CHARS,
        )
        top = bottom = at
        while top > 0 and _is_blank(lines[top - 1], left, right):
            top -= 1
        while bottom < len(lines) and _is_blank(lines[bottom], left, right):
            bottom += 1
        if right - left >= _LEAST_COLUMNS and bottom - top > _LEAST_BARE_ROWS:
            return _Place(top, bottom, left, right)
    return None


def _is_blank(line: str, left: int, right: int) -> bool:
    return not line[left : left + 2].strip() and not line[right - 2 : right].strip()
