"""
Dialogs of agents without rules of their own: how programs ask, whatever their name.

The last rows of the screen are read. The rules, by the names that `tally why` shows:

* `numbered choices`: `1. Yes`, `2. No`, … with a pointer at one of them, and only hints below;
* `pointed choices`: the same without numbers, with a hint that names the keys, below a question or a wish for consent
  (`_wants_consent`);
* `choices in columns`: numbered ones, several in a row, below a question;
* `lettered choices`: `[y] Approve  [n] Deny`;
* `yes or no`: a last row that ends in `[y/N]`, `(Y)es/(N)o` or similar, with the cursor on it;
* `password`: a last row that ends in `password:` or similar, with the cursor on it.

In the last two, text behind a prompt is typed, if a row above begins with the same prompt. A chat that quotes such a
dialog, a transcript or a log has other text below it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from tallylight.evidence.choices import (
    KEYS_HINT,
    NO,
    YES,
    Choices,
    buttons,
    choices_in_columns,
    lettered_choices,
    numbered_choices,
    pointed_choices,
)
from tallylight.evidence.tail import Row, clean_line, clean_lines, is_in, upwards
from tallylight.model.dialog import Choice, Dialog, Place
from tallylight.model.status import Kind

#: Rows above the choices that may be the question's.
_ABOVE_CHOICES_ROWS = 24

_YES_NO = re.compile(
    r"(?:[\[(] ?(?P<first>y(?:es)?) ?[/|] ?(?P<second>no?)(?: ?[/|] ?\w{1,12}){0,4} ?[\])]"
    r"|\(Y\)es/\(N\)o\S{0,3}(?: ?/?\([A-Z]\)[\w' ]{1,24}){0,4})"
    r"(?: ?\[[\w ]{1,12}\])? ?[:?>»]{0,2} ?\w{0,12}$",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"\S{0,16}[>❯›] ")
#: The prompt of a shell or of a similar program, with a command behind it.
_SHELL = re.compile(
    r"(?:(?:[^\s?<]+ ){0,3}[^\s?<]*[$#❯»λ]|(?:[\w@.:~/-]*[^\W\d])?%|(?:[^\s?<]+ )?[^\s?<]*[\d:)~/]>"
    r"|>>>|\.{3}:?|In \[\d{1,6}\]:|\(\w{1,12}\)|➜ .{1,60}\)|PS \S{1,60}>|~\S* >) {1,2}\S"
)
_LETTERED = re.compile(r"\(([A-Z])\)([\w' ]{1,24})")
_SECRET = re.compile(
    r"\b(pass ?word|pass ?phrase|pass ?code|pin|otp|2fa code|verification code|one-time (?:code|password)|api[ -]key|"
    r"access token|auth(?:entication|orization) code)\b[^:?]{0,80}[:?] ?[*•●]{0,64}$",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\b(allow|approve|permission|permit|proceed|trust|run|execute|apply|create|overwrite|delete|make this edit|"
    r"grant|approval|consent|accept|untrusted|deny)\b",
    re.IGNORECASE,
)
#: The heading of a list of settings, such as `Select Permission Mode`.
_SETTING = re.compile(r"(?:select|choose|pick) ", re.IGNORECASE)
#: The heading of a menu of settings: the subject in a few words, without an end mark.
_OF_SETTINGS = re.compile(
    r"(?:[>?▸] )?(?:(?:select|choose|pick|switch|change|update|set|manage|resume|search) )?(?:[\w-]+ ){0,4}"
    r"(?:models?|themes?|editors?|settings|permissions|modes?|sessions?|providers?|effort|methods?|styles?|languages?|"
    r"accounts?|agents?|servers?|plugins?|history|tree|preferences|configuration|config)(?: \(.{1,40}\)|:)?",
    re.IGNORECASE,
)
#: A field that filters the choices below it, with the text typed into it.
_FILTER = re.compile(r"[⌕🔍🔎]|(?:[>❯›/] ?)?(?:type to )?(?:search|filter)\b", re.IGNORECASE)
#: Rows that are searched upwards from the choices, or from such a field, for the nearest one with text.
_NEAR_ROWS = 3
#: The hint how to leave a dialog without an answer.
_LEAVE = re.compile(r"\besc(?:ape)?\b.*\b(?:cancel|reject|exit|quit|back|close|skip|leave)\b", re.IGNORECASE)
#: The same for a program that shows a text.
PAGER = re.compile(
    r"\(END\)|:$|.*\b(?<!\^)(?:q|ctrl\+\w) (?:to |again to )?(?:quit|close|exit|toggle|return)\b", re.IGNORECASE
)
#: The end of a question, perhaps with its answers or a default.
_ENDS_ASKING = re.compile(r"\?(?: ?[\[(][^\[\]()]{1,40}[\])])?$")
#: A question with more behind it, in one row.
_ASKS_INSIDE = re.compile(r".{8,}\?(?= [A-Z])")
#: The gap between a row and another panel; and columns right of a question where one may begin.
_PANEL = re.compile(r" {4,}| {2,}[│┃]")
_BESIDE_COLUMNS = 48
#: A heading without a question mark, one with an instruction, and one that only counts.
_HEADING = re.compile(r"[A-Z][\w'’,/&-]*(?: [\w'’,/&()-]+){0,9}")
_TOLD = re.compile(r"(?:please )?(?:choose|select|pick|enter|provide|specify|confirm|review|type)\b", re.IGNORECASE)
_COUNTED = re.compile(r"\b\d{1,2} ?(?:/|of) ?\d{1,2}\b")
#: The number of choices, in a row between them and their heading.
COUNT = re.compile(r"\d{1,4}(?:/\d{1,4}| \w+)")
#: A row of a list of choices, which is no heading.
_CHOICE = re.compile(r"(?:\W{1,3} )?\d{1,2}[.)] ")
#: The mark at the beginning of a message in a conversation.
_MARKED = re.compile(r"[•●⏺✦◆■>›❯»✻✽⎿*-] ")
#: Rows at the end that may name the key to leave.
_LEAVING_KEY_ROWS = 3
_AUTH = re.compile(r"\b(log ?in|sign ?in|login method|authenticat\w*|api key|credentials)\b", re.IGNORECASE)


def read_dialog(rows: Sequence[Row], cursor_row: int) -> Dialog | None:
    """
    Return the dialog at the end of *rows*; None if there is none.

    The cursor is in row *cursor_row* of the screen.
    """
    if not rows:
        return None
    for rule, choices, is_meant in _RULES:
        found = choices(rows)
        if found is not None and (is_meant is None or is_meant(rows, found)):
            return _with_choices(rows, found, rule)
    return _asked_in_a_row(rows, cursor_row)


def _has_question_above(rows: Sequence[Row], found: Choices) -> bool:
    """Return whether a question is right above *found*, or above the field that filters these choices."""
    above = near_above(rows, below_question(rows, found.first))
    return above is not None and rows[above].text.endswith(("?", ":"))


def below_question(rows: Sequence[Row], first: int) -> int:
    """Return the row right below the question: the choices at *first*, or the field that filters them, with its box."""
    at = near_above(rows, first)
    if at is None or not _FILTER.match(rows[at].text):
        return first
    return at - 1 if at > 0 and rows[at - 1].is_edge else at


def near_above(rows: Sequence[Row], first: int) -> int | None:
    """Return the nearest row with text above row *first*, not counting edges."""
    return next((at for at in upwards(first, _NEAR_ROWS) if rows[at].text and not rows[at].is_edge), None)


def _wants_consent(rows: Sequence[Row], found: Choices) -> bool:
    """
    Return whether *found* belongs to a question that agents ask at their start.

    A line across is above it. Hints how to confirm and how to leave are below. Between them is a wish for a permission
    or a login.
    """
    below = [row.text for row in rows[found.end :] if row.text]
    if not any(map(_LEAVE.search, below)):
        return False
    top, _ = question_above(rows, found.first)
    if top == found.first or not any(row.is_edge for row in rows[max(0, top - 2) : top]):
        return False
    texts = [*(row.text for row in rows[top : found.first]), *found.texts]
    return any(_PERMISSION.search(text) or _AUTH.search(text) for text in texts)


#: The kinds of choices, best first, each with a check whether they belong to a dialog; None if all do.
_Meant = Callable[[Sequence[Row], Choices], bool]
_RULES: tuple[tuple[str, Callable[[Sequence[Row]], Choices | None], _Meant | None], ...] = (
    ("numbered choices", numbered_choices, None),
    (
        "pointed choices",
        pointed_choices,
        lambda rows, found: _has_question_above(rows, found) or _wants_consent(rows, found),
    ),
    ("choices in columns", choices_in_columns, _has_question_above),
    ("lettered choices", lettered_choices, None),
    ("buttons", buttons, lambda rows, found: is_in(KEYS_HINT, rows[found.first :])),
)


def is_left_by_key(rows: Sequence[Row]) -> bool:
    """Return whether the last rows name the key that leaves the view: a picker, a transcript, a pager."""
    last = [row.text for row in rows if row.text][-_LEAVING_KEY_ROWS:]
    return any(map(_LEAVE.search, last)) or (bool(last) and PAGER.match(last[-1]) is not None)


def arrows(distance: int, *, is_sideways: bool = False) -> str:
    """Return the keys that move the pointer by *distance* and choose: down or right, and up or left if negative."""
    back, on = "DC" if is_sideways else "AB"
    return f"\x1b[{on if distance > 0 else back}" * abs(distance) + "\r"


def question_above(rows: Sequence[Row], first: int) -> tuple[int, int]:
    """
    Return the rows of the question above row *first*: where the dialog's text begins, and the row that asks.

    Where a box has nothing else, that is its title.
    """
    top = first
    for position in upwards(first, _ABOVE_CHOICES_ROWS):
        row = rows[position]
        if row.is_edge:
            if top < first:
                break
            if row.text:
                return position, position
            continue
        if row.text:
            top = position
        elif top < first and position > 0 and _are_blank(rows[position - 1 : position + 1], rows[first - 1]):
            break
    return top, _asking_row(rows, top, first) if top < first else top


def _are_blank(rows: Sequence[Row], beside: Row) -> bool:
    """Return whether *rows* are blank, and in the same box or none as the row *beside*: not in a quotation."""
    return not any(row.text or row.is_boxed is not beside.is_boxed for row in rows)


def _asking_row(rows: Sequence[Row], top: int, first: int) -> int:
    """
    Return the row between *top* and *first* that asks: the lowest question, else the heading.

    Without a line across above it, a dialog ends at its heading: the rows above that are a conversation.
    """
    begin = _begin_of_frame(rows, top, first)
    parts = _paragraphs(rows, top if begin is None else begin, first)
    parts = [part for part in parts if not all(_is_no_heading(rows[at].text) for at in part)] or parts
    if not parts:
        return top
    own = parts if begin is not None else _own_parts(rows, parts)
    for part, is_question in itertools.product(own, (_asks, _asks_inside)):
        asking = next((at for at in reversed(part) if is_question(_row_text(rows[at]))), None)
        if asking is not None:
            return asking
    if begin is not None:
        return parts[-1][0]
    named = [at for at in parts[0] if not _COUNTED.search(rows[at].text)] or parts[0]
    return next((at for at in reversed(named) if _TOLD.match(rows[at].text)), named[0])


def _is_no_heading(text: str) -> bool:
    return _CHOICE.match(text) is not None or COUNT.fullmatch(text) is not None


def _begin_of_frame(rows: Sequence[Row], top: int, first: int) -> int | None:
    """
    Return the first row of the box around row *first*; without a box, *top* if a line across is right above it; else
    None.
    """
    outside = next((at for at in upwards(first, first - top) if not rows[at].is_boxed), top - 1)
    if first < len(rows) and rows[first].is_boxed and outside < first - 1:
        return outside + 1
    return top if top > 0 and rows[top - 1].is_edge else None


def _own_parts(rows: Sequence[Row], parts: Sequence[list[int]]) -> Sequence[list[int]]:
    """Return those of *parts* that belong to the dialog and not to a conversation: a message has a mark before it."""
    if _is_heading(rows, parts[0]):
        return parts[:1]
    margin = min(rows[at].indent for at in parts[0])

    def is_message(part: list[int]) -> bool:
        return _MARKED.match(rows[part[0]].text) is not None and rows[part[0]].indent < margin

    return [parts[0], *itertools.takewhile(lambda part: not is_message(part), parts[1:])]


def _row_text(row: Row) -> str:
    return _own_text(row.text)


def _own_text(text: str) -> str:
    """Return a row without another panel's text beside it; the part that asks, if one does."""
    parts = _PANEL.split(text)
    return next((part for part in parts if _asks(part)), parts[0])


def _paragraphs(rows: Sequence[Row], top: int, first: int) -> list[list[int]]:
    """Return the rows with text between *top* and *first* in paragraphs, the lowest first."""
    found: list[list[int]] = [[]]
    beside = rows[first].indent + _BESIDE_COLUMNS if first < len(rows) else _BESIDE_COLUMNS
    for at in range(top, first):
        if rows[at].is_edge or rows[at].indent >= beside or not any(map(str.isalnum, rows[at].text)):
            found.append([])
        else:
            found[-1].append(at)
    return [part for part in reversed(found) if part]


def _asks(text: str) -> bool:
    return _ENDS_ASKING.search(text) is not None


def _asks_inside(text: str) -> bool:
    return _ASKS_INSIDE.match(text) is not None


def _is_heading(rows: Sequence[Row], part: Sequence[int]) -> bool:
    """Return whether rows are a heading: one row of words beside a page count, and no sentence."""
    named = [rows[at].text for at in part if not _COUNTED.search(rows[at].text)]
    return (
        len(named) == 1 and not _asks(named[0]) and (_HEADING.fullmatch(named[0]) or _TOLD.match(named[0])) is not None
    )


def whole_question(rows: Sequence[Row], top: int, asking: int) -> str:
    """Return the question in row *asking*, with the rows from *top* on that are wrapped into it."""
    texts = [_row_text(rows[asking])]
    while asking > top and texts[0][:1].islower():
        asking -= 1
        if rows[asking].is_edge or not any(map(str.isalnum, rows[asking].text)):
            break
        texts.insert(0, _row_text(rows[asking]))
    text = clean_line(" ".join(texts))
    inside = _ASKS_INSIDE.match(text) if not _asks(text) else None
    return inside[0] if inside is not None else text


def is_of_settings(dialog: Dialog) -> bool:
    """Return whether *dialog* is headed by the name of a setting, as an agent's own menus are, and wants no consent."""
    if dialog.is_known or dialog.kind is Kind.AUTH or not dialog.is_list:
        return False
    labels = [choice.label for choice in dialog.choices]
    is_answered = any(map(YES.search, labels)) and any(map(NO.search, labels))
    heads = (dialog.question, *dialog.lines[:1])
    return not is_answered and any(_OF_SETTINGS.fullmatch(_own_text(head)) for head in heads)


def kind_of(text: str) -> Kind:
    """Return whether *text* asks for a permission, for a login, or something else."""
    if _AUTH.search(text):
        return Kind.AUTH
    is_setting = _SETTING.match(text) is not None
    return Kind.PERMISSION if _PERMISSION.search(text) and not is_setting else Kind.QUESTION


def _dialog_kind(question: str, above: Sequence[str], labels: Sequence[str]) -> Kind:
    """
    Return the kind of a dialog with the texts *above* its choices, by its *question* and its first row.

    Without a question, all of its words decide. Other words never take a wish for a permission back: a model may have
    written them.
    """
    kind = kind_of(question if question.endswith("?") else " ".join([question, *above, *labels]))
    if kind is Kind.PERMISSION or kind_of(above[0]) is Kind.AUTH:
        return kind
    return Kind.PERMISSION if any(kind_of(text) is Kind.PERMISSION for text in above) else kind


def _with_choices(rows: Sequence[Row], found: Choices, rule: str) -> Dialog | None:
    """Return the dialog of the choices *found* by *rule*, with its question and keys; None if nothing asks."""
    below = below_question(rows, found.first)
    top, asking = question_above(rows, below)
    if asking == below:
        return None
    text = whole_question(rows, top, asking)
    above = [rows[at].text for at in range(top, found.first)]
    kind = _dialog_kind(text, above, found.labels)
    if kind is Kind.QUESTION and not text.endswith("?") and found.has_more_below:
        return None
    lines = clean_lines([rows[i].text for i in range(top, found.last + 1) if not rows[i].is_edge])
    choices = tuple(
        # The first of two digits would choose already.
        Choice(
            (number or arrows(index - found.pointed)) if found.is_sure and len(number) < 2 else "",
            label,
            index == found.pointed,
        )
        for index, (number, label) in enumerate(zip(found.numbers, found.labels, strict=True))
    )
    return Dialog(kind, rule, text, lines, choices, found.place(rows, top, asking))


def is_typed(row: Row, above: Sequence[Row]) -> bool:
    """
    Return whether *row* begins as a shell's prompt, or repeats the prompt of a row *above*.

    Text behind such a prompt is typed or pasted.
    """
    if _SHELL.match(row.text):
        return True
    prompt = _PROMPT.match(row.text)
    return prompt is not None and any(one.text.startswith(prompt[0]) for one in above)


def _asked_in_a_row(rows: Sequence[Row], cursor_row: int) -> Dialog | None:
    """Return the dialog in the last row, with the cursor on it: a password, or a yes or no."""
    last = rows[-1]
    if cursor_row != last.number:
        return None
    line = clean_line(last.text)
    if not line or is_typed(last, rows[:-1]):
        return None
    place = Place(last.number, last.number, (), last.number + 1)
    if _SECRET.search(last.text):
        return Dialog(Kind.AUTH, "password", line, (line,), place=place)
    match = _YES_NO.search(last.text)
    if match is None:
        return None
    lettered = _LETTERED.findall(match[0])
    if lettered:
        choices = [Choice(f"{letter.lower()}\r", f"{letter}{rest}".strip()) for letter, rest in lettered]
    else:
        is_short = match["first"].lower() != "yes"
        choices = [Choice(f"{word[:1] if is_short else word}\r", word) for word in ("yes", "no")]
    return Dialog(kind_of(line), "yes or no", line, (line,), tuple(choices), place)
