"""
Choices at the end of a screen: the answers of a dialog, however a program writes them down.

* numbered: `1. Yes`, `2. No`, … or `[1] Yes`, below one another, in columns or in one row, with a pointer at one;
* pointed: without numbers, one with a pointer, and a hint that names the keys;
* lettered: `[y] Approve  [n] Deny`, in one row.

Nothing but hints, what else stands in their box, terms, and a status bar stands below them: else they are a part of
something that was printed. What is typed to choose one is known only where rows tell it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from tallylight.evidence.tail import Row, clean_lines
from tallylight.model.dialog import MAX_CHOICES, Place

#: Rows between two choices, which hold the rest of a long label or what it means.
_GAP = 5
#: Rows of hints below the last choice, empty ones and edges of boxes not counted.
_HINTS = 4
#: The last choice is looked for in so many rows from the end.
_LOW = 16
#: Columns right of a choice's number, at least, in which a panel beside the dialog stands, and nothing of the dialog.
_BESIDE = 48
#: Characters of a row that is wrapped, at least: no terminal is narrower, and much that is short is no dialog's.
_WRAPPED = 24
#: Pointers of dialogs; the last two are what `❯` and `›` become in a hardcopy of GNU Screen.
_POINTERS = "❯›>→▶▸►➤➜◉●⏵*o:"
_NUMBERED = re.compile(rf"(?:([{_POINTERS}]) ?)?(\d{{1,2}})[.):] {{1,3}}(\S.*)")
_POINTED = re.compile(r"[❯›→▶▸►➤➜⏵] {1,3}(\S.*)")
_HINT = re.compile(
    r"\b(esc(ape)?|enter|return|tab|space|ctrl|shift|alt|arrows?|navigate|select|confirm|cancel|submit|dismiss|scroll|"
    r"quit|exit|back|abort|skip|amend|edit|explain|toggle|choose|move|use|press|waiting for)\b|[↑↓⏎↵⇥]",
    re.IGNORECASE,
)
#: An input line: what stands above it is no dialog that waits.
_INPUT = re.compile(r"[❯›>](?: |$)")
#: Two spaces or more: what follows stands in a column of its own.
_COLUMN = re.compile(r" {2,}")
_KEYS_HINT = re.compile(
    r"(?=.*(?:\b(?:enter|return|space)\b|[⏎↵]|\barrow))(?=.*(?:\b(?:select|confirm|choose|submit|move|navigate|toggle|accept)\b|[↑↓]))",
    re.IGNORECASE,
)


@attrs.frozen
class Choices:
    """Choices that were found: the rows of them in the tail, first and last, and which of them is pointed at."""

    first: int
    last: int
    labels: tuple[str, ...]
    #: The labels with all that is said about them.
    texts: tuple[str, ...]
    #: The number in front of each, or nothing.
    numbers: tuple[str, ...]
    pointed: int
    #: The first row of each in the tail, and the row behind the last one, whose label may go on below it.
    starts: tuple[int, ...]
    end: int

    def place(self, rows: Sequence[Row], top: int, asking: int) -> Place:
        """Where they stand on the screen; the text begins at *top* of the tail, and the question stands at *asking*."""
        starts = tuple(rows[start].number for start in self.starts)
        return Place(rows[top].number, rows[asking].number, starts, rows[self.end - 1].number + 1)


def ends_in_choices(rows: Sequence[Row]) -> bool:
    """Whether *rows* end in choices, also in such as cannot be told apart: no text is to be typed there."""
    return any(
        (
            numbered_choices(rows, is_clear=False),
            numbered_choices(rows, is_pointed=False, is_clear=False),
            pointed_choices(rows, is_clear=False),
        )
    )


def numbered_choices(rows: Sequence[Row], *, is_pointed: bool = True, is_clear: bool = True) -> Choices | None:
    """
    The numbered choices that *rows* end in, hints apart: from 1 up, and one with a pointer unless told otherwise.

    None where another number stands between them or right above the first, unless they need not be *is_clear*.
    """
    last = next(
        (i for i in range(len(rows) - 1, max(-1, len(rows) - _LOW - 1), -1) if _NUMBERED.match(rows[i].text)), None
    )
    if last is None or not _only_hints(rows, last):
        return None
    found: list[tuple[int, re.Match[str]]] = []
    expected: int | None = None
    for position in range(last, -1, -1):
        match = _NUMBERED.match(rows[position].text)
        if match is not None and expected in (None, int(match[2])):
            found.append((position, match))
            expected = int(match[2]) - 1
            if expected < 1:
                break
        elif (is_clear and match is not None) or found[-1][0] - position > _GAP:
            return None
    pointed = [index for index, (_, match) in enumerate(reversed(found)) if match[1]]
    if expected != 0 or not 2 <= len(found) <= MAX_CHOICES or len(pointed) != is_pointed:
        return None
    above = next((rows[i].text for i in range(found[-1][0] - 1, -1, -1) if rows[i].text), "")
    if is_clear and _NUMBERED.match(above):
        return None
    found.reverse()
    ends = [*(position for position, _ in found[1:]), _end_of_choice(rows, last)]
    return Choices(
        first=found[0][0],
        last=last,
        labels=tuple(_label(match[3]) for _, match in found),
        texts=tuple(
            " ".join([match[3], *(row.text for row in rows[position + 1 : end] if not row.is_edge)])
            for (position, match), end in zip(found, ends, strict=True)
        ),
        numbers=tuple(match[2] for _, match in found),
        pointed=pointed[0] if pointed else 0,
        starts=tuple(position for position, _ in found),
        end=ends[-1],
    )


def _label(text: str) -> str:
    """The label without what stands in a column of its own beside it."""
    cleaned = clean_lines([_COLUMN.split(text, maxsplit=1)[0]])
    return cleaned[0] if cleaned else ""


def _end_of_choice(rows: Sequence[Row], position: int) -> int:
    """The row after the choice at *position*, whose text may go on in the rows below it."""
    column = _column(rows[position])
    width = max(row.indent + len(row.text) for row in rows)
    end = position + 1
    while end < len(rows) and rows[end].text and not rows[end].is_edge and 0 <= rows[end].indent - column < _BESIDE:
        if rows[end].indent == column and not _is_wrapped(rows[end - 1], rows[end], width):
            break
        end += 1
    return end


def _column(row: Row) -> int:
    """Where the number of a choice stands."""
    match = _NUMBERED.match(row.text)
    return row.indent + (match.start(2) if match is not None else 0)


def _is_wrapped(row: Row, below: Row, width: int) -> bool:
    """Whether *row* goes on *below*: where the next word did not fit into what is *width* wide."""
    if len(row.text) < _WRAPPED:
        return False
    return row.indent + len(row.text) + 1 + len(below.text.partition(" ")[0]) > width


def _only_hints(rows: Sequence[Row], last: int) -> bool:
    """Whether nothing but hints stands below the choice at *last*."""
    beside = _column(rows[last]) + _BESIDE
    rest = rows[_end_of_choice(rows, last) :]
    return _are_hints([row for row in rest if row.indent < beside])


def _are_hints(rows: Sequence[Row]) -> bool:
    """Whether *rows* hold nothing but some hints, empty rows and edges."""
    texts = [row.text for row in rows if row.text and not row.is_edge]
    return len(texts) <= _HINTS and all(_HINT.search(text) and not _INPUT.match(text) for text in texts)


def pointed_choices(rows: Sequence[Row], *, is_clear: bool = True) -> Choices | None:
    """
    Choices without numbers: one with a pointer, the others beginning in the same column, and a hint at the keys.

    None where one has a number, or more than hints stands above that hint, unless they need not be *is_clear*.
    """
    hinted = [i for i, row in enumerate(rows) if _KEYS_HINT.match(row.text)]
    if not hinted or hinted[-1] < len(rows) - 1 - _HINTS:
        return None
    pointed = next(
        (i for i in range(hinted[-1] - 1, max(-1, hinted[-1] - MAX_CHOICES), -1) if _POINTED.match(rows[i].text)), None
    )
    if pointed is None:
        return None
    match = _POINTED.match(rows[pointed].text)
    assert match is not None
    column = rows[pointed].indent + match.start(1)
    first = last = pointed
    while last + 1 < hinted[-1] and rows[last + 1].text and rows[last + 1].indent == column:
        last += 1
    while first > 0 and rows[first - 1].text and rows[first - 1].indent == column:
        first -= 1
    if last == first:
        return None
    labels = [match[1] if i == pointed else rows[i].text for i in range(first, last + 1)]
    if is_clear and (any(map(_NUMBERED.match, labels)) or not _are_hints(rows[last + 1 : hinted[-1] + 1])):
        return None
    return Choices(
        first=first,
        last=last,
        labels=tuple(map(_label, labels)),
        texts=tuple(labels),
        numbers=("",) * len(labels),
        pointed=pointed - first,
        starts=tuple(range(first, last + 1)),
        end=last + 1,
    )
