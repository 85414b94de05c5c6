"""
What was not shown whole cannot be agreed to: a row of a dialog is hidden in every way, never from who answers.

Each try takes a recorded dialog, puts a marked row into what it asks, where its agent draws such rows, and hides it:
the dialog grows taller than the screen, is cut, is covered by lines, boxes, bars, titles and panels drawn in its text,
is scrolled, wrapped, cut at an end or written in characters that draw nothing. Whatever comes of it, a question that
can be answered shows the mark.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallylight.actions.answer import Question, Seen, answer, ask
from tallylight.actions.gate import Refusal
from tallylight.actions.say import Say, say
from tallylight.evidence.screen import Look
from tallylight.evidence.tail import is_edge
from tallylight.hosts.gnu_screen.hardcopy import decode
from tallylight.model.dialog import Dialog
from tests.actions.desk import Desk, seen
from tests.actions.test_fingerprint import dialogs
from tests.hosts.detached.test_hardcopy import low
from tests.tables import each

MARK = "curl evil.example"
#: Of the run in which this property was shown; a run of the suite takes some of them.
EXAMPLES = int(os.environ.get("TALLYLIGHT_HIDDEN", "400"))
#: What an agent says where it leaves rows out, and in which row from the end of its text: below its choices, if True.
SAYS: dict[str, tuple[str, bool]] = {
    "claude": (" ↑ {n} more lines", True),
    "codex": ("  [… {n} lines] ^a view all", False),
    "gemini": ("... {n} hidden (Ctrl+O) ...", False),
    "qwen": ("     ... last {n} lines hidden ...", False),
}


@attrs.frozen
class Asked:
    """A recorded dialog: what is seen, and where it stands in it."""

    name: str
    seen: Seen
    dialog: Dialog


@functools.cache
def whole() -> list[Asked]:
    """All recorded dialogs that are whole and can be answered."""
    return [Asked(name, seen(name), dialog) for name, dialog in dialogs() if not dialog.missing]


class Sheet:
    """The rows of a screen, of which some are the dialog's; its text is drawn into its frame, as its agent does."""

    def __init__(self, asked: Asked) -> None:
        place = asked.dialog.place
        assert place is not None
        self.lines = list(asked.seen.look.lines)
        self.height, self.columns = len(self.lines), asked.seen.look.columns
        self.top, self.start = asked.dialog.top, place.starts[0]
        texts = [line for line in self.lines[self.top + 1 : self.start] if line.strip(" │┃") and not is_edge(line)]
        #: What stands in front of its text, its frame included, and behind it.
        model = min(texts or [self.lines[self.start]], key=lambda line: len(line) - len(line.lstrip(" │┃")))
        self.front = model[: len(model) - len(model.lstrip(" │┃"))]
        self.back = "│" if model.rstrip().endswith("│") else ""
        self.agent = asked.name.partition("/")[0]
        self.is_marked = False

    def text(self, text: str, at: int) -> None:
        """Put a row of text into the dialog."""
        room = self.columns - len(self.front) - len(self.back)
        row = f"{self.front}{text[:room]:<{room}}{self.back}" if self.back else f"{self.front}{text[:room]}"
        self.lines.insert(at, row)
        self.start += 1

    @property
    def inner(self) -> range:
        """Where rows of text can be put: behind the first row of it, and before the choices."""
        return range(self.top + 2 if self.top + 2 <= self.start else self.start, self.start + 1)

    def cut(self, count: int, *, says: bool) -> None:
        """Have the first *count* rows of the screen gone; an agent that says so does."""
        self.lines = self.lines[count:]
        self.top, self.start = self.top - count, self.start - count
        row, is_below = SAYS.get(self.agent, ("", False))
        if says and row:
            self.lines.insert(len(self.lines) if is_below else max(0, self.start), row.format(n=count))


Way = Callable[[Sheet, st.DataObject], None]


def _mark(sheet: Sheet, data: st.DataObject) -> None:
    if not sheet.is_marked:
        sheet.text(MARK, data.draw(st.sampled_from(sheet.inner)))
        sheet.is_marked = True


def _below_mark(sheet: Sheet, data: st.DataObject) -> int:
    """A row behind the mark, in the text of the dialog."""
    _mark(sheet, data)
    at = next((row for row, line in enumerate(sheet.lines) if MARK in line), sheet.start - 1)
    return data.draw(st.integers(at + 1, max(at + 1, sheet.start)))


def lines(sheet: Sheet, data: st.DataObject) -> None:
    """Lines across, as long as the screen, the text, or anything."""
    at = _below_mark(sheet, data)
    kind = data.draw(st.sampled_from("─━═▔▁▀▄╌┄-_"))
    length = data.draw(st.sampled_from([sheet.columns, sheet.columns - 1, sheet.columns - 2, 60, 40, 20, 200]))
    for _ in range(data.draw(st.integers(1, 3))):
        sheet.text(kind * length, at)


def boxes(sheet: Sheet, data: st.DataObject) -> None:
    """Corners and sides, open, closed, and as wide as the dialog's own."""
    at = _below_mark(sheet, data)
    width = data.draw(st.sampled_from([sheet.columns - 4, sheet.columns - 2, 30]))
    for row in data.draw(st.permutations([f"╭{'─' * width}╮", f"│ ok{' ' * (width - 3)}│", f"╰{'─' * width}╯"])):
        sheet.text(row, at)


def titles(sheet: Sheet, data: st.DataObject) -> None:
    """Rows that agents begin their dialogs with, drawn where text stands."""
    at = _below_mark(sheet, data)
    for row in (data.draw(st.sampled_from([
        " Bash command", "Bash command", "? Shell ls ←", "▶ Run this command?", "△ Permission required",
        "● Claude wants to run", "⚠ Dangerous command:", "Do you want to proceed?", " ☐ Colour",
        "Would you like to run the following command?", "Question 1/1 (1 unanswered)",
    ])), "", ""):  # fmt: skip
        sheet.text(row, at)


def gaps(sheet: Sheet, data: st.DataObject) -> None:
    """Empty rows, which stood for the end of one dialog once."""
    at = _below_mark(sheet, data)
    for _ in range(data.draw(st.integers(1, 6))):
        sheet.text("", at)


def bars(sheet: Sheet, data: st.DataObject) -> None:
    """A bar beside what comes behind the mark."""
    at = _below_mark(sheet, data)
    bar = data.draw(st.sampled_from("│┃▌▐▎"))
    for row in ("ls", "", "Lists the files here"):
        sheet.text(f"{bar} {row}", at)


def tall(sheet: Sheet, data: st.DataObject) -> None:
    """More rows than the screen has: it keeps the last ones, as agents and terminals do."""
    at = _below_mark(sheet, data)
    for _ in range(data.draw(st.integers(1, 50))):
        sheet.text(data.draw(st.sampled_from(["", "echo", "─" * sheet.columns])), at)
    over = len(sheet.lines) - sheet.height
    if over > 0:
        _gone(sheet, over, data)


def cut(sheet: Sheet, data: st.DataObject) -> None:
    """A screen that has fewer rows."""
    _mark(sheet, data)
    at = next((row for row, line in enumerate(sheet.lines) if MARK in line), 0)
    _gone(sheet, data.draw(st.integers(max(0, sheet.top), max(at + 1, sheet.top, 0))), data)


def _gone(sheet: Sheet, count: int, data: st.DataObject) -> None:
    """Rows too many: Codex leaves out the middle, others the beginning, and some say so; or the terminal scrolls."""
    says = data.draw(st.booleans())
    if says and sheet.agent == "codex" and count > sheet.top:
        begin, end = max(0, sheet.top) + 2, max(sheet.start - 1, 0)
        left_out = sheet.lines[begin:end]
        sheet.lines[begin:end] = [SAYS["codex"][0].format(n=len(left_out))]
        sheet.start -= len(left_out) - 1
    else:
        sheet.cut(count, says=says)


def scrolled(sheet: Sheet, data: st.DataObject) -> None:
    """The mark, and rows beside it, behind a row that says so."""
    _mark(sheet, data)
    row = data.draw(st.sampled_from([
        "… 27 more lines", "↑ 3 more", "... last 38 lines hidden ...", "… +12 lines (ctrl+o to expand)",
        "+ Show details", "[… 52 lines] ^a view all", "(truncated)",
    ]))  # fmt: skip
    at = next((n for n, line in enumerate(sheet.lines) if MARK in line), None)
    if at is not None:
        del sheet.lines[at]
        sheet.start -= 1
        sheet.text(row, at)


def wide(sheet: Sheet, data: st.DataObject) -> None:
    """A row that is too long for the screen: it is wrapped, or ends in `…`."""
    at = data.draw(st.sampled_from(sheet.inner))
    room = sheet.columns - len(sheet.front) - len(sheet.back)
    if data.draw(st.booleans()):
        sheet.text(f"ls {'x' * (room - 4)}…"[-room:] if room > 5 else "…", at)
        sheet.is_marked = True
    else:
        sheet.text(MARK, at)
        sheet.text("ls " + "x" * room, at)
        sheet.is_marked = True


def invisible(sheet: Sheet, data: st.DataObject) -> None:
    """Characters that draw nothing between those of the mark, in front of it and behind it."""
    nothing = data.draw(st.sampled_from("\u200b\u2060\ufeff\u00ad\u180e\u2800\u3164\u115f\u202e\u2066\U000e0061"))
    sheet.text(nothing * data.draw(st.integers(1, 5)) + MARK, data.draw(st.sampled_from(sheet.inner)))
    sheet.is_marked = True


def panel(sheet: Sheet, data: st.DataObject) -> None:
    """Another panel beside the dialog, with boxes and bars of its own."""
    _mark(sheet, data)
    side = data.draw(st.sampled_from(["│ LSP │", "╭─────╮", "╰─────╯", "┃", "█"]))
    for row in range(max(0, sheet.top), len(sheet.lines)):
        if data.draw(st.booleans()) and len(sheet.lines[row]) + 12 < sheet.columns:
            sheet.lines[row] = f"{sheet.lines[row]:<{sheet.columns - 10}}{side}"


WAYS: tuple[Way, ...] = (lines, boxes, titles, gaps, bars, tall, cut, scrolled, wide, invisible, panel)


def answerable(shown: Question | object) -> str | None:
    """What a person sees who may answer, all of it in one; None if nobody may."""
    if not isinstance(shown, Question) or not any(choice.keys for choice in shown.choices):
        return None
    assert not shown.missing
    return "\n".join([*shown.context[shown.first :], *(choice.label for choice in shown.choices)])


def hidden(asked: Asked, ways: Sequence[Way], data: st.DataObject) -> tuple[str, list[str]] | None:
    """What can be answered without having seen the mark, with the screen; None if nothing can."""
    sheet = Sheet(asked)
    for way in ways:
        if sheet.start > 0:
            way(sheet, data)
    _mark(sheet, data) if sheet.start > 0 else None
    lines = sheet.lines
    if data.draw(st.booleans()):
        # As an older GNU Screen tells it.
        lines = decode(low("\n".join(lines)), keeps_text=False)
    row = min(asked.seen.look.cursor_row, len(lines) - 1)
    now = attrs.evolve(asked.seen, look=Look(lines, row, 0, sheet.columns))
    shown = answerable(ask(Desk(now)))
    return (shown, lines) if shown is not None and MARK not in shown else None


@pytest.mark.slow
@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.deferred(lambda: st.sampled_from(whole())), st.lists(st.sampled_from(WAYS), min_size=1, max_size=4), st.data()
)
def test_no_row_is_hidden(asked: Asked, ways: list[Way], data: st.DataObject) -> None:
    """Over all recorded dialogs of all agents: no question can be answered whose text lacks the mark."""
    found = hidden(asked, ways, data)

    assert found is None, f"{asked.name} {[way.__name__ for way in ways]}\n{found[0]}\n---\n" + "\n".join(found[1])


@pytest.mark.slow
@each("name", ["claude/question-120", "claude/question-80", "claude/question-40"])
def test_a_head_in_its_own_text_hides_nothing(name: str) -> None:
    """A line across and the title of a question, drawn by the question itself: no row above them is left out."""
    (asked,) = (one for one in whole() if one.name == name)
    sheet = Sheet(asked)
    for row in ("", "", " ☐ Colour", "─" * sheet.columns, MARK):
        sheet.text(row, sheet.inner.start)
    lines = sheet.lines[len(sheet.lines) - sheet.height :]
    now = attrs.evolve(asked.seen, look=Look(lines, asked.seen.look.cursor_row, 0, sheet.columns))
    assert answerable(ask(Desk(now))) is None


@each(
    "name", ["claude/permission-tall-80", "codex/permission-tall-80", "gemini/permission-tall-80", "qwen/permission-80"]
)
def test_what_is_not_whole_is_refused(name: str) -> None:
    """It is shown, with what is missing; no choice has keys, and an answer or a text is refused in the same words."""
    desk = Desk(seen(name))
    shown = desk.shown()

    assert shown.missing.startswith("part of this cannot be seen here: ")
    assert shown.choices and not any(choice.keys for choice in shown.choices)
    refused = Refusal("not-whole", f"{shown.missing}; nothing was typed")
    assert [answer(desk, shown.answer(choice.number)) for choice in shown.choices] == [refused] * len(shown.choices)
    assert desk.typed == []


def test_a_text_is_no_way_around_it() -> None:
    """A dialog that takes any text is shown whole, too, before it gets one."""
    desk = Desk(seen("cline/question-100"))
    shown = desk.shown()

    told = say(desk, Say(shown.pane, shown.pid, shown.start, "Blue", enter=True, fingerprint=shown.fingerprint))
    assert (told, desk.typed) == (Refusal("not-whole", f"{shown.missing}; nothing was typed"), [])


@pytest.mark.slow
def test_there_are_dialogs_of_every_kind() -> None:
    """What the property ranges over: agents whose dialogs can be answered; the mark is seen where nothing hides it."""
    assert {asked.name.partition("/")[0] for asked in whole()} == {
        "claude", "codex", "copilot", "gemini", "grok-build", "kilo", "kimi", "opencode", "pi", "qwen", "vibe",
    }  # fmt: skip
    assert len(whole()) >= 60
    plain = 0
    for asked in whole():
        sheet = Sheet(asked)
        sheet.text(MARK, sheet.inner[0])
        grown = [*sheet.lines]
        now = attrs.evolve(asked.seen, look=attrs.evolve(asked.seen.look, lines=grown, cursor_row=len(grown) - 1))
        shown = answerable(ask(Desk(now)))
        plain += shown is not None and MARK in shown
    assert plain >= len(whole()) * 0.7, plain
