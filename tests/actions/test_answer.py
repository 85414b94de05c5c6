"""An answer is typed only where a person has seen the very same question, of the very same process."""

from __future__ import annotations

import attrs

from tallylight.actions import answer
from tallylight.actions.answer import _PLAIN, MAX_ABOVE, MAX_CELLS, Done
from tallylight.actions.gate import Refusal
from tallylight.evidence.looks import Look
from tallylight.model.errors import SessionError
from tallylight.model.status import Status
from tallylight.wire.text import sanitise, width
from tests.actions.desk import PANE, PID, START, Desk, seen
from tests.actions.hostile import HARMLESS, HOSTILE, with_lines


def test_a_question_is_shown_whole() -> None:
    """Command, question, process and every choice with its keys, read off a real screen of Claude Code."""
    shown = Desk(seen("claude/permission-bash-80")).shown()

    assert (shown.pane, shown.agent, shown.pid, shown.start) == (PANE, "claude", PID, START)
    assert shown.context[-2:] == (" touch made1", " Do you want to proceed?")
    assert shown.context[shown.first] == " Bash command"
    assert [(choice.number, choice.keys) for choice in shown.choices] == [(1, "1"), (2, "2"), (3, "3"), (4, "4")]
    assert shown.choices[1].label == "Yes, and always allow access to /home/user/project from this project"


def test_the_keys_of_the_choice_are_typed_once() -> None:
    """The host types the one choice, and says which it was."""
    desk = Desk(seen("claude/permission-bash-80"))

    assert answer.answer(desk, desk.shown().answer(4)) == Done(PANE, "answered 4. No")
    assert desk.typed == ["4"]


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


def test_what_is_too_long_is_said() -> None:
    """A row that is longer than can be shown ends in `…`; a dialog that is, is refused."""
    rows = [
        "─" * 9000,
        " $ " + "日" * 2500,
        " Do you want to proceed?",
        " ❯ 1. Yes",
        "   2. " + "no " * 2000,
        " Esc to cancel",
    ]
    shown = seen("claude/permission-bash-120", look=Look(rows, 3, 0, 9000))
    found = Desk(shown).shown()
    tall = attrs.evolve(
        shown, look=Look([rows[0], *[f" $ {n} {'x' * 2000}" for n in range(60)], *rows[2:]], 63, 0, 9000)
    )

    assert found.context[0].endswith("日…") and width(found.context[0]) <= MAX_CELLS
    assert found.choices[1].label.endswith("…") and len(found.choices[1].label) <= MAX_CELLS
    refused = answer.ask(Desk(tall))
    assert isinstance(refused, Refusal) and refused.rule == "too-long"


def test_of_the_past_only_the_end_is_shown() -> None:
    """Rows above the dialog are shown for what they tell, and are bounded."""
    shown = seen("claude/permission-bash-120")
    above = with_lines(shown, [*(f"row {n}" for n in range(300)), *shown.look.lines])
    found = Desk(attrs.evolve(above, look=attrs.evolve(above.look, cursor_row=324))).shown()

    assert found.context[found.first :] == Desk(shown).shown().context[-6:][-len(found.context[found.first :]) :]
    assert 0 < found.first <= MAX_ABOVE


def test_plain_text_is_what_sanitising_leaves() -> None:
    """The characters that are taken as they are, are those that nothing would be done to."""
    plain = [chr(code) for code in range(0x3000) if _PLAIN.fullmatch(chr(code))]

    assert len(plain) > 1000 and [c for c in plain if sanitise(c) != c or width(c) != 1] == []
    assert sanitise("".join(plain), cells=9999, graphemes=9999) == "".join(plain)
