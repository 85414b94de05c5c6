"""
What the visible screen of an agent says of its status, and the dialog that a person has to answer.

Rows of text go in, with the agent that holds the foreground and the row of the cursor; a `ScreenReading` comes out,
or None.
The agent's own `[[screen.rules]]` are asked first, then the generic ones of `evidence.dialogs`, then those of its own
that have a negative priority, and last `evidence.structure`. The structure is left out where a file of ours says how
the agent asks, for that knows all its dialogs.
A dialog beats a rule that calls the screen idle, unless that is a menu which the person has opened: an input box may be
below a dialog, and a rule may be too broad.
Everything is read at the end of the screen: what was printed before, and has scrolled up, is a transcript and says
nothing. Reading is pure, never raises, and takes a bounded time on any screen.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.screens import MIN_PRIORITY, MOVES, UNPOINTED, ScreenRule
from tallylight.evidence.choices import Choices, buttons, lettered_choices, numbered_choices, pointed_choices
from tallylight.evidence.dialogs import arrows, question_above, read_dialog
from tallylight.evidence.frame import framed
from tallylight.evidence.highlight import highlighted
from tallylight.evidence.structure import read_structure
from tallylight.evidence.subject import subject
from tallylight.evidence.tail import Row, clean_line, clean_lines, is_in, read_tail, upwards
from tallylight.model.dialog import Choice, Dialog, Place
from tallylight.model.prose import last_question
from tallylight.model.status import Kind, Status
from tallylight.wire.styled import StyledScreen
from tallylight.wire.text import width

#: Rows with text that may be below an input box.
_BELOW_BOX = 5
#: How programs say that they work, whoever they are, on their last rows with text; and the prompts of older agents.
_LAST = 3
_WORKS = re.compile(
    r"(?:[✻✽✶✢✳·*●◐-◓] ?)?Thinking(?:…|\.{3}| about\b|$)|[\u2801-\u28ff](?: |$)|"
    r"(?:[●⏺] )?(?:Bash|Read|Write|Edit|Grep|Glob|Task|WebFetch)\(|.{0,60}\bRunning in (?:the )?background\b"
)
_PROMPT, _EMPTY_PROMPT = re.compile(r"[>❯›](?:\s|$)"), re.compile(r"[>❯›][\s█\ufffd]*")
#: Rows above such a prompt that are read at most.
_ABOVE = 10
#: The key that a choice names at its end: `(y)`, `(esc)`, `(shift+tab)`.
_HINT = re.compile(r".*\((\w|esc|enter|tab|shift\+tab)\)$", re.IGNORECASE)
_KEYS = {"esc": "\x1b", "enter": "\r", "tab": "\t", "shift+tab": "\x1b[Z"}


@attrs.frozen
class ScreenReading:
    """
    What a screen says: the *status*, and the *rule* that read it. *dialog* is what is asked, where that is `waiting`.

    *is_menu*: a menu is open that the person at that terminal has opened. *is_stopped*: it shows that a person stopped
    the turn, or refused what it asked for. *wants_style*: the keys of the choices depend on the selected one,
    and only a styled screen shows that.
    """

    status: Status
    rule: str
    dialog: Dialog | None = None
    is_menu: bool = False
    is_stopped: bool = False
    wants_style: bool = False

    @property
    def kind(self) -> Kind | None:
        """What it waits for."""
        return self.dialog.kind if self.dialog is not None else None


def read_screen(
    agent: Agent | None,
    lines: Sequence[str],
    cursor_row: int,
    styled: StyledScreen | None = None,
    columns: int = 0,
    *,
    cursor_visible: bool = True,
) -> ScreenReading | None:
    """
    What the screen says of *agent*; None if nothing, and for no agent.

    *lines* are the visible rows from the top, *cursor_row* counts from 0. *styled* is the same screen with its colours;
    they show the selected choice where no pointer does, and nothing else. *columns* is how wide the screen is;
    0 for as wide as its longest row.
    """
    if agent is None:
        return None
    screen = _Screen(read_tail(lines), cursor_row, lines, styled, cursor_visible)
    if not screen.rows:
        return None
    found = _reading(agent, screen)
    if found is None or found.dialog is None:
        return found
    return attrs.evolve(found, dialog=_whole(found.dialog, agent, lines, columns or max(map(width, lines))))


def _reading(agent: Agent, screen: _Screen) -> ScreenReading | None:
    def first(least: float, most: float) -> ScreenReading | None:
        return _first_of((rule for rule in agent.screen_rules if least <= rule.priority < most), screen)

    found = first(0, math.inf)
    if agent.screen_generic and _leaves_open(found, {Status.IDLE}):
        found = _generic(agent, screen) or found
    # A dialog may be shown beside the prompt or the spinner of a person's own file.
    beside = {Status.IDLE, Status.WORKING} if agent.is_own and _leaves_open(found, {Status.IDLE}) else set()
    found = found or first(MIN_PRIORITY, 0)
    if _leaves_open(found, beside):
        found = _by_structure(agent, screen) or found
    return found or (_says_work(screen.rows) if agent.screen_generic else None)


def _leaves_open(found: ScreenReading | None, beside: Collection[Status]) -> bool:
    """Whether there may be a dialog, after all: nothing is read, or one of *beside*, but no menu of the person's."""
    return found is None or (found.status in beside and not found.is_menu)


def _generic(agent: Agent, screen: _Screen) -> ScreenReading | None:
    """The dialog that any program would ask by, except for what is behind *agent*'s own prompt: that is typed."""
    dialog = read_dialog(screen.rows, screen.cursor_row)
    if dialog is None:
        return None
    prompts = (rule for rule in agent.screen_rules if rule.status is Status.IDLE and rule.where == "at cursor")
    if not dialog.is_list and any(is_in(rule.lines[0], screen.rows[-1:]) for rule in prompts if rule.lines):
        return None
    return ScreenReading(Status.WAITING, dialog.rule, dialog)


def _by_structure(agent: Agent, screen: _Screen) -> ScreenReading | None:
    """What has the structure of a dialog, unless it is known how *agent* asks: a person's own file may not know all."""
    if not agent.screen_generic or (not agent.is_own and any(_is_asking(rule) for rule in agent.screen_rules)):
        return None
    dialog = read_structure(screen.rows, screen.cursor_row if screen.cursor_visible else None)
    return ScreenReading(Status.WAITING, dialog.rule, dialog) if dialog is not None else None


def _is_asking(rule: ScreenRule) -> bool:
    return rule.status is Status.WAITING and rule.priority >= 0


def _says_work(rows: Sequence[Row]) -> ScreenReading | None:
    """That a program works, where one of the last rows says so in words or by a glyph, and none is a prompt."""
    texts = [row.text for row in rows if row.text][-_LAST:]
    if any(map(_PROMPT.match, texts)) or not any(map(_WORKS.match, texts)):
        return None
    return ScreenReading(Status.WORKING, "it says that it works")


def before_prompt(lines: Sequence[str]) -> tuple[str, bool]:
    """
    What is above a prompt at the end of the screen, in one line, and whether that is a question.

    It begins below what a person typed at the prompt before.
    """
    *rows, prompt = [row.text for row in read_tail(lines) if row.text] or [""]
    if not _EMPTY_PROMPT.fullmatch(prompt):
        return "", False
    typed = next((at for at in upwards(len(rows), len(rows)) if _PROMPT.match(rows[at])), -1)
    above = rows[typed + 1 :][-_ABOVE:]
    return clean_line(" ".join(above)), bool(last_question("\n".join(above)))


def _whole(dialog: Dialog, agent: Agent, lines: Sequence[str], columns: int) -> Dialog:
    """*dialog* with its frame, and with what a permission is asked for."""
    rule = next((rule for rule in agent.screen_rules if dialog.is_known and rule.name == dialog.rule), None)
    found = framed(dialog, lines, columns, rule)
    # A question with answers of its own says itself what is asked.
    if found.kind is Kind.PERMISSION or (found.kind is Kind.QUESTION and found.rule == "yes or no"):
        return attrs.evolve(found, what=subject(lines, found, [choice.label for choice in found.choices]))
    return found


def _first_of(rules: Iterable[ScreenRule], screen: _Screen) -> ScreenReading | None:
    return next((found for rule in rules if (found := _apply(rule, screen)) is not None), None)


@attrs.define(slots=False)
class _Screen:
    """The end of one screen, and what several rules want to know of it."""

    rows: tuple[Row, ...]
    cursor_row: int
    lines: Sequence[str]
    styled: StyledScreen | None
    cursor_visible: bool
    _places: dict[str, list[Row]] = attrs.Factory(dict)
    _choices: dict[tuple[str, int], Choices | None] = attrs.Factory(dict)

    def place(self, where: str) -> list[Row]:
        """The rows with text at one of `PLACES`; see there."""
        if where not in self._places:
            rows: Sequence[Row] = self.rows
            match where:
                case "cursor":
                    rows = [row for row in rows if row.number <= self.cursor_row]
                case "at cursor":
                    rows = self._at_cursor()
                case "below line":
                    last = next((at for at in upwards(len(rows), len(rows)) if rows[at].is_edge), None)
                    rows = rows[last + 1 :] if last is not None else ()
                case "above box":
                    rows = self._above_box
                case "box":
                    rows = rows[self._box[0] + 1 : self._box[1]] if self._box is not None else ()
            self._places[where] = [row for row in rows if row.text]
        return self._places[where]

    @property
    def _above_box(self) -> Sequence[Row]:
        return self.rows[: self._box[0]] if self._box is not None else ()

    def _at_cursor(self) -> Sequence[Row]:
        at = self.cursor_row - self.rows[0].number
        if not 0 <= at < len(self.rows):
            return ()
        top = bottom = at
        while top >= 0 and self.rows[top].text and not self.rows[top].is_edge:
            top -= 1
        while bottom < len(self.rows) and self.rows[bottom].text and not self.rows[bottom].is_edge:
            bottom += 1
        return self.rows[top + 1 : bottom]

    @functools.cached_property
    def _box(self) -> tuple[int, int] | None:
        """The edges of the last box, unless there is much below it."""
        below = 0
        bottom: int | None = None
        for position in upwards(len(self.rows), len(self.rows)):
            row = self.rows[position]
            if row.is_edge and bottom is not None and position < bottom - 1:
                return position, bottom
            if row.is_edge:
                bottom = position
            elif bottom is None and row.text:
                below += 1
                if below > _BELOW_BOX:
                    return None
        return None

    def choices(self, what: str, where: str) -> Choices | None:
        """What is at the end of the screen, of these `CHOICES`; for a rule above the box, at the end of that."""
        rows = self._above_box if where == "above box" else self.rows
        key = what, len(rows)
        if key not in self._choices:
            self._choices[key] = _READERS[what](rows)
        return self._choices[key]


_READERS: dict[str, Callable[[Sequence[Row]], Choices | None]] = {
    "numbered": numbered_choices,
    "listed": functools.partial(numbered_choices, is_pointed=False),
    "pointed": pointed_choices,
    "buttons": buttons,
    "lettered": functools.partial(lettered_choices, is_last=False),
}


def _fits(rule: ScreenRule, rows: Sequence[Row]) -> bool:
    """Whether *rows* have all lines that *rule* wants, and none that it does not."""
    if not all(is_in(line, rows) for line in rule.lines) or any(is_in(line, rows) for line in rule.without):
        return False
    if not rule.not_below:
        return True
    last = max(at for at, row in enumerate(rows) if rule.lines[0].match(row.text))
    return not any(is_in(line, rows[last + 1 :]) for line in rule.not_below)


def _apply(rule: ScreenRule, screen: _Screen) -> ScreenReading | None:
    rows = screen.place(rule.where)
    if not rows or len(rows) > rule.most:
        return None
    rows = rows[-rule.last :]
    if not _fits(rule, rows):
        return None
    choices = screen.choices(rule.choices, rule.where) if rule.choices else None
    if rule.choices and choices is None:
        return None
    if rule.status is not Status.WAITING:
        return ScreenReading(rule.status, rule.name, is_menu=rule.menu, is_stopped=rule.stopped)
    if choices is None:
        return ScreenReading(rule.status, rule.name, _without_choices(rule, rows))
    wants_style = screen.styled is None and rule.choices in UNPOINTED and rule.choose in MOVES
    return ScreenReading(rule.status, rule.name, _with_choices(rule, screen, choices), wants_style=wants_style)


def _with_choices(rule: ScreenRule, screen: _Screen, found: Choices) -> Dialog:
    rows = screen.rows
    top, asking = question_above(rows, found.first)
    question = rows[asking].text if asking < found.first else ""
    if rule.question is not None:
        for position in range(found.first - 1, -1, -1):
            match = rule.question.match(rows[position].text)
            if match is not None:
                question = match[1] if match.re.groups and match[1] else match[0]
                question += _wrapped(rows[position + 1 : found.first], question)
                top, asking = min(top, position), position
                break
    lines = clean_lines([row.text for row in rows[top : found.last + 1] if not row.is_edge])
    place = found.place(rows, top, asking)
    selected: int | None = found.pointed
    if rule.choices in UNPOINTED:  # only colours may show it
        styled = screen.styled
        selected = highlighted(styled, screen.lines, place, found.labels) if styled is not None else None
    choices = tuple(
        Choice(_keys(rule.choose, found, index, selected), label, index == selected)
        for index, label in enumerate(found.labels)
    )
    return Dialog(rule.kind, rule.name, clean_line(question.strip()), lines, choices, place, is_known=True)


def _wrapped(below: Sequence[Row], question: str) -> str:
    """The rest of a *question* that is wrapped onto the rows below it."""
    rest = ""
    for row in below[:4]:
        if not row.text or row.is_edge or (question + rest).endswith(("?", ":", ".")):
            break
        rest += f" {row.text}"
    return rest if rest.endswith("?") else ""


def _without_choices(rule: ScreenRule, rows: Sequence[Row]) -> Dialog:
    asks = rule.question or (rule.lines[0] if rule.lines else None)
    for position in range(len(rows) - 1, -1, -1):
        match = asks.match(rows[position].text) if asks is not None else None
        if match is not None:
            question = match[1] if match.re.groups and match[1] else rows[position].text
            lines = clean_lines([row.text for row in rows[position:]])
            place = Place(rows[position].number, rows[position].number, (), rows[-1].number + 1)
            return Dialog(rule.kind, rule.name, clean_line(question.strip()), lines, place=place, is_known=True)
    return Dialog(rule.kind, rule.name, is_known=True)


def _keys(way: str, found: Choices, index: int, selected: int | None) -> str:
    number = found.numbers[index]
    # Of two digits the first would choose already.
    digit = number if len(number) == 1 else ""
    if way == "hint":
        named = _HINT.match(found.texts[index])
        return _KEYS.get(named[1].lower(), named[1]) if named is not None else digit
    if way in MOVES:
        return arrows(index - selected, is_sideways=way == "side arrows") if selected is not None else ""
    if way == "number":
        return digit
    return f"{number}\r" if way == "number enter" and number else ""
