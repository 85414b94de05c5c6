"""
The frame of a dialog: where it begins on the screen, and whether all of it is there.

A person may agree only to what was shown whole, so a dialog needs a **top that its text cannot draw**:

* a box or a bar at the left of its choices, up to the row with its corner, or above which the bar ends. Text inside
  is beside the same side, so that no line in it is taken for the top;
* a line across the whole screen, where every row below it is indented;
* the row that the agent's own rule names (`top`), below a line across or below a row left of the rule's `margin`, or
  being such a row: the text of the dialog is never there. What is between that and the top belongs to it.

And nothing may be left out of it: no row says so (`… 27 more lines`, `ctrl+o to expand`), none ends in `…`, no inner
box is empty, no side has a scroll bar, and its text is not so tall that its agent would cut it without a sign (`room`).
Otherwise `framed` says in `missing` what is not there, and takes the keys out of all choices: nobody can press one.
Pure.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from tallylight.agents.screens import ScreenRule
from tallylight.evidence.tail import is_edge
from tallylight.model import attributes
from tallylight.model.dialog import Dialog, Place

#: The messages about a dialog without its top on the screen, one with rows left out, and one cut in silence.
NO_TOP = "its beginning cannot be found"
LEFT_OUT = "some of its lines are left out"
NO_ROOM = "its agent may have cut it"

#: Sides of boxes. Thin ones are text, too: a box has corners.
_SIDES = "│┃║▌▐▎▏╎╏┆┊"
_BARS = "┃▌▐▎▏"
_TOPS, _BOTTOMS, _TEES = "╭┌┏╔", "╰└┗╚", "├┣╠"
_ENDS = "╮┐┓╗╯┘┛╝┤┫╣"
#: What a line across consists of. Dashed ones part a dialog, and do not begin it.
_ACROSS, _DASHED = "─━═▔▁▀▄", "╌┄┈╍┅┉"
#: The pointer in front of a choice: its agent draws it, where its text is never.
_POINTER = re.compile(r" *[❯›→▶▸►➤➜●>] ?")
#: What is in the right side of a box that is scrolled.
_SCROLLED = "█▊░▒▓▲▼"
#: Rows below the choices that may say that lines are left out.
_BELOW = 8
_ELLIPSIS = r"(?:…|\.\.\.|[↑↓⇡⇣▲▼+])"
_LEFT_OUT = (
    rf"{_ELLIPSIS}.{{0,24}}\b\d+\W{{1,3}}(?:more |hidden )?(?:lines?|rows?|hidden|more|chars?|characters|items?)\b"
    r"|\b\d+ (?:more|hidden|omitted|further|additional) (?:lines?|rows?|chars?|characters|items?)\b"
    r"|\b(?:lines?|rows?|chars?|characters|output) (?:(?:are|were|is|was) )?"
    r"(?:hidden|omitted|truncated|not shown|left out)\b"
    r"|(?:\bctrl ?[+-] ?\w|\^\w|\bspace|\btab|\benter)\b.{0,8}\b(?:to )?(?:expand|(?:show|view) (?:more|all))\b"
    r"|\b(?:to|click|tap) expand\b|[\[(]truncated[\])]|\+ ?show details\b"
)
#: A row that says so of others, and one of the dialog's own that says so or is cut itself.
_SAYS_CUT = re.compile(_LEFT_OUT, re.IGNORECASE)
_IS_CUT = re.compile(rf"{_LEFT_OUT}|…[\"'`”’)\]]?$|^…", re.IGNORECASE)


def framed(dialog: Dialog, lines: Sequence[str], columns: int, rule: ScreenRule | None) -> Dialog:
    """
    *dialog*, read off the visible rows *lines* of a screen of *columns*, with its top and what is missing of it.

    *rule* is the agent's own rule that read it, None for a dialog that was read by its shape.
    """
    place, top, missing, choices = dialog.place, 0, NO_TOP, dialog.choices
    if place is not None and (found := _top(lines, columns, place, rule)) is not None:
        said = _missing(lines, place, found[0], rule.room if rule is not None else 0)
        if said or found[1]:
            top, missing = found[0], said
    if missing:
        choices = tuple(attributes.evolve(choice, keys="") for choice in choices)
    return attributes.evolve(dialog, top=top, missing=missing, choices=choices)


def inside(dialog: Dialog, lines: Sequence[str]) -> list[str]:
    """
    The rows of *dialog*, from its top to its end, less the box or the bar that it is in, and nothing else.

    What its agent draws around or beside a part of it stays: that is how a person sees what is only quoted.
    """
    place = dialog.place
    if place is None:
        return []
    rows = list(lines[dialog.top : place.end])
    anchor = lines[min(place.starts[0] if place.starts else place.top, len(lines) - 1)]
    column = _indent(anchor)
    if _at(anchor, column) not in _SIDES:
        return rows
    for number, row in enumerate(rows):
        if _at(row, column) in _SIDES + _TOPS + _BOTTOMS + _TEES:
            text = row[column + 1 :].rstrip()
            is_closed = text[-1:] in tuple(_SIDES + _SCROLLED + _ENDS) and text[-2:-1] in ("", " ", *_ACROSS)
            rows[number] = text[:-1].rstrip() if is_closed else text
    return rows


def _top(lines: Sequence[str], columns: int, place: Place, rule: ScreenRule | None) -> tuple[int, bool] | None:
    """The first row of the dialog, and whether it is certain that nothing of it is above; None if there is none."""
    anchor = min(place.starts[0] if place.starts else place.top, len(lines) - 1)
    column = _indent(lines[anchor])
    if _at(lines[anchor], column) in _SIDES:
        # A side of its own is beside all of its choices.
        is_own = all(_at(lines[row], column) in _SIDES for row in range(anchor, place.end))
        found = _top_of_side(lines, column, anchor, place.end) if is_own else None
    elif rule is not None and rule.top is not None:
        return _named_top(lines, columns, place.starts[0] - 1 if place.starts else place.asks, rule)
    else:
        found = _line_above(lines, columns, place, anchor)
    return (found, True) if found is not None else None


def _named_top(lines: Sequence[str], columns: int, last: int, rule: ScreenRule) -> tuple[int, bool] | None:
    """
    The first row of a dialog, by the *rule* that says how it begins, at or above row *last*.

    Nothing that it asks is left of the rule's margin, or is a line across: such a row is above all of it. Where
    there is none on the screen, the first row that looks like a top may be one of its text.
    """
    assert rule.top is not None
    outside = (row for row in range(last, -1, -1) if lines[row][: rule.margin].strip() or _is_line(lines[row], columns))
    above = next(outside, None)
    begin = next((row for row in range(above or 0, last + 1) if rule.top.match(lines[row].rstrip())), None)
    if begin is None:
        return None
    if above is None or begin == above:
        return begin, above is not None
    if any(rule.top.match(lines[row + 1].rstrip()) for row in range(above) if _is_line(lines[row], columns)):
        # Two rows begin one below a line across: what it asks may hold the lower one.
        return begin, False
    # The rows right below what is left of it still belong to that, and those right below a line to the dialog.
    rest = range(above + 1, begin) if not _is_line(lines[above], columns) else ()
    gap = next((row for row in rest if not lines[row].strip()), above)
    return next(row for row in range(gap + 1, begin + 1) if lines[row].strip()), True


def _top_of_side(lines: Sequence[str], column: int, row: int, end: int) -> int | None:
    """The corner of the box, or the first row of the bar, with its side in *column* of *row*."""
    while row > 0 and _at(lines[row - 1], column) in _SIDES + _TEES + _TOPS:
        row -= 1
        if _at(lines[row], column) in _TOPS:
            return row
    below = next((mark for line in lines[end:] if (mark := _at(line, column)) not in tuple(_SIDES + _TEES)), "")
    is_bar = _at(lines[row], column) in _BARS and below not in tuple(_BOTTOMS)
    return row if is_bar and row > 0 else None


def _line_above(lines: Sequence[str], columns: int, place: Place, anchor: int) -> int | None:
    """The line across the screen above a dialog with every row indented; dashed lines in it are its agent's."""
    choices = [_POINTER.sub(lambda found: " " * len(found[0]), lines[row], count=1) for row in place.starts]
    rest = [lines[row] for row in range(anchor, place.end) if row not in place.starts]
    if not all(line[:1] in ("", " ") or _is_line(line, columns, _ACROSS + _DASHED) for line in (*choices, *rest)):
        return None
    for row in range(anchor - 1, -1, -1):
        line = lines[row]
        if _is_line(line, columns):
            return row
        if line[:1] not in ("", " ") and not _is_line(line, columns, _DASHED):
            break
    return None


def _is_line(line: str, columns: int, kinds: str = _ACROSS) -> bool:
    """Whether *line* is one line from the left edge of the screen to the right one."""
    text = line.rstrip()
    return text[:1] in tuple(kinds) and text == text[0] * len(text) and len(text) >= columns - 1


def _missing(lines: Sequence[str], place: Place, top: int, room: int) -> str:
    """What is left out of the dialog, in words; nothing if it is whole."""
    rows = lines[top : place.end]
    if any(_IS_CUT.search(line.strip(" " + _SIDES + _SCROLLED)) for line in rows):
        return LEFT_OUT
    for line in lines[place.end : place.end + _BELOW]:
        if is_edge(line):
            break
        if _SAYS_CUT.search(line):
            return LEFT_OUT
    column = _indent(rows[0])
    if rows[0][column] in _TOPS and any(line.rstrip()[-1:] in tuple(_SCROLLED) for line in rows[1:]):
        return LEFT_OUT
    corners = list(map(_corner, rows))
    if any(above in tuple(_TOPS) and below in tuple(_BOTTOMS) for above, below in itertools.pairwise(corners)):
        return LEFT_OUT
    return NO_ROOM if room and len(rows) > room else ""


def _corner(line: str) -> str:
    """The corner that an edge inside of a dialog begins with, in any box; nothing for text."""
    return line.strip(" " + _SIDES)[:1] if is_edge(line) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _at(line: str, column: int) -> str:
    """The character in *column*; a blank where the line has ended, which is in none of the sets above."""
    return line[column : column + 1] or " "
