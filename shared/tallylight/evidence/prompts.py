"""
Read an agent's status off its visible screen, and the dialog that a person has to answer.

Rows of text go in, with the agent in the foreground and the row of the cursor. A `ScreenReading` comes out, or None.
The order:

1. the agent's own `[[screen.rules]]`, and the generic dialogs of `evidence.dialogs`;
2. its own rules with a negative priority;
3. `evidence.structure`, for every agent: a rule without a dialog does not rule one out, with two exceptions
   (`_is_answered_or_menu`);
4. the rules of a candidate (`evidence.unknown`) with an infinitely low priority;
5. a row that counts the time of its work, for any program.

A dialog beats every other status, and a permission beats all: a model writes the text of a dialog, and may write words
that a rule looks for. Only a line below the choices is certainly the agent's, and can name a menu or a question. Only
the end of the screen is read: text that was printed before, and has scrolled up, is a transcript. Reading is pure,
never raises, and takes a bounded time on any screen.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.screens import MIN_PRIORITY, MOVES, UNPOINTED, ScreenRule
from tallylight.evidence.choices import Choices, buttons, lettered_choices, numbered_choices, pointed_choices
from tallylight.evidence.dialogs import arrows, is_of_settings, question_above, read_dialog, whole_question
from tallylight.evidence.frame import NO_TOP, framed
from tallylight.evidence.highlight import highlighted
from tallylight.evidence.overlay import read_overlay
from tallylight.evidence.structure import ends_in_input, read_structure
from tallylight.evidence.subject import subject
from tallylight.evidence.tail import Row, clean_line, clean_lines, is_in, read_tail, upwards
from tallylight.model.dialog import Choice, Dialog, Place
from tallylight.model.prose import last_question
from tallylight.model.status import Kind, Status
from tallylight.wire.styled import StyledScreen
from tallylight.wire.text import width

#: Rows with text that may be below an input box.
_BELOW_BOX_ROWS = 5
#: Rows at the end of a dialog without choices that may be its agent's own footer.
_DIALOG_FOOT_ROWS = 4
#: How any program shows that it works, in its last rows with text; and the prompts of older agents.
_SHOWS_WORK_ROWS = 3
_WORKS = re.compile(
    r"(?:[✻✽✶✢✳·*●◐-◓] ?)?Thinking(?:…|\.{3}| about\b|$)|[\u2801-\u28ff](?: |$)|"
    r"(?:[●⏺] )?(?:Bash|Read|Write|Edit|Grep|Glob|Task|WebFetch)\(|.{0,60}\bRunning in (?:the )?background\b"
)
_TIMED = re.compile(
    r".*\((?:[^()]{0,40}\d ?[smh][ ,][^()]{0,40}(?:esc|ctrl.c)[^()]{0,20} (?:interrupt|stop|cancel|abort)[^()]{0,40}"
    r"|(?:esc|ctrl.c)[^()]{0,20} (?:interrupt|stop|cancel|abort)[^()]{1,20}\d ?[smh] ?)\)$"
    r"|.{0,60}(?:…|\.{3}) ?\((?:\d{1,3}[mh] ?)?\d{1,3}s\b[^()]{0,60}\)$"
    r"|(?:\W{0,12}|\W{0,4}[\w-]{1,24} is )working \((?:\d{1,3}[mh] ?)?\d{1,3}s\)(?:\W*$|\W{0,4} {2})"
    r"|\W{1,8}\w.{0,60}(?:…|\.{3}) (?:\d{1,3}m ?)?\d{1,3}s$",
    re.IGNORECASE,
)
_PROMPT, _EMPTY_PROMPT = re.compile(r"[>❯›](?:\s|$)"), re.compile(r"[>❯›][\s█\ufffd]*")
#: Rows above such a prompt that are read.
_ABOVE_PROMPT_ROWS = 10
#: The key that a choice names at its end: `(y)`, `(esc)`, `(shift+tab)`.
_HINT = re.compile(r".*\((\w|esc|enter|tab|shift\+tab)\)$", re.IGNORECASE)
_KEYS = {"esc": "\x1b", "enter": "\r", "tab": "\t", "shift+tab": "\x1b[Z"}


@attrs.frozen
class ScreenReading:
    """
    The *status* that a screen shows, the *rule* that read it, and the *dialog* if the status is `waiting`.

    *is_menu*: the person at the terminal has opened a menu. *is_stopped*: a person stopped the turn, or refused a
    request. *wants_style*: the keys of the choices depend on the selected one, and only a styled screen shows that.
    """

    status: Status
    rule: str
    dialog: Dialog | None = None
    is_menu: bool = False
    is_stopped: bool = False
    wants_style: bool = False

    @property
    def kind(self) -> Kind | None:
        """The kind of answer that the dialog waits for."""
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
    Return the status of *agent* that its screen shows; None if it shows none, or without an agent.

    *lines* are the visible rows from the top, *cursor_row* counts from 0. *styled* is the same screen with its colours;
    they show the selected choice where no pointer does. *columns* is the width of the screen; 0 for the width of its
    longest row.
    """
    if agent is None:
        return None
    rows = read_tail(lines)
    if not rows:
        return None
    screen = _Screen(rows, cursor_row, lines, styled, cursor_visible, columns)
    read = _best_reading(agent, screen)
    if read is None or read.found.dialog is None:
        return read.found if read is not None else None
    return attrs.evolve(read.found, dialog=_with_frame_and_subject(read.found.dialog, screen, read.rule))


def _best_reading(agent: Agent, screen: _Screen) -> _RuleReading | None:
    """Return the strongest reading of the screen, in the order of the module's docstring; None without any."""

    def rules(least: float, most: float) -> Iterator[_RuleReading]:
        return _apply_all((rule for rule in agent.screen_rules if least <= rule.priority < most), screen)

    best = _strongest_reading(itertools.chain(rules(0, math.inf), _generic_dialogs(agent, screen)), screen)
    best = best or _strongest_reading(rules(MIN_PRIORITY, 0), screen)
    if best is None or best.found.dialog is None:
        best = _structure_reading(agent, screen, best) or best
    if best is None or (agent.is_own and best.found.status is Status.WORKING):
        hints = (one for one in rules(-math.inf, MIN_PRIORITY) if one.rule and not screen.has_input_below(one.rule))
        best = _strongest_reading(hints, screen) or best
    return _work_reading(screen.rows, best) or best if agent.screen_generic else best


def _generic_dialogs(agent: Agent, screen: _Screen) -> Iterator[_RuleReading]:
    """Yield the dialog that any program would ask by, but not what is typed behind *agent*'s own prompt."""
    dialog = read_dialog(screen.rows, screen.cursor_row) if agent.screen_generic else None
    if dialog is not None and not _is_typed(agent, screen, dialog):
        yield _RuleReading(ScreenReading(Status.WAITING, dialog.rule, dialog))


def _is_typed(agent: Agent, screen: _Screen, dialog: Dialog) -> bool:
    """Return whether a *dialog* in a row is typed behind *agent*'s own prompt."""
    prompts = (rule for rule in agent.screen_rules if rule.status is Status.IDLE and rule.where == "at cursor")
    return not dialog.is_list and any(is_in(rule.lines[0], screen.rows[-1:]) for rule in prompts if rule.lines)


def _structure_reading(agent: Agent, screen: _Screen, best: _RuleReading | None) -> _RuleReading | None:
    """
    Return the dialog that the layout of the screen shows, unless `_is_answered_or_menu` says that it is none.

    It is found whatever *best* takes the screen for.
    """
    if not agent.screen_generic:
        return None
    cursor = screen.cursor_row if screen.cursor_visible else None
    front = read_overlay(screen.lines, screen.columns)
    dialog = read_structure(front, cursor, is_in_front=True) if front else None
    dialog = dialog or read_structure(screen.rows, cursor)
    if (
        dialog is None
        or _is_typed(agent, screen, dialog)
        or (best is not None and not agent.is_own and _is_answered_or_menu(dialog, best, screen))
    ):
        return None
    dialog = _with_known_kind(agent, screen, dialog)
    return _RuleReading(ScreenReading(Status.WAITING, dialog.rule, dialog))


def _with_known_kind(agent: Agent, screen: _Screen, dialog: Dialog) -> Dialog:
    """
    Return *dialog* as a permission or a login, if a rule of *agent* knows it as one.

    A permission is never made less by other words.
    """
    if dialog.kind is not Kind.QUESTION or dialog.place is None:
        return dialog
    rows = [row for row in screen.rows if row.number >= dialog.place.top]
    for rule in agent.screen_rules:
        is_it = rule.lines and all(is_in(line, rows) for line in rule.lines)
        if is_it and rule.kind in (Kind.PERMISSION, Kind.AUTH):
            return attrs.evolve(dialog, kind=rule.kind, rule=f"{rule.name}, {dialog.rule}")
    return dialog


def _is_answered_or_menu(dialog: Dialog, best: _RuleReading, screen: _Screen) -> bool:
    """
    Return whether *dialog* is answered, or a menu, by the reading *best* of a screen at rest.

    It is answered if it is above the input of *best*. It is the menu of *best* if a rule names a row of its heading,
    and it wants no consent.
    """
    rule, place = best.rule, dialog.place
    if rule is None or place is None or best.found.status is not Status.IDLE:
        return False
    rows = [row for row in screen.place(rule.where)[-rule.last :] if any(line.match(row.text) for line in rule.lines)]
    if best.found.is_menu:
        first = min(place.starts, default=place.end)
        return not _wants_consent(dialog) and any(place.top <= row.number < first for row in rows)
    return all(row.number >= place.end for row in rows)


def _wants_consent(dialog: Dialog) -> bool:
    """Return whether *dialog* asks for leave to do something, and is no list of settings."""
    return dialog.kind is Kind.PERMISSION and (dialog.question.endswith("?") or not is_of_settings(dialog))


def _work_reading(rows: Sequence[Row], best: _RuleReading | None) -> _RuleReading | None:
    """
    Return a reading that a program works, if *best* is at most that it rests.

    Any program counts: a row shows how long it has worked, and the key that stops it. Without a reading, words or a
    glyph in one of the last rows do, if none is a prompt.
    """
    if best is not None and (best.found.status is not Status.IDLE or best.found.is_menu):
        return None
    texts = [row.text for row in rows if row.text]
    if any(map(_TIMED.match, texts[-_ABOVE_PROMPT_ROWS:])):
        return _RuleReading(ScreenReading(Status.WORKING, "it counts the time of its work"))
    if (
        best is not None
        or any(map(_PROMPT.match, texts[-_SHOWS_WORK_ROWS:]))
        or not any(map(_WORKS.match, texts[-_SHOWS_WORK_ROWS:]))
    ):
        return None
    return _RuleReading(ScreenReading(Status.WORKING, "it says that it works"))


def before_prompt(lines: Sequence[str]) -> tuple[str, bool]:
    """
    Return the text above a prompt at the end of the screen, in one line, and whether it is a question.

    It begins below the text that a person typed at the prompt before.
    """
    *rows, prompt = [row.text for row in read_tail(lines) if row.text] or [""]
    if not _EMPTY_PROMPT.fullmatch(prompt):
        return "", False
    typed = next((at for at in upwards(len(rows), len(rows)) if _PROMPT.match(rows[at])), -1)
    above = rows[typed + 1 :][-_ABOVE_PROMPT_ROWS:]
    return clean_line(" ".join(above)), bool(last_question("\n".join(above)))


def _with_frame_and_subject(dialog: Dialog, screen: _Screen, rule: ScreenRule | None) -> Dialog:
    lines = screen.lines
    found = framed(dialog, lines, screen.columns, rule)
    # A question with answers of its own names its subject.
    if found.kind is Kind.PERMISSION or (found.kind is Kind.QUESTION and found.rule == "yes or no"):
        return attrs.evolve(found, what=subject(lines, found, [choice.label for choice in found.choices]))
    return found


class _RuleReading(NamedTuple):
    """A reading, and the agent's own rule that made it; None for a reading of any program."""

    found: ScreenReading
    rule: ScreenRule | None = None


def _apply_all(rules: Iterable[ScreenRule], screen: _Screen) -> Iterator[_RuleReading]:
    return (_RuleReading(found, rule) for rule in rules if (found := _apply_rule(rule, screen)) is not None)


def _strongest_reading(readings: Iterable[_RuleReading], screen: _Screen) -> _RuleReading | None:
    """
    Return the first of *readings*, but a dialog before any other status, and a permission before all.

    A model writes the text in a dialog and above it. So a rule of a higher priority beats a dialog only if it looks
    where no model's words are. Of several permissions the first with its own top counts.
    """
    best: _RuleReading | None = None
    others = iter(readings)
    for one in others:
        asked = one.found.dialog
        if best is None:
            best = one
        elif asked is not None and (asked.kind is Kind.PERMISSION or best.found.dialog is None):
            best = best if _is_named_by_rule(best, one, screen) else one
        if best.found.kind is Kind.PERMISSION:
            break
    if best is None or best.found.kind is not Kind.PERMISSION:
        return best
    same = [best, *(one for one in others if one.found.kind is Kind.PERMISSION and one.rule is not None)]
    return _with_own_top(same, screen) if len(same) > 1 else best


def _with_own_top(same: Sequence[_RuleReading], screen: _Screen) -> _RuleReading:
    """
    Return the first permission with its own first row on the screen, else the very first.

    The others are then only words in its text. A first row that another of them looks for may not be its own.
    """
    for one in same:
        dialog, rule = one.found.dialog, one.rule
        assert dialog is not None
        found = framed(dialog, screen.lines, screen.columns, rule)
        if found.missing == NO_TOP or (rule and rule.top and not rule.top.match(screen.lines[found.top].rstrip())):
            continue
        heading = [row for row in screen.rows if row.number >= found.top and row.text][:1]
        rules = (other.rule for other in same if other is not one and other.rule is not None)
        if not any(is_in(line, heading) for other in rules for line in other.lines):
            return one
    return same[0]


def _is_named_by_rule(best: _RuleReading, asking: _RuleReading, screen: _Screen) -> bool:
    """
    Return whether a line that the rule of *best* looks for is part of the dialog of *asking*.

    It counts below the choices and in the first row. In a permission the first row does not count: its text may look
    like it.
    """
    dialog = asking.found.dialog
    assert dialog is not None
    if best.rule is None:
        return False
    if dialog.place is not None:
        end = dialog.place.end
    else:
        end = screen.place(asking.rule.where if asking.rule is not None else "end")[-1].number + 1
    own = [row for row in screen.place(best.rule.where) if row.number >= end]
    if dialog.kind is not Kind.PERMISSION:
        own += screen.heading(end)
    return any(is_in(line, own) for line in best.rule.lines)


@attrs.define(slots=False)
class _Screen:
    """The end of one screen, and results that several rules share."""

    rows: tuple[Row, ...]
    cursor_row: int
    lines: Sequence[str]
    styled: StyledScreen | None
    cursor_visible: bool
    given_columns: int
    _places: dict[str, list[Row]] = attrs.Factory(dict)
    _choices: dict[tuple[str, int], Choices | None] = attrs.Factory(dict)

    @functools.cached_property
    def columns(self) -> int:
        """The width of the screen, or of its longest row where that is unknown."""
        return self.given_columns or max(map(width, self.lines))

    def place(self, where: str) -> list[Row]:
        """Return the rows with text at *where*, one of `PLACES`."""
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
                case "no input":
                    rows = () if ends_in_input(rows) else rows
                case "box" | "input":
                    rows = rows[self._box[0] + 1 : self._box[1]] if self._box is not None else ()
            found = [row for row in rows if row.text]
            self._places[where] = found[:1] if where == "input" else found
        return self._places[where]

    @property
    def _above_box(self) -> Sequence[Row]:
        return self.rows[: self._box[0]] if self._box is not None else ()

    def heading(self, end: int) -> list[Row]:
        """Return the first row with text below the last line across above row *end*; nothing without such a line."""
        above = [at for at, row in enumerate(self.rows) if row.is_edge and row.number < end]
        below = self.rows[above[-1] + 1 :] if above else ()
        return [row for row in below if row.text][:1]

    def _at_cursor(self) -> Sequence[Row]:
        """Return the rows around the cursor without a gap or an edge."""
        at = self.cursor_row - self.rows[0].number
        if not 0 <= at < len(self.rows):
            return ()
        top = bottom = at
        while top >= 0 and self.rows[top].text and not self.rows[top].is_edge:
            top -= 1
        while bottom < len(self.rows) and self.rows[bottom].text and not self.rows[bottom].is_edge:
            bottom += 1
        return self.rows[top + 1 : bottom]

    def has_input_below(self, rule: ScreenRule) -> bool:
        """Return whether a box, or the visible cursor, is below the last row of a *rule* that fits."""
        last = max(at for at, row in enumerate(self.rows) if rule.lines[0].match(row.text))
        is_cursor_below = self.cursor_visible and self.cursor_row > self.rows[last].number + 1
        return is_cursor_below or sum(row.is_edge for row in self.rows[last + 1 :]) > 1

    @functools.cached_property
    def _box(self) -> tuple[int, int] | None:
        """
        The edges of the last box; None if more than `_BELOW_BOX_ROWS` rows are below it.

        Its text may hold lines, too: the upper edge is the nearest above with the column and width of the lower one.
        """
        rows = self.rows
        bottom = next((at for at in upwards(len(rows), len(rows)) if rows[at].is_edge), None)
        if bottom is None or sum(bool(row.text) for row in rows[bottom + 1 :]) > _BELOW_BOX_ROWS:
            return None
        edges = [at for at in upwards(bottom - 1, len(rows)) if rows[at].is_edge]
        alike = (at for at in edges if self._extent(at) == self._extent(bottom))
        top = next(alike, edges[0] if edges else None)
        return (top, bottom) if top is not None else None

    def _extent(self, at: int) -> tuple[int, int]:
        """Return the first and the last column of row *at*."""
        line = self.lines[self.rows[at].number].rstrip()
        return len(line) - len(line.lstrip()), len(line)

    def choices(self, what: str, where: str) -> Choices | None:
        """
        Return the choices of the kind *what*, one of `CHOICES`, at the end of the screen, or of the part above the box.
        """
        rows = self._above_box if where == "above box" else self.rows
        key = what, len(rows)
        if key not in self._choices:
            self._choices[key] = _READERS[what](rows)
        return self._choices[key]


_READERS: dict[str, Callable[[Sequence[Row]], Choices | None]] = {
    "numbered": numbered_choices,
    "listed": functools.partial(numbered_choices, is_pointed=False),
    "pointed": functools.partial(pointed_choices, is_named=True),
    "buttons": buttons,
    "lettered": functools.partial(lettered_choices, is_last=False),
}


def _rule_fits(rule: ScreenRule, rows: Sequence[Row], choices: Choices | None, screen: _Screen) -> bool:
    """Return whether *rows* have all lines that *rule* wants, and none that it excludes."""
    if not all(is_in(line, rows) for line in rule.lines):
        return False
    # The words of a dialog do not show that something else is open: that is below them.
    around = rows
    if choices is not None:
        end = screen.rows[choices.end - 1].number
        around = [row for row in rows if row.number > end]
    elif rule.status is Status.WAITING:
        around = rows[-_DIALOG_FOOT_ROWS:]
    if any(is_in(line, around) for line in rule.without):
        return False
    if not rule.not_below:
        return True
    last = max(at for at, row in enumerate(rows) if rule.lines[0].match(row.text))
    return not any(is_in(line, rows[last + 1 :]) for line in rule.not_below)


def _apply_rule(rule: ScreenRule, screen: _Screen) -> ScreenReading | None:
    """Return the reading of *rule* on this screen; None if it does not fit."""
    rows = screen.place(rule.where)
    if not rows or len(rows) > rule.most:
        return None
    rows = rows[-rule.last :]
    choices = screen.choices(rule.choices, rule.where) if rule.choices else None
    if (rule.choices and choices is None) or not _rule_fits(rule, rows, choices, screen):
        return None
    if rule.status is not Status.WAITING:
        return ScreenReading(rule.status, rule.name, is_menu=rule.menu, is_stopped=rule.stopped)
    if choices is None:
        return ScreenReading(rule.status, rule.name, _without_choices(rule, rows))
    wants_style = screen.styled is None and rule.choices in UNPOINTED and rule.choose in MOVES
    return ScreenReading(rule.status, rule.name, _with_choices(rule, screen, choices), wants_style=wants_style)


def _with_choices(rule: ScreenRule, screen: _Screen, found: Choices) -> Dialog:
    """Return the dialog of a rule with the choices *found*, with the keys of each."""
    rows = screen.rows
    top, asking = question_above(rows, found.first)
    question = whole_question(rows, top, asking) if asking < found.first else ""
    for position in range(found.first - 1, -1, -1):
        if said := _asked_by(rule, rows[position]):
            question = said + _wrapped_rest(rows[position + 1 : found.first], said)
            top, asking = min(top, position), position
            break
    lines = clean_lines([row.text for row in rows[top : found.last + 1] if not row.is_edge])
    place = found.place(rows, top, asking)
    selected: int | None = found.pointed
    if rule.choices in UNPOINTED:  # only colours may show it
        styled = screen.styled
        selected = highlighted(styled, screen.lines, place, found.labels) if styled is not None else None
    choices = tuple(
        Choice(_choice_keys(rule.choose, found, index, selected) if found.is_clear else "", label, index == selected)
        for index, label in enumerate(found.labels)
    )
    return Dialog(rule.kind, rule.name, clean_line(question.strip()), lines, choices, place, is_known=True)


def _asked_by(rule: ScreenRule, row: Row) -> str:
    """Return the question of *rule* in *row*; "" if that row has none."""
    asks = rule.question or (rule.lines[0] if rule.lines else None)
    match = asks.match(row.text) if asks is not None else None
    if match is None:
        return ""
    return match[1] if match.re.groups and match[1] else row.text


def _wrapped_rest(below: Sequence[Row], question: str) -> str:
    """
    Return the rest of a *question* that is wrapped onto the rows *below* it; "" unless that ends in a question mark.
    """
    rest = ""
    for row in below[:4]:
        if not row.text or row.is_edge or (question + rest).endswith(("?", ":", ".")):
            break
        rest += f" {row.text}"
    return rest if rest.endswith("?") else ""


def _without_choices(rule: ScreenRule, rows: Sequence[Row]) -> Dialog:
    """Return the dialog of a rule without choices, with the row that asks."""
    for position in range(len(rows) - 1, -1, -1):
        if question := _asked_by(rule, rows[position]):
            lines = clean_lines([row.text for row in rows[position:]])
            place = Place(rows[position].number, rows[position].number, (), rows[-1].number + 1)
            return Dialog(rule.kind, rule.name, clean_line(question.strip()), lines, place=place, is_known=True)
    return Dialog(rule.kind, rule.name, is_known=True)


def _choice_keys(way: str, found: Choices, index: int, selected: int | None) -> str:
    """Return the keys for choice *index*, in one of the `WAYS`; "" if unknown."""
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
