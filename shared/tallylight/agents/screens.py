"""
Screen rules as data: which rows at the end of an agent's screen mean which status, and how its dialogs are answered.

The tables of an agent file go in, `ScreenRule`s come out, the first to be asked first; `evidence.prompts` applies them.
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
#: Rows that are looked at unless a rule says how many, and the most it may say.
LAST = 12
MAX_LAST = 48
#: What the priority of a rule may be; those of our own that say least are below.
MIN_PRIORITY, MAX_PRIORITY = -100.0, 100.0
#: Rows that a rule may say that a dialog has, and the first column of its text.
MAX_ROOM, MAX_MARGIN = 200, 20

#: Which rows: the last ones; those up to the cursor's; those without a gap around the cursor; those in the last
#: box (two lines across, little below it); those above that box; those below the last line across.
PLACES = ("end", "cursor", "at cursor", "box", "above box", "below line")
#: The end of a dialog: numbered choices with a pointer at one; such without, for those that only colour
#: it; choices without numbers, with a pointer; answers in one row, where only the colour marks the selected one, or
#: each behind its key in brackets, whatever is below.
CHOICES = ("numbered", "listed", "pointed", "buttons", "lettered")
#: Those without a pointer: only colours show which one is selected.
UNPOINTED = ("listed", "buttons")
#: How a choice is typed: its number; the same and Enter; the key in parentheses at its end, else its number; the
#: selection moved to it, up and down or to the sides, and Enter; or not known.
WAYS = ("number", "number enter", "hint", "arrows", "side arrows", "unknown")
#: Those that depend on which choice is selected.
MOVES = ("arrows", "side arrows")

_NAME = re.compile(r"[a-z0-9][a-z0-9 _-]{0,39}", re.ASCII)
#: How a choice is typed, unless the rule says it.
_TYPED = {"numbered": "number", "listed": "number", "pointed": "arrows"}
#: Keys that are for one status alone, and keys that say nothing without another.
_ONLY_FOR = {"kind": Status.WAITING, "stopped": Status.IDLE, "top": Status.WAITING, "room": Status.WAITING}
_NEEDS = {"not_below": "lines", "margin": "top"}


@attrs.frozen(kw_only=True)
class ScreenRule:
    """
    One rule, for screens with at *most* so many rows with text at *where*. Of these the *last* so many are looked at;
    each of *lines* must match one of them, and none of *without* any; none of *not_below* any below the last row that
    the first of *lines* matches. With
    *choices*, such choices must be at the end of the screen as well.
    """

    name: str
    status: Status
    kind: Kind | None = None
    lines: tuple[re.Pattern[str], ...] = ()
    without: tuple[re.Pattern[str], ...] = ()
    not_below: tuple[re.Pattern[str], ...] = ()
    where: str = "end"
    last: int = LAST
    most: int = MAX_LAST
    choices: str = ""
    choose: str = "unknown"
    #: The row that asks; its first group, if it has one, is the question.
    question: re.Pattern[str] | None = None
    #: The first row of its dialog, with the blanks in front of it, where no box, bar or line begins it.
    top: re.Pattern[str] | None = None
    #: The left edge of its dialog's text: a row with text left of it is above the dialog. 0: no such edge.
    margin: int = 0
    #: Rows that its dialog has at the most before its agent cuts it without a sign; 0 where it never does.
    room: int = 0
    #: A menu that the person there has opened: no text is typed into it for them.
    menu: bool = False
    #: Of an idle screen: a person stopped the turn, or refused what it asked for. It is no turn that is done.
    stopped: bool = False
    priority: float = 0


def parse_screen_rules(tables: Iterable[Table]) -> tuple[ScreenRule, ...]:
    """The rules of an agent, those of a higher priority first. What is wrong with one is noted in its table."""
    rules: list[ScreenRule] = []
    for number, table in enumerate(tables):
        if number == MAX_RULES:
            table.complain("name", f"belongs to rule {MAX_RULES + 1}; only {MAX_RULES} are read")
            break
        rules.append(_parse(table))
    return tuple(sorted(rules, key=lambda rule: -rule.priority))


def _parse(table: Table) -> ScreenRule:
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
        last=int(table.number("last", LAST, 1, MAX_LAST)),
        most=int(table.number("most", MAX_LAST, 1, MAX_LAST)),
        choices=choices,
        choose=table.text("choose", _TYPED.get(choices, "unknown"), choices=WAYS),
        question=_pattern(table, "question", table.text("question")),
        top=_pattern(table, "top", table.text("top")),
        margin=int(table.number("margin", 0, 0, MAX_MARGIN)),
        room=int(table.number("room", 0, 0, MAX_ROOM)),
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
    words = table.words(key)
    if len(words) > MAX_PATTERNS:
        table.complain(key, f"has {len(words)} patterns; at most {MAX_PATTERNS} are read")
        return ()
    found = [_pattern(table, key, word) for word in words]
    return tuple(pattern for pattern in found if pattern is not None)


def _pattern(table: Table, key: str, text: str) -> re.Pattern[str] | None:
    if not text:
        return None
    try:
        return compile_pattern(text)
    except PatternError as error:
        shown = text if len(text) <= 60 else text[:57] + "..."
        table.complain(key, f"has {shown!r}, which {error}")
        return None
