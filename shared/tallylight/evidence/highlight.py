"""
The highlight: which of several choices is drawn unlike the others. It tells which is selected where no pointer does.

A styled screen goes in, with the choices that were read off its text; the index of one of them comes out, or None. What
counts is the *ground* of a label, the background or the reverse video that it stands on:

* of three choices or more, one has a ground of its own, and all others have the same;
* of two, the ground of one is found nowhere else in the dialog, and that of the other is;
* of three or more on the same ground, one has a colour of its own, and all others have the same. Dim text does not
  count: so is drawn what cannot be chosen.

Anything else is None; so is a label that is not found or is drawn in several ways, and a screen that is not the one
that the choices were read off. A wrong guess would choose something else than the person did.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from tallylight.model.dialog import Place
from tallylight.wire.styled import Colour, Reader, Style, StyledLine, StyledScreen, plain

_T = TypeVar("_T")


class _Span(NamedTuple):
    """Where a label stands: a row of the screen, its first character and the one behind it."""

    row: int
    start: int
    end: int


class _Ground(NamedTuple):
    """What text stands on."""

    is_reverse: bool
    colour: Colour | None


def highlighted(styled: StyledScreen, lines: Sequence[str], place: Place, labels: Sequence[str]) -> int | None:
    """
    The index of the one of *labels* that is highlighted; None unless that is certain.

    The dialog with these choices stands at *place* of the screen whose visible rows are *lines*, from the top.
    """
    rows = {row: _row(styled, row) for row in range(place.top, min(place.end, len(lines)))}
    texts = {row: plain(line).replace("\u00a0", " ") for row, line in rows.items()}
    if any(texts[row].rstrip() != _text(lines[row], styled.columns) for row in rows):
        return None
    spans = _spans(texts, place, labels)
    if len(spans) != len(labels):
        return None
    styles = {row: [run.style for run in line for _ in run.text] for row, line in rows.items()}
    drawn = [
        [style for style, letter in zip(styles[row][start:end], texts[row][start:end], strict=True) if letter != " "]
        for row, start, end in spans
    ]
    grounds = _alike([[_ground(style) for style in each] for each in drawn])
    if grounds is None:
        return None
    if len(set(grounds)) > 1:
        return _odd(grounds) if len(grounds) > 2 else _apart(grounds, _around(texts, styles, spans))
    inks = _alike([[(style.foreground, style.is_dim) for style in each] for each in drawn])
    odd = _odd(inks) if inks is not None else None
    return odd if odd is not None and inks is not None and not inks[odd][1] else None


def _row(styled: StyledScreen, row: int) -> StyledLine:
    return styled.lines[row] if row < len(styled.lines) else ()


def _text(line: str, columns: int) -> str:
    """The text of a visible row, as a styled screen has it."""
    return plain(Reader(columns).line(line)).replace("\u00a0", " ").rstrip()


def _spans(texts: Mapping[int, str], place: Place, labels: Sequence[str]) -> list[_Span]:
    """Where *labels* stand, as far as they are found: each in a row of its own, or all in one."""
    is_in_rows = len(place.starts) == len(labels)
    if not is_in_rows and len(place.starts) != 1:
        return []
    found: list[_Span] = []
    for index, label in enumerate(labels):
        row = place.starts[index if is_in_rows else 0]
        behind = 0 if is_in_rows or not found else found[-1].end
        match = re.compile(rf"(?<!\S){re.escape(label)}(?!\S)").search(texts.get(row, ""), behind)
        if match is None or not label:
            return []
        found.append(_Span(row, *match.span()))
    return found


def _ground(style: Style) -> _Ground:
    return _Ground(style.is_reverse, style.foreground if style.is_reverse else style.background)


def _alike(labels: Sequence[Sequence[_T]]) -> list[_T] | None:
    """What all letters of each label have in common; None if those of one differ."""
    if any(len(set(each)) != 1 for each in labels):
        return None
    return [each[0] for each in labels]


def _odd(values: Sequence[_T]) -> int | None:
    """The index of the one of three or more *values* that differs from all others, which are the same."""
    if len(values) < 3 or len(set(values)) != 2:
        return None
    return next((index for index, value in enumerate(values) if values.count(value) == 1), None)


def _apart(grounds: Sequence[_Ground], around: set[_Ground]) -> int | None:
    """The index of the one of two *grounds* that is not *around* them."""
    own = [index for index, ground in enumerate(grounds) if ground not in around]
    return own[0] if len(own) == 1 else None


def _around(texts: Mapping[int, str], styles: Mapping[int, Sequence[Style]], spans: Sequence[_Span]) -> set[_Ground]:
    """The grounds in the dialog, except for the labels and the blanks beside them."""
    taken = {(span.row, column) for span in spans for column in _padded(texts[span.row], span)}
    return {
        _ground(style)
        for row, each in styles.items()
        for column, style in enumerate(each)
        if (row, column) not in taken
    }


def _padded(text: str, span: _Span) -> Iterator[int]:
    """The columns of a label with the blanks on both sides of it."""
    start = len(text[: span.start].rstrip(" "))
    end = len(text) - len(text[span.end :].lstrip(" "))
    return iter(range(start, end))
