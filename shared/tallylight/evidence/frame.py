"""
The frame of a dialog: where it begins on the screen, and whether all of it is there.

A person may agree only to a dialog that was shown whole. So it needs a **top that its text cannot draw**, one of:

* a box or a bar at the left of its choices, up to the row with its corner, or where the bar ends. Text inside is beside
  the same side, so that no line in it is taken for the top;
* a line across the whole screen, where every row below it is indented;
* the row that the agent's own rule names (`top`). That is the row below a line across, below a row left of the rule's
  `margin`, or such a row itself: the text of the dialog is never there. Rows between it and the top belong to it.

And nothing may be left out of it. These are signs of a cut:

* a row that reports it (`… 27 more lines`, `ctrl+o to expand`), or ends in `…`;
* an empty inner box, or a scroll bar;
* a text so tall that its agent cuts it without a sign (`room`).

Otherwise `framed` sets `missing`, and takes the keys out of all choices: nobody can press one. Pure.
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
#: The characters of a line across. Dashed ones divide a dialog, and do not begin it.
_ACROSS, _DASHED = "─━═▔▁▀▄", "╌┄┈╍┅┉"
#: The pointer in front of a choice: its agent draws it, at a place where no text is.
_POINTER = re.compile(r" *[❯›→▶▸►➤➜●>] ?")
#: The characters of a scroll bar in the right side of a box.
_SCROLLED = "█▊░▒▓▲▼"
#: Rows below the choices that may report a cut.
_BELOW_CHOICES_ROWS = 8
_ELLIPSIS = r"(?:…|\.\.\.|[↑↓⇡⇣▲▼+])"
_LEFT_OUT = (
    rf"{_ELLIPSIS}.{{0,24}}\b\d+\W{{1,3}}(?:more |hidden )?(?:lines?|rows?|hidden|more|chars?|characters|items?)\b"
    r"|\b\d+ (?:more|hidden|omitted|further|additional) (?:lines?|rows?|chars?|characters|items?)\b"
    r"|\b(?:lines?|rows?|chars?|characters|output) (?:(?:are|were|is|was) )?"
    r"(?:hidden|omitted|truncated|not shown|left out)\b"
    r"|(?:\bctrl ?[+-] ?\w|\^\w|\bspace|\btab|\benter)\b.{0,8}\b(?:to )?(?:expand|(?:show|view) (?:more|all))\b"
    r"|\b(?:to|click|tap) expand\b|[\[(]truncated[\])]|\+ ?show details\b"
)
#: A row that reports a cut of others, and one that reports its own or is cut itself.
_SAYS_CUT = re.compile(_LEFT_OUT, re.IGNORECASE)
_IS_CUT = re.compile(rf"{_LEFT_OUT}|…[\"'`”’)\]]?$|^…", re.IGNORECASE)


def framed(dialog: Dialog, lines: Sequence[str], columns: int, rule: ScreenRule | None) -> Dialog:
    """
    Return *dialog* with its top, and with the reason if it is not whole.

    It was read off the visible rows *lines* of a screen of *columns*, by the agent's own *rule*, or None by its shape.
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
    Return the rows of *dialog*, from its top to its end, without the box or the bar around it.

    Boxes around a part of it stay: they show a person that the part is only quoted.
    """
    place = dialog.place
    if place is None:
        return []
    rows = list(lines[dialog.top : place.end])
    anchor = lines[min(place.starts[0] if place.starts else place.top, len(lines) - 1)]
    column = _indent(anchor)
    if _character(anchor, column) not in _SIDES:
        return rows
    for number, row in enumerate(rows):
        if _character(row, column) in _SIDES + _TOPS + _BOTTOMS + _TEES:
            text = row[column + 1 :].rstrip()
            is_closed = text[-1:] in tuple(_SIDES + _SCROLLED + _ENDS) and text[-2:-1] in ("", " ", *_ACROSS)
            rows[number] = text[:-1].rstrip() if is_closed else text
    return rows


def _top(lines: Sequence[str], columns: int, place: Place, rule: ScreenRule | None) -> tuple[int, bool] | None:
    """
    Return the first row of the dialog, and whether it is certain that nothing of it is above; None if no top is found.
    """
    anchor = min(place.starts[0] if place.starts else place.top, len(lines) - 1)
    column = _indent(lines[anchor])
    if _character(lines[anchor], column) in _SIDES:
        # A side of its own is beside all of its choices.
        is_own = all(_character(lines[row], column) in _SIDES for row in range(anchor, place.end))
        found = _top_of_side(lines, column, anchor, place.end) if is_own else None
    elif rule is not None and rule.top is not None:
        return _named_top(lines, columns, place.starts[0] - 1 if place.starts else place.asks, rule)
    else:
        found = _line_above(lines, columns, place, anchor)
    return (found, True) if found is not None else None


def _named_top(lines: Sequence[str], columns: int, last: int, rule: ScreenRule) -> tuple[int, bool] | None:
    """
    Return the first row of a dialog by the *rule* that names it, at or above row *last*, and whether that is sure.

    No text of the dialog is left of the rule's margin, or is a line across: such a row is above all of it. Without such
    a row on the screen, the first row that looks like a top may be one of its text.
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
        # Two rows look like a top below a line across: the lower one may be text of the dialog.
        return begin, False
    # Rows right below a row left of the margin still belong to that, and rows right below a line to the dialog.
    rest = range(above + 1, begin) if not _is_line(lines[above], columns) else ()
    gap = next((row for row in rest if not lines[row].strip()), above)
    return next(row for row in range(gap + 1, begin + 1) if lines[row].strip()), True


def _top_of_side(lines: Sequence[str], column: int, row: int, end: int) -> int | None:
    """Return the corner of the box, or the first row of the bar, with its side in *column* of *row*."""
    while row > 0 and _character(lines[row - 1], column) in _SIDES + _TEES + _TOPS:
        row -= 1
        if _character(lines[row], column) in _TOPS:
            return row
    below = next((mark for line in lines[end:] if (mark := _character(line, column)) not in tuple(_SIDES + _TEES)), "")
    is_bar = _character(lines[row], column) in _BARS and below not in tuple(_BOTTOMS)
    return row if is_bar and row > 0 else None


def _line_above(lines: Sequence[str], columns: int, place: Place, anchor: int) -> int | None:
    """Return the line across the screen above a dialog with every row indented; dashed lines in it are its agent's."""
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
    """Return whether *line* is one line from the left edge of the screen to the right one."""
    text = line.rstrip()
    return text[:1] in tuple(kinds) and text == text[0] * len(text) and len(text) >= columns - 1


def _missing(lines: Sequence[str], place: Place, top: int, room: int) -> str:
    """Return the reason why the dialog is not whole; "" if it is."""
    rows = lines[top : place.end]
    if any(_IS_CUT.search(line.strip(" " + _SIDES + _SCROLLED)) for line in rows):
        return LEFT_OUT
    for line in lines[place.end : place.end + _BELOW_CHOICES_ROWS]:
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
    """Return the first character of an edge inside of a dialog; "" for text."""
    return line.strip(" " + _SIDES)[:1] if is_edge(line) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _character(line: str, column: int) -> str:
    """Return the character in *column*; a blank behind the end of the line."""
    return line[column : column + 1] or " "
