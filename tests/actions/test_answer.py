"""An answer is typed only where a person has seen the very same question, of the very same process."""

from __future__ import annotations

import itertools
from typing import Any

import attrs
import pytest

from tallylight.actions import answer
from tallylight.actions.answer import (
    _PLAIN,
    MAX_ABOVE_ROWS,
    MAX_DIALOG_ROW_CELLS,
    Done,
    Question,
    Seen,
    _context,
    _labels,
    _whole,
)
from tallylight.actions.gate import Refusal
from tallylight.evidence.process import Process
from tallylight.evidence.prompts import read_screen
from tallylight.evidence.screen import Look
from tallylight.model.dialog import Choice, Dialog, Place
from tallylight.model.errors import SessionError
from tallylight.model.status import Kind, Status
from tallylight.wire.styled import StyledScreen
from tallylight.wire.text import sanitise, width
from tests.actions.desk import PANE, PID, SCREENS, START, Desk, holder, seen
from tests.actions.hostile import HARMLESS, HOSTILE, with_lines
from tests.evidence.styled import named
from tests.tables import each


def test_a_question_is_shown_whole() -> None:
    """Command, question, process and every choice with its keys, read off a real screen of Claude Code."""
    shown = Desk(seen("claude/permission-bash-80")).shown()

    assert (shown.pane, shown.agent, shown.pid, shown.start) == (PANE, "claude", PID, START)
    assert shown.context[-4:] == ("╌" * 32, " touch made1", "╌" * 32, " Do you want to proceed?")
    assert shown.context[shown.first] == " Bash command"
    assert [(choice.number, choice.keys) for choice in shown.choices] == [(1, "1"), (2, "2"), (3, "3"), (4, "4")]
    assert shown.choices[1].label == "Yes, and always allow access to /home/user/project from this project"


@each("columns", [40, 80, 120])
def test_an_advertisement_is_left_out(columns: int) -> None:
    """Claude's own tip below the title is not shown, however it is wrapped; whoever adds a word to it is."""
    now = seen(f"claude/permission-bash-{columns}")
    shown = Desk(now).shown()
    told = Desk(with_lines(now, [row + " or rm" if row.endswith(" below") else row for row in now.look.lines])).shown()

    assert [row.strip() for row in shown.context[shown.first :]][:2] == ["Bash command", "A command of the script"]
    assert any(row.endswith("below or rm") for row in told.context[told.first :])
    assert any(row.strip().startswith("Tip: auto mode") for row in told.context[told.first :])


def test_a_description_stands_apart_from_its_choice() -> None:
    """A dot parts the label from the rows that describe it; a label that is wrapped has none."""
    shown = Desk(seen("claude/question-80")).shown()
    assert [choice.label for choice in shown.choices][:2] == ["Red · Red it is", "Green · Green it is"]


def test_the_keys_of_the_choice_are_typed_once() -> None:
    """The host types the one choice, and says which it was."""
    desk = Desk(seen("claude/permission-bash-80"))

    assert answer.answer(desk, desk.shown().answer(4)) == Done(PANE, "answered 4. No")
    assert desk.typed == ["4"]


def coloured(name: str, **more: Any) -> Desk:
    """A desk with the styled screen *name* of an agent, `opencode/permission-80`."""
    shown = named(name)
    now = Seen(
        pane=PANE, foreground=holder(shown.agent.name), look=shown.look, status=Status.WAITING, kind=Kind.PERMISSION
    )
    return Desk(attrs.evolve(now, **more), styled=shown.styled)


def test_the_selected_choice_is_told_by_its_colour() -> None:
    """Wherever the selection stands, the keys lead from there to the choice, and are typed."""
    for name, keys in (
        ("permission", ["\r", "\x1b[C\r", "\x1b[C\x1b[C\r"]),
        ("permission-moved", ["\x1b[D\r", "\r", "\x1b[C\r"]),
        ("permission-last", ["\x1b[D\x1b[D\r", "\x1b[D\r", "\r"]),
    ):
        for number, typed in enumerate(keys, 1):
            desk = coloured(f"opencode/{name}-80")
            shown = desk.shown()
            assert [choice.keys for choice in shown.choices] == keys
            done = answer.answer(desk, shown.answer(number))
            assert done == Done(PANE, f"answered {number}. {('Allow once', 'Allow always', 'Reject')[number - 1]}")
            assert desk.typed == [typed]


def test_a_selection_that_moved_is_another_screen() -> None:
    """The text is the same, but what would be typed is not: nothing is, whichever choice was meant."""
    for before, after in (("permission", "permission-moved"), ("permission-last", "permission")):
        for number in (1, 2, 3):
            desk = coloured(f"opencode/{before}-80")
            given = desk.shown().answer(number)
            desk.styled = named(f"opencode/{after}-80").styled
            found = answer.answer(desk, given)
            assert isinstance(found, Refusal) and found.rule == "changed"
            assert desk.typed == []


def test_without_colours_no_keys_are_known() -> None:
    """A host that tells none, or those of another screen: it is shown what is asked, and nothing can be typed."""
    for styled in (None, named("opencode/always-80").styled):
        desk = coloured("opencode/permission-80")
        desk.styled = styled
        shown = desk.shown()
        assert [choice.keys for choice in shown.choices] == ["", "", ""]
        found = answer.answer(desk, shown.answer(1))
        assert isinstance(found, Refusal) and found.rule == "keys" and desk.typed == []


def test_a_question_with_colours_is_the_one_of_the_snapshot() -> None:
    """Hosts look without colours as time passes; the list knows by what they say that the question is still there."""
    desk = coloured("opencode/permission-moved-80")
    shown = named("opencode/permission-moved-80")
    read = read_screen(shown.agent, shown.look.lines, shown.look.cursor_row)

    assert read is not None and read.dialog is not None
    assert desk.shown().prompt == read.dialog.fingerprint


def test_colours_are_looked_at_only_where_they_matter() -> None:
    """No second look for a dialog that names its keys; for one that does not, one for each word of a person's."""

    @attrs.define
    class Counting(Desk):
        looks: int = 0

        def screen(self) -> StyledScreen:
            self.looks += 1
            return super().screen()

    for name, looks in (("claude/permission-bash-80", 0), ("claude/idle-start-80", 0)):
        desk = Counting(seen(name))
        answer.ask(desk)
        assert desk.looks == looks, name
    shown = coloured("opencode/permission-80")
    counting = Counting(shown.now, styled=shown.styled)
    given = counting.shown().answer(1)
    assert counting.looks == 1
    assert isinstance(answer.answer(counting, given), Done)
    assert counting.looks == 2


def test_a_host_whose_colours_cannot_be_read_is_a_refusal() -> None:
    """The pane went between the two looks."""

    class Gone(Desk):
        def screen(self) -> StyledScreen:
            raise SessionError("the session is gone")

    assert answer.ask(Gone(coloured("opencode/permission-80").now)) == Refusal("unreachable", "the session is gone")


def test_a_host_that_does_not_answer_is_a_refusal() -> None:
    """What went wrong at the host is said, and is no error of the surface."""

    class Gone(Desk):
        def see(self) -> answer.Seen:
            raise SessionError("the session is gone")

    assert answer.ask(Gone(seen("claude/permission-bash-80"))) == Refusal("unreachable", "the session is gone")


def test_where_nothing_waits_nothing_is_offered() -> None:
    """A screen that shows choices is no question while the pane's light says that it does not wait."""
    found = answer.ask(Desk(seen("claude/permission-bash-80", Status.WORKING)))

    assert isinstance(found, Refusal) and found.rule == "no-question"


@pytest.mark.slow
def test_no_hostile_answer_is_typed() -> None:
    """Whatever has changed since a person saw the question, nothing is typed, and the rule says what it was."""
    wrong = []
    for case in HOSTILE:
        desk = Desk(case.before)
        given = case.change(desk.shown().answer(case.number))
        desk.now = case.after
        found = answer.answer(desk, given)
        if desk.typed or not isinstance(found, Refusal) or found.rule not in case.rules or not found.text:
            wrong.append((case.name, found, desk.typed))

    assert wrong == []
    assert len(HOSTILE) >= 150 and len({case.name for case in HOSTILE}) == len(HOSTILE)


@pytest.mark.slow
def test_no_harmless_answer_is_refused() -> None:
    """What blinks and ticks outside of the dialog keeps nobody from answering; exactly one choice's keys are typed."""
    wrong = []
    for case in HARMLESS:
        desk = Desk(case.before)
        shown = desk.shown()
        desk.now = case.after
        found = answer.answer(desk, shown.answer(case.number))
        if not isinstance(found, Done) or desk.typed != [shown.choices[case.number - 1].keys]:
            wrong.append((case.name, found, desk.typed))

    assert wrong == []
    assert len(HARMLESS) >= 30 and len({case.name for case in HARMLESS}) == len(HARMLESS)


@pytest.mark.slow
def test_what_is_too_long_is_said() -> None:
    """A row that is longer than can be shown ends in `…`; a dialog with such a row or label, or so many, is refused."""
    rows = [
        "─" * 9000,
        " $ " + "日" * 2500,
        " Do you want to proceed?",
        " ❯ 1. Yes",
        "   2. " + "no " * 2000,
        " Esc to cancel",
    ]
    shown = seen("claude/permission-bash-120", look=Look(rows, 3, 0, 9000))
    tall = attrs.evolve(
        shown, look=Look([rows[0], *[f" $ {n} {'x' * 2000}" for n in range(60)], *rows[2:]], 63, 0, 9000)
    )
    short = attrs.evolve(shown, look=Look([rows[0], " $ x", *rows[2:4], "   2. no", rows[5]], 3, 0, 9000))

    assert isinstance(answer.ask(Desk(short)), Question)
    for last in ("x", "日", "é́"):
        assert _whole("x" * (MAX_DIALOG_ROW_CELLS - width(last)) + last).endswith(last)
        assert _whole("x" * MAX_DIALOG_ROW_CELLS + last).endswith("x…"), "what is left out is told"
    for one in (shown, tall, attrs.evolve(short, look=attrs.evolve(short.look, lines=[*rows[:1], " $ x", *rows[2:]]))):
        refused = answer.ask(Desk(one))
        assert isinstance(refused, Refusal) and refused.rule == "too-long"


def test_of_the_past_only_the_end_is_shown() -> None:
    """Rows above the dialog are shown for what they tell, and are bounded."""
    shown = seen("claude/permission-bash-120")
    above = with_lines(shown, [*(f"row {n}" for n in range(300)), *shown.look.lines])
    found = Desk(attrs.evolve(above, look=attrs.evolve(above.look, cursor_row=324))).shown()

    alone = Desk(shown).shown()
    assert found.context[found.first :] == alone.context[alone.first :]
    assert 0 < found.first <= MAX_ABOVE_ROWS == 100
    assert _context(Look([*["x"] * 300, "─" * 40, "Go?", "❯ 1. a", "  2. b"], 0, 0, 40), _PLACED)[1] == 100


#: A dialog that begins at row 300.
_PLACED = Dialog(None, "x", choices=(), place=Place(301, 301, (302, 303), 304), top=300)


def test_what_is_shown_above_the_choices() -> None:
    """Without blank rows in front of the choices, and without the line that the dialog begins with; others stay."""
    line, cut = "─" * 40, "─" * 32
    for rows, top, expected in (
        (["past", line, " Go?", ""], 1, (("past", " Go?"), 1)),
        (["past", line, " Go?", "", ""], 1, (("past", " Go?"), 1)),
        (["past", line, "", "", " Go?"], 1, (("past", " Go?"), 1)),
        (["past", "", line, " ╌╌", " a", " Go?"], 2, (("past", "", " ╌╌", " a", " Go?"), 2)),
        ([line, " a", f" {line}", " Go?"], 0, ((" a", f" {cut}", " Go?"), 0)),
        (["", ""], 0, ((), 0)),
        ([], 0, ((), 0)),
    ):
        place = Place(top, top, (len(rows), len(rows) + 1), len(rows) + 2)
        look = Look([*rows, " ❯ 1. a", "   2. b"], 0, 0, 40)
        assert _context(look, attrs.evolve(_PLACED, place=place, top=top)) == expected, rows


def test_how_much_a_dialog_may_say() -> None:
    """100 000 characters of it, rows of the past not counted."""
    for length, is_shown in ((100_000, True), (100_001, False)):
        rows = [
            "─" * 4000,
            *[" " + "x" * 3998] * 25,
            " " + "x" * (length - 25 * 3999 - 5),
            " Go?",
            " ❯ 1. a",
            "   2. b",
        ]
        found = answer.ask(Desk(seen("claude/permission-bash-120", look=Look(["past", *rows], len(rows), 0, 4000))))
        assert isinstance(found, Question) is is_shown, found


def test_the_labels_of_choices() -> None:
    """Their rows without pointer and number; what is drawn by frames alone has none."""
    rows = ["❯ 1. Red", "  2. Green 3. x", "Blue 4. y", "❯ Grey", "╰──────╯"]
    choices = tuple(Choice(str(number), "") for number in range(5))
    shown = Dialog(None, "x", choices=choices, place=Place(0, 0, (0, 1, 2, 3, 4), 5))
    assert _labels(Look(rows, 0, 0, 40), shown) == ["Red", "Green 3. x", "Blue 4. y", "Grey", ""]


def test_who_is_not_seen_is_not_asked() -> None:
    """A host's refusal stays as it is; an agent without a process is none; a screen without a dialog asks nothing."""
    gone = Refusal("gone", "it is gone")
    assert answer.ask(Desk(gone)) == answer.holder(Desk(gone)) == gone
    nobody = seen("claude/permission-bash-80", foreground=attrs.evolve(holder("claude"), process=None))
    empty = seen("claude/permission-bash-80", look=Look([""] * 24, 0, 0, 80))
    for desk, rule in ((Desk(nobody), "process"), (Desk(empty), "no-question")):
        found = answer.ask(desk)
        assert isinstance(found, Refusal) and found.rule == rule
    assert isinstance(answer.holder(Desk(empty)), answer.Occupant)


def test_an_editor_may_take_keys_for_itself() -> None:
    """Where it draws the agent's terminal, nothing is asked, answered or said from here: the message names both."""
    screen = seen("claude/permission-bash-80")
    editor = Process(90, argv=("nvim",), exe="/usr/bin/nvim", start=1)
    inner = attrs.evolve(screen, foreground=attrs.evolve(screen.foreground, leader=editor, is_drawn=True))
    given = Desk(screen).shown().answer(1)
    for refused in (answer.ask(Desk(inner)), answer.holder(Desk(inner)), answer.answer(desk := Desk(inner), given)):
        assert isinstance(refused, Refusal) and refused.rule == "mode"
        assert "Claude Code is in a terminal that nvim draws" in refused.text
    assert desk.typed == []


def test_what_is_shown_is_sanitised() -> None:
    """Whether or not a row could be too long, what is not plain is taken out of it."""
    for bad in ("\x1b", "\x9b", "\u202e", "\u200b"):
        for length in (1, MAX_DIALOG_ROW_CELLS // 2 - 2, MAX_DIALOG_ROW_CELLS // 2 + 1):
            assert bad not in _whole("x" * length + bad + "x"), (bad, length)
    for length in (1, MAX_DIALOG_ROW_CELLS // 2, MAX_DIALOG_ROW_CELLS // 2 + 1, MAX_DIALOG_ROW_CELLS):
        assert _whole("x" * length) == "x" * length


def test_plain_text_is_what_sanitising_leaves() -> None:
    """The characters that are taken as they are, are those that nothing would be done to."""
    plain = [chr(code) for code in range(0x3000) if _PLAIN.fullmatch(chr(code))]

    assert len(plain) > 1000 and [c for c in plain if sanitise(c) != c or width(c) != 1] == []
    assert sanitise("".join(plain), cells=9999) == "".join(plain)


@pytest.mark.slow
def test_what_is_known_to_be_no_permission() -> None:
    """Of all recorded dialogs, those that the agent's own rule and another source call a question."""
    asked, plain = 0, []
    kinds = {"kind": Kind.QUESTION, "confirmed_kind": Kind.QUESTION}
    for path in sorted(SCREENS.glob("*/*.txt")):
        found = answer.ask(Desk(seen(f"{path.parent.name}/{path.stem}", **kinds)))
        asked += isinstance(found, Question)
        if isinstance(found, Question) and found.is_plain:
            plain.append(f"{path.parent.name}/{path.stem}")
            assert "shows: waiting/question\n" in path.read_text("utf-8"), path
    assert asked > 100 and "claude/question-80" in plain
    for name, key, kind in itertools.product(plain, kinds, {None, *Kind} - {Kind.QUESTION}):
        found = answer.ask(Desk(seen(name, **kinds | {key: kind})))
        assert isinstance(found, Question) and not found.is_plain, (name, key, kind)
