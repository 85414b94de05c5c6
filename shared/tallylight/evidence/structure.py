"""
Dialogs by their structure: how a program asks that no agent file describes, in any notation.

First `evidence.offers` finds text that may be an answer. Then its surroundings are weighed by `WEIGHTS`: signs add up,
and above `DIALOG_CHANCE` it counts as a dialog. `python -m benchmarks.structure` computes the weights from recordings,
and reports how right they are for agents that it was not fitted with. The keys that answer are unknown: a person
answers such a dialog by going there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from tallylight.evidence.choices import KEY, KEYS_HINT, is_hint
from tallylight.evidence.dialogs import PAGER, below_question, is_typed, kind_of, question_above, whole_question
from tallylight.evidence.offers import (
    ANSWERS,
    ARROWS,
    ASKED_BEHIND,
    BAR,
    BARE_CHARS,
    BARE_NUMBER,
    BEHIND_KEY,
    BEHIND_MARK,
    BELOW,
    BESIDE,
    BUTTONS,
    CHOOSE,
    EMPTY,
    ENDS_IN_YES_OR_NO,
    FACT,
    FIELD,
    FILL,
    GIVEN,
    GO_ON,
    INPUT,
    KEY_TO_GO_ON,
    LEAVES,
    NUMBER,
    NUMBER_WANTED,
    NUMBERED,
    PAGE,
    PLACEHOLDER,
    SPINNER,
    SUBMITTED,
    TOLD,
    TYPE_WORD,
    YES_OR_NO_IN_ROW,
    Candidate,
    are_buttons,
    are_ticked,
    have_both,
    is_answer,
    is_between_edges,
    is_heading,
    is_named_yes_or_no,
    is_status_bar,
    is_typed_above,
    listed_above,
    lowest_candidate,
    marked_above,
    parts_of,
    place_above,
    shown_choices,
    text_above,
    texts_of,
)
from tallylight.evidence.tail import Row, clean_line, clean_lines, upwards
from tallylight.model import attributes
from tallylight.model.dialog import Choice, Dialog, Place

#: Rows above possible answers that may ask, and how many of them with text.
_ABOVE_ANSWERS_ROWS, _ASKING_ROWS = 12, 6
#: Choices of a long list, at least; and strange rows below that count, at most.
_LONG_CHOICES, _STRANGE_ROWS = 8, 4
#: Rows with text at the end that show work; rows below a row of answers in which the answer may be typed.
_LAST_WORK_ROWS, _BELOW_ANSWERS_ROWS = 8, 2
#: Rows of an input, at most, with its edges.
_TALL_INPUT_ROWS = 6
#: Columns left of a dialog above an input, and around the side of its box.
_STEP_COLUMNS = 1
#: Rows above an input that is submitted, up to the row that names its content.
_NEAR_ROWS = 3
#: Rows with text below an input.
_BELOW_AN_INPUT_ROWS = 4
#: Rows between choices and the key that takes one, such as an error.
_BETWEEN_ROWS = 6
#: Characters of an answer that only its colours mark, at most.
_SHORT_CHARS = 24
#: Rows of a form.
_FORM_ROWS = 24
#: Words of a prompt without a subject, at most.
_MAX_PROMPT_WORDS = 2
#: Columns right of possible answers where another panel may begin.
_BESIDE_ANSWERS_COLUMNS = 30
#: Signs that `tally why` names.
_NAMED_SIGNS = 3

_BULLETS, _ARROWS = frozenset("*●•◆■◼+-"), ARROWS | {"☞"}
_PROMPTS = frozenset("❯›>»")
#: Marks of a selected row that texts do not begin with.
_POINTERS = _ARROWS | {BAR, ">", "=>", "->", "(•)", "(*)", "(●)", "(x)", "(X)"}
_KEYED = re.compile(
    r"[\[(<](?:\w|esc|enter|tab|shift\+tab|space|return)[\])>]|\b(?:press|type|hit|answer|reply) \S|"
    r"\b(?:[a-z]|enter) to \w|^\w ?[-–=:] \w|\b[a-z]=[a-z]{2}",
    re.IGNORECASE,
)
#: A command that is being typed; its menu may be below.
COMMAND = re.compile(r"(?:[❯›>»$┃▌│▎●] ?)?/[\w:-]*(?: |$)")
#: A question, and what may follow it: a default, answers, a hint.
_ASKED = re.compile(r"\?[\"')\]]?(?: *[:>›…]| *[\[(].*| {3}.*)?$")
#: A question behind a library's mark, with what is typed behind it.
_ASKED_BEHIND = re.compile(rf"{ASKED_BEHIND.pattern}.*\?", re.IGNORECASE)
#: A key without brackets in front of its answer.
_BARE_KEY = re.compile(r"(?:[a-z]|esc|enter|tab) (?!to )(?=[^\W\d_]{2})")
#: Keys with what they do, and no sentence.
_KEYS_ALONE = re.compile(r" [•·|] |^\W*\w+ (?:to )?\w+$")
#: The mark that libraries put before a question, and what they put behind it.
_BESIDE_QUESTION = re.compile(r"^(?:\?|\[\?\]|◆) {1,2}(?=\S)| ?[›»‣…]$| \(Use arrow keys\)$")
#: Help of a library, in brackets below its question.
_HELP = re.compile(r"\[[^\[\]]{3,}\]")
#: A named input, with what is in it.
_NAMED = re.compile(r"[^\W\d_][\w ]{0,24}[❯›>»:] ?(\S{0,12})")
#: Text that is typed behind answers in a row.
_TYPED = re.compile(r"(?<![\[(<]\w)[\])>}:?] {1,2}\w+█?$")
#: An answer alone in its row.
_ANSWER = re.compile(r"(?:[❯›>] )?(?:y(?:es)?|no?)", re.IGNORECASE)
_WORK = re.compile(r"\b(?:esc|ctrl.c)\b.{0,20}\b(?:interrupt|stop)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2,}")
_SENTENCE = re.compile(r"[A-Z][^ ]*(?: [^ ]+){3,24}(?:\.|…)")
#: A message in a conversation.
_MESSAGE = re.compile(r"[●⏺•◆■⎿✔✓] \S")
_WANTS = re.compile(
    r"\b(allow|approve|approval|permission|permit|proceed|trust|run|execute|apply|create|overwrite|delete|edit|grant|"
    r"consent|accept|log ?in|sign ?in|authenticat\w*|api key|confirm|continue|want to|would you|do you)\b",
    re.IGNORECASE,
)
#: Answers in brackets.
_SEVERAL = re.compile(r"[\[(]\w[\w-]{0,20}(?: ?= ?\w+)?(?:[/|,] ?\w[\w-]{0,20}(?: ?= ?\w+)?){1,9}[\])]")
_BRACKETS = re.compile(r"[\[(][^\])]{1,80}[\])] ?(?:[:?›>]|: ?[›>❯»])?$")
#: The end of a prompt that takes any text; behind a colon the mark is only a mark.
_ENDS_AS_PROMPT = re.compile(r"(?<!:)(?<!: )[>❯›»]$")
#: The name of a field for any prompt.
_CHAT = re.compile(
    r"\W*(?:you|user|human|me)\b|.*\b(?:(?<!commit )message|prompt|task|request|query|instructions?|commands?|chat|ask|"
    r"anything|help|question)\b",
    re.IGNORECASE,
)
#: The prompt of a conversation, behind a library's mark or not, with what is typed there.
_OF_CHAT = re.compile(r"\W{0,4}(?:you|user|human|me)(?: ?[:>❯›»‣▸·]|$)", re.IGNORECASE)
_AWAITS = re.compile(
    r"\ba?waiting (?:for |on )?(?:you|input|user|approval|decision|confirmation|response|answer|sign.?in|log.?in|"
    r"auth|the browser)",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b(?=\w*[A-Z])[A-Z0-9]{3,5}-[A-Z0-9]{3,5}\b")
_WAITS = re.compile(r"\b(waiting|paste|once you|after you|when you|complete|finish|come back)\b", re.IGNORECASE)
#: A key that a person presses once they have done something else.
_AFTERWARDS = re.compile(
    r"\b(?:then|once|when|after|done|ready)\b.{0,60}\b(?:press|hit|tap) "
    r"|\b(?:press|hit|tap) \W?\w+\W{1,3}(?:once|when|after) ",
    re.IGNORECASE,
)
#: A choice that has a person type the answer.
_OWN_ANSWER = re.compile(
    r"(?:\d{1,2}[.)] )?(?:(?:type|enter|write|give|add|say) (?:a|my|your|some)|other\b|something else|custom\b)",
    re.IGNORECASE,
)
#: A choice that leaves what is shown.
_WAY_OUT = re.compile(r"(?:quit|exit|cancel|back|skip|never|not now|(?:maybe )?later)\b", re.IGNORECASE)

#: The sum above which it is a dialog. A missed dialog costs a look at the pane, and a wrong light costs trust: so more
#: than an even chance.
DIALOG_CHANCE = 0.8
#: The weight of each sign, as `python -m benchmarks.structure` fits it to recordings and drawn screens.
WEIGHTS: dict[str, float] = {
    "its keys or its box right above an input": 6.22,
    "its keys in its box, an input below that": 6.08,
    "a yes and a no right above an input": 5.37,
    "each answer between lines of its own": 5.08,
    "its keys right below its box": 4.11,
    "asks, and the cursor is right below": 3.5,
    "short rows end the screen": 3.19,
    "wants something in the row": 2.88,
    "a number is wanted below": 2.69,
    "the cursor is in the row of answers": 2.59,
    "a yes and a no right above": 2.56,
    "keys that submit it": 2.54,
    "a pointer without a cursor or an input": 2.51,
    "each answer behind its key": 2.41,
    "a library's mark above": 2.39,
    "an answer of one's own among the choices": 2.37,
    "the cursor is hidden": 2.24,
    "fields above": 2.16,
    "a code for the page": 2.13,
    "the cursor is in an empty input below": 2.04,
    "one answer in the row is marked": 2.0,
    "a way out at the end of the choices": 1.93,
    "a yes and a no among the choices": 1.92,
    "a yes and a no below the cursor": 1.87,
    "in a box": 1.86,
    "the keys that choose": 1.84,
    "a box to tick in front of each answer": 1.81,
    "names what to give": 1.78,
    "a question and nothing but this": 1.73,
    "says to choose below": 1.68,
    "a yes or no at the end of the row": 1.66,
    "answers in brackets": 1.57,
    "a key that leaves it": 1.54,
    "says to fill it in": 1.52,
    "its hint names an answer": 1.5,
    "a question behind its mark": 1.48,
    "says that it waits": 1.46,
    "drawn over the rest": 1.44,
    "buttons below": 1.36,
    "a hint at keys below": 1.33,
    "the cursor is in front of an answer": 1.27,
    "waits for somebody": 1.25,
    "an answer among the choices": 1.22,
    "a key at an answer": 1.22,
    "a question above": 1.18,
    "a question in the row": 1.1,
    "nothing below": 1.08,
    "answers or a default in brackets": 1.02,
    "a field with the cursor": 1.01,
    "the cursor is in what is submitted": 1.01,
    "a numbered list right above": 0.94,
    "the cursor is in the row above": 0.92,
    "buttons beside one another": 0.9,
    "nothing but this": 0.81,
    "shows rows below": 0.8,
    "a key to go on": 0.68,
    "the cursor is right below a yes and a no": 0.59,
    "wants something right above answers": 0.56,
    "an input that is submitted": 0.51,
    "wants something above": 0.48,
    "a list of keys": 0.42,
    "a hint at keys above": 0.4,
    "says to choose": 0.36,
    "one row of a list is marked": 0.14,
    "a page to open": 0.09,
    "text between it and its keys": 0.04,
    "an arrow is the mark": 0.03,
    "a question inside": -0.06,
    "yes or no in a row": -0.14,
    "answers below one another": -0.21,
    "numbers in front of choices": -0.22,
    "asks right above": -0.25,
    "buttons below one another": -0.3,
    "a colon above": -0.52,
    "answers beside one another": -0.52,
    "rows below a question": -0.54,
    "a bullet is the mark": -0.66,
    "numbered rows": -0.87,
    "a box below": -1.04,
    "a long list": -1.32,
    "blank rows between choices": -1.42,
    "long choices": -1.48,
    "lines across around it": -1.54,
    "a sign of work": -1.61,
    "the same prompt above": -1.71,
    "the cursor in an input below": -2.0,
    "rows below that are no hints": -2.02,
    "the cursor is in the marked row": -2.02,
    "ends as a prompt does": -2.1,
    "wants any prompt": -2.18,
    "a message and its work below": -2.94,
    "the cursor is below all": -3.0,
    "the cursor is outside of the box": -3.02,
    "a command typed right above": -3.04,
    "the cursor is above it": -3.15,
    "a sentence below its box": -3.16,
    "hardly any words": -3.2,
    "the last row of a pager": -3.25,
    "an answer typed behind": -3.34,
    "an input below": -4.02,
    "an input right above": -4.03,
    "always": -5.04,
}


#: Signs that the cursor is below all because an answer is read there.
_RIGHT_BELOW = ("asks, and the cursor is right below", "the cursor is right below a yes and a no")


def read_structure(rows: Sequence[Row], cursor_row: int | None, *, is_in_front: bool = False) -> Dialog | None:
    """
    Return the dialog that the layout of *rows* shows; None if they show none.

    *rows* are the end of the screen, or with *is_in_front* a box that is drawn over the rest. *cursor_row* is the row
    of the visible cursor on the screen.
    """
    offer = lowest_candidate(rows, cursor_row, is_in_front=is_in_front)
    if offer is None or _is_of_a_prompt(rows, cursor_row, offer):
        return None
    found = signs(rows, cursor_row, offer, is_in_front=is_in_front)
    worth = {sign: WEIGHTS.get(sign, 0.0) * value for sign, value in found.items()}
    if sum(worth.values()) <= DIALOG_CHANCE:
        return None
    dialog = _dialog_of(rows, offer)
    if not _are_words(" ".join(dialog.lines)):
        return None
    named = [sign for sign in sorted(worth, key=lambda sign: -worth[sign])[:_NAMED_SIGNS] if worth[sign] > 0]
    return attributes.evolve(dialog, rule=f"structure: {', '.join(named)}")


def _are_words(text: str) -> bool:
    """Return whether at least a third of *text* is words; less is a picture."""
    return 3 * sum(map(len, _WORD.findall(text))) >= len(text) - text.count(" ")


def _is_of_a_prompt(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> bool:
    """
    Return whether the first row is typed at a prompt, and the others are its output.

    Two blank rows are never between choices.
    """
    last = offer.starts[-1]
    if _OF_CHAT.match(rows[offer.starts[0]].text):
        return True
    if not offer.is_list and rows[last].number == cursor_row and is_typed(rows[last], rows[:last]):
        return offer.sign != SUBMITTED
    inside = rows[offer.starts[0] : offer.starts[-1] + 1]
    is_apart = any(not one.text and not other.text for one, other in itertools.pairwise(inside))
    return is_apart and offer.pointed == 0 and offer.mark in _PROMPTS


def signs(
    rows: Sequence[Row], cursor_row: int | None, offer: Candidate, *, is_in_front: bool = False
) -> dict[str, float]:
    """Return the signs on and around an *offer* by name, with their counts, mostly 1."""
    is_outside = cursor_row is not None and cursor_row not in range(rows[0].number, rows[-1].number + 2)
    found = {"always": True, offer.sign: True, "drawn over the rest": is_in_front}
    found["the cursor is outside of the box"] = is_in_front and is_outside
    found |= _signs_inside(rows, cursor_row, offer) if offer.is_list else _signs_of_row(rows, cursor_row, offer)
    found |= _signs_above(rows, cursor_row, offer)
    below = _below(rows, offer, cursor_row)
    found |= _signs_below(rows, cursor_row, offer, below)
    strange = sum(_is_strange(rows[at].text) for at in below)
    if strange and _ends_in_keys(rows, below):
        found["text between it and its keys"], strange = True, 0
    is_open = not strange and not found.get("an answer typed behind", False)
    found["the cursor is right below a yes and a no"] = is_open and _is_cursor_below(rows, cursor_row, offer)
    named = {sign: 1.0 for sign, is_so in found.items() if is_so}
    if not named.keys().isdisjoint(_RIGHT_BELOW):
        named.pop("the cursor is below all", None)
    return named | ({"rows below that are no hints": min(strange, _STRANGE_ROWS) / 2} if strange else {})


def _is_answered_below(rows: Sequence[Row], offer: Candidate) -> bool:
    """Return whether the next row with text below an *offer* is a yes or a no alone, and other text is below that."""
    below = texts_of(rows[offer.starts[-1] + 1 :])
    return len(below) > 1 and _ANSWER.fullmatch(below[0]) is not None


def _is_strange(text: str) -> bool:
    """Return whether *text*, below an offer, is no hint and no spinner alone."""
    return (not is_hint(text) and SPINNER.fullmatch(text) is None) or INPUT.match(text) is not None


def _is_cursor_below(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> bool:
    """Return whether the cursor is right below all, and an *offer* has a yes and a no with a mark or keys."""
    is_marked = ((offer.is_list and offer.pointed >= 0) or _are_behind_keys(offer)) and have_both(offer.labels)
    return is_marked and cursor_row is not None and 0 < cursor_row - rows[-1].number <= _BELOW_ANSWERS_ROWS


def _ends_in_keys(rows: Sequence[Row], below: Sequence[int]) -> bool:
    """
    Return whether the rows *below* end in a hint at the key to continue, and have no input.

    Then they belong to the offer.
    """
    is_input = any(INPUT.match(rows[at].text) for at in below)
    return not is_input and len(below) <= _BETWEEN_ROWS and GO_ON.search(rows[below[-1]].text) is not None


def _below(rows: Sequence[Row], offer: Candidate, cursor_row: int | None) -> list[int]:
    """
    Return the rows with text below an *offer*.

    Left out are the explanation of the last choice, an empty input for the answer, and a status bar at the end. So is
    its question, once more.
    """
    last = offer.starts[-1]
    beside = offer.column + _BESIDE_ANSWERS_COLUMNS
    begin = _end_of_own_input(rows, offer) + 1
    found = [at for at in range(begin, len(rows)) if rows[at].text and not rows[at].is_edge]
    found = [at for at in found if rows[at].indent < beside and not are_buttons(rows[at].text)]
    found = _without_question(rows, found, text_above(rows, offer.starts[0]).text)
    if found and is_status_bar(rows[found[-1]].text):
        is_apart = (len(found) > 1 and not rows[found[-1] - 1].text) or offer.pointed >= 0
        found = found[:-1] if is_apart or rows[last].number == cursor_row else found
    is_its = bool(found) and (found[0] == _typed_below(rows, offer, cursor_row) or _is_its(rows, offer, found[0]))
    return found[1:] if is_its else found


def _without_question(rows: Sequence[Row], below: Sequence[int], asks: str) -> list[int]:
    """Return the rows *below*, without those that ask once more what the row *asks* does."""
    return [at for at in below if not asks.endswith("?") or asks not in rows[at].text]


def _end_of_own_input(rows: Sequence[Row], offer: Candidate) -> int:
    """Return the lower edge of the box right below a field, in which its text is typed; else its last row."""
    last = offer.starts[-1]
    edges = [at for at in range(last + 1, len(rows)) if rows[at].is_edge][:2]
    return edges[-1] if offer.sign == FIELD and edges[:1] == [last + 1] else last


def _is_its(rows: Sequence[Row], offer: Candidate, at: int) -> bool:
    """Return whether row *at*, the first one below an *offer*, explains its last choice or is its empty input."""
    last = offer.starts[-1]
    if offer.is_list:
        return at == last + 1 and rows[at].indent >= offer.column + (offer.mark != BAR)
    if at == last + 1 and _HELP.fullmatch(rows[at].text) and ASKED_BEHIND.match(rows[last].text):
        return True
    # Where a line across parts them, it is the input for any prompt.
    is_parted = offer.sign == KEY_TO_GO_ON and any(row.is_edge for row in rows[last + 1 : at])
    return EMPTY.match(rows[at].text) is not None and not is_parted


def _typed_below(rows: Sequence[Row], offer: Candidate, cursor_row: int | None) -> int | None:
    """
    Return the row right below in which an answer is typed.

    It is an empty prompt below answers behind their keys, or a named input with the cursor: below answers in a row with
    at most a spinner in it, and below a list with the beginning of a choice.
    """
    last = offer.starts[-1]
    at = next((at for at in range(last + 1, min(last + 1 + _BELOW_ANSWERS_ROWS, len(rows))) if rows[at].text), last)
    if at == last or any(row.is_edge for row in rows[last : at + 1]):
        return None
    if _are_behind_keys(offer):
        return at if EMPTY.match(rows[at].text) else None
    is_it = rows[at].number == cursor_row and (_takes_number(rows, offer, at) or _takes_word(rows[at].text, offer))
    return at if is_it else None


def _takes_number(rows: Sequence[Row], offer: Candidate, at: int) -> bool:
    """Return whether row *at* wants a number of a list: it says so, or is a prompt right below that is used nowhere."""
    is_numbered = offer.sign == NUMBERED or all(map(BARE_NUMBER.match, offer.labels))
    if not is_numbered or NUMBER_WANTED.fullmatch(rows[at].text):
        return is_numbered
    is_right_below = at == offer.starts[-1] + 1 and EMPTY.match(rows[at].text) is not None
    return is_right_below and (have_both(offer.labels) or not is_typed_above(rows[:at]))


def _takes_word(text: str, offer: Candidate) -> bool:
    """Return whether *text* is a named input with the beginning of a choice, or below a row with at most a spinner."""
    named = _NAMED.fullmatch(text)
    if named is None:
        return False
    is_one = named[1] != "" and any(label.startswith(named[1]) for label in offer.labels)
    return is_one or (not offer.is_list and len(named[1]) <= 1)


def _is_typed_below(rows: Sequence[Row], offer: Candidate, cursor_row: int | None) -> bool:
    """Return whether the cursor is where an answer is typed, below an *offer*."""
    typed = _typed_below(rows, offer, cursor_row)
    at = (
        []
        if offer.is_list
        else [row for row in rows[offer.starts[-1] + 1 :][:_BELOW_ANSWERS_ROWS] if EMPTY.match(row.text)]
    )
    return any(row.number == cursor_row for row in (*at, *(rows[typed : typed + 1] if typed is not None else ())))


def _are_behind_keys(offer: Candidate) -> bool:
    """Return whether the key of each answer of an *offer* is in front of it."""
    return bool(offer.labels) and any(all(map(form.match, offer.labels)) for form in (BEHIND_KEY, _BARE_KEY))


def _signs_of_row(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> dict[str, bool]:
    """Return the signs in a row of answers, a field or a hint, and at the cursor."""
    first, last = offer.starts[0], offer.starts[-1]
    is_field = offer.sign == FIELD
    text = _text_of_row(rows, offer)
    found = _signs_of_answers(rows, cursor_row, offer, text) | {
        "the cursor is in the row of answers": rows[last if is_field else first].number == cursor_row,
        "the cursor is above it": not are_buttons(rows[first].text) and _is_above(cursor_row, rows[first]),
        "the cursor is in an empty input below": _is_typed_below(rows, offer, cursor_row),
        "a question in the row": "?" in text,
        "wants something in the row": offer.sign != KEY_TO_GO_ON and _WANTS.search(text) is not None,
        "an answer typed behind": _TYPED.search(FACT.sub("", text)) is not None or _is_answered_below(rows, offer),
        "a key at an answer": _KEYED.search(text) is not None,
        "each answer behind its key": _are_behind_keys(offer),
    }
    if offer.sign == SUBMITTED:
        return _signs_of_submitted(rows, cursor_row, offer)
    if offer.sign in (KEY_TO_GO_ON, PAGE):
        end = [row.text for row in rows if row.text][-_LAST_WORK_ROWS:]
        return found | {
            "waits for somebody": found["waits for somebody"] or any(map(_WAITS.search, end)),
            "a code for the page": offer.sign == PAGE and any(map(_CODE.search, end)),
            "a list of keys": KEYS_HINT.match(text) is not None,
        }
    return found | (_signs_of_field(rows, offer, text) if is_field or offer.sign == BEHIND_MARK else {})


def _text_of_row(rows: Sequence[Row], offer: Candidate) -> str:
    """Return the text of an *offer* in a row, with the row above answers in brackets that are alone."""
    first, last = offer.starts[0], offer.starts[-1] if offer.sign == FIELD else offer.starts[0]
    is_bare = offer.sign == YES_OR_NO_IN_ROW and first > 0 and _BRACKETS.fullmatch(rows[first].text) is not None
    return " ".join(row.text for row in rows[first - is_bare : last + 1])


def _signs_of_answers(rows: Sequence[Row], cursor_row: int | None, offer: Candidate, text: str) -> dict[str, bool]:
    """Return the signs of a yes or no in a row, of answers beside one another, and of a key, in their *text*."""
    first, is_hidden = offer.starts[0], cursor_row is None
    is_ending = offer.sign == YES_OR_NO_IN_ROW and "?" in text and ENDS_IN_YES_OR_NO.search(text) is not None
    is_wanted = offer.sign == BESIDE and any(_WANTS.search(rows[at].text) for at in upwards(first, _NEAR_ROWS))
    asks = {YES_OR_NO_IN_ROW: _ASKED, KEY_TO_GO_ON: _AFTERWARDS}.get(offer.sign)
    is_told = offer.sign == FIELD and TOLD.fullmatch(text) is not None and cursor_row == rows[-1].number + 1
    is_asked = asks is not None and asks.search(text) is not None
    return {
        "asks, and the cursor is right below": is_told
        or (is_asked and _is_right_below(cursor_row, rows[offer.starts[-1] :])),
        "waits for somebody": is_asked and offer.sign == KEY_TO_GO_ON,
        "a yes or no at the end of the row": is_hidden and is_ending,
        "wants something right above answers": is_hidden and is_wanted,
        "one answer in the row is marked": offer.pointed >= 0,
        BUTTONS: offer.sign == BUTTONS or are_buttons(rows[first].text),
    }


def _signs_of_submitted(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> dict[str, bool]:
    """Return the signs of an input that is submitted."""
    first, last = offer.starts[0], offer.starts[-1]
    return {
        "the cursor is in what is submitted": cursor_row is not None and rows[first].number == cursor_row,
        "an input that is submitted": first < last,
        "its hint names an answer": ANSWERS.search(rows[last].text) is not None,
        "a key that leaves it": any(LEAVES.search(row.text) for row in rows[last:]),
        "says to fill it in": FILL.match(text_above(rows, first).text) is not None,
    }


def _is_above(cursor_row: int | None, row: Row) -> bool:
    return cursor_row is not None and cursor_row < row.number


def _is_right_below(cursor_row: int | None, rows: Sequence[Row]) -> bool:
    """Return whether the cursor is below the first of *rows*, with only blank ones between: one at the least."""
    is_near = cursor_row is not None and 1 < cursor_row - rows[0].number <= _NEAR_ROWS
    return is_near and not any(row.text for row in rows[1:])


def _signs_of_field(rows: Sequence[Row], offer: Candidate, text: str) -> dict[str, bool]:
    """Return the signs of a field or a question behind its mark, with its *text*."""
    first, last = offer.starts[0], offer.starts[-1]
    is_field = offer.sign == FIELD
    is_below = any(EMPTY.match(one.text) for one in rows[last + 1 :][:_BELOW_ANSWERS_ROWS])
    is_named = GIVEN.search(text) is not None
    above = [row.text for row in rows[:first] if row.text][-_ASKING_ROWS:]
    over = "".join(above[-1:])
    is_chat = _CHAT.match(text) is not None
    listed = _pointed_above(rows, first)
    is_chosen = not is_chat and (have_both(listed) or _has_choice(above))
    is_marked = ASKED_BEHIND.match(text) is not None
    are_named = ("?" in text or FILL.match(text) is not None) and _SEVERAL.search(text) is not None
    return {
        "a yes and a no right above": is_chosen,
        "names what to give": is_named,
        BEHIND_MARK: is_marked,
        "ends as a prompt does": not is_marked and "?" not in text and _ENDS_AS_PROMPT.search(text) is not None,
        "says to fill it in": FILL.match(text) is not None or TYPE_WORD.search(text) is not None,
        "answers in brackets": _SEVERAL.search(text) is not None,
        "answers or a default in brackets": _BRACKETS.search(text) is not None,
        "wants any prompt": is_chat,
        "hardly any words": len(text.split()) <= _MAX_PROMPT_WORDS
        and not any((is_named, is_chosen, listed, are_named)),
        "the same prompt above": not is_below and any(row.text.startswith(text) for row in rows[:first]),
        "a numbered list right above": NUMBER.match(over) is not None,
        "shows rows below": not is_field and last > first,
    }


def _pointed_above(rows: Sequence[Row], first: int) -> tuple[str, ...]:
    """Return the labels of the list right above row *first* with a pointer, under a row that asks; none without one."""
    found = marked_above(rows, first)
    is_it = found is not None and found.mark in _POINTERS and _is_asked_for(rows, found)
    return found.labels if found is not None and is_it else ()


def _has_choice(above: Sequence[str]) -> bool:
    """Return whether a yes and a no are beside one another in the last row *above*, or in its numbered rows."""
    beside = parts_of(above[-1]) if above else ()
    return have_both(beside if len(beside) > 1 else filter(NUMBER.match, above))


def _signs_inside(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> dict[str, bool]:
    """Return the signs in a list of choices."""
    inside = rows[offer.starts[0] : offer.starts[-1] + 1]
    texts = [row.text for row in inside if not row.is_edge]
    is_marked = offer.pointed >= 0
    return {
        "the cursor is in front of an answer": not is_marked
        and any(rows[start].number == cursor_row for start in offer.starts),
        "a number is wanted below": any(
            row.number == cursor_row and NUMBER_WANTED.fullmatch(row.text) for row in rows[offer.starts[-1] + 1 :]
        ),
        "the cursor is in the marked row": is_marked and rows[offer.starts[offer.pointed]].number == cursor_row,
        "a bullet is the mark": offer.mark in _BULLETS,
        "an arrow is the mark": offer.mark in _ARROWS,
        "numbers in front of choices": NUMBER.match(offer.labels[0]) is not None,
        "an answer among the choices": any(map(is_answer, offer.labels)),
        "a yes and a no among the choices": have_both(offer.labels),
        "each answer between lines of its own": offer.sign == BUTTONS,
        "a way out at the end of the choices": is_marked and any(map(_WAY_OUT.match, offer.labels[-2:])),
        "a box to tick in front of each answer": are_ticked(rows[start].text for start in offer.starts),
        "an answer of one's own among the choices": is_marked and any(map(_OWN_ANSWER.match, offer.labels[-2:])),
        "a key at an answer": any(map(_KEYED.search, texts)),
        "a long list": len(offer.starts) >= _LONG_CHOICES,
        "long choices": any(len(label) > BARE_CHARS for label in offer.labels),
        "blank rows between choices": not all(texts),
        "a question inside": any(text.endswith("?") for text in texts),
        "the cursor is in an empty input below": _is_typed_below(rows, offer, cursor_row),
    }


def _signs_above(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> dict[str, bool]:
    first = offer.starts[0]
    top, asking = question_above(rows, first)
    over = [rows[asking]] if rows[asking].is_edge else _rows_over(rows, cursor_row, offer)
    above = [row.text for row in over]
    is_asked = bool(above) and _ASKED.search(above[-1]) is not None
    of_list = _signs_above_list(over, cursor_row, offer.labels) if offer.is_list else {}
    is_alone = _has_nothing_below(rows, cursor_row, offer) and not any(
        row.text and not row.is_edge for row in rows[:top]
    )
    return of_list | {
        "a question above": any(map(_ASKED.search, above[-4:])) or any(map(_ASKED_BEHIND.match, above[-1:])),
        "asks right above": is_asked,
        "a colon above": bool(above) and above[-1].endswith(":"),
        "wants something above": any(map(_WANTS.search, above)),
        "a command typed right above": any(map(COMMAND.match, above[-2:])),
        "in a box": rows[first].is_boxed or rows[first].is_edge,
        "a library's mark above": any(map(ASKED_BEHIND.match, above[-1:] if not _goes_on(above) else above[-2:])),
        "an input right above": _is_input(rows, first),
        "nothing but this": is_alone,
        "a question and nothing but this": is_alone and (is_asked or of_list.get("says to choose", False)),
        "fields above": _are_fields(rows[max(0, first - _FORM_ROWS) : first]),
    }


def _rows_over(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> list[Row]:
    """Return the last rows with text above an *offer*, without another panel's and an input that filters choices."""
    first, beside = offer.starts[0], offer.column + _BESIDE_ANSWERS_COLUMNS
    near = rows[max(0, first - _ABOVE_ANSWERS_ROWS) : first]
    found = [row for row in near if row.text and not row.is_edge and row.indent < beside][-_ASKING_ROWS:]
    is_filter = bool(found) and found[-1].number == cursor_row and INPUT.match(found[-1].text) is not None
    return found[:-1] if is_filter else found


def _has_nothing_below(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> bool:
    """Return whether at most buttons are below an *offer*; where the cursor is hidden, hints may be there."""
    below = [row.text for row in rows[offer.starts[-1] + 1 :] if row.text and not are_buttons(row.text)]
    return not below or (cursor_row is None and all(map(_is_only_hint, below)))


def _is_only_hint(text: str) -> bool:
    return is_hint(text) and not INPUT.match(text) and not PLACEHOLDER.match(text)


def _goes_on(above: Sequence[str]) -> bool:
    """Return whether the last row *above* is the rest of the one above it."""
    return len(above) > 1 and above[-1][:1].islower()


def _signs_above_list(over: Sequence[Row], cursor_row: int | None, labels: Sequence[str]) -> dict[str, bool]:
    """Return the signs in the rows *over* a list with these *labels*."""
    is_over = any(row.number == cursor_row for row in over[-1:])
    return {
        "the cursor is in the row above": is_over,
        "a yes and a no below the cursor": is_over and have_both(labels),
        "says to choose": any(CHOOSE.match(row.text) for row in over[-1:]),
        "a hint at keys above": any(is_hint(row.text) and KEY.search(row.text) for row in over),
    }


def _are_fields(rows: Sequence[Row]) -> bool:
    """Return whether a row of *rows* is the name of a field, with its box below."""
    drawn = [row for row in rows if row.text or row.is_edge]
    return any(row.text.endswith(":") and below.is_edge for row, below in itertools.pairwise(drawn))


def _is_input(rows: Sequence[Row], first: int) -> bool:
    """Return whether the last text above row *first* is in an input between two lines."""
    edges = [at for at in range(max(0, first - _TALL_INPUT_ROWS), first) if rows[at].is_edge]
    if len(edges) < 2:
        return False
    text = next((row.text for row in rows[edges[-2] + 1 : edges[-1]] if row.text), "")
    return INPUT.match(text) is not None and not text.startswith("$ ")  # a command that is asked about


def _signs_below(
    rows: Sequence[Row], cursor_row: int | None, offer: Candidate, below: Sequence[int]
) -> dict[str, bool]:
    """Return the signs in the rows *below* and at the end of the screen."""
    texts = [rows[at].text for at in below]
    inputs = [rows[at].number for at in below if INPUT.match(rows[at].text)]
    end = texts_of(rows)[-_LAST_WORK_ROWS:] or [""]
    hints = list(filter(is_hint, itertools.filterfalse(_is_work, texts)))
    is_work = any(map(SPINNER.match, texts)) or any(map(_is_work, texts))
    return _signs_of_boxes(rows, cursor_row, offer, below) | {
        "nothing below": not below,
        **(_signs_below_list(rows[offer.starts[-1] + 1 :], texts) if offer.is_list else {}),
        "says that it waits": any(map(_AWAITS.search, end)),
        "a hint at keys below": any(map(KEY.search, hints)),
        "the keys that choose": any(map(KEYS_HINT.match, hints)),
        "an input below": bool(inputs) or any(map(PLACEHOLDER.match, texts)) or any(map(_OF_CHAT.match, texts)),
        "the cursor in an input below": cursor_row in inputs,
        "a sign of work": is_work,
        "a message and its work below": is_work and any(map(_MESSAGE.match, texts)),
        "the last row of a pager": offer.pointed < 0 and _is_pager(end[-1]),
        "short rows end the screen": cursor_row is None and not below and _is_short_list(rows, offer),
        "the cursor is hidden": cursor_row is None,
        "a pointer without a cursor or an input": cursor_row is None and _is_at_end(rows, offer, below),
        "the cursor is below all": cursor_row is not None and cursor_row > rows[-1].number,
    }


def _is_short_list(rows: Sequence[Row], offer: Candidate) -> bool:
    """Return whether an *offer* is short rows without a mark, right below a row that asks for one of them."""
    above = text_above(rows, offer.starts[0]).text
    is_asked = _ASKED.search(above) is not None or (CHOOSE.match(above) is not None and ". " not in above)
    are_short = all(len(label) <= _SHORT_CHARS and label[-1].isalnum() for label in offer.labels)
    return offer.sign == BELOW and is_asked and are_short


def _signs_below_list(rows: Sequence[Row], texts: Sequence[str]) -> dict[str, bool]:
    """Return the signs in the *rows* below a list, and in the *texts* there that count."""
    return {
        "buttons below": any(are_buttons(row.text) for row in rows),
        "says to choose below": any(map(CHOOSE.match, texts)),
    }


def _is_pager(text: str) -> bool:
    return PAGER.match(text) is not None and not KEYS_HINT.match(text)


def _is_work(text: str) -> bool:
    """Return whether *text* names the key that stops work, and none that takes a choice."""
    return _WORK.search(text) is not None and not KEYS_HINT.match(text)


def _signs_of_boxes(
    rows: Sequence[Row], cursor_row: int | None, offer: Candidate, below: Sequence[int]
) -> dict[str, bool]:
    """Return the signs of boxes and lines around."""
    return {
        "a sentence below its box": rows[offer.starts[0]].is_boxed and any(_is_sentence(rows[at]) for at in below),
        "its keys in its box, an input below that": _is_box_above_input(rows, offer, below),
        "a box below": offer.sign != FIELD and _is_box_below(rows, offer.starts[-1]),
        "a yes and a no right above an input": _is_right_above_input(rows, cursor_row, offer),
        "its keys right below its box": _are_keys_below_box(rows, offer),
        "its keys or its box right above an input": cursor_row is None and _is_own_above_input(rows, offer, below),
        "lines across around it": _is_between_lines(rows, offer, below[0] if below else len(rows)),
    }


def _is_sentence(row: Row) -> bool:
    """Return whether *row* is a sentence outside of boxes, as a program prints when it continues."""
    return not row.is_boxed and not is_hint(row.text) and _SENTENCE.fullmatch(row.text) is not None


def _is_between_lines(rows: Sequence[Row], offer: Candidate, until: int) -> bool:
    """Return whether a line across is right above an *offer* that is in no box, and one below it, above row *until*."""
    first, last = offer.starts[0], offer.starts[-1]
    if offer.sign == BUTTONS:
        return False  # buttons have edges of their own
    is_below_line = first > 0 and rows[first - 1].is_edge and not rows[first].is_boxed
    return is_below_line and any(row.is_edge for row in rows[last + 1 : until])


def _is_box_above_input(rows: Sequence[Row], offer: Candidate, below: Sequence[int]) -> bool:
    """
    Return whether the list is in a box with its keys, and an input is right below the box.

    A quoted dialog is in no box.
    """
    its = list(itertools.takewhile(lambda at: rows[at].is_boxed and not INPUT.match(rows[at].text), below))
    has_keys = rows[offer.starts[0]].is_boxed and any(KEYS_HINT.match(rows[at].text) for at in its)
    return offer.pointed >= 0 and has_keys and _is_box_below(rows, its[-1])


def _are_keys_below_box(rows: Sequence[Row], offer: Candidate) -> bool:
    """Return whether a marked list is in a box, with at most a short text below it, and its keys are below that box."""
    last = offer.starts[-1]
    if offer.pointed < 0 or not rows[last].is_boxed:
        return False
    end = next((at for at in range(last + 1, len(rows)) if not rows[at].is_boxed), len(rows))
    inside, after = texts_of(rows[last + 1 : end]), texts_of(rows[end:])[:_NEAR_ROWS]
    return len(inside) < _NEAR_ROWS and any(map(KEYS_HINT.match, after))


def _is_at_end(rows: Sequence[Row], offer: Candidate, below: Sequence[int]) -> bool:
    """Return whether a list with a pointer, which a heading asks for, ends a screen without an input."""
    first = offer.starts[0]
    near = rows[max(0, first - _ABOVE_ANSWERS_ROWS) : first]
    is_alone = not any(is_typed(row, ()) or PLACEHOLDER.match(row.text) or EMPTY.match(row.text) for row in near)
    is_pointed = offer.is_list and offer.mark in _POINTERS
    return is_pointed and is_alone and _is_asked_for(rows, offer) and all(_is_only_hint(rows[at].text) for at in below)


def _is_asked_for(rows: Sequence[Row], offer: Candidate) -> bool:
    """Return whether a list has a yes and a no, or a heading that asks for a choice."""
    above = text_above(rows, offer.starts[0]).text
    return have_both(offer.labels) or is_heading(above) or _ASKED.search(above) is not None


def _is_own_above_input(rows: Sequence[Row], offer: Candidate, below: Sequence[int]) -> bool:
    """
    Return whether a marked list that is asked for is right above an input, with its keys between or in its own box.

    A yes and a no has signs of its own, and so has a box with its keys.
    """
    first, end = offer.starts[0], offer.starts[-1]
    if offer.pointed < 0 or not offer.is_list or not _is_asked_for(rows, offer):
        return False
    above = text_above(rows, first)
    is_own = rows[first].is_boxed and above.is_boxed
    if above.indent > _STEP_COLUMNS * (1 + 2 * is_own):
        return False  # it is quoted in an answer
    if is_own:
        end = next((at for at in range(end + 1, len(rows)) if not rows[at].is_boxed), end)
    elif below and KEYS_HINT.match(rows[below[0]].text):
        end = below[0]
    else:
        return False
    after = next((row for row in rows[end + 1 :] if row.text or row.is_edge), rows[first])
    is_other = _is_right_above_input(rows, None, offer) or _is_box_above_input(rows, offer, below)
    return after.is_edge and _is_box_below(rows, end) and not is_other


def _is_right_above_input(rows: Sequence[Row], cursor_row: int | None, offer: Candidate) -> bool:
    """
    Return whether a marked yes or no under a question has only an input in a box, and its foot, below.

    Short ones may be marked by their colours, where the cursor is hidden.
    """
    last = offer.starts[-1]
    below = next((at for at in range(last + 1, len(rows)) if rows[at].text or rows[at].is_edge), 0)
    is_short = offer.is_list and cursor_row is None and max(map(len, offer.labels)) <= _SHORT_CHARS
    is_asked = have_both(offer.labels) and _ASKED.search(text_above(rows, offer.starts[0]).text) is not None
    if not (is_asked and (offer.pointed >= 0 or is_short) and rows[below].is_edge and _is_box_below(rows, last)):
        return False
    end = next(at for at in range(below + 1, len(rows)) if rows[at].is_edge)
    inside, foot = (sum(bool(row.text) for row in part) for part in (rows[below:end], rows[end:]))
    return inside <= 1 and foot <= _BELOW_AN_INPUT_ROWS


def ends_in_input(rows: Sequence[Row]) -> bool:
    """Return whether the last box or bar of *rows* has at most one row with text, which is no row of answers."""
    last = next((at for at in upwards(len(rows), len(rows)) if rows[at].is_edge or rows[at].is_boxed), None)
    if last is None:
        return False
    of_bar = itertools.takewhile(lambda at: rows[at].is_boxed and not rows[at].is_edge, upwards(last + 1, last + 1))
    of_box = itertools.takewhile(lambda at: not rows[at].is_edge, upwards(last, last))
    inside = texts_of([rows[at] for at in (of_box if rows[last].is_edge else of_bar)])
    return len(inside) <= 1 and not any(have_both(parts_of(text)) for text in inside)


def _is_box_below(rows: Sequence[Row], last: int) -> bool:
    """Return whether an input in a box of its own is below row *last*."""
    edges = [at for at in range(last + 1, len(rows)) if rows[at].is_edge][rows[last].is_boxed :]
    return len(edges) > 1 and edges[0] + 1 < edges[1] <= edges[0] + _TALL_INPUT_ROWS


def _first_of(rows: Sequence[Row], offer: Candidate) -> int:
    """Return the first row of an *offer*; buttons beside one another may begin in a row above."""
    first = offer.starts[0]
    if offer.is_list or not offer.labels:
        return first
    return next((at for at in upwards(first + 1, _NEAR_ROWS + 1) if offer.labels[0] in rows[at].text), first)


def _is_titled(rows: Sequence[Row], top: int) -> bool:
    """Return whether row *top* is the first one in a box with a title in its upper edge."""
    return top > 0 and rows[top].is_boxed and rows[top - 1].is_edge and rows[top - 1].text != ""


def _question_of(rows: Sequence[Row], offer: Candidate) -> tuple[int, int]:
    """Return the first row of the text of an *offer*, and the row that asks."""
    first = _first_of(rows, offer)
    if offer.sign == FIELD:
        return first, offer.starts[-1]
    if offer.sign == KEY_TO_GO_ON:
        return _asked_above_key(rows, first)
    text = rows[first].text
    is_own = not offer.is_list and ("?" in text or (offer.sign == YES_OR_NO_IN_ROW and is_named_yes_or_no(text)))
    if is_own or offer.sign == BEHIND_MARK:
        return first, first
    top, asking = question_above(rows, below_question(rows, first))
    behind = next((at for at in upwards(first, _NEAR_ROWS) if ASKED_BEHIND.match(rows[at].text)), -1)
    if asking < behind:
        return behind, behind
    if offer.sign == BUTTONS and rows[asking].is_boxed and not rows[first].is_boxed:
        return question_above(rows, top - 1)  # a field for a reason is between
    is_titled = _is_titled(rows, top) and not whole_question(rows, top, asking).endswith("?")
    return (top - 1, top - 1) if is_titled else (top, asking)


def _dialog_of(rows: Sequence[Row], offer: Candidate) -> Dialog:
    """Return an *offer* as a dialog without keys: they are unknown."""
    first, last = _first_of(rows, offer), offer.starts[-1]
    listed = listed_above(rows, first) if offer.sign == FIELD else None
    if listed is not None:
        return _dialog_of(rows, listed)
    top, asking = _question_of(rows, offer)
    question = _BESIDE_QUESTION.sub("", whole_question(rows, top, asking))
    texts = [row.text for row in rows[top : last + 1] if not row.is_edge]
    at, texts_of = shown_choices(rows, offer) if offer.sign == BEHIND_MARK else (offer.starts, offer.labels)
    labels = [clean_line(label) for label in texts_of]
    choices = tuple(Choice("", label, index == offer.pointed) for index, label in enumerate(labels))
    starts = tuple(rows[start].number for start in at) if choices else ()
    place = Place(rows[top].number, rows[asking].number, starts, rows[last].number + 1)
    says = [question, *labels] if have_both(labels) or not question.endswith("?") else [question]
    return Dialog(kind_of(" ".join(says)), "structure", question, clean_lines(texts), choices, place)


def _asked_above_key(rows: Sequence[Row], hint: int) -> tuple[int, int]:
    """Return the question above an input with a *hint* below it, or above a row of keys; else the hint itself."""
    field = place_above(rows, hint)
    if INPUT.match(rows[field].text) or is_between_edges(rows, field):
        return question_above(rows, field)
    return question_above(rows, hint) if _KEYS_ALONE.search(rows[hint].text) and field < hint else (hint, hint)
