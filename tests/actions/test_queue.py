"""A text that waits for the end of a turn: when it is typed, when it waits, and when it is given up."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Seen
from tallylight.actions.answered import InProcess
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.queue import (
    ENDED,
    MARGIN_S,
    READY_S,
    TYPED,
    Moment,
    put,
    step,
    typed_text,
    typing_time,
)
from tallylight.actions.request import DeferredText
from tallylight.evidence.screen import Look
from tallylight.model.queued import Queued
from tallylight.model.status import Kind, Status
from tests.actions.desk import PANE, PID, START, Desk, holder, seen
from tests.tables import each

GIVEN = DeferredText(PANE, PID, START, "Go on")
WAITS = Queued(pid=PID, start=START, text="Go on")


def at_prompt(status: Status = Status.DONE, **more: Any) -> Seen:
    """Claude at its prompt, with the cursor in its box."""
    found = seen("claude/idle-after-turn-80", status, **more)
    return attrs.evolve(found, look=attrs.evolve(found.look, cursor_column=2))


WORKING = seen("claude/working-80", Status.WORKING)
ASKING = seen("claude/permission-bash-80", Status.WAITING, kind=Kind.PERMISSION)


def after(desk: Desk, *happened: tuple[float, Seen | Refusal], queued: Queued = WAITS) -> Queued | None:
    """What has become of it when at each of these times that was seen."""
    once = Once(0.0, InProcess())
    found: Queued | None = queued
    for now, there in happened:
        assert found is not None
        desk.now = there
        found = step(desk, once, found, Moment(now, is_alive=True))
    return found


def test_it_is_typed_once_the_agent_has_been_at_its_prompt() -> None:
    """With Enter, after so long; not a moment sooner, and once."""
    desk = Desk(WORKING)
    waits = after(desk, (0, WORKING), (1, ASKING), (2, at_prompt()), (2 + READY_S - 0.01, at_prompt()))
    assert waits == attrs.evolve(WAITS, ready_at=2) and desk.typed == []

    assert after(desk, (2 + READY_S, at_prompt()), queued=waits) is None
    assert desk.typed == ["Go on\r"]


def test_a_prompt_that_goes_again_was_not_the_end() -> None:
    """Between two parts of a turn the screen may look like its end: the time begins anew."""
    desk = Desk(WORKING)
    waits = after(desk, (0, at_prompt()), (0.9, WORKING), (1.1, at_prompt()), (2.0, at_prompt()))

    assert waits == attrs.evolve(WAITS, ready_at=1.1) and desk.typed == []


@pytest.mark.slow
@each(
    "there",
    [
        WORKING, ASKING, at_prompt(Status.WORKING), at_prompt(Status.WAITING, kind=Kind.QUESTION),
        seen("claude/menu-model-80", Status.IDLE), seen("claude/plan-approval-80", Status.WAITING),
        seen("claude/question-80", Status.WAITING), seen("claude/trust-80", Status.WAITING),
        Refusal("mode", ""), Refusal("synchronized", ""), Refusal("unreachable", ""), Refusal("gone", ""),
        at_prompt(foreground=holder("")), at_prompt(foreground=holder("claude", pid=1)),
        at_prompt(foreground=attrs.evolve(holder("claude"), is_remote=True)),
    ],
)  # fmt: skip
def test_it_waits(there: Seen | Refusal) -> None:
    """Whatever else is there, for however long, nothing is typed: no dialog, no menu, no other program gets it."""
    desk = Desk(there)

    assert after(desk, *[(float(second), there) for second in range(60)]) == WAITS
    assert desk.typed == []


def test_a_dialog_that_comes_at_the_last_moment_gets_nothing() -> None:
    """Between the look that found the prompt and the typing it is looked once more."""

    class Quick(Desk):
        looks = 0

        def see(self) -> Seen | Refusal:
            self.looks += 1
            return ASKING if self.looks > 2 else at_prompt()

    desk = Quick(WORKING)
    found = step(desk, Once(0.0, InProcess()), attrs.evolve(WAITS, ready_at=0), Moment(READY_S, is_alive=True))

    assert found == WAITS and desk.looks > 2 and desk.typed == []


def test_a_dialog_that_comes_with_the_text_gets_nothing() -> None:
    """The text waits, and is typed once that was answered and the agent has been at its prompt again."""
    once, desk = Once(0.0, InProcess()), Desk(at_prompt(), unread=[ASKING])
    ready = attrs.evolve(WAITS, ready_at=0)

    def at(now: float) -> Queued | None:
        return step(desk, once, ready, Moment(now, is_alive=True))

    assert at(READY_S) == ready
    assert at(READY_S + 0.5) == WAITS
    assert desk.typed == []
    desk.now = at_prompt()
    assert at(READY_S + 1) is None and len(desk.typed) == 1


def test_it_is_given_up_when_its_agent_has_ended() -> None:
    """Another one in its place is another one; and what was given up stays so."""
    desk = Desk(at_prompt())
    given_up = step(desk, Once(0.0, InProcess()), WAITS, Moment(0, is_alive=False))

    assert given_up == attrs.evolve(WAITS, problem=ENDED)
    assert step(desk, Once(0.0, InProcess()), given_up, Moment(99, is_alive=True)) == given_up
    assert desk.typed == []


def test_it_is_given_up_when_somebody_typed() -> None:
    """What stands at the prompt would be sent with it."""
    typed = seen("claude/idle-typed-80", Status.IDLE)
    typed = attrs.evolve(typed, look=attrs.evolve(typed.look, cursor_column=8))
    desk = Desk(typed)

    assert after(desk, (0, typed)) == attrs.evolve(WAITS, problem=TYPED)
    # Also while it waits to be sure that the turn has ended.
    assert after(desk, (0, at_prompt()), (0.5, typed)) == attrs.evolve(WAITS, problem=TYPED)
    assert desk.typed == []


def test_what_can_never_be_typed_is_told_at_once() -> None:
    """Nothing, too much, controls, lines for a program that takes no paste; and another process than it was for."""
    rules = {"": "text", "x" * 5000: "too-long", "\x1b[A": "text", "a\u202eb": "text", "one\ntwo": "lines"}
    for text, rule in rules.items():
        found = put(Desk(WORKING), attrs.evolve(GIVEN, text=text))
        assert isinstance(found, Refusal) and found.rule == rule
    pasted = put(Desk(seen("claude/working-80", takes_paste=True)), attrs.evolve(GIVEN, text="one\ntwo"))
    assert pasted == attrs.evolve(WAITS, text="one\ntwo")
    for other in (attrs.evolve(GIVEN, pid=1), attrs.evolve(GIVEN, start=1), attrs.evolve(GIVEN, pane="9")):
        found = put(Desk(WORKING), other)
        assert isinstance(found, Refusal) and found.rule == "process"
    assert put(Desk(WORKING), GIVEN) == WAITS == put(Desk(ASKING), GIVEN)


def test_a_program_that_takes_no_paste_any_more_is_told() -> None:
    """Several lines would be keys."""
    lines = attrs.evolve(WAITS, text="one\ntwo", ready_at=0)
    found = after(Desk(at_prompt()), (READY_S, at_prompt(takes_paste=False)), queued=lines)

    assert found is not None and "bracketed paste" in found.problem


@each(
    ("row", "column", "text"),
    [
        ("❯\u00a0", 2, ""), ("❯ fix it", 8, "fix it"), ("› Ask Codex to do anything", 2, ""), ("› hello", 7, "hello"),
        ("│ > Type your message │", 4, ""), (" > hello", 8, "hello"), ("diff> ", 6, ""), ("diff> add", 9, "add"),
        ("  ┃  ", 5, ""), ("  ┃  hello", 10, "hello"), ("", 0, ""), ("  more", 6, "more"),
        ("❯ 日本", 6, "日本"), ("> ", 99, ""),
    ],
)  # fmt: skip
def test_what_was_typed_stands_before_the_cursor(row: str, column: int, text: str) -> None:
    """An empty box has something in it, too, in many agents: that stands behind the cursor."""
    assert typed_text(Look(["above", row], 1, column, 80)) == text
    assert typed_text(Look([], 3, column, 80)) == ""


def test_nothing_is_typed_before_a_limit_has_ended() -> None:
    """By the wall clock; and not while the next limit stops its agent."""
    desk, ends_at = Desk(at_prompt()), 1_800_000_000
    waits = attrs.evolve(WAITS, at=typing_time(ends_at))
    for wall, until in ((ends_at + MARGIN_S - 0.1, 0), (ends_at + 7200, ends_at + 7200)):
        moment = Moment(99, is_alive=True, wall=wall, limited_until=until)
        assert step(desk, Once(0.0, InProcess()), waits, moment) == waits
    moment = Moment(99, is_alive=True, wall=ends_at + MARGIN_S, status=Status.LIMITED, limited_until=ends_at)
    assert step(desk, Once(0.0, InProcess()), waits, moment) == attrs.evolve(waits, ready_at=99)
    assert desk.typed == []
