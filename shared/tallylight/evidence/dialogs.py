"""
Dialogs of agents that nobody has written rules for: how programs ask, whatever they are called.

Read are the last rows of the screen. The rules, by the names that `tally why` shows:

* `numbered choices`: `1. Yes`, `2. No`, … with a pointer at one of them, and nothing below but hints;
* `pointed choices`: the same without numbers, below a question, and with a hint that names the keys;
* `yes or no`: a last row that ends in `[y/N]`, `(Y)es/(N)o` or the like, with the cursor on it;
* `password`: a last row that ends in `password:` or the like, with the cursor on it.

A chat that talks about such a dialog, a transcript, a log: below each of them stands something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from tallylight.evidence.tail import Row, clean_lines
from tallylight.model.dialog import MAX_CHOICES, Choice, Dialog, Place
from tallylight.model.status import Kind

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
#: Rows above the choices that may be the question's.
_ABOVE = 24

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
_YES_NO = re.compile(
    r"(?:[\[(] ?(?P<first>y(?:es)?) ?[/|] ?(?P<second>no?)(?: ?[/|] ?\w{1,12}){0,4} ?[\])]"
    r"|\(Y\)es/\(N\)o\S{0,3}(?: ?/?\([A-Z]\)[\w' ]{1,24}){0,4})"
    r"(?: ?\[[\w ]{1,12}\])? ?[:?>»]{0,2} ?\w{0,12}$",
    re.IGNORECASE,
)
_LETTERED = re.compile(r"\(([A-Z])\)([\w' ]{1,24})")
_SECRET = re.compile(
    r"\b(pass ?word|pass ?phrase|pass ?code|pin|otp|2fa code|verification code|one-time (?:code|password)|api[ -]key|"
    r"access token|auth(?:entication|orization) code)\b[^:?]{0,80}[:?] ?[*•●]{0,64}$",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\b(allow|approve|permission|permit|proceed|trust|run|execute|apply|create|overwrite|delete|make this edit|"
    r"grant)\b",
    re.IGNORECASE,
)
_AUTH = re.compile(r"\b(log ?in|sign ?in|login method|authenticat\w*|api key|credentials)\b", re.IGNORECASE)


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


def read_dialog(rows: Sequence[Row], cursor_row: int) -> Dialog | None:
    """The dialog at the end of *rows*; the cursor is in row *cursor_row* of the screen. None if there is none."""
    if not rows:
        return None
    found = numbered_choices(rows)
    if found is not None:
        return _with_choices(rows, found, "numbered choices")
    found = pointed_choices(rows)
    if found is not None and _is_asked(rows, found):
        return _with_choices(rows, found, "pointed choices")
    return _asked_in_a_row(rows, cursor_row)


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


def _is_asked(rows: Sequence[Row], found: Choices) -> bool:
    """Whether a question stands right above *found*."""
    above = next((rows[i] for i in range(found.first - 1, max(-1, found.first - 4), -1) if rows[i].text), None)
    return above is not None and above.text.endswith(("?", ":"))


def arrows(distance: int) -> str:
    """What to type to move the pointer down by *distance*, or up, and choose."""
    return ("\x1b[B" if distance > 0 else "\x1b[A") * abs(distance) + "\r"


def question_above(rows: Sequence[Row], first: int) -> tuple[int, int]:
    """The rows of the question above row *first*: where the dialog's text begins, and the row that asks."""
    top = asking = first
    for position in range(first - 1, max(-1, first - _ABOVE - 1), -1):
        row = rows[position]
        if row.is_edge:
            if top < first:
                break
            continue
        if row.text:
            top = position
            if asking == first and row.text.endswith("?"):
                asking = position
        elif top < first and position > 0 and not rows[position - 1].text:
            break
    return top, asking if asking != first else top


def kind_of(text: str) -> Kind:
    """Whether *text* asks for a permission, for a login, or something else."""
    if _AUTH.search(text):
        return Kind.AUTH
    return Kind.PERMISSION if _PERMISSION.search(text) else Kind.QUESTION


def _with_choices(rows: Sequence[Row], found: Choices, rule: str) -> Dialog | None:
    top, asking = question_above(rows, found.first)
    if asking == found.first:
        return None
    lines = clean_lines([rows[i].text for i in range(top, found.last + 1) if not rows[i].is_edge])
    question = clean_lines([rows[asking].text])
    choices = tuple(
        Choice(number or arrows(index - found.pointed), label, index == found.pointed)
        for index, (number, label) in enumerate(zip(found.numbers, found.labels, strict=True))
    )
    text = question[0] if question else ""
    return Dialog(kind_of(text), rule, text, lines, choices, found.place(rows, top, asking))


def _asked_in_a_row(rows: Sequence[Row], cursor_row: int) -> Dialog | None:
    last = rows[-1]
    if cursor_row != last.number:
        return None
    lines = clean_lines([last.text])
    if not lines:
        return None
    place = Place(last.number, last.number, (), last.number + 1)
    if _SECRET.search(last.text):
        return Dialog(Kind.AUTH, "password", lines[0], lines, place=place)
    match = _YES_NO.search(last.text)
    if match is None:
        return None
    lettered = _LETTERED.findall(match[0])
    if lettered:
        choices = [Choice(f"{letter.lower()}\r", f"{letter}{rest}".strip()) for letter, rest in lettered]
    else:
        choices = [Choice("y\r", "yes"), Choice("n\r", "no")]
        if match["first"].lower() == "yes":
            choices = [Choice("yes\r", "yes"), Choice("no\r", "no")]
    return Dialog(kind_of(lines[0]), "yes or no", lines[0], lines, tuple(choices), place)
