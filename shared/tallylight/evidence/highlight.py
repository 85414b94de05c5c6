"""
The highlight: the one of several choices that is drawn unlike the others. Without a pointer it is the selected one.

A styled screen goes in, with the choices that were read off its text. The index of one of them comes out, or None. The
*ground* of a label, its background or its reverse video, decides:

* of three choices or more, one has a ground of its own, and all others have the same;
* of two, the ground of one is found nowhere else in the dialog, and that of the other is;
* of three or more on the same ground, one has a colour of its own, and all others have the same. Dim text does not
  count: it marks a choice that cannot be taken.

Anything else is None. So is a label that is not found or is drawn in several ways. So is any screen but the one that
the choices were read off. A wrong guess would choose something else than the person did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tallylight.model.dialog import Place
from tallylight.wire.styled import Reader, Style, StyledScreen, plain

_T = TypeVar("_T")
#: A row of the screen as styled characters; and the place of a label: its row, its first character and the one behind
#: it.
_Cells = Sequence[tuple[str, Style]]
_Span = tuple[int, int, int]


def highlighted(styled: StyledScreen, lines: Sequence[str], place: Place, labels: Sequence[str]) -> int | None:
    """
    Return the index of the one of *labels* that is highlighted; None unless that is certain.

    The dialog with these choices is at *place* of the screen with the visible rows *lines*, from the top.
    """
    rows = _rows(styled, lines, place)
    spans = _spans({row: _text(cells) for row, cells in rows.items()}, place, labels)
    drawn = [[style for letter, style in rows[row][start:end] if letter != " "] for row, start, end in spans]
    grounds = _shared_value(_ground, drawn)
    if grounds is None:
        return None
    if len(set(grounds)) == 1 or not grounds:
        inks = _shared_value(lambda style: (style.foreground, style.is_dim), drawn) or ()
        odd = _odd_one(inks)
        return odd if odd is not None and not inks[odd][1] else None
    if len(grounds) > 2:
        return _odd_one(grounds)
    around = _grounds_around(rows, spans)
    own = [index for index, ground in enumerate(grounds) if ground not in around]
    return own[0] if len(own) == 1 else None


def _rows(styled: StyledScreen, lines: Sequence[str], place: Place) -> dict[int, _Cells]:
    """Return the rows of the dialog; none if the styled screen is not the one that *lines* were read off."""
    found: dict[int, _Cells] = {}
    for row in range(place.top, min(place.end, len(lines))):
        drawn = styled.lines[row] if row < len(styled.lines) else ()
        found[row] = [(letter.replace("\u00a0", " "), run.style) for run in drawn for letter in run.text]
        read = plain(Reader(styled.columns).line(lines[row])).replace("\u00a0", " ")
        if _text(found[row]).rstrip() != read.rstrip():
            return {}
    return found


def _text(cells: _Cells) -> str:
    return "".join(letter for letter, _ in cells)


def _spans(texts: Mapping[int, str], place: Place, labels: Sequence[str]) -> list[_Span]:
    """Return the places of *labels*, each in a row of its own, or all in one; nothing if one of them is not found."""
    is_in_rows = len(place.starts) == len(labels)
    if not is_in_rows and len(place.starts) != 1:
        return []
    found: list[_Span] = []
    for index, label in enumerate(labels):
        row = place.starts[index if is_in_rows else 0]
        behind = 0 if is_in_rows or not found else found[-1][2]
        match = re.compile(rf"(?<!\S){re.escape(label)}(?!\S)").search(texts.get(row, ""), behind)
        if match is None or not label:
            return []
        found.append((row, *match.span()))
    return found


def _ground(style: Style) -> tuple[bool, object]:
    """Return the background of text."""
    return style.is_reverse, style.foreground if style.is_reverse else style.background


def _shared_value(what: Callable[[Style], _T], drawn: Sequence[Sequence[Style]]) -> list[_T] | None:
    """Return the value of *what* that all letters of each label share; None if those of one differ."""
    found = [{what(style) for style in each} for each in drawn]
    return [each.pop() for each in found] if all(len(each) == 1 for each in found) else None


def _odd_one(values: Sequence[_T]) -> int | None:
    """Return the index of the one of three or more *values* that differs from all others, which are the same."""
    if len(values) < 3 or len(set(values)) != 2:
        return None
    return next((index for index, value in enumerate(values) if values.count(value) == 1), None)


def _grounds_around(rows: Mapping[int, _Cells], spans: Sequence[_Span]) -> set[tuple[bool, object]]:
    """Return the grounds in the dialog, except for the labels and the blanks beside them."""
    taken: set[tuple[int, int]] = set()
    for row, start, end in spans:
        text = _text(rows[row])
        first, behind = len(text[:start].rstrip(" ")), len(text) - len(text[end:].lstrip(" "))
        taken.update((row, column) for column in range(first, behind))
    return {
        _ground(style)
        for row, cells in rows.items()
        for column, (_, style) in enumerate(cells)
        if (row, column) not in taken
    }
