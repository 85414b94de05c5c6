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

from tallylight.evidence.choices import Choices, numbered_choices, pointed_choices
from tallylight.evidence.tail import Row, clean_lines
from tallylight.model.dialog import Choice, Dialog, Place
from tallylight.model.status import Kind

#: Rows above the choices that may be the question's.
_ABOVE = 24

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
