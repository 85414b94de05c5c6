"""
Choices at the end of a screen: the answers of a dialog, however a program writes them down.

* numbered: `1. Yes`, `2. No`, … or `[1] Yes`, below one another, in columns or in one row, with a pointer at one;
* pointed: without numbers, one with a pointer, and a hint that names the keys;
* lettered: `[y] Approve  [n] Deny`, in one row; buttons: the same without keys.

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
#: Rows below the last choice, empty ones and edges of boxes not counted: those that may be hints, and with those that
#: name a key.
_HINTS = 4
_FOOTER = 8
#: Rows of a status bar at the end of the screen.
_BARS = 2
#: The last choice is looked for in so many rows from the end.
_LOW = 16
#: Columns right of a choice's number, at least, in which a panel beside the dialog stands, and nothing of the dialog.
_BESIDE = 48
#: Characters of a row that is wrapped, at least: no terminal is narrower, and much that is short is no dialog's.
_WRAPPED = 24
#: Pointers of dialogs; the last two are what `❯` and `›` become in a hardcopy of GNU Screen.
_POINTERS = "❯›>→▶▸►➤➜◉●⏵*o:"
_NUMBERED = re.compile(rf"(?:([{_POINTERS}]) ?)?(?:([1-9]\d?)[.):]|[\[(]([1-9]\d?)[\])]) {{1,3}}(\S.*)")
_POINTED = re.compile(r"[❯›→▶▸►➤➜⏵] {1,3}(\S.*)")
_HINT = re.compile(
    r"\b(esc(ape)?|enter|return|tab|space|ctrl|shift|alt|arrows?|navigate|select|confirm|cancel|submit|dismiss|scroll|"
    r"quit|exit|back|abort|skip|amend|edit|explain|toggle|choose|move|use|press|waiting for)\b|[↑↓⏎↵⇥]",
    re.IGNORECASE,
)
#: A key, by its name or its sign.
_KEY = re.compile(r"\b(esc(ape)?|enter|return|tab|space|ctrl|shift|arrows?)\b|[↑↓⏎↵⇥]", re.IGNORECASE)
#: What stands below the choices of a login: terms, and where they are.
_TERMS = re.compile(r"\b(terms|privacy|licen[cs]e)\b|(?:\S+: ?)?https?://\S+$", re.IGNORECASE)
#: A row of facts, far apart.
_STATUS_BAR = re.compile(r"\S.* {3,}\S")
#: Boxes to be checked: Enter, or a number, may choose one and may change it.
_CHECK_BOX = re.compile(r"(?:[\[(][ xX✓✔✗*•-]?[\])]|[☐☑☒◻◼◯◉⬚✅])(?: |$)")
#: Characters of a button.
_BUTTON = 24
#: An answer behind the key for it.
_LETTERED = re.compile(
    r"[\[(]((?:[A-Za-z0-9]|esc|enter|tab|shift\+tab))[\])] ?([A-Za-z][\w'’]*(?: (?![\[(])[\w'’]+){0,4})", re.IGNORECASE
)
_YES = re.compile(r"\b(yes|approve|allow|accept|proceed|run|confirm|apply|trust|continue|once)\b", re.IGNORECASE)
_NO = re.compile(r"\b(no|deny|reject|decline|refuse|cancel|abort|skip|exit|don['’]t)\b", re.IGNORECASE)
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
    #: Whether it is known what chooses one.
    is_sure: bool = True
    #: Whether something stands below them that is no hint: it belongs to a dialog if that asks something.
    has_more_below: bool = False

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
            choices_in_columns(rows),
            lettered_choices(rows),
            buttons(rows),
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
        if match is not None and expected in (None, _number(match)):
            found.append((position, match))
            expected = _number(match) - 1
            if expected < 1:
                break
        elif (is_clear and match is not None) or found[-1][0] - position > _GAP:
            return None
    pointed = [index for index, (_, match) in enumerate(reversed(found)) if match[1]]
    if expected != 0 or not 2 <= len(found) <= MAX_CHOICES or len(pointed) != is_pointed:
        return None
    above = next((rows[i].text for i in range(found[-1][0] - 1, -1, -1) if rows[i].text), "")
    if is_clear and (_NUMBERED.match(above) or any(len(_items(rows[position])) > 1 for position, _ in found)):
        return None
    found.reverse()
    ends = [*(position for position, _ in found[1:]), _end_of_choice(rows, last)]
    labels = tuple(_label(match[4]) for _, match in found)
    return Choices(
        first=found[0][0],
        last=last,
        labels=labels,
        texts=tuple(
            " ".join([match[4], *(row.text for row in rows[position + 1 : end] if not row.is_edge)])
            for (position, match), end in zip(found, ends, strict=True)
        ),
        numbers=tuple(str(_number(match)) for _, match in found),
        pointed=pointed[0] if pointed else 0,
        starts=tuple(position for position, _ in found),
        end=ends[-1],
        is_sure=all(match[2] for _, match in found) and not any(map(_CHECK_BOX.match, labels)),
        has_more_below=not _are_hints(rows, ends[-1], _column(rows[last]) + _BESIDE, only=True),
    )


def _number(match: re.Match[str]) -> int:
    return int(match[2] or match[3])


def choices_in_columns(rows: Sequence[Row]) -> Choices | None:
    """Numbered choices of which several stand in one row; what is typed for one is not known."""
    last = next((i for i in range(len(rows) - 1, max(-1, len(rows) - _LOW - 1), -1) if _items(rows[i])), None)
    if last is None or not _are_hints(rows, last + 1):
        return None
    first = last
    while first > 0 and _items(rows[first - 1]):
        first -= 1
    items = sorted((item for row in rows[first : last + 1] for item in _items(row)), key=_number)
    pointed = [index for index, item in enumerate(items) if item[1]]
    is_whole = [_number(item) for item in items] == list(range(1, len(items) + 1))
    if not is_whole or len(pointed) != 1 or not 2 <= len(items) <= MAX_CHOICES or len(items) == last - first + 1:
        return None
    return _in_rows(first, last, tuple(item[4] for item in items), pointed[0])


def _items(row: Row) -> list[re.Match[str]]:
    """The numbered choices of a row that consists of them; none of any other."""
    if row.is_edge or not _NUMBERED.match(row.text):
        return []
    found = [_NUMBERED.match(part) for part in _COLUMN.split(row.text)]
    return [match for match in found if match is not None] if all(found) else []


def lettered_choices(rows: Sequence[Row], *, is_last: bool = True) -> Choices | None:
    """
    Answers in one row, each behind its key, and one of them a yes or a no; whether Enter follows is not known.

    *is_last*: nothing but hints stands below them.
    """
    for at in range(len(rows) - 1, max(-1, len(rows) - _FOOTER - 1), -1):
        if ("[" not in rows[at].text and "(" not in rows[at].text) or rows[at].is_edge:
            continue
        found = [(match[1], match[2]) for match in _LETTERED.finditer(rows[at].text)]
        labels = tuple(label for _, label in found)
        if len(labels) >= 2 and any(map(_YES.search, labels)) and any(map(_NO.search, labels)):
            # As agents name a key at the end of a choice.
            keys = tuple(f"{label} ({key})" for key, label in found)
            return _in_rows(at, at, labels, 0, keys) if not is_last or _are_hints(rows, at + 1) else None
    return None


def buttons(rows: Sequence[Row]) -> Choices | None:
    """Answers in one row without a key or a pointer, a yes and a no among them; hints may stand behind and below."""
    for at in range(len(rows) - 1, max(-1, len(rows) - _FOOTER - 1), -1):
        labels: list[str] = []
        for part in _COLUMN.split(rows[at].text):
            # `Confirm` is a button, and `confirm the choice` a hint.
            is_word = part[:1].isascii() and part[:1].isalnum()
            is_hint = _KEY.search(part) or not is_word or (" " in part and _HINT.match(part))
            if is_hint or len(part) > _BUTTON:
                break
            labels.append(part)
        if len(labels) >= 2 and any(map(_YES.search, labels)) and any(map(_NO.search, labels)):
            return _in_rows(at, at, tuple(labels), -1) if _are_hints(rows, at + 1) else None
    return None


def names_keys(rows: Sequence[Row]) -> bool:
    """Whether one of *rows* names the keys by which a choice is selected and taken."""
    return any(map(_KEYS_HINT.match, (row.text for row in rows)))


def _in_rows(first: int, last: int, labels: tuple[str, ...], pointed: int, texts: tuple[str, ...] = ()) -> Choices:
    """Choices of which it is not told row by row where they stand; *texts* are their labels, if they say no more."""
    shown = tuple(map(_label, labels))
    return Choices(first, last, shown, texts or labels, ("",) * len(labels), pointed, (first,), last + 1, is_sure=False)


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
    return _are_hints(rows, _end_of_choice(rows, last), _column(rows[last]) + _BESIDE)


def _are_hints(rows: Sequence[Row], start: int, beside: int = 1000, *, only: bool = False) -> bool:
    """
    Whether *rows* from *start* on hold nothing that was printed below a dialog: hints, terms, edges, what else stands
    in the box of the row above, and a status bar at the end. What begins at the column *beside* is another panel's.
    *only*: hints and edges alone.
    """
    is_in_box = start > 0 and rows[start - 1].is_boxed and not only
    hints: list[str] = []
    bars = 0
    is_parted = False
    for row in rows[start:]:
        # What stands below hints and a line across is the program's own footer.
        is_parted = is_parted or (row.is_edge and not row.is_boxed and any(map(_KEY.search, hints)))
        is_in_box = is_in_box and row.is_boxed
        if not row.text or row.is_edge or row.indent >= beside:
            continue
        if _INPUT.match(row.text):
            return False
        if is_in_box:
            continue
        is_hint = _HINT.search(row.text) is not None or (not only and _TERMS.search(row.text) is not None)
        if bars or not is_hint:
            bars += 1
            if not is_parted and not _STATUS_BAR.match(row.text):
                return False
        else:
            hints.append(row.text)
    weak = sum(_KEY.search(text) is None for text in hints)
    return bars <= (0 if only else _BARS) and weak <= _HINTS and len(hints) <= _FOOTER


def pointed_choices(rows: Sequence[Row], *, is_clear: bool = True) -> Choices | None:
    """
    Choices without numbers: one with a pointer, the others beginning in the same column, and a hint at the keys.

    What means one of them may stand below it, further to the right. None where one has a number, or more than hints
    stands below them, unless they need not be *is_clear*.
    """
    hinted = [i for i, row in enumerate(rows) if _KEYS_HINT.match(row.text)]
    if not hinted or hinted[-1] < len(rows) - 1 - _LOW:
        return None
    pointed = next(
        (i for i in range(hinted[-1] - 1, max(-1, hinted[-1] - MAX_CHOICES), -1) if _POINTED.match(rows[i].text)), None
    )
    if pointed is None:
        return None
    match = _POINTED.match(rows[pointed].text)
    assert match is not None
    column = rows[pointed].indent + match.start(1)
    starts = _in_column(rows, pointed, column, hinted[-1])
    width = max(row.indent + len(row.text) for row in rows)
    wrapped = {i for i in starts[1:] if _is_wrapped(rows[i - 1], rows[i], width)}
    starts = [i for i in starts if i not in wrapped or not rows[i].text[:1].islower()]
    first, last = starts[0], starts[-1]
    if len(starts) < 2:
        return None
    labels = [match[1] if i == pointed else rows[i].text for i in starts]
    is_checked = any(map(_CHECK_BOX.match, labels))
    end = last + 1
    while end in wrapped:
        end += 1
    while end < hinted[-1] and rows[end].text and rows[end].indent > column and not rows[end].is_edge:
        end += 1
    if is_clear and (any(map(_NUMBERED.match, labels)) or not _are_hints(rows, end)):
        return None
    if len(starts) > MAX_CHOICES or (not is_clear and not _are_near(rows, hinted[-1])):
        return None
    return Choices(
        first=first,
        last=last,
        labels=tuple(map(_label, labels)),
        texts=tuple(labels),
        numbers=("",) * len(labels),
        pointed=starts.index(pointed),
        starts=tuple(starts),
        end=end,
        is_sure=not is_checked and not wrapped,
    )


def _in_column(rows: Sequence[Row], pointed: int, column: int, end: int) -> list[int]:
    """The rows above and below the one at *pointed* that begin in *column*, those between them further to the right."""
    found = [pointed]
    for step, stop in ((-1, -1), (1, end)):
        for position in range(pointed + step, stop, step):
            row = rows[position]
            if not row.text or row.is_edge or row.indent < column:
                break
            if row.indent == column and not (step < 0 and row.text.endswith(("?", ":"))):
                found.append(position)
            elif row.indent == column or (step < 0 and (not position or rows[position - 1].indent < column)):
                break
    return sorted(found)


def _are_near(rows: Sequence[Row], hint: int) -> bool:
    """Whether little stands below a hint."""
    return hint >= len(rows) - 1 - _HINTS
