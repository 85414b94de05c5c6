"""
Screen rules as data: which rows at the end of an agent's screen mean which status, and how its dialogs are answered.

The tables of an agent file go in, `ScreenRule`s come out in the order of their priority; `evidence.prompts` applies
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from tallylight.agents.patterns import PatternError, compile_pattern
from tallylight.agents.titles import read_status
from tallylight.files.toml import Table
from tallylight.model.status import Kind, Status

MAX_RULES = 40
MAX_PATTERNS = 16
#: Rows that a rule reads by default, and at most.
DEFAULT_LAST_ROWS = 12
MAX_LAST_ROWS = 48
#: The range of a rule's priority; our own weakest rules are below it.
MIN_PRIORITY, MAX_PRIORITY = -100.0, 100.0
#: The largest `room` of a rule, in rows, and the largest `margin`, in columns.
MAX_ROOM_ROWS, MAX_MARGIN_COLUMNS = 200, 20

#: The places of rows: the last ones, those up to the cursor's, and those around the cursor without a gap. A box is the
#: last one with two lines across, and little below it; its first row is the input. The line is the last one across.
PLACES = ("end", "cursor", "at cursor", "box", "input", "above box", "below line")
#: The kinds of choices at the end of a dialog: numbers with a pointer, numbers alone, a pointer alone. Buttons are in
#: one row, and only their colour marks the selected one. A letter in brackets is in front of its answer.
CHOICES = ("numbered", "listed", "pointed", "buttons", "lettered")
#: Choices without a pointer: only colours show the selected one.
UNPOINTED = ("listed", "buttons")
#: The keys of a choice: its number, or that and Enter. A hint is the key in parentheses at its end, else its number.
#: Arrows move the selection to it, and Enter takes it.
WAYS = ("number", "number enter", "hint", "arrows", "side arrows", "unknown")
#: Keys that depend on the selected choice.
MOVES = ("arrows", "side arrows")

_NAME = re.compile(r"[a-z0-9][a-z0-9 _-]{0,39}", re.ASCII)
#: The keys of a choice by default.
_TYPED = {"numbered": "number", "listed": "number", "pointed": "arrows"}
#: Keys of a rule that are for one status alone, and keys that need another one.
_ONLY_FOR = {"kind": Status.WAITING, "stopped": Status.IDLE, "top": Status.WAITING, "room": Status.WAITING}
_NEEDS = {"not_below": "lines", "margin": "top"}


@attrs.frozen(kw_only=True)
class ScreenRule:
    """
    One rule, for screens with at *most* so many rows with text at *where*.

    The *last* so many of these are read. Each of *lines* must match one of them, and none of *without* any; none of
    *not_below* may match a row below the last match of the first of *lines*. With *choices*, such choices must be at
    the end of the screen as well.
    """

    name: str
    status: Status
    kind: Kind | None = None
    lines: tuple[re.Pattern[str], ...] = ()
    without: tuple[re.Pattern[str], ...] = ()
    not_below: tuple[re.Pattern[str], ...] = ()
    where: str = "end"
    last: int = DEFAULT_LAST_ROWS
    most: int = MAX_LAST_ROWS
    choices: str = ""
    choose: str = "unknown"
    #: The row that asks, the first of *lines* if it is not given; its first group, if it has one, is the question.
    question: re.Pattern[str] | None = None
    #: The first row of its dialog, with the blanks in front of it, where no box, bar or line begins it.
    top: re.Pattern[str] | None = None
    #: The left edge of its dialog's text: a row with text left of it is above the dialog. 0: no such edge.
    margin: int = 0
    #: Rows of its dialog above which its agent cuts it without a sign; 0 if it never does.
    room: int = 0
    #: A menu that the person there has opened: no text is typed into it for them.
    menu: bool = False
    #: For an idle screen: a person stopped the turn, or refused a request. It is no turn that is done.
    stopped: bool = False
    priority: float = 0


def parse_screen_rules(tables: Iterable[Table]) -> tuple[ScreenRule, ...]:
    """Return the rules of an agent, those of a higher priority first. Errors are noted in their tables."""
    rules: list[ScreenRule] = []
    for number, table in enumerate(tables):
        if number == MAX_RULES:
            table.complain("name", f"belongs to rule {MAX_RULES + 1}; only {MAX_RULES} are read")
            break
        rules.append(_parse(table))
    return tuple(sorted(rules, key=lambda rule: -rule.priority))


def _parse(table: Table) -> ScreenRule:
    """Return one rule for screens; complain of its wrong entries."""
    name = table.text("name")
    if not _NAME.fullmatch(name):
        table.complain("name", "is missing; `tally why` shows it: at most 40 small letters, digits, spaces and dashes")
    status, kind = read_status(table, "screen")
    choices = table.text("choices", choices=CHOICES)
    rule = ScreenRule(
        name=name,
        status=Status(status or Status.IDLE),
        kind=Kind(kind) if kind else None,
        lines=_patterns(table, "lines"),
        without=_patterns(table, "without"),
        not_below=_patterns(table, "not_below"),
        where=table.text("where", "end", choices=PLACES),
        last=int(table.number("last", DEFAULT_LAST_ROWS, 1, MAX_LAST_ROWS)),
        most=int(table.number("most", MAX_LAST_ROWS, 1, MAX_LAST_ROWS)),
        choices=choices,
        choose=table.text("choose", _TYPED.get(choices, "unknown"), choices=WAYS),
        question=_pattern(table, "question", table.text("question")),
        top=_pattern(table, "top", table.text("top")),
        margin=int(table.number("margin", 0, 0, MAX_MARGIN_COLUMNS)),
        room=int(table.number("room", 0, 0, MAX_ROOM_ROWS)),
        menu=table.boolean("menu", False),
        stopped=table.boolean("stopped", False),
        priority=table.number("priority", 0, MIN_PRIORITY, MAX_PRIORITY),
    )
    for key, only in _ONLY_FOR.items():
        if getattr(rule, key) and status not in ("", only):
            table.complain(key, f"is only for {only}")
    if not rule.lines and not choices:
        table.complain("lines", "or choices is missing: say what to find on the screen")
    for key, other in _NEEDS.items():
        if getattr(rule, key) and not getattr(rule, other):
            table.complain(key, f"needs {other}")
    if not choices and "choose" in table:
        table.complain("choose", "is only for rules with choices")
    table.close()
    return rule


def _patterns(table: Table, key: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns at *key*, compiled; complain of one that is not allowed, or of too many."""
    words = table.words(key)
    if len(words) > MAX_PATTERNS:
        table.complain(key, f"has {len(words)} patterns; at most {MAX_PATTERNS} are read")
        return ()
    found = [_pattern(table, key, word) for word in words]
    return tuple(pattern for pattern in found if pattern is not None)


def _pattern(table: Table, key: str, text: str) -> re.Pattern[str] | None:
    """Return *text* compiled; None if it is empty, or not allowed."""
    if not text:
        return None
    try:
        return compile_pattern(text)
    except PatternError as error:
        shown = text if len(text) <= 60 else text[:57] + "..."
        table.complain(key, f"has {shown!r}, which {error}")
        return None
