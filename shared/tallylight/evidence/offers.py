"""
Possible answers at the end of a screen, in any notation: a `Candidate`, which `evidence.structure` weighs.

* Rows below one another: a list with one marked row, numbered rows, a yes and a no, or short rows right below a
  question.
* A row: answers or buttons beside one another, a yes or no.
* A field: a row that names its content, with the cursor in it or in an empty input right below.
* A question of a library: a row behind its question mark, with the rows that it shows below.
* A page or an input that is submitted: a hint names the key that submits, and one that leaves it or an answer.
* Where there is none of these: a hint at the key to continue, or a page to open in a browser.

The lowest one counts. Each of these also appears where nothing is asked.
"""

from __future__ import annotations

import functools
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tallylight.evidence.choices import KEY, KEYS_HINT, NO, YES, is_hint
from tallylight.evidence.dialogs import COUNT, is_typed, near_above
from tallylight.evidence.tail import Row, upwards
from tallylight.model.dialog import MAX_DIALOG_CHOICES
from tallylight.wire.text import width

#: Rows with text from the end up, for the last choice, a row of answers, and a hint.
_LOW_OFFERS_ROWS, _CHOICE_TO_HINT_ROWS, _LAST_CHOICE_ROWS = 20, 8, 5
#: Rows from one choice to the next, and from the first one to its question.
_BETWEEN_OFFERS_ROWS, _NEAR_ROWS = 4, 3
#: Characters at most of a choice, of one without a mark, of its leading answer, of a row of answers, and of a button.
_LABEL_CHARS, BARE_CHARS, _LEADING_ANSWER_CHARS, _ANSWER_ROW_CHARS, _OFFERED_BUTTON_CHARS = 120, 60, 24, 160, 28
#: Answers in one row, and rows below a library's question, at most.
_BESIDE_ANSWERS, _SHOWN_ROWS = 6, 24

#: The last but one is a bracket around the selected row.
_MARK = re.compile(
    r"(▐[●X ]▌|[❯›>→▶▸►⏵▷»☞☛👉➔➘-➯➱-➾⇒⇨⮕⦿*●◉•◆■◼+○◯◻☐=-]{1,2}\ufe0f?|\[[ xX*•✓✔-]?\]"
    r"|\[(?= [^\[\]]{1,40} \]$)|\([ xX*•●○o]?\)) {1,3}(?=\S)"
)
#: The marks of choices that are not selected.
_UNMARKED = frozenset({"", "▐●▌", "▐X▌", "[ ]", "( )", "[]", "()", "(○)", "○", "◯", "◻", "☐"})
#: Bullets of the other choices beside an arrow at the selected one.
ARROWS, _OTHERS = frozenset("❯›→▶▸►➤➜⏵▷»"), ("•", "-")
#: Marks before which some programs leave two columns.
_WIDE = ("=>", "->")
#: Keys in a hint below a list, which is no row of answers.
_UP_DOWN = frozenset("↑↓")
#: A hint at the keys that move the mark.
_MOVES = re.compile(r"[↑↓]|\b(?:arrows?|navigate|move)\b", re.IGNORECASE)
#: Boxes to be checked, behind a mark of their own.
_BOXES = frozenset(
    ("[ ]", "[x]", "[X]", "[*]", "[✓]", "[✔]", "( )", "(*)", "(●)", "(•)", "(○)", "○", "◯", "◉", "●", "◻", "◼", "☐")
)
NUMBER = re.compile(r"[([]?(\d{1,2})[.):\]] ?\S")
#: The same without a dot.
BARE_NUMBER = re.compile(r"(\d) {1,3}(?=\S)")
_YES_OR_NO = re.compile(
    r"[\[(<{][^\w\])>}]{0,3}y(?:es)? ?[/|,][^\w\])>}]{0,3}(?:\w{1,9} ?[/|,] ?)?n"
    r"|[\[(]y[\])](?:es)?\b.{0,40}[\[(]n[\])]|\by/n\b"
    r"|\byes(?:/| or )no\b|\b\w ?= ?yes\b",
    re.IGNORECASE,
)
#: The same in brackets or without at the end of a row, with a default and its value.
ENDS_IN_YES_OR_NO = re.compile(
    r"(?:[\[(<{] ?y(?:es)? ?[/|,] ?(?:\w{1,9} ?[/|,] ?){0,3}n\w*(?: ?[/|,] ?\w{1,9}){0,4} ?[\])>}]|\by(?:es)? ?/ ?no?)"
    r"(?: ?[\[(]\w{1,9}[\])])?\W{0,3}(?:\b(?:true|false|yes|no))?$",
    re.IGNORECASE,
)
_PARTS = re.compile(r" +[|/·•] +| {2,}|[\])>] *(?=[\[(<])")
#: A setting with its value behind the answers of a row.
FACT = re.compile(r" {3,}\w+: \w+$")
_BESIDE_IT = re.compile(r" {4,}")
_SENTENCE = re.compile(r"[·|,•]|\bto \w", re.IGNORECASE)
_SHELL = re.compile(r"\S{0,40}[$#%>❯›»]$")
_FACTS = re.compile(r"(?:[^·|•]{1,40} [|·•] ){2}")
_STATUS_BAR = re.compile(r"(?:.*? (?:[|·•│] | {2})){2}")
#: Buttons that accept a filled form.
_TAKES = re.compile(
    r"\b(ok(?:ay)?|save|submit|start|next|finish|done|connect|create|log ?in|sign ?in)\b", re.IGNORECASE
)
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
    r"(?:\W{0,4})(?:please )?"
    r"(?:enter|paste|type|answer|reply|choose|select|pick|provide|specify|which|what|where|how many)\b",
    re.IGNORECASE,
)
#: A row that tells to type one thing, and says no more.
TOLD = re.compile(
    r"\W{0,4}(?:please )?(?:enter|paste|type|provide|specify|name|give)\b(?! (?:to|of)\b)[\w ,'’()-]+:?$", re.IGNORECASE
)
#: A row that ends where text is to be typed, perhaps with its hidden characters.
_FIELD = re.compile(r".*[^\W\d_].*[:?›»>❯](?: ?[*•●]{1,64}| ?[█▌▋])?$")
#: Cursors that a program draws itself.
_CURSORS = (": █", "? █", "› █", ": ▌", "? ▌", ": ▋")
#: A question with its answers behind it, in brackets or with their letters in brackets.
_ANSWERS_BEHIND = re.compile(r"\?(?: [^?]*)? ?[\[(](?:\w[\])]|\w{1,12} ?[/|,=])[^?]*$")
#: The marks of choices below a library's question, which may all be the same.
_SHOWN = re.compile(r"(?:[❯›»>] ?)?(?:[✔✓◯◻☐○●◉◼⊙]|\[[ xX*✓]\]) +")
#: The key for an answer in front of it.
BEHIND_KEY = re.compile(r"[\[(<](?:\w|esc|enter|tab|space)[\])>]|[a-z]\) ", re.IGNORECASE)
#: The content that a field asks for.
GIVEN = re.compile(
    r"(?:\b|_)(?:commit message|branch|keys?|tokens?|passwords?|passphrase|codes?|secret|(?:user)?names?|urls?|"
    r"address|endpoint|e-?mail|path|folder|directory|file|provider|models?|number|choice|selection|option|connection|host|port|account|region|"
    r"language|version|author|licen[cs]e|answer|reply|reason|feedback)\b",
    re.IGNORECASE,
)
#: A button below others, and the beginning of one.
_BUTTON = re.compile(r"< {0,20}([^<>]{1,60}?) {0,70}>")
_IN_BUTTON = re.compile(r"(?<=<) +| +(?=>)")
_BUTTON_BEGIN = re.compile(r"< {0,20}[^<> ][^<>]{1,30}>?")
#: A row of buttons in brackets, and one of them.
_BRACKETED = re.compile(r"(?:\[ ?[^\W\d_][\w'’ ]{1,27}\] {0,8}){2,}")
_IN_BRACKETS = re.compile(r"\[ ?([^\[\]]+?) ?\]")
#: A glyph that turns while a program works.
SPINNER = re.compile(r"[\u2801-\u28ff]")
#: A person's text behind the prompt of a conversation.
_DRAFT = re.compile(r"(?:[❯›>»]|(?:you|user|human|me) ?[:>❯›»]) {1,2}\S", re.IGNORECASE)
#: The word of an answer that no hint at a key has.
_REFUSES = re.compile(r"\b(?:deny|reject|decline|refuse)\b", re.IGNORECASE)
#: A letter in brackets that begins its word.
_LETTER = re.compile(r"[\[(<](\w)[\])>](?=\w)")
#: The end of a row that takes any typed text.
_PROMPT_END = re.compile(r"[>❯›»]$")
BELOW, BELOW_ANSWERS = "rows below a question", "answers below one another"
YES_OR_NO_IN_ROW = "yes or no in a row"
#: A word that is typed to agree, in quotation marks or capitals, or a name that is typed once more.
TYPE_WORD = re.compile(
    r"\b(?i:type|enter|write) (?:[\"'‘“`][^\"'’”`]{1,40}[\"'’”`]|[A-Z]{2,20}|the \w+ ?name)(?: and press \w+)? "
    r"to (?:go on|con|proc|acc|appr|allow|agree|apply|run|del|rem|over|carry|exec)"
    r"|\b[Tt]o (?:go on|con|proc|acc|appr|agree)\w*,? type \S"
)
#: Answers in a sentence, each behind the key for it.
_KEYS_TO = re.compile(r"\b\w to (approve|allow|accept|confirm|reject|deny|decline|refuse)\b", re.IGNORECASE)
NUMBERED, BESIDE, ONE_MARKED = "numbered rows", "answers beside one another", "one row of a list is marked"
#: The mark of a choice behind a bar.
BAR = "▌"
#: A prompt for a number.
NUMBER_WANTED = re.compile(r"(?:#\?|[\[(]?\d{1,2} ?(?:[-–/,]|\.\.) ?\d{1,2}[\])]? ?[:>?›]?)")
BUTTONS = "buttons beside one another"
FIELD, BEHIND_MARK = "a field with the cursor", "a question behind its mark"
SUBMITTED = "keys that submit it"
KEY_TO_GO_ON, PAGE = "a key to go on", "a page to open"
#: The mark that libraries put before a question. `? for shortcuts` is a hint.
ASKED_BEHIND = re.compile(r"(?:\?|\[\?\]|◆) {1,2}(?!for |help|[❯›>»]$)\S", re.IGNORECASE)
_YES_KEY = r"y(?= to (?:con|app|acc|all|pro|run))"
_ASIDE = re.compile(r"\(.*\)")
_NOT_LEAVE = r"(?! to (?:quit|exit|close|leave|stop|abort))"
_PRESS = re.compile(r"(?:press|hit|tap) ", re.IGNORECASE)
_PRESSED = re.compile(
    rf"\b(?:press|hit|tap) \W?(?:enter|return|any key|{_YES_KEY})\b{_NOT_LEAVE}",
    re.IGNORECASE,
)
GO_ON = re.compile(
    rf"\b(?:press|hit|tap) \W?(?:enter|return|any key|space|{_YES_KEY})\b{_NOT_LEAVE}"
    r"|(?:\benter|\breturn|\bany key|[⏎↵])\W{0,2}(?:to )?"
    r"(?:sel|con|cho|sub|proc|start|open|acc|log|sign|save)|\[y\] ?\w.{1,40}\[n\] ?\w",
    re.IGNORECASE,
)
#: Hints that no input for any prompt has: the key that submits, the key that leaves, and an answer.
_SUBMITS = re.compile(
    r"(?:\benter|[⏎↵])\W{0,2}(?:to )?(?:submit|answer|confirm|save|accept|next|continue|done|finish)\b"
    r"|\bctrl.[sd] (?:to )?(?:save|done|finish)\b",
    re.IGNORECASE,
)
_QUITS = re.compile(r"\(?(?:esc(?:ape)?|ctrl.c)\b[^·•|]{0,24}(?:quit|exit|cancel|leave)\)?", re.IGNORECASE)
LEAVES = re.compile(r"\besc(?:ape)?\W{0,2}(?:to )?(?:cancel|clear|skip|dismiss|go back|back|decline)\b", re.IGNORECASE)
ANSWERS = re.compile(r"\banswers?\b", re.IGNORECASE)
#: The key of an answer, in parentheses at its end.
_OWN_KEY = re.compile(
    r"\((?:[a-z]|(?:shift|ctrl)\+\w+|tab|enter|return|space|esc(?:ape)?)(?: or \w+)?\)$", re.IGNORECASE
)
#: How far a program is.
_SHARE = re.compile(r"\b\d{1,3} ?%")
_PAGE = re.compile(r"https?://\S")
_BROWSER = re.compile(r"\b(browser|open|visit|go to|log ?in|sign ?in|authenticat\w+|authori[sz]\w+)\b", re.IGNORECASE)


class Candidate(NamedTuple):
    """
    A possible question: the first row of each answer in the tail, the *column* of the answers, and their labels.

    *sign* names how they were found; *pointed* is the index of the one with the *mark*, -1 for none.
    """

    sign: str
    starts: tuple[int, ...]
    labels: tuple[str, ...] = ()
    column: int = 0
    pointed: int = -1
    mark: str = ""

    @property
    def is_list(self) -> bool:
        """Return whether the answers are below one another."""
        return len(self.starts) > 1 and bool(self.labels)

    @property
    def takes(self) -> bool:
        """Return whether it is a row of buttons, which take what is above."""
        return self.sign == BUTTONS and not self.is_list


def lowest_candidate(rows: Sequence[Row], cursor_row: int | None, *, is_in_front: bool = False) -> Candidate | None:
    """
    Return the lowest possible answers, those with a mark if several end in one row; None for none.

    The visible cursor is in row *cursor_row* of the screen. *is_in_front*: *rows* are a box that is drawn over the
    rest; what is empty in it is to be filled in.
    """
    low = [at for at in upwards(len(rows), len(rows)) if _is_readable(rows[at])][:_LOW_OFFERS_ROWS]
    found = _lowest_choices(rows, low, is_hidden=cursor_row is None or is_in_front)
    if is_in_front and (found is None or found.takes) and (part := _empty_part(rows, cursor_row)):
        return part
    asked = _field(rows, low, cursor_row) or _library_question(rows, low, cursor_row) or _submitted_input(rows, low)
    if asked is not None and (found is None or _is_above(found, asked)):
        return asked
    other = _key_hint(rows, low, cursor_row) or _page_link(rows, low)
    return other if found is None else _stronger_of(rows, found, other)


def _lowest_choices(rows: Sequence[Row], low: Sequence[int], *, is_hidden: bool) -> Candidate | None:
    """Return the lowest answers, or the list above buttons; only colours may mark a choice if *is_hidden*."""
    offers = [one for one in _candidates(rows, low) if is_hidden or one.sign != BELOW]
    found = max(offers, key=lambda one: (one.starts[-1], one.pointed >= 0, len(one.starts)), default=None)
    if found is None or found.sign != BUTTONS:
        return found
    return next((one for one in offers if one.is_list and _is_right_above(rows, one, found)), found)


def _is_right_above(rows: Sequence[Row], one: Candidate, buttons: Candidate) -> bool:
    """Return whether only blank rows and edges are between the list *one* and the *buttons* that take its choice."""
    between = rows[one.starts[-1] + 1 : buttons.starts[0]]
    return one.starts[-1] < buttons.starts[0] and not any(row.text and not row.is_edge for row in between)


def _is_readable(row: Row) -> bool:
    """Return whether *row* has text of its own: the edge of a box only if the answers are in it."""
    return bool(row.text) and (not row.is_edge or have_both(parts_of(row.text)))


def _is_above(found: Candidate, asked: Candidate) -> bool:
    """Return whether *found* is above *asked*, a field or question that comes after it."""
    if asked.sign == BEHIND_MARK:
        return found.starts[0] < asked.starts[0] or found.sign == BELOW
    if asked.sign == SUBMITTED and found.sign != BELOW and found.starts[-1] <= asked.starts[0]:
        # An input with a mark in front of it is no choice; a choice with one is no input.
        return len(asked.starts) > 1 and (found.pointed < 0 or found.starts[found.pointed] != asked.starts[0])
    return found.starts[-1] < asked.starts[-1] + found.is_list


def _stronger_of(rows: Sequence[Row], found: Candidate, other: Candidate | None) -> Candidate:
    """Return *found*, or the hint *other* below it if that is all there is to do."""
    if other is None:
        return found
    between = rows[found.starts[-1] + 1 : other.starts[0]]
    is_parted = sum(bool(row.text) and not is_hint(row.text) for row in between) > _LAST_CHOICE_ROWS
    is_pressed = found.pointed < 0 and _PRESSED.search(rows[other.starts[0]].text) is not None
    return other if is_parted or is_pressed else found


def _candidates(rows: Sequence[Row], low: Sequence[int]) -> Iterator[Candidate]:
    """Yield the lowest list or row of each kind among the rows *low*."""
    for most, find in (
        (_LOW_OFFERS_ROWS, _marked_list),
        (_LOW_OFFERS_ROWS, _numbered_list),
        (_LAST_CHOICE_ROWS, _barred_list),
        (_LOW_OFFERS_ROWS, _buttons_below),
        (_CHOICE_TO_HINT_ROWS, _answers_beside),
    ):
        found = next((offer for at in low[:most] if (offer := find(rows, at)) is not None), None)
        if found is not None:
            yield found
    if (below := _lowest_answers(rows, low)) is not None:
        yield below


#: Cached: a row is compared with many others, and most rows are the same at the next look.
@functools.lru_cache(maxsize=2048)
def _split_mark(text: str) -> tuple[str, str]:
    """Return the mark in front of a row, and the rest."""
    match = _MARK.match(text)
    return (match[1], text[match.end() :]) if match is not None else ("", text)


def _bare(text: str) -> str:
    """Return *text* without its mark and the box that may be behind that."""
    label = _split_mark(text)[1]
    box, rest = _split_mark(label)
    return rest if box in _BOXES else label


def are_ticked(texts: Iterable[str]) -> bool:
    """Return whether each of *texts* has a box to tick, behind its mark or alone."""
    marks = (_split_mark(text) for text in texts)
    return all(mark in _BOXES or _split_mark(rest)[0] in _BOXES for mark, rest in marks)


def _label(text: str) -> str:
    """Return the text of a choice, without another panel's text beside it."""
    return _BESIDE_IT.split(text, maxsplit=1)[0]


def is_answer(label: str) -> bool:
    """Return whether *label* begins with a yes or a no."""
    return any(_answers(label))


def have_both(labels: Iterable[str]) -> bool:
    """Return whether there is a yes and a no among *labels*."""
    found = [_answers(label) for label in labels]
    return any(yes for yes, _ in found) and any(no for _, no in found)


@functools.lru_cache(maxsize=2048)
def _answers(label: str) -> tuple[bool, bool]:
    """Return whether *label* begins with a yes, and with a no: a letter in brackets is part of its word."""
    head = _LETTER.sub(r"\1", label[:_LEADING_ANSWER_CHARS])
    return YES.search(head) is not None, NO.search(head) is not None


@functools.lru_cache(maxsize=2048)
def _names_keys(label: str) -> bool:
    """Return whether a row is a hint at keys, and no choice."""
    if _PRESS.match(label) or LEAVES.match(label) or (_ASIDE.fullmatch(label) and is_hint(label)):
        return True
    if NUMBER.match(label) or _OWN_KEY.search(label) or is_answer(label):
        return False
    return bool(KEYS_HINT.match(label) or (KEY.search(label) and _SENTENCE.search(label)))


def _marked_list(rows: Sequence[Row], at: int) -> Candidate | None:
    """Return the list of the marked row *at*; None if it is in none."""
    mark, label = _split_mark(rows[at].text)
    if mark in _UNMARKED:
        return None
    column = _label_column(rows[at], label)
    starts = _aligned(rows, at, column, mark, _LABEL_CHARS)
    if NUMBER.match(label):
        starts = _in_number_order(rows, starts, starts.index(at)) if starts else []
    if len(starts) < 2:
        return None
    # Of a long list, the choices around the pointer.
    first = max(0, min(starts.index(at) - MAX_DIALOG_CHOICES // 2, len(starts) - MAX_DIALOG_CHOICES))
    starts = starts[first : first + MAX_DIALOG_CHOICES]
    labels = tuple(_label(_bare(rows[start].text)) for start in starts)
    return Candidate(ONE_MARKED, tuple(starts), labels, column, starts.index(at), mark)


def _barred_list(rows: Sequence[Row], at: int) -> Candidate | None:
    """
    Return the list with its last row *at*, above a hint at the keys that move, if a bar is before one choice.

    Each choice has an explanation below it where blank rows part them.
    """
    hint = next((row.text for row in rows[at + 1 :] if any(map(str.isalnum, row.text))), "")
    near = _column_above(rows, at) if is_hint(hint) and _MOVES.search(hint) else []
    parts = [list(part) for is_text, part in itertools.groupby(near, lambda one: rows[one].text != "") if is_text]
    groups = [[one] for one in near] if len(parts) == 1 else [part for part in parts if len(part) == len(parts[0]) > 1]
    starts = tuple(group[0] for group in groups)
    marked = [place for place, start in enumerate(starts) if rows[start].is_boxed]
    are_barred = sum(rows[one].is_boxed for one in near) == len(groups[marked[0]]) if len(marked) == 1 else False
    if not are_barred or not max(2, len(parts)) <= len(starts) <= MAX_DIALOG_CHOICES:
        return None
    return Candidate(ONE_MARKED, starts, tuple(rows[at].text for at in starts), rows[at].indent, marked[0], BAR)


def _column_above(rows: Sequence[Row], at: int) -> list[int]:
    """Return the rows from *at* upwards in the same column, up to a heading, with single blank ones between."""
    found = [at]
    for position in upwards(at, _SHOWN_ROWS):
        row = rows[position]
        is_blank = not row.text and not row.is_edge and rows[found[0]].text != ""
        is_other = row.is_edge or row.indent != rows[at].indent or _is_no_choice(row.text, BARE_CHARS, is_above=True)
        if not is_blank and (is_other or COUNT.fullmatch(row.text)):
            break
        found.insert(0, position)
    return found if rows[found[0]].text else found[1:]


def _in_number_order(rows: Sequence[Row], starts: list[int], at: int) -> list[int]:
    """
    Return the *starts* with numbers that continue the one in place *at*, down and up.

    Other text may be in their column, too.
    """
    numbers = [NUMBER.match(_split_mark(rows[start].text)[1]) for start in starts]
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


def _numbered_list(rows: Sequence[Row], at: int) -> Candidate | None:
    """Return the list that ends in the numbered row *at*, from 1 on; None if it is in none."""
    form = NUMBER if NUMBER.match(rows[at].text) else BARE_NUMBER
    number = form.match(rows[at].text)
    if number is None:
        return None
    starts, wanted = [at], int(number[1]) - 1
    for position in upwards(at, MAX_DIALOG_CHOICES * _BETWEEN_OFFERS_ROWS):
        number = form.match(rows[position].text)
        if not wanted or starts[-1] - position > _BETWEEN_OFFERS_ROWS:
            break
        if number is not None and rows[position].indent == rows[at].indent:
            if int(number[1]) != wanted:
                break
            starts.append(position)
            wanted -= 1
    if wanted or not 2 <= len(starts) <= MAX_DIALOG_CHOICES:
        return None
    starts.reverse()
    labels = tuple(_label(rows[i].text) for i in starts)
    if form is NUMBER:
        return Candidate(NUMBERED, tuple(starts), labels, rows[at].indent)
    return _bare_numbered(rows, tuple(starts), labels)


def _bare_numbered(rows: Sequence[Row], starts: tuple[int, ...], labels: Sequence[str]) -> Candidate | None:
    """Return the rows at *starts* behind numbers without a dot; None if neither a heading nor their words ask."""
    sign = BELOW_ANSWERS if have_both(labels) else NUMBERED
    if sign == NUMBERED and not is_heading(text_above(rows, starts[0]).text):
        return None
    texts, pointed, mark = _without_marks([BARE_NUMBER.sub("", label) for label in labels])
    numbered = tuple(f"{at} {text}" for at, text in enumerate(texts, 1))
    return Candidate(sign, starts, numbered, rows[starts[0]].indent, pointed, mark)


def _lowest_answers(rows: Sequence[Row], low: Sequence[int]) -> Candidate | None:
    """Return the lowest short rows, one of them among *low*, that may be answers below one another; None if none."""
    too_many: set[int] = set()
    for at in low:
        label = rows[at].text
        if at in too_many or _is_no_choice(label, BARE_CHARS, is_above=False):
            continue
        mark, text = _split_mark(label)
        column = _label_column(rows[at], text) if mark in _UNMARKED else rows[at].indent
        starts = _aligned(rows, at, column, "", BARE_CHARS, enough=MAX_DIALOG_CHOICES + 1)
        if len(starts) > MAX_DIALOG_CHOICES:
            too_many.update(starts)
        elif (found := _answers_below(rows, starts)) is not None:
            return found
    return None


def _answers_below(rows: Sequence[Row], starts: Sequence[int]) -> Candidate | None:
    """Return the short rows at *starts* as answers below one another; None if they are none."""
    labels = tuple(rows[start].text for start in starts)
    if len(starts) < 2 or any(map(_is_other_row, labels)):
        return None
    indent = rows[starts[0]].indent
    if all(map(_BUTTON.fullmatch, labels)):
        return Candidate(
            "buttons below one another", tuple(starts), tuple(label.strip("< >") for label in labels), indent
        )
    marks, bare = zip(*map(_split_mark, labels), strict=True)
    labels = bare if all(marks) and _UNMARKED.issuperset(marks) else labels
    is_asked = is_heading(text_above(rows, starts[0]).text)
    sign = BELOW_ANSWERS if have_both(labels) else BELOW
    return Candidate(sign, tuple(starts), labels, indent) if is_asked or sign != BELOW else None


def _is_row_of_answers(label: str) -> bool:
    return _YES_OR_NO.search(label) is not None or are_buttons(label)


def is_heading(text: str) -> bool:
    """Return whether *text*, right above a list, asks for one of its rows."""
    return text.endswith(("?", ":")) or CHOOSE.match(text) is not None


def place_above(rows: Sequence[Row], at: int) -> int:
    """Return the place of the nearest row with text above row *at*; *at* itself if there is none near."""
    return next((over for over in upwards(at, _NEAR_ROWS) if rows[over].text), at)


def text_above(rows: Sequence[Row], at: int) -> Row:
    """Return the nearest row with text above row *at*; an empty one if there is none near."""
    over = place_above(rows, at)
    if over != at and COUNT.fullmatch(rows[over].text):
        return text_above(rows, over)
    return rows[over] if over != at else Row(-1, 0, "")


def _buttons_below(rows: Sequence[Row], at: int) -> Candidate | None:
    """
    Return the buttons below one another, with the last one in row *at*; None if there are none.

    Each is between two lines of its own. Rows of a table share their lines.
    """
    starts: list[int] = []
    while _is_button(rows, at) and rows[at].is_boxed is rows[(starts or [at])[0]].is_boxed:
        starts.insert(0, at)
        at -= 3
    labels = tuple(rows[start].text for start in starts)
    return Candidate(BUTTONS, tuple(starts), labels, rows[starts[0]].indent) if have_both(labels) else None


def _is_button(rows: Sequence[Row], at: int) -> bool:
    """Return whether row *at* is a short text between two lines."""
    return is_between_edges(rows, at) and _is_text(rows, at) and _may_be_button(rows[at].text)


def _is_other_row(label: str) -> bool:
    """Return whether a row among answers is another: an input, a placeholder, a page, work, a status bar, a prompt."""
    return any(one.match(label) for one in (INPUT, PLACEHOLDER, _PAGE, SPINNER, _FACTS, _SHELL))


def _answers_beside(rows: Sequence[Row], at: int) -> Candidate | None:
    """Return the answers or buttons in the row *at*; None if there are none."""
    text = FACT.sub("", rows[at].text)
    if len(text) > _ANSWER_ROW_CHARS or not _UP_DOWN.isdisjoint(text):
        return None
    verbs = tuple(_KEYS_TO.findall(text))
    parts = verbs if len(verbs) > 1 else _wrapped(rows, at) or parts_of(text)
    is_keyed = all(map(BEHIND_KEY.match, parts))
    if _YES_OR_NO.search(text) and not (is_keyed and have_both(parts)):
        return None if _is_draft(rows, at) else Candidate(YES_OR_NO_IN_ROW, (at,), (), rows[at].indent)
    if not 2 <= len(parts) <= _BESIDE_ANSWERS:
        return None
    is_refused = is_keyed and any(map(_REFUSES.search, parts))
    if is_refused or have_both(parts):
        return Candidate(BESIDE, (at,), *_marked_beside(parts, rows[at].indent))
    return Candidate(BUTTONS, (at,), _bare_buttons(parts), rows[at].indent) if are_buttons(text, parts) else None


@functools.lru_cache(maxsize=2048)
def are_buttons(text: str, parts: tuple[str, ...] = ()) -> bool:
    """Return whether *text*, with its *parts*, is a row of buttons that take or leave a form."""
    parts = parts or parts_of(text)
    are_drawn = all(map(_BUTTON_BEGIN.fullmatch, parts)) or _BRACKETED.fullmatch(text) is not None
    bare = _bare_buttons(parts)
    is_form = are_drawn or any(map(_TAKES.search, bare))
    return 2 <= len(bare) <= _BESIDE_ANSWERS and is_form and all(map(_may_be_button, bare))


def _bare_buttons(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip(" <>[]") or part for part in parts)


def _marked_beside(parts: tuple[str, ...], column: int) -> tuple[tuple[str, ...], int, int, str]:
    """Return *parts* of a row without their marks, *column*, and the place and the mark of the one that is selected."""
    labels, pointed, mark = _without_marks(_bare_buttons(parts) if _BUTTON_BEGIN.fullmatch(parts[0]) else parts)
    return labels, column, pointed, mark


def _without_marks(parts: Sequence[str]) -> tuple[tuple[str, ...], int, str]:
    """Return *parts* without their marks, if all have one, and the place and the mark of the selected one."""
    marks, labels = zip(*map(_split_mark, parts), strict=True)
    chosen = [at for at, mark in enumerate(marks) if mark not in _UNMARKED]
    if len(chosen) != 1 or not all(marks):
        return tuple(parts), -1, ""
    return labels, chosen[0], marks[chosen[0]]


def parts_of(text: str) -> tuple[str, ...]:
    """Return the texts that are beside one another in a row."""
    if _BRACKETED.fullmatch(text):
        return tuple(_IN_BRACKETS.findall(text))
    if text.startswith("<") and text.count("<") > 1:
        text = _IN_BUTTON.sub("", text)
    return tuple(part for part in _PARTS.split(text) if part.strip(" <>"))


def _wrapped(rows: Sequence[Row], at: int) -> tuple[str, ...]:
    """
    Return the buttons of the row above *at* and of this row, if they are answers only together or all of them are.

    A blank row or lines across may be between.
    """
    above = near_above(rows, at)
    if above is None or is_hint(rows[above].text) or is_hint(rows[at].text):
        return ()
    over, own = parts_of(rows[above].text), parts_of(rows[at].text)
    is_row = len(over) > 1 and all(map(_may_be_button, (*over, *own))) and have_both((*over, *own))
    is_whole = have_both(over) or (have_both(own) and not all(map(is_answer, over)))
    return (*over, *own) if is_row and not is_whole else ()


def _may_be_button(part: str) -> bool:
    """Return whether *part* of a row may be a button: short words, that are no hint at a key."""
    return len(part) <= _OFFERED_BUTTON_CHARS and part[0].isalpha() and not KEY.match(part)


def _label_column(row: Row, label: str) -> int:
    return row.indent + width(row.text[: len(row.text) - len(label)])


def _aligned(
    rows: Sequence[Row], at: int, column: int, mark: str, most: int, *, enough: int = sys.maxsize
) -> list[int]:
    """Return *enough* rows around *at* with a label in the same *column*; none if one has the same *mark*."""
    found = [at]
    own = _own_column(rows[at], column)
    for step, stop in ((-1, -1), (1, len(rows))):
        last = at
        for position in range(at + step, stop, step):
            row = rows[position]
            if abs(position - last) > _BETWEEN_OFFERS_ROWS or row.is_edge:
                break
            if not row.text:
                continue
            its, label = _split_mark(row.text)
            place = _label_place(row, own, mark, column)
            if place > column or (mark and place < column and _is_heading(rows, position, step, column)):
                continue
            if place < column or not _are_alike(row, rows[at], label, most, is_above=step < 0):
                break
            if its == mark != "" and place != row.indent:
                return []
            found.append(position)
            last = position
            if len(found) >= enough:
                return sorted(found)
    return sorted(found)


def _are_alike(row: Row, other: Row, label: str, most: int, *, is_above: bool) -> bool:
    """Return whether *row* with its *label* may be a choice beside *other*: both or none in a box, and behind a key."""
    is_like = row.is_boxed is other.is_boxed and _is_behind_key(row.text) is _is_behind_key(other.text)
    return is_like and not _is_no_choice(label, most, is_above=is_above)


@functools.lru_cache(maxsize=2048)
def _is_behind_key(text: str) -> bool:
    """Return whether the label of the row *text* is behind a key."""
    return BEHIND_KEY.match(_split_mark(text)[1]) is not None


def _own_column(row: Row, column: int) -> int:
    """Return *column* if the label of *row* begins with a mark of its own; else -1."""
    return column if _split_mark(_split_mark(row.text)[1])[0] else -1


def _label_place(row: Row, own: int, mark: str, column: int) -> int:
    """
    Return the column of the label of *row*: behind its mark, but in the column *own* a mark is part of the label.

    Beside the *column* of a label behind a wide *mark*, it is that.
    """
    its, label = _split_mark(row.text)
    is_other = mark in ARROWS and its in _OTHERS
    is_marked = row.indent != own and (is_other or its in {*_UNMARKED, mark})
    place = _label_column(row, label) if is_marked else row.indent
    return column if mark in _WIDE and place == column - 1 else place


def _is_heading(rows: Sequence[Row], at: int, step: int, column: int) -> bool:
    """Return whether the row at *at* heads a part of a list: short, with rows of the list on both sides."""
    beyond = next((row for row in rows[at + step :: step][:_NEAR_ROWS] if row.text), None)
    is_name = (
        len(rows[at].text) <= _OFFERED_BUTTON_CHARS
        and rows[at].text[0].isalpha()
        and not rows[at].text.endswith(("?", ":"))
    )
    return is_name and beyond is not None and not beyond.is_edge and beyond.indent == column


@functools.lru_cache(maxsize=2048)
def _is_no_choice(label: str, most: int, *, is_above: bool) -> bool:
    """
    Return whether a row in the column of choices is none: too long, a hint at keys, an empty input, several answers, or
    a question above the others.
    """
    if any(one.match(label) for one in (EMPTY, ASKED_BEHIND)) or _is_row_of_answers(label):
        return True
    label = _label(label)
    is_bare = most == BARE_CHARS
    heads = is_heading(label) if is_above and is_bare else label.endswith("?" if is_bare else ("?", ":"))
    return len(label) > most or _names_keys(label) or (heads and (is_bare or is_above))


def _field(rows: Sequence[Row], low: Sequence[int], cursor_row: int | None) -> Candidate | None:
    """
    Return the row of the cursor as a field, if only hints are below it.

    If that row is an empty input, the field is the row right above. A row that names a word to type may be higher.
    """
    at = _place_of_cursor(rows, low, cursor_row)
    bar = rows[-1:] if rows and is_status_bar(rows[-1].text) else ()
    if at is None or not _only_hints([row for row in rows[at + 1 :] if row not in bar]):
        return None
    if EMPTY.fullmatch(rows[at].text) and (above := _row_of_field(rows, at)) is not None:
        at = above
        if not _asks_for_text(rows, at):
            return None
    elif not _ends_in_field(rows[at]) or is_typed(rows[at], rows[:at]) or _is_draft(rows, at):
        return None
    return Candidate(FIELD, tuple(range(_first_of_field(rows, at), at + 1)), column=rows[at].indent)


def _row_of_field(rows: Sequence[Row], at: int) -> int | None:
    """Return the row above the empty input *at* that may be its name; None for none."""
    if _is_text(rows, at - 1):
        return at - 1
    return at - 2 if _is_text(rows, at - 2) and TYPE_WORD.search(rows[at - 2].text) else None


def _place_of_cursor(rows: Sequence[Row], low: Sequence[int], cursor_row: int | None) -> int | None:
    """
    Return the row of the cursor, or the last row if that is right above it and tells what to type.

    If the cursor is hidden: the last row if it is to be filled in or has a drawn cursor.
    """
    if cursor_row is not None and rows and rows[-1].number == cursor_row - 1 and TOLD.fullmatch(rows[-1].text):
        return len(rows) - 1
    if cursor_row is not None:
        return next((at for at in low[:_LAST_CHOICE_ROWS] if rows[at].number == cursor_row), None)
    return next((at for at in low[:1] if FILL.match(rows[at].text) or rows[at].text.endswith(_CURSORS)), None)


def _empty_part(rows: Sequence[Row], cursor_row: int | None) -> Candidate | None:
    """
    Return the row above the part of a box that is to be filled in, or a button that is alone at its end.

    That part is an empty row with the cursor, or a box that is the only one in it.
    """
    top, bottom = _only_box(rows)
    place = next((at for at, row in enumerate(rows) if row.number == cursor_row and not row.text), top)
    at = next((at for at in upwards(place, _NEAR_ROWS + 1) if rows[at].text), -1)
    if at < 0 or any(_SHARE.search(row.text) for row in rows):
        return _only_button(rows)
    rest = texts_of(rows[at + 1 : max(top, at + 1)]) + texts_of(rows[max(bottom, at + 1) :])
    is_last = all(are_buttons(text) or is_hint(text) for text in rest)
    return Candidate(FIELD, (at,), column=rows[at].indent) if is_last else None


def _only_box(rows: Sequence[Row]) -> tuple[int, int]:
    """Return the edges of the first box in *rows* if it may be an input, with at most one text; else 0 and 0."""
    edges = [at for at, row in enumerate(rows) if row.is_edge and not row.text][:2]
    is_input = len(edges) > 1 and edges[0] + 1 < edges[1] and len(texts_of(rows[edges[0] : edges[1]])) < 2
    return (edges[0], edges[1]) if is_input else (0, 0)


def texts_of(rows: Sequence[Row]) -> list[str]:
    """Return the texts of *rows*, without edges."""
    return [row.text for row in rows if row.text and not row.is_edge]


def _only_button(rows: Sequence[Row]) -> Candidate | None:
    """Return the last row if it is one button, which takes note of what is above."""
    at = max((at for at, row in enumerate(rows) if row.text), default=0)
    button, over = (_BUTTON.fullmatch(rows[one].text) for one in (at, at - 1))
    return Candidate(BUTTONS, (at,), (button[1],), rows[at].indent) if button is not None and over is None else None


def is_between_edges(rows: Sequence[Row], at: int) -> bool:
    """Return whether the row at *at* is alone in a box: a button, or an input, in which nothing asks."""
    return 0 < at < len(rows) - 1 and rows[at - 1].is_edge and rows[at + 1].is_edge


def _is_draft(rows: Sequence[Row], at: int) -> bool:
    """Return whether the row at *at* is what a person types at a prompt or into a box: it has no answers at its end."""
    text = rows[at].text
    is_field = at > 0 and ASKED_BEHIND.match(rows[at - 1].text) is not None
    is_theirs = is_field or _DRAFT.match(text) is not None or is_between_edges(rows, at)
    return is_theirs and not ENDS_IN_YES_OR_NO.search(text)


def _ends_in_field(row: Row) -> bool:
    """Return whether *row* ends where a word is to be typed."""
    is_field = _FIELD.fullmatch(row.text) and not _BUTTONS.search(row.text)
    is_told = TOLD.fullmatch(row.text) and not row.is_boxed
    return bool(is_field or is_told or _ANSWERS_BEHIND.search(row.text) or TYPE_WORD.search(row.text))


def _first_of_field(rows: Sequence[Row], at: int) -> int:
    """Return the first row of the text that is wrapped into the row at *at*."""
    first = at
    goes_on = not _PROMPT_END.search(rows[at].text)
    while goes_on and at - first < _NEAR_ROWS and rows[first].text[:1].islower() and _is_text(rows, first - 1):
        first -= 1
    return first


def _submitted_input(rows: Sequence[Row], low: Sequence[int]) -> Candidate | None:
    """Return the hint at the key that submits, with the input above it, if there is one."""
    hint = next((at for at in low[:_LAST_CHOICE_ROWS] if _SUBMITS.search(rows[at].text)), None)
    if hint is None or not _only_hints(rows[hint + 1 :]):
        return _named_input(rows, low[0]) if low and hint is None else None
    is_left = LEAVES.search(rows[hint].text) or any(LEAVES.search(row.text) for row in rows[hint + 1 :])
    if not is_left and not ANSWERS.search(rows[hint].text):
        return None
    field = next((at for at in upwards(hint, _BETWEEN_OFFERS_ROWS) if rows[at].text), hint)
    first = field if INPUT.match(rows[field].text) else hint
    return Candidate(SUBMITTED, (first, hint) if first < hint else (hint,), column=rows[first].indent)


def _named_input(rows: Sequence[Row], hint: int) -> Candidate | None:
    """Return the input above a *hint* at the key that leaves it, below its name, where nothing else is shown."""
    field = place_above(rows, hint)
    name = place_above(rows, field)
    is_named = INPUT.match(rows[field].text) and name < field and GIVEN.search(rows[name].text)
    is_alone = _QUITS.fullmatch(rows[hint].text) and not any(row.text or row.is_edge for row in rows[:name])
    return Candidate(SUBMITTED, (field, hint), column=rows[field].indent) if is_named and is_alone else None


def is_typed_above(rows: Sequence[Row]) -> bool:
    """Return whether text was typed behind an unnamed prompt in one of *rows*, as in a conversation."""
    return any(INPUT.match(row.text) and not EMPTY.match(row.text) for row in rows)


def _is_text(rows: Sequence[Row], at: int) -> bool:
    return at >= 0 and bool(rows[at].text) and not rows[at].is_edge


def _asks_for_text(rows: Sequence[Row], at: int) -> bool:
    """Return whether the row at *at*, or the row that continues in it, asks for text to be typed below."""
    texts = [row.text for row in rows[max(0, at - 1) : at + 1]]
    return any(
        "?" in text or text.endswith((":", "：")) or FILL.match(text) or GO_ON.search(text) or TYPE_WORD.search(text)
        for text in texts
    )


def _library_question(rows: Sequence[Row], low: Sequence[int], cursor_row: int | None) -> Candidate | None:
    """
    Return the lowest row behind the mark of a question, and the rows that follow it up to a blank one.

    None if it is answered: the answer is behind it, or what came of it is below it.
    """
    at = next((at for at in low if ASKED_BEHIND.match(rows[at].text)), None)
    if at is None:
        return None
    end = next((end for end in range(at + 1, len(rows)) if not rows[end].text or rows[end].is_edge), len(rows))
    shown = rows[at + 1 : end]
    is_below = cursor_row is not None and cursor_row > rows[end - 1].number
    is_printed = (is_below or rows[at].text[-1:].isalnum()) and any(_is_printed(row, rows[at]) for row in shown[:1])
    if (
        is_printed
        or any(SPINNER.match(row.text) for row in shown)
        or end - at > _SHOWN_ROWS
        or not _only_hints(rows[end:])
    ):
        return None
    return Candidate(BEHIND_MARK, tuple(range(at, end)), column=rows[at].indent)


def listed_above(rows: Sequence[Row], at: int) -> Candidate | None:
    """Return the list that ends right above row *at*, which asks for the number, the key or the word of a choice."""
    last = near_above(rows, at)
    if last is None:
        return None
    return _numbered_list(rows, last) or marked_above(rows, at) or _lowest_answers(rows, [last])


def marked_above(rows: Sequence[Row], at: int) -> Candidate | None:
    """Return the list with a mark that ends right above row *at*; None if there is none."""
    last = near_above(rows, at)
    if last is None:
        return None
    found = (_marked_list(rows, one) for one in upwards(last + 1, MAX_DIALOG_CHOICES))
    return next((one for one in found if one is not None and one.starts[-1] == last), None)


def shown_choices(rows: Sequence[Row], offer: Candidate) -> tuple[list[int], list[str]]:
    """Return the rows below a library's question that are its choices, and their labels; none if they are none."""
    found = [at for at in offer.starts[1:] if not _names_keys(rows[at].text)]
    marked = [at for at in found if _SHOWN.match(rows[at].text)]
    found = marked or [at for at in found if not rows[at].text.endswith(":")]
    labels = [_SHOWN.sub("", _label(rows[at].text)) for at in found]
    return (found, labels) if len(found) > 1 else ([], [])


def _is_printed(row: Row, question: Row) -> bool:
    """Return whether *row* is text below a *question*, in its column, and neither a choice with a mark nor a hint."""
    return row.indent <= question.indent and not _split_mark(row.text)[0] and not is_hint(row.text)


def is_named_yes_or_no(text: str) -> bool:
    """Return whether words are in front of the yes or no in a row."""
    found = _YES_OR_NO.search(text)
    return found is not None and re.search(r"[^\W\d_]{3}", text[: found.start()]) is not None


def is_status_bar(text: str) -> bool:
    """Return whether *text* is like the last row of a screen: facts beside one another, and no hint at a key."""
    return _STATUS_BAR.match(text) is not None and not is_hint(text)


def _only_hints(rows: Sequence[Row]) -> bool:
    return all(row.is_edge or not row.text or is_hint(row.text) for row in rows)


def _key_hint(rows: Sequence[Row], low: Sequence[int], cursor_row: int | None) -> Candidate | None:
    """Return the hint at a key to continue; None if there is none."""
    wanted = GO_ON if cursor_row is None else _PRESSED
    at = next((at for at in low[:_LAST_CHOICE_ROWS] if wanted.search(rows[at].text)), None)
    if at is None or _is_of_input(rows, at):
        return None
    # A command may follow that the person runs first.
    below = [row for row in rows[at + 1 :] if row.text or row.is_edge]
    is_block = rows[at].text.endswith(":") and bool(below) and all(_is_inside(row, rows[at]) for row in below)
    return Candidate(KEY_TO_GO_ON, (at, len(rows) - 1) if is_block else (at,), column=rows[at].indent)


def _is_of_input(rows: Sequence[Row], hint: int) -> bool:
    """Return whether a *hint* names the key that sends what is typed at the prompt above it, which nothing names."""
    field = place_above(rows, hint)
    return INPUT.match(rows[field].text) is not None and not rows[field].is_boxed and not _is_text(rows, field - 1)


def _is_inside(row: Row, above: Row) -> bool:
    """Return whether *row* belongs to the row *above* that introduces it: it is further to the right, in no box."""
    return row.indent > above.indent and not row.is_boxed and not row.is_edge


def _page_link(rows: Sequence[Row], low: Sequence[int]) -> Candidate | None:
    """Return the link that a browser should open; None if there is none."""
    at = next((at for at in low[:_CHOICE_TO_HINT_ROWS] if _PAGE.search(rows[at].text)), None)
    if at is None or not any(
        _BROWSER.search(row.text) for row in rows[max(0, at - _BETWEEN_OFFERS_ROWS) : at + _BETWEEN_OFFERS_ROWS]
    ):
        return None
    return Candidate(PAGE, (at,), column=rows[at].indent)
