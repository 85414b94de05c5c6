"""
Choices at the end of a screen: the answers of a dialog, in any notation.

* numbered: `1. Yes`, `2. No`, … or `[1] Yes`, below one another, in columns or in one row, with a pointer at one;
* pointed: without numbers, one with a pointer, and a hint that names the keys;
* lettered: `[y] Approve  [n] Deny`, in one row; buttons: the same without keys.

Below them are only hints, the rest of their box, terms, and a status bar: otherwise they are part of printed text. The
keys that choose one are known only where rows show them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from tallylight.evidence.tail import Row, clean_line, upwards
from tallylight.model.dialog import MAX_DIALOG_CHOICES, Place

#: Rows between two choices, for the rest of a long label or its explanation.
_BETWEEN_CHOICES_ROWS = 5
#: Columns between the numbers of choices that may differ; the rest of a label is further to the right.
_ASKEW_COLUMNS = 1
#: The most rows below the last choice, not counting blank rows and edges: hints, and hints with rows that name a key.
_HINT_ROWS = 4
_FOOTER_ROWS = 8
#: Rows of a status bar at the end of the screen.
_BAR_ROWS = 2
#: Rows from the end in which the last choice is looked for.
_LOW_CHOICES_ROWS = 16
#: Columns right of a choice's number where another panel may begin.
_BESIDE_COLUMNS = 48
#: Characters of a wrapped row, at least: no terminal is narrower, and much shorter text is no dialog's.
_WRAPPED_CHARS = 24
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
KEY = re.compile(r"\b(esc(ape)?|enter|return|tab|space|ctrl|shift|arrows?)\b|[↑↓⏎↵⇥]", re.IGNORECASE)
#: Rows below the choices of a login: terms, and their address.
_TERMS = re.compile(r"\b(terms|privacy|licen[cs]e)\b|(?:\S+: ?)?https?://\S+$", re.IGNORECASE)
#: A status bar: facts in one row, far apart.
_STATUS_BAR = re.compile(r"\S.* {3,}\S")
#: Boxes to be checked: Enter, or a number, may choose one and may change it.
_CHECK_BOX = re.compile(r"(?:[\[(][ xX✓✔✗*•-]?[\])]|[☐☑☒◻◼◯◉⬚✅])(?: |$)")
#: Characters of a button.
_DIALOG_BUTTON_CHARS = 24
#: Text typed behind a row of answers.
_TYPED = re.compile(r"\][^\[\]]*[:?>] {1,2}\w+$")
#: An answer behind the key for it.
_LETTERED = re.compile(
    r"[\[(]((?:[A-Za-z0-9]|esc|enter|tab|shift\+tab))[\])] ?([A-Za-z][\w'’]*(?: (?![\[(])[\w'’]+){0,4})", re.IGNORECASE
)
YES = re.compile(
    r"\b(yes|approve|allow|accept|proceed|run|confirm|apply|trust|continue|once|ja|oui|s[ií]|sim|да|tak|evet)\b"
    r"|是|允许|允許|同意|批准|はい|許可|예|허용",
    re.IGNORECASE,
)
NO = re.compile(
    r"\b(no|deny|reject|decline|refuse|cancel|abort|skip|exit|discard|don['’]t|nein|non|não|нет|nie|hayır)\b"
    r"|否|不|拒[绝絕否]|取消|いいえ|아니|거부",
    re.IGNORECASE,
)
#: An input line: rows above it are no dialog that waits.
_INPUT = re.compile(r"[❯›>](?: |$)")
#: Two spaces or more: the text behind them is in a column of its own.
_COLUMN = re.compile(r" {2,}")
#: The keys that select and take a choice.
KEYS_HINT = re.compile(
    r"(?=.*(?:\b(?:enter|return|space)\b|[⏎↵]|\barrow))(?=.*(?:\b(?:select|confirm|choose|submit|move|navigate|toggle|accept)\b|[↑↓]))",
    re.IGNORECASE,
)


@attrs.frozen
class Choices:
    """Choices that were found: their first and last row in the tail, their labels, and the index of the pointed one."""

    first: int
    last: int
    labels: tuple[str, ...]
    #: The labels with all that describes them.
    texts: tuple[str, ...]
    #: The number in front of each, or nothing.
    numbers: tuple[str, ...]
    pointed: int
    #: The first row of each in the tail, and the row behind the last one; its label may continue there.
    starts: tuple[int, ...]
    end: int
    #: Whether the keys that choose one are known.
    is_sure: bool = True
    #: Whether no row between or right above them may be another choice: else no keys are typed.
    is_clear: bool = True
    #: Whether text other than hints is below them: it belongs to a dialog that asks something.
    has_more_below: bool = False

    def place(self, rows: Sequence[Row], top: int, asking: int) -> Place:
        """Return their place on the screen; the text begins at *top* of the tail, and the question is at *asking*."""
        starts = tuple(rows[start].number for start in self.starts)
        return Place(rows[top].number, rows[asking].number, starts, rows[self.end - 1].number + 1)


def ends_in_choices(rows: Sequence[Row]) -> bool:
    """Return whether *rows* end in choices, even unclear ones: no text may be typed there."""
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
    Return the numbered choices at the end of *rows*, before hints: from 1 up, and with a pointer if *is_pointed*.

    None for several in a row, unless they need not be *is_clear*. With another number between them or right above the
    first, the keys that choose them are unknown.
    """
    last = next((at for at in upwards(len(rows), _LOW_CHOICES_ROWS) if _NUMBERED.match(rows[at].text)), None)
    if last is None:
        return None
    end, beside = _end_of_choice(rows, last), _column(rows[last]) + _BESIDE_COLUMNS
    found, is_alone = _counted_down(rows, last)
    if not _are_hints(rows, end, beside) or (is_clear and _are_in_columns(rows, found)):
        return None
    pointed = [index for index, (_, match) in enumerate(found) if match[1]]
    if not 2 <= len(found) <= MAX_DIALOG_CHOICES or len(pointed) != is_pointed:
        return None
    starts = tuple(position for position, _ in found)
    labels = tuple(_label(match[4]) for _, match in found)
    return Choices(
        first=starts[0],
        last=last,
        labels=labels,
        texts=tuple(
            " ".join([match[4], *_texts(rows[position + 1 : behind])])
            for (position, match), behind in zip(found, (*starts[1:], end), strict=True)
        ),
        numbers=tuple(str(number) for number in range(1, len(found) + 1)),
        pointed=(*pointed, 0)[0],
        starts=starts,
        end=end,
        is_sure=is_alone and _are_typed(found) and not any(map(_CHECK_BOX.match, labels)),
        is_clear=is_alone,
        has_more_below=not _only_hints(rows[end:], beside),
    )


def _texts(rows: Sequence[Row]) -> list[str]:
    return [row.text for row in rows if not row.is_edge]


_Numbered = list[tuple[int, re.Match[str]]]


def _are_in_columns(rows: Sequence[Row], found: _Numbered) -> bool:
    return any(len(_items(rows[position])) > 1 for position, _ in found)


def _are_typed(found: _Numbered) -> bool:
    """Return whether the numbers are the keys to type: they are in no brackets."""
    return all(match[2] for _, match in found)


def _counted_down(rows: Sequence[Row], last: int) -> tuple[_Numbered, bool]:
    """
    Return the choices from 1 up to the one at *last*, each with its row; none if one is missing.

    The second value is whether no other number is between them or right above. Labels may hold any text, so another
    number leaves open which row is which choice.
    """
    found: _Numbered = []
    is_clear = True
    for position in range(last, -1, -1):
        match = _NUMBERED.match(rows[position].text)
        if match is not None and (not found or _is_before(rows, (position, match), found[0])):
            found.insert(0, (position, match))
            if _number(match) == 1:
                break
        elif found[0][0] - position > _BETWEEN_CHOICES_ROWS:
            return [], False
        is_clear &= match is None or found[0][0] == position
    if _number(found[0][1]) != 1:
        return [], False
    above = next((rows[at].text for at in range(found[0][0] - 1, -1, -1) if rows[at].text), "")
    return found, is_clear and not _NUMBERED.match(above)


def _is_before(rows: Sequence[Row], one: tuple[int, re.Match[str]], below: tuple[int, re.Match[str]]) -> bool:
    """Return whether the numbered row *one* is the choice in front of the one *below*, its number above."""
    is_above = abs(_column(rows[one[0]]) - _column(rows[below[0]])) <= _ASKEW_COLUMNS
    return is_above and _number(one[1]) == _number(below[1]) - 1


def _number(match: re.Match[str]) -> int:
    return int(match[2] or match[3])


def choices_in_columns(rows: Sequence[Row]) -> Choices | None:
    """Return numbered choices with several in one row; their keys are unknown."""
    last = next((at for at in upwards(len(rows), _LOW_CHOICES_ROWS) if _items(rows[at])), None)
    if last is None or not _are_hints(rows, last + 1):
        return None
    first = last
    while first > 0 and _items(rows[first - 1]):
        first -= 1
    items = sorted((item for row in rows[first : last + 1] for item in _items(row)), key=_number)
    pointed = [index for index, item in enumerate(items) if item[1]]
    is_whole = [_number(item) for item in items] == list(range(1, len(items) + 1))
    if not is_whole or len(pointed) != 1 or not 2 <= len(items) <= MAX_DIALOG_CHOICES or len(items) == last - first + 1:
        return None
    return _choices_without_rows(first, last, tuple(item[4] for item in items), pointed[0])


def _items(row: Row) -> list[re.Match[str]]:
    """Return the numbered choices of a row that has nothing else; none for any other row."""
    if row.is_edge or not _NUMBERED.match(row.text):
        return []
    found = [_NUMBERED.match(part) for part in _COLUMN.split(row.text)]
    return [match for match in found if match is not None] if all(found) else []


def lettered_choices(rows: Sequence[Row], *, is_last: bool = True) -> Choices | None:
    """
    Return answers in one row, each behind its key, with a yes and a no; whether Enter follows is unknown.

    *is_last*: only hints are below them.
    """
    for at in upwards(len(rows), _FOOTER_ROWS):
        found = [(match[1], match[2]) for match in _LETTERED.finditer(rows[at].text) if not rows[at].is_edge]
        labels = tuple(label for _, label in found)
        if _are_answers(labels):
            if _TYPED.search(rows[at].text):
                return None
            # In the form in which agents name a key at the end of a choice.
            keys = tuple(f"{label} ({key})" for key, label in found)
            return _choices_without_rows(at, at, labels, 0, keys) if not is_last or _are_hints(rows, at + 1) else None
    return None


def buttons(rows: Sequence[Row]) -> Choices | None:
    """
    Return answers in one row without a key or a pointer, a yes and a no among them.

    Hints may be behind them and below.
    """
    for at in upwards(len(rows), _FOOTER_ROWS):
        labels: list[str] = []
        for part in _COLUMN.split(rows[at].text):
            # `Confirm` is a button, and `confirm the choice` a hint.
            is_word = part[:1].isascii() and part[:1].isalnum()
            is_hint = KEY.search(part) or not is_word or (" " in part and _HINT.match(part))
            if is_hint or len(part) > _DIALOG_BUTTON_CHARS:
                break
            labels.append(part)
        if _are_answers(labels):
            return _choices_without_rows(at, at, tuple(labels), -1) if _are_hints(rows, at + 1) else None
    return None


def _are_answers(labels: Sequence[str]) -> bool:
    """Return whether there is a yes and a no among *labels*."""
    return len(labels) >= 2 and any(map(YES.search, labels)) and any(map(NO.search, labels))


def _choices_without_rows(
    first: int, last: int, labels: tuple[str, ...], pointed: int, texts: tuple[str, ...] = ()
) -> Choices:
    """Return choices without a known row for each; *texts* are their labels if empty."""
    shown = tuple(map(_label, labels))
    return Choices(first, last, shown, texts or labels, ("",) * len(labels), pointed, (first,), last + 1, is_sure=False)


def _label(text: str) -> str:
    """Return the label, without text in a column of its own beside it."""
    return clean_line(_COLUMN.split(text, maxsplit=1)[0])


def _end_of_choice(rows: Sequence[Row], position: int) -> int:
    """Return the row after the choice at *position* and its text, which may continue in the rows below."""
    column = _column(rows[position])
    width = _width(rows)
    end = position + 1
    while (
        end < len(rows)
        and rows[end].text
        and not rows[end].is_edge
        and 0 <= rows[end].indent - column < _BESIDE_COLUMNS
    ):
        if rows[end].indent == column and not _is_wrapped(rows[end - 1], rows[end], width):
            break
        end += 1
    return end


def _column(row: Row) -> int:
    """Return the column of the number of a choice."""
    match = _NUMBERED.match(row.text)
    return row.indent + (match.start(2 if match[2] else 3) if match is not None else 0)


def _width(rows: Sequence[Row]) -> int:
    return max(row.indent + len(row.text) for row in rows)


def _is_wrapped(row: Row, below: Row, width: int) -> bool:
    """Return whether *row* continues *below*: the next word did not fit into *width* columns."""
    if len(row.text) < _WRAPPED_CHARS:
        return False
    return row.indent + len(row.text) + 1 + len(below.text.partition(" ")[0]) > width


def _may_go_on(row: Row, below: Row) -> bool:
    """
    Return whether the label in *row* may continue *below*: it is long, and the next row begins with a small letter.
    """
    return len(row.text) >= _WRAPPED_CHARS and below.text[:1].islower()


def _are_hints(rows: Sequence[Row], start: int, beside: int = 1000) -> bool:
    """
    Return whether the rows from *start* on are no text that was printed below a dialog.

    They may be hints, terms, edges, the rest of the box of the row above, and a status bar at the end. Text from the
    column *beside* on is another panel's.
    """
    if _has_input(rows[start:], beside):
        return False
    hints: list[str] = []
    bars, is_parted = 0, False
    for row in rows[_behind_box(rows, start) :]:
        if row.is_edge:
            # Rows below hints and a line across are the program's own footer.
            is_parted |= not row.is_boxed and any(map(KEY.search, hints))
        elif row.text and row.indent < beside:
            if not bars and is_hint(row.text):
                hints.append(row.text)
            elif is_parted or _STATUS_BAR.match(row.text):
                bars += 1
            else:
                return False
    return bars <= _BAR_ROWS and _are_few_hints(hints)


def is_hint(text: str) -> bool:
    """Return whether *text* is about keys or terms, like the rows below choices."""
    return bool(_HINT.search(text) or _TERMS.search(text))


def _only_hints(rows: Sequence[Row], beside: int) -> bool:
    """Return whether *rows* have only hints and edges, left of the column *beside*."""
    texts = [row.text for row in rows if row.text and not row.is_edge and row.indent < beside]
    return all(map(_HINT.search, texts)) and not _has_input(rows, beside) and _are_few_hints(texts)


def _has_input(rows: Sequence[Row], beside: int) -> bool:
    return any(_INPUT.match(row.text) for row in rows if not row.is_edge and row.indent < beside)


def _behind_box(rows: Sequence[Row], start: int) -> int:
    """Return the first row from *start* on that is not in the box of the row above *start*."""
    while 0 < start < len(rows) and rows[start - 1].is_boxed and rows[start].is_boxed:
        start += 1
    return start


def _are_few_hints(hints: Sequence[str]) -> bool:
    """Return whether so many *hints* may be below choices."""
    return sum(KEY.search(text) is None for text in hints) <= _HINT_ROWS and len(hints) <= _FOOTER_ROWS


def pointed_choices(rows: Sequence[Row], *, is_clear: bool = True, is_named: bool = False) -> Choices | None:
    """
    Return choices without numbers: one with a pointer, the others in its column, and a hint at the keys.

    An explanation of one may be below it, further to the right. None where one has a number, or more than hints is
    below them, unless they need not be *is_clear*. In a dialog that its agent's file names (*is_named*), the hint may
    be at any key.
    """
    names_keys = KEY.search if is_named else KEYS_HINT.match
    hint = next((at for at in upwards(len(rows), _LOW_CHOICES_ROWS + 1) if names_keys(rows[at].text)), 0)
    found = _pointed(rows, hint)
    # A label may name a key, too.
    if found is None or (is_named and rows[hint].indent >= found[1]):
        return None
    pointed, column, label = found
    starts, end, is_whole = _choices_around(rows, pointed, column, hint)
    labels = tuple(label if at == pointed else rows[at].text for at in starts)
    # The rest of a label that is wrapped looks like a choice of its own where the list is narrower than other rows.
    is_alone = not any(_may_go_on(rows[at - 1], rows[at]) for at in starts[1:])
    if is_clear:
        is_theirs = not any(map(_NUMBERED.match, labels)) and _are_hints(rows, end)
    else:
        is_theirs = hint >= len(rows) - 1 - _HINT_ROWS
    if not is_theirs or not 2 <= len(starts) <= MAX_DIALOG_CHOICES:
        return None
    return Choices(
        first=starts[0],
        last=starts[-1],
        labels=tuple(map(_label, labels)),
        texts=labels,
        numbers=("",) * len(labels),
        pointed=starts.index(pointed),
        starts=tuple(starts),
        end=end,
        is_sure=is_whole and is_alone and not any(map(_CHECK_BOX.match, labels)),
        is_clear=is_alone,
    )


def _pointed(rows: Sequence[Row], hint: int) -> tuple[int, int, str] | None:
    """Return the nearest choice with a pointer above row *hint*: its row, the column of its label, and the label."""
    near = ((at, _POINTED.match(rows[at].text)) for at in upwards(hint, MAX_DIALOG_CHOICES - 1))
    found = next(((at, match[1]) for at, match in near if match is not None), None)
    return (found[0], rows[found[0]].indent + len(rows[found[0]].text) - len(found[1]), found[1]) if found else None


def _choices_around(rows: Sequence[Row], pointed: int, column: int, hint: int) -> tuple[list[int], int, bool]:
    """Return the first rows of the choices around *pointed*, the row behind them, and whether no row may be wrapped."""
    found = _in_column(rows, pointed, column, hint)
    width = _width(rows)
    wrapped = {at for at in found[1:] if _is_wrapped(rows[at - 1], rows[at], width)}
    starts = [at for at in found if at not in wrapped or not rows[at].text[:1].islower()]
    end = starts[-1] + 1
    while end in wrapped:
        end += 1
    while end < hint and rows[end].text and rows[end].indent > column and not rows[end].is_edge:
        end += 1
    return starts, end, not wrapped


def _in_column(rows: Sequence[Row], pointed: int, column: int, end: int) -> list[int]:
    """Return the rows around *pointed* that begin in *column*, if rows between them are further to the right."""
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
