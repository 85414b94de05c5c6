"""
Dialogs by their structure: how a program asks that nobody has described, in whatever notation.

First what may be choices is found (`offered`): a list of which one row has another mark than all others, numbered rows,
answers below or beside one another, a yes or no in a row. Then its surroundings are weighed by `WEIGHTS`: signs add up,
and above zero it asks. `python -m benchmarks.structure` makes the table from recordings, and says how right it is about
agents that it was not made with. What is typed to answer is not known: such a dialog is answered by going there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tallylight.evidence.choices import KEY, NO, YES, is_hint
from tallylight.evidence.dialogs import PAGER, kind_of, question_above, whole_question
from tallylight.evidence.tail import Row, clean_line, clean_lines, upwards
from tallylight.model.dialog import MAX_CHOICES, Choice, Dialog, Place

#: Rows with text from the end up in which the last choice stands, and in which a row of answers does.
_LOW, _LAST = 20, 8
#: Rows from one choice to the next; rows above the choices that may ask, and how many of them with text.
_GAP, _ABOVE, _ASKING = 4, 12, 6
#: Characters of a choice, of one without a mark, of the answer that begins it, and of a row of answers.
_LABEL, _BARE, _HEAD, _ROW = 120, 60, 24, 160
#: A list is long from so many choices on; of so many rows below that are no hints each one counts.
_LONG, _STRANGE = 8, 4
#: Rows below a row of answers in which the answer may be typed.
_BELOW = 2
#: Signs that `tally why` names.
_TOLD = 3

_MARK = re.compile(r"([❯›>→▶▸►➤➜⏵▷»☞⦿*●◉•◆■◼+-]{1,2}|\[[ xX*•✓✔-]?\]|\([ xX*•●o]?\)) {1,3}(?=\S)")
_BULLETS = frozenset("*●•◆■◼+-")
#: The marks of what is not chosen.
_UNMARKED = frozenset({"", "[ ]", "( )", "[]", "()"})
_NUMBER = re.compile(r"[([]?(\d{1,2})[.):\]] ?\S")
_KEYED = re.compile(
    r"[\[(<](?:\w|esc|enter|tab|shift\+tab|space|return)[\])>]|\b(?:press|type|hit) \S|\b[a-z] to \w", re.IGNORECASE
)
_YES_OR_NO = re.compile(
    r"[\[(<{] ?y(?:es)? ?[/|,] ?(?:\w{1,9} ?[/|,] ?)?n|[\[(]y[\])](?:es)?\b.{0,40}[\[(]n[\])]|\by/n\b"
    r"|\byes(?:/| or )no\b|\by=yes",
    re.IGNORECASE,
)
_PARTS = re.compile(r" {2,}|\s[|/·•]\s|[\])>] *(?=[\[(<])")
_SENTENCE = re.compile(r"[·|,•]|\bto \w", re.IGNORECASE)
_INPUT = re.compile(r"(?:[❯›>»$┃▌│▎]|>>>)(?: |$)")
#: A command that is being typed, whose menu may stand below; an input in which nothing stands.
_COMMAND, _EMPTY = re.compile(r"(?:[❯›>»$┃▌│▎] ?)?/\w"), re.compile(r"(?:[❯›>»:]|>>>)$")
#: What is typed behind answers in a row.
_TYPED = re.compile(r"[\])>}:?] {1,2}\w+$")
_WORK = re.compile(r"\b(?:esc|ctrl.c)\b.{0,20}\b(?:interrupt|stop)\b", re.IGNORECASE)
_SPINNER = re.compile(r"[\u2801-\u28ff]")
_WANTS = re.compile(
    r"\b(allow|approve|approval|permission|permit|proceed|trust|run|execute|apply|create|overwrite|delete|edit|grant|"
    r"consent|accept|log ?in|sign ?in|authenticat\w*|api key|confirm|continue|want to|would you|do you)\b",
    re.IGNORECASE,
)

#: A missed dialog costs a look at the pane, and a wrong light all trust: so much more than even it has to be.
ENOUGH = 0.8
#: Made by `python -m benchmarks.structure`: what each sign adds.
WEIGHTS: dict[str, float] = {
    "the cursor is in an empty input below": 3.35,
    "a yes and a no among the choices": 2.79,
    "a hint at keys below": 2.63,
    "the cursor is in the row of answers": 2.61,
    "wants something in the row": 2.57,
    "answers beside one another": 1.82,
    "a key at an answer": 1.78,
    "one row of a list is marked": 1.21,
    "numbers in front of choices": 0.68,
    "a question above": 0.42,
    "a bullet is the mark": 0.33,
    "a question inside": 0.31,
    "in a box": 0.28,
    "a long list": 0.27,
    "wants something above": 0.14,
    "nothing below": 0.1,
    "long choices": 0.05,
    "answers below one another": 0.02,
    "a question in the row": -0.01,
    "an answer among the choices": -0.09,
    "a colon above": -0.75,
    "yes or no in a row": -1.05,
    "numbered rows": -1.05,
    "blank rows between choices": -1.54,
    "lines across around it": -2.0,
    "the cursor in an input below": -2.02,
    "always": -2.06,
    "the cursor is in the marked row": -2.15,
    "a sign of work": -2.24,
    "rows below that are no hints": -2.3,
    "a command typed right above": -2.66,
    "the last row of a pager": -3.0,
    "an answer typed behind": -3.03,
    "an input below": -4.51,
}


class Offer(NamedTuple):
    """
    What may be choices: where each begins in the tail, in which *column*, and what it says.

    *sign* tells how they were found; *pointed* is the one with the *mark*, -1 for none.
    """

    sign: str
    starts: tuple[int, ...]
    labels: tuple[str, ...]
    column: int
    pointed: int = -1
    mark: str = ""

    @property
    def is_list(self) -> bool:
        """Whether they stand below one another."""
        return len(self.starts) > 1


def read_structure(rows: Sequence[Row], cursor_row: int | None) -> Dialog | None:
    """The dialog that *rows*, the end of a screen, seem to be; the visible cursor is in row *cursor_row* of it."""
    offer = offered(rows)
    if offer is None:
        return None
    found = signs(rows, cursor_row, offer)
    worth = {sign: WEIGHTS.get(sign, 0.0) * value for sign, value in found.items()}
    if sum(worth.values()) <= ENOUGH:
        return None
    told = [sign for sign in sorted(worth, key=lambda sign: -worth[sign])[:_TOLD] if worth[sign] > 0]
    return _dialog(rows, offer, f"structure: {', '.join(told)}")


def offered(rows: Sequence[Row]) -> Offer | None:
    """The lowest of what may be choices; where several end in one row, one with a mark."""
    return max(_offers(rows), key=lambda one: (one.starts[-1], one.pointed >= 0, len(one.starts)), default=None)


def signs(rows: Sequence[Row], cursor_row: int | None, offer: Offer) -> dict[str, float]:
    """What is to be seen of an *offer* and around it, in words, and how much of it: mostly once."""
    found = {"always": True, offer.sign: True}
    found |= _signs_inside(rows, cursor_row, offer) if offer.is_list else _signs_of_row(rows, cursor_row, offer)
    found |= _signs_above(rows, offer)
    below = _below(rows, offer)
    found |= _signs_below(rows, cursor_row, offer, below)
    strange = sum(not is_hint(rows[at].text) or _INPUT.match(rows[at].text) is not None for at in below)
    told = {sign: 1.0 for sign, is_so in found.items() if is_so}
    return told | ({"rows below that are no hints": min(strange, _STRANGE) / 2} if strange else {})


def _offers(rows: Sequence[Row]) -> Iterator[Offer]:
    low = [at for at in upwards(len(rows), len(rows)) if rows[at].text and not rows[at].is_edge][:_LOW]
    for most, find in ((_LOW, _marked), (_LOW, _numbered), (_LOW, _answers_below), (_LAST, _answers_beside)):
        found = next((offer for at in low[:most] if (offer := find(rows, at)) is not None), None)
        if found is not None:
            yield found


def _split(text: str) -> tuple[str, str]:
    """The mark in front of a row, and the rest."""
    match = _MARK.match(text)
    return (match[1], text[match.end() :]) if match is not None else ("", text)


def _is_answer(label: str) -> bool:
    return bool(YES.search(label[:_HEAD]) or NO.search(label[:_HEAD]))


def _has_both(labels: Sequence[str]) -> bool:
    """Whether there is a yes and a no among *labels*."""
    return any(YES.search(label[:_HEAD]) for label in labels) and any(NO.search(label[:_HEAD]) for label in labels)


def _names_keys(label: str) -> bool:
    """Whether a row is a hint at keys, and no choice."""
    return bool(KEY.search(label) and _SENTENCE.search(label) and not _NUMBER.match(label) and not _is_answer(label))


def _marked(rows: Sequence[Row], at: int) -> Offer | None:
    mark, label = _split(rows[at].text)
    if mark in _UNMARKED:
        return None
    column = _label_column(rows[at], label)
    starts = _aligned(rows, at, column, mark, _LABEL)
    if not 2 <= len(starts) <= MAX_CHOICES:
        return None
    labels = tuple(_split(rows[start].text)[1] for start in starts)
    return Offer("one row of a list is marked", tuple(starts), labels, column, starts.index(at), mark)


def _numbered(rows: Sequence[Row], at: int) -> Offer | None:
    number = _NUMBER.match(rows[at].text)
    if number is None:
        return None
    starts, wanted = [at], int(number[1]) - 1
    for position in upwards(at, MAX_CHOICES * _GAP):
        number = _NUMBER.match(rows[position].text)
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
    return Offer("numbered rows", tuple(starts), tuple(rows[i].text for i in starts), rows[at].indent)


def _answers_below(rows: Sequence[Row], at: int) -> Offer | None:
    label = rows[at].text
    if not _is_answer(label) or len(label) > _BARE or (KEY.search(label) and _SENTENCE.search(label)):
        return None
    starts = _aligned(rows, at, rows[at].indent, "", _BARE)
    labels = tuple(rows[start].text for start in starts)
    if not 2 <= len(starts) <= MAX_CHOICES or not _has_both(labels):
        return None
    return Offer("answers below one another", tuple(starts), labels, rows[at].indent)


def _answers_beside(rows: Sequence[Row], at: int) -> Offer | None:
    text = rows[at].text
    if len(text) > _ROW:
        return None
    if _YES_OR_NO.search(text):
        return Offer("yes or no in a row", (at,), (), rows[at].indent)
    parts = tuple(part for part in _PARTS.split(text) if part.strip())
    if not 2 <= len(parts) <= _STRANGE + 2 or not _has_both(parts):
        return None
    return Offer("answers beside one another", (at,), parts, rows[at].indent)


def _label_column(row: Row, label: str) -> int:
    return row.indent + len(row.text) - len(label)


def _aligned(rows: Sequence[Row], at: int, column: int, mark: str, most: int) -> list[int]:
    """The rows around the one at *at* whose label begins in *column* as well; none where one has the same *mark*."""
    found = [at]
    for step, stop in ((-1, -1), (1, len(rows))):
        last = at
        for position in range(at + step, stop, step):
            row = rows[position]
            if abs(position - last) > _GAP or row.is_edge:
                break
            if not row.text:
                continue
            its, label = _split(row.text)
            place = _label_column(row, label) if its in _UNMARKED or its == mark else row.indent
            if place > column:
                continue
            if place < column or _is_end(label, step, most):
                break
            if its == mark and mark:
                return []
            found.append(position)
            last = position
    return sorted(found)


def _is_end(label: str, step: int, most: int) -> bool:
    """Whether a row in the column of choices is none: too long, a hint at keys, or the question above."""
    return len(label) > most or _names_keys(label) or (step < 0 and label.endswith(("?", ":")))


# What is to be seen --------------------------------------------------------------------------------------------------


def _below(rows: Sequence[Row], offer: Offer) -> list[int]:
    """The rows with text below an *offer*, less what the last choice means, and an empty input for the answer."""
    last = offer.starts[-1]
    found = [at for at in range(last + 1, len(rows)) if rows[at].text and not rows[at].is_edge]
    if not found:
        return []
    if offer.is_list:
        is_its = found[0] == last + 1 and rows[found[0]].indent > offer.column
    else:
        is_its = _EMPTY.match(rows[found[0]].text) is not None
    return found[1:] if is_its else found


def _signs_of_row(rows: Sequence[Row], cursor_row: int | None, offer: Offer) -> dict[str, bool]:
    row = rows[offer.starts[0]]
    below = [one for one in rows[offer.starts[0] + 1 :][:_BELOW] if _EMPTY.match(one.text)]
    return {
        "the cursor is in the row of answers": row.number == cursor_row,
        "the cursor is in an empty input below": any(row.number == cursor_row for row in below),
        "a question in the row": "?" in row.text,
        "wants something in the row": _WANTS.search(row.text) is not None,
        "an answer typed behind": _TYPED.search(row.text) is not None,
        "a key at an answer": _KEYED.search(row.text) is not None,
    }


def _signs_inside(rows: Sequence[Row], cursor_row: int | None, offer: Offer) -> dict[str, bool]:
    inside = rows[offer.starts[0] : offer.starts[-1] + 1]
    texts = [row.text for row in inside if not row.is_edge]
    is_marked = offer.pointed >= 0
    return {
        "the cursor is in the marked row": is_marked and rows[offer.starts[offer.pointed]].number == cursor_row,
        "a bullet is the mark": offer.mark in _BULLETS,
        "numbers in front of choices": _NUMBER.match(offer.labels[0]) is not None,
        "an answer among the choices": any(map(_is_answer, offer.labels)),
        "a yes and a no among the choices": _has_both(offer.labels),
        "a key at an answer": any(map(_KEYED.search, texts)),
        "a long list": len(offer.starts) >= _LONG,
        "long choices": any(len(label) > _BARE for label in offer.labels),
        "blank rows between choices": not all(texts),
        "a question inside": any(text.endswith("?") for text in texts),
    }


def _signs_above(rows: Sequence[Row], offer: Offer) -> dict[str, bool]:
    first = offer.starts[0]
    above = [row.text for row in rows[max(0, first - _ABOVE) : first] if row.text and not row.is_edge][-_ASKING:]
    return {
        "a question above": any(text.rstrip(" :").endswith("?") for text in above[-4:]),
        "a colon above": bool(above) and above[-1].endswith(":"),
        "wants something above": any(map(_WANTS.search, above)),
        "a command typed right above": any(map(_COMMAND.match, above[-2:])),
        "in a box": rows[first].is_boxed,
    }


def _signs_below(rows: Sequence[Row], cursor_row: int | None, offer: Offer, below: Sequence[int]) -> dict[str, bool]:
    first, last = offer.starts[0], offer.starts[-1]
    until = below[0] if below else len(rows)
    is_between = first > 0 and rows[first - 1].is_edge and any(row.is_edge for row in rows[last + 1 : until])
    inputs = [rows[at].number for at in below if _INPUT.match(rows[at].text)]
    end = [row.text for row in rows if row.text and not row.is_edge][-_LAST:]
    is_turning = any(_SPINNER.match(text) or _WORK.search(text) for text in end)
    return {
        "nothing below": not below,
        "a hint at keys below": any(is_hint(rows[at].text) and KEY.search(rows[at].text) for at in below),
        "an input below": bool(inputs),
        "the cursor in an input below": cursor_row in inputs,
        "lines across around it": is_between and not rows[first].is_boxed,
        "a sign of work": is_turning,
        "the last row of a pager": PAGER.match(end[-1]) is not None,
    }


def _dialog(rows: Sequence[Row], offer: Offer, rule: str) -> Dialog:
    """An *offer* as a dialog, without keys: what they do is not known."""
    first, last = offer.starts[0], offer.starts[-1]
    top, asking = question_above(rows, first)
    if not offer.is_list and "?" in rows[first].text:
        top = asking = first
    question = whole_question(rows, top, asking) if asking < first else clean_line(rows[asking].text)
    texts = [row.text for row in rows[top : last + 1] if not row.is_edge]
    labels = [clean_line(label) for label in offer.labels]
    choices = tuple(Choice("", label, index == offer.pointed) for index, label in enumerate(labels))
    starts = tuple(rows[start].number for start in offer.starts) if choices else ()
    place = Place(rows[top].number, rows[asking].number, starts, rows[last].number + 1)
    return Dialog(kind_of(" ".join([question, *labels])), rule, question, clean_lines(texts), choices, place)
