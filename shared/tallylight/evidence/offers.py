"""
What may be an answer at the end of a screen, in whatever notation: a `Candidate`, which `evidence.structure` weighs.

* Rows below one another: a list of which one has another mark than all others, numbered rows, a yes and a no, short
  rows right below a question.
* A row: answers or buttons beside one another, a yes or no.
* A field: a row that names what to give, with the cursor in it or in an empty input right below.
* What a library asks: a row behind its question mark, with whatever it shows below.
* A page or an input that is submitted: a hint names the key that does, and one that leaves it or what is answered.
* Where there is none of these: a hint at the key to go on, or a page to open in a browser.

The lowest one counts. Each of these is also found where nobody asks anything.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tallylight.evidence.choices import KEY, KEYS_HINT, NO, YES, is_hint
from tallylight.evidence.dialogs import is_typed
from tallylight.evidence.tail import Row, upwards
from tallylight.model.dialog import MAX_CHOICES

#: Rows with text, from the end up, among which the last choice is, a row of answers, and a hint.
_LOW, _LAST, _FOOT = 20, 8, 5
#: Rows from one choice to the next, and from the first one to its question.
_GAP, _NEAR = 4, 3
#: Characters of a choice, of one without a mark, of the answer that begins it, of a row of answers, and of a button.
_LABEL, BARE, _HEAD, _ROW, _BUTTON = 120, 60, 24, 160, 28
#: Answers in one row at the most; rows below a library's question.
_BESIDE, _SHOWN = 6, 24

_MARK = re.compile(r"([❯›>→▶▸►➤➜⏵▷»☞⦿*●◉•◆■◼+○◯◻☐=-]{1,2}|\[[ xX*•✓✔-]?\]|\([ xX*•●o]?\)) {1,3}(?=\S)")
#: The marks of what is not chosen.
_UNMARKED = frozenset({"", "[ ]", "( )", "[]", "()", "○", "◯", "◻", "☐"})
NUMBER = re.compile(r"[([]?(\d{1,2})[.):\]] ?\S")
_YES_OR_NO = re.compile(
    r"[\[(<{] ?y(?:es)? ?[/|,] ?(?:\w{1,9} ?[/|,] ?)?n|[\[(]y[\])](?:es)?\b.{0,40}[\[(]n[\])]|\by/n\b"
    r"|\byes(?:/| or )no\b|\by=yes",
    re.IGNORECASE,
)
#: A question with its answers behind it.
_ASKS = re.compile(r"\? [\[(]y(?:es)?[/|,] ?no?[\])]:?$", re.IGNORECASE)
_PARTS = re.compile(r" {2,}|\s[|/·•]\s|[\])>] *(?=[\[(<])")
_BESIDE_IT = re.compile(r" {4,}")
_SENTENCE = re.compile(r"[·|,•]|\bto \w", re.IGNORECASE)
#: Buttons that take what was filled in.
_TAKES = re.compile(r"\b(ok|save|submit|start|next|finish|done|connect|create|log ?in|sign ?in)\b", re.IGNORECASE)
#: The hint in an empty input.
PLACEHOLDER = re.compile(
    r"(?:ask|type|send|queue|write|message|describe|tell|reply|how|what)\b.{0,80}(?:…|\.{3})(?: {4}|$)", re.IGNORECASE
)
INPUT = re.compile(r"(?:[❯›>»$┃▌│▎]|>>>)(?: |$)")
#: An empty input.
EMPTY = re.compile(r"(?:[❯›>»:]|>>>)$")
_BUTTONS = re.compile(r"<.*>$")
CHOOSE = re.compile(r"\W{0,4}(?:please )?(?:choose|select|pick)\b", re.IGNORECASE)
FILL = re.compile(
    r"(?:\W{0,4})(?:please )?(?:enter|paste|type|choose|select|pick|provide|specify|which|what|where|how many)\b",
    re.IGNORECASE,
)
#: A row that ends where something is to be typed, perhaps with what hides it.
_FIELD = re.compile(r".*[^\W\d_].*[:?›»>❯](?: ?[*•●]{1,64})?$")
#: How a row ends behind which anything may be typed.
PROMPT_END = re.compile(r"[>❯›»]$")
BELOW, YES_OR_NO_IN_ROW = "rows below a question", "yes or no in a row"
BUTTONS = "buttons beside one another"
FIELD, BEHIND_MARK = "a field with the cursor", "a question behind its mark"
SUBMITTED = "keys that submit it"
KEY_TO_GO_ON, PAGE = "a key to go on", "a page to open"
#: What libraries put before what they ask. `? for shortcuts` is a hint.
ASKED_BEHIND = re.compile(r"(?:\?|\[\?\]|◆) {1,2}(?!for |help)\S", re.IGNORECASE)
_PRESSED = re.compile(r"\b(?:press|hit|tap) \W?(?:enter|return|any key)\b", re.IGNORECASE)
GO_ON = re.compile(
    r"\b(?:press|hit|tap) \W?(?:enter|return|any key|space)\b|(?:\benter|\breturn|\bany key|[⏎↵])\W{0,2}(?:to )?"
    r"(?:sel|con|cho|sub|proc|start|open|acc|log|sign|save)|\[y\] ?\w.{1,40}\[n\] ?\w",
    re.IGNORECASE,
)
#: The key that submits, the one that leaves, and what says that an answer is given: no input for any prompt names them.
_SUBMITS = re.compile(r"(?:\benter|[⏎↵])\W{0,2}(?:to )?(?:submit|answer|confirm|save|accept)\b", re.IGNORECASE)
LEAVES = re.compile(r"\besc(?:ape)?\W{0,2}(?:to )?(?:cancel|clear|skip|dismiss|go back|back|decline)\b", re.IGNORECASE)
ANSWERS = re.compile(r"\banswers?\b", re.IGNORECASE)
#: The key of an answer, in parentheses at its end.
_OWN_KEY = re.compile(
    r"\((?:[a-z]|(?:shift|ctrl)\+\w+|tab|enter|return|space|esc(?:ape)?)(?: or \w+)?\)$", re.IGNORECASE
)
_PAGE = re.compile(r"https?://\S")
_BROWSER = re.compile(r"\b(browser|open|visit|go to|log ?in|sign ?in|authenticat\w+|authori[sz]\w+)\b", re.IGNORECASE)


class Candidate(NamedTuple):
    """
    What may be answered: where each answer begins in the tail, in which *column*, and what it says.

    *sign* tells how they were found; *pointed* is the one with the *mark*, -1 for none.
    """

    sign: str
    starts: tuple[int, ...]
    labels: tuple[str, ...] = ()
    column: int = 0
    pointed: int = -1
    mark: str = ""

    @property
    def is_list(self) -> bool:
        """Whether they are below one another."""
        return len(self.starts) > 1 and bool(self.labels)


def offered(rows: Sequence[Row], cursor_row: int | None) -> Candidate | None:
    """
    The lowest of what may be answered; where several end in one row, one with a mark.

    The visible cursor is in row *cursor_row* of the screen.
    """
    low = [at for at in upwards(len(rows), len(rows)) if rows[at].text and not rows[at].is_edge][:_LOW]
    found = max(_offers(rows, low), key=lambda one: (one.starts[-1], one.pointed >= 0, len(one.starts)), default=None)
    if cursor_row is not None and found is not None and found.sign == BELOW:
        found = None  # such a list tells its choices by colours, and hides the cursor
    asked = _field(rows, low, cursor_row) or _of_library(rows, low) or _submitted(rows, low)
    if asked is not None and (found is None or _is_over(found, asked)):
        return asked
    other = _keyed(rows, low, cursor_row) or _page(rows, low)
    return other if found is None else _of_both(rows, found, other)


def _is_over(found: Candidate, asked: Candidate) -> bool:
    """Whether *found* is above what is *asked*, which comes after it."""
    if asked.sign == BEHIND_MARK:
        return found.starts[0] < asked.starts[0]
    if asked.sign == SUBMITTED and found.sign != BELOW and found.starts[-1] <= asked.starts[0]:
        # An input with a mark in front of it is no choice; a choice with one is no input.
        return len(asked.starts) > 1 and (found.pointed < 0 or found.starts[found.pointed] != asked.starts[0])
    return found.starts[-1] < asked.starts[-1] + found.is_list


def _of_both(rows: Sequence[Row], found: Candidate, other: Candidate | None) -> Candidate:
    """What counts: *found*, or the hint below that is all there is to do."""
    if other is None:
        return found
    between = rows[found.starts[-1] + 1 : other.starts[0]]
    is_parted = sum(bool(row.text) and not is_hint(row.text) for row in between) > _FOOT
    is_pressed = found.pointed < 0 and _PRESSED.search(rows[other.starts[0]].text) is not None
    return other if is_parted or is_pressed else found


def _offers(rows: Sequence[Row], low: Sequence[int]) -> Iterator[Candidate]:
    for most, find in ((_LOW, _marked), (_LOW, _numbered), (_LOW, _answers_below), (_LAST, _answers_beside)):
        found = next((offer for at in low[:most] if (offer := find(rows, at)) is not None), None)
        if found is not None:
            yield found


#: A row is looked at from many others, and from one look to the next most rows are the same.
@functools.lru_cache(maxsize=2048)
def _split(text: str) -> tuple[str, str]:
    """The mark in front of a row, and the rest."""
    match = _MARK.match(text)
    return (match[1], text[match.end() :]) if match is not None else ("", text)


def _label(text: str) -> str:
    """The text of a choice, without what another panel shows beside it."""
    return _BESIDE_IT.split(text, maxsplit=1)[0]


@functools.lru_cache(maxsize=2048)
def is_answer(label: str) -> bool:
    """Whether *label* begins with a yes or a no."""
    return bool(YES.search(label[:_HEAD]) or NO.search(label[:_HEAD]))


def have_both(labels: Sequence[str]) -> bool:
    """Whether there is a yes and a no among *labels*."""
    return any(YES.search(label[:_HEAD]) for label in labels) and any(NO.search(label[:_HEAD]) for label in labels)


@functools.lru_cache(maxsize=2048)
def _names_keys(label: str) -> bool:
    """Whether a row is a hint at keys, and no choice."""
    if _PRESSED.match(label) or LEAVES.match(label):
        return True
    if NUMBER.match(label) or _OWN_KEY.search(label) or is_answer(label):
        return False
    return bool(KEYS_HINT.match(label) or (KEY.search(label) and _SENTENCE.search(label)))


def _marked(rows: Sequence[Row], at: int) -> Candidate | None:
    mark, label = _split(rows[at].text)
    if mark in _UNMARKED:
        return None
    column = _label_column(rows[at], label)
    starts = _aligned(rows, at, column, mark, _LABEL)
    if NUMBER.match(label):
        starts = _in_order(rows, starts, starts.index(at)) if starts else []
    if len(starts) < 2:
        return None
    # Of a long list those around the pointer.
    first = max(0, min(starts.index(at) - MAX_CHOICES // 2, len(starts) - MAX_CHOICES))
    starts = starts[first : first + MAX_CHOICES]
    labels = tuple(_label(_split(rows[start].text)[1]) for start in starts)
    return Candidate("one row of a list is marked", tuple(starts), labels, column, starts.index(at), mark)


def _in_order(rows: Sequence[Row], starts: list[int], at: int) -> list[int]:
    """Those of *starts* whose numbers go on from the one in place *at*, down and up: text is in their column, too."""
    numbers = [NUMBER.match(_split(rows[start].text)[1]) for start in starts]
    found = [starts[at]]
    for step, stop in ((-1, -1), (1, len(starts))):
        wanted = int(numbers[at][1]) + step  # type: ignore[index]
        for place in range(at + step, stop, step):
            number = numbers[place]
            if number is not None and int(number[1]) == wanted:
                found.append(starts[place])
                wanted += step
            elif number is not None:
                break
    return sorted(found)


def _numbered(rows: Sequence[Row], at: int) -> Candidate | None:
    number = NUMBER.match(rows[at].text)
    if number is None:
        return None
    starts, wanted = [at], int(number[1]) - 1
    for position in upwards(at, MAX_CHOICES * _GAP):
        number = NUMBER.match(rows[position].text)
        if not wanted or starts[-1] - position > _GAP:
            break
        if number is not None and rows[position].indent == rows[at].indent:
            if int(number[1]) != wanted:
                break
            starts.append(position)
            wanted -= 1
    if wanted or not 2 <= len(starts) <= MAX_CHOICES:
        return None
    starts.reverse()
    return Candidate("numbered rows", tuple(starts), tuple(_label(rows[i].text) for i in starts), rows[at].indent)


def _answers_below(rows: Sequence[Row], at: int) -> Candidate | None:
    label = rows[at].text
    if len(label) > BARE or _names_keys(label):
        return None
    starts = _aligned(rows, at, rows[at].indent, "", BARE)
    labels = tuple(rows[start].text for start in starts)
    if not 2 <= len(starts) <= MAX_CHOICES or any(map(_is_none, labels)):
        return None
    if have_both(labels):
        return Candidate("answers below one another", tuple(starts), labels, rows[at].indent)
    above = next((rows[over].text for over in upwards(starts[0], _NEAR) if rows[over].text), "")
    is_asked = above.endswith(("?", ":"))
    return Candidate(BELOW, tuple(starts), labels, rows[at].indent) if is_asked else None


def _is_none(label: str) -> bool:
    """Return whether a row among others is no answer: an input, what may be typed there, or a page."""
    return any(one.match(label) for one in (INPUT, PLACEHOLDER, _PAGE))


def _answers_beside(rows: Sequence[Row], at: int) -> Candidate | None:
    text = rows[at].text
    if len(text) > _ROW:
        return None
    if _YES_OR_NO.search(text):
        return Candidate(YES_OR_NO_IN_ROW, (at,), (), rows[at].indent)
    parts = tuple(part for part in _PARTS.split(text) if part.strip(" <>"))
    if not 2 <= len(parts) <= _BESIDE:
        return None
    if have_both(parts):
        return Candidate("answers beside one another", (at,), parts, rows[at].indent)
    parts = tuple(part.strip(" <>[]") or part for part in parts)
    is_form = any(map(_TAKES.search, parts)) and all(map(_may_be_button, parts))
    return Candidate(BUTTONS, (at,), parts, rows[at].indent) if is_form else None


def _may_be_button(part: str) -> bool:
    """Return whether *part* of a row may be a button: short words, that are no hint at a key."""
    return len(part) <= _BUTTON and part[0].isalpha() and not KEY.match(part)


def _label_column(row: Row, label: str) -> int:
    return row.indent + len(row.text) - len(label)


def _aligned(rows: Sequence[Row], at: int, column: int, mark: str, most: int) -> list[int]:
    """The rows around the one at *at* whose label begins in *column* as well; none where one has the same *mark*."""
    found = [at]
    own = _own_column(rows[at], column)
    for step, stop in ((-1, -1), (1, len(rows))):
        last = at
        for position in range(at + step, stop, step):
            row = rows[position]
            if abs(position - last) > _GAP or row.is_edge:
                break
            if not row.text:
                continue
            its, label = _split(row.text)
            place = _place(row, own, mark)
            if place > column or (mark and place < column and _is_heading(rows, position, step, column)):
                continue
            if place < column or row.is_boxed is not rows[at].is_boxed or _is_end(label, step, most):
                break
            if its == mark != "" and place != row.indent:
                return []
            found.append(position)
            last = position
    return sorted(found)


def _own_column(row: Row, column: int) -> int:
    """Where a mark is part of the label: in *column*, if that of *row* begins with one; else nowhere."""
    return column if _split(_split(row.text)[1])[0] else -1


def _place(row: Row, own: int, mark: str) -> int:
    """Where the label of *row* begins: behind its mark, but in the column *own* a mark is part of the label."""
    its, label = _split(row.text)
    return _label_column(row, label) if row.indent != own and its in {*_UNMARKED, mark} else row.indent


def _is_heading(rows: Sequence[Row], at: int, step: int, column: int) -> bool:
    """Whether the row at *at* is the name of a part of a list: short, with rows of the list on both sides of it."""
    beyond = next((row for row in rows[at + step :: step][:_NEAR] if row.text), None)
    is_name = len(rows[at].text) <= _BUTTON and rows[at].text[0].isalpha() and not rows[at].text.endswith(("?", ":"))
    return is_name and beyond is not None and not beyond.is_edge and beyond.indent == column


def _is_end(label: str, step: int, most: int) -> bool:
    """Return whether a row in the column of choices is none: too long, a hint at keys, a question, or the one above."""
    label = _label(label)
    return (
        len(label) > most
        or (_ASKS.search(label) is not None)
        or _names_keys(label)
        or (step < 0 and label.endswith(("?", ":")))
    )


def _field(rows: Sequence[Row], low: Sequence[int], cursor_row: int | None) -> Candidate | None:
    """The row with the cursor, below which only hints are, or the one right above where that is an empty input."""
    if cursor_row is None:
        at = next((at for at in low[:1] if FILL.match(rows[at].text)), None)
    else:
        at = next((at for at in low[:_FOOT] if rows[at].number == cursor_row), None)
    if at is None or not _only_hints(rows[at + 1 :]):
        return None
    if EMPTY.fullmatch(rows[at].text) and _is_text(rows, at - 1):
        at -= 1
        if not _is_told(rows, at):
            return None
    elif not _FIELD.fullmatch(rows[at].text) or _BUTTONS.search(rows[at].text) or is_typed(rows[at], rows[:at]):
        return None
    return Candidate(FIELD, tuple(range(_first_of_field(rows, at), at + 1)), column=rows[at].indent)


def _first_of_field(rows: Sequence[Row], at: int) -> int:
    """The first row of the text that is wrapped into the one at *at*."""
    first = at
    goes_on = not PROMPT_END.search(rows[at].text)
    while goes_on and at - first < _NEAR and rows[first].text[:1].islower() and _is_text(rows, first - 1):
        first -= 1
    return first


def _submitted(rows: Sequence[Row], low: Sequence[int]) -> Candidate | None:
    """The hint at the key that submits, with the input above it, if there is one."""
    hint = next((at for at in low[:_FOOT] if _SUBMITS.search(rows[at].text)), None)
    if hint is None or not _only_hints(rows[hint + 1 :]):
        return None
    is_left = LEAVES.search(rows[hint].text) or any(LEAVES.search(row.text) for row in rows[hint + 1 :])
    if not is_left and not ANSWERS.search(rows[hint].text):
        return None
    field = next((at for at in upwards(hint, _GAP) if rows[at].text), hint)
    first = field if INPUT.match(rows[field].text) else hint
    return Candidate(SUBMITTED, (first, hint) if first < hint else (hint,), column=rows[first].indent)


def _is_text(rows: Sequence[Row], at: int) -> bool:
    return at >= 0 and bool(rows[at].text) and not rows[at].is_edge


def _is_told(rows: Sequence[Row], at: int) -> bool:
    """Return whether the row at *at*, or the one that is wrapped into it, says that something is to be typed below."""
    texts = [row.text for row in rows[max(0, at - 1) : at + 1]]
    return any("?" in text or text.endswith((":", "：")) or FILL.match(text) or GO_ON.search(text) for text in texts)


def _of_library(rows: Sequence[Row], low: Sequence[int]) -> Candidate | None:
    """The lowest row behind the mark of a question, and the rows that follow it up to a blank one."""
    at = next((at for at in low if ASKED_BEHIND.match(rows[at].text)), None)
    if at is None:
        return None
    end = next((end for end in range(at + 1, len(rows)) if not rows[end].text or rows[end].is_edge), len(rows))
    if end - at > _SHOWN or not _only_hints(rows[end:]):
        return None
    return Candidate(BEHIND_MARK, tuple(range(at, end)), column=rows[at].indent)


def _only_hints(rows: Sequence[Row]) -> bool:
    return all(row.is_edge or not row.text or is_hint(row.text) for row in rows)


def _keyed(rows: Sequence[Row], low: Sequence[int], cursor_row: int | None) -> Candidate | None:
    wanted = GO_ON if cursor_row is None else _PRESSED
    at = next((at for at in low[:_FOOT] if wanted.search(rows[at].text)), None)
    return Candidate(KEY_TO_GO_ON, (at,), column=rows[at].indent) if at is not None else None


def _page(rows: Sequence[Row], low: Sequence[int]) -> Candidate | None:
    at = next((at for at in low[:_LAST] if _PAGE.search(rows[at].text)), None)
    if at is None or not any(_BROWSER.search(row.text) for row in rows[max(0, at - _GAP) : at + _GAP]):
        return None
    return Candidate(PAGE, (at,), column=rows[at].indent)
