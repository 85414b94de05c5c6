"""What was answered is not answered again before the screen was seen to show something else."""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Answer, Done, Question, Seen
from tallylight.actions.answered import InProcess
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.say import Say
from tallylight.model.errors import SessionError
from tallylight.model.status import Status
from tests.actions.desk import PANE, PID, START, Desk, holder, seen
from tests.evidence.styled import named

DIALOG = "claude/permission-bash-80"


def _again(once: Once, desk: Desk, given: Answer) -> str:
    found = once.answer(desk, given)
    return found.rule if isinstance(found, Refusal) else "typed"


#: What is seen between two answers to the same dialog; and what becomes of the second.
BETWEEN = {
    "nothing": ([], "answered"),
    "the same": ([seen(DIALOG)], "answered"),
    "work": ([seen("claude/working-120", Status.WORKING)], "typed"),
    "another dialog": ([seen("claude/permission-write-80")], "typed"),
    "somebody reads back": ([Refusal("mode", "somebody reads back")], "answered"),
    "no answer": ([Refusal("unreachable", "it does not answer")], "answered"),
    "another pane": ([seen("claude/working-120", Status.WORKING, pane="9")], "answered"),
    "a shell in front of it": ([seen(DIALOG, foreground=holder(""))], "answered"),
    "another run of it": ([seen("claude/working-120", foreground=holder("claude", PID + 1))], "answered"),
}


def test_the_same_dialog_is_another_question_once_something_else_stood_there() -> None:
    """Only a look that shows the agent itself with something else on its screen makes it one."""
    wrong = {}
    for name, (between, expected) in BETWEEN.items():
        once, desk = Once(0.0, InProcess()), Desk(seen(DIALOG))
        given = desk.shown().answer(1)
        assert _again(once, desk, given) == "typed"
        for desk.now in between:
            once.look(desk)
        desk.now = seen(DIALOG)
        found = _again(once, desk, given), _again(once, desk, attrs.evolve(given, number=4))
        if found != (expected, "answered") or len(desk.typed) != 1 + (expected == "typed"):
            wrong[name] = found, desk.typed
    assert wrong == {}


def test_the_same_dialog_of_another_agent_is_another_question() -> None:
    """What was answered is one process's in one pane."""
    once = Once(0.0, InProcess())
    for more in ({}, {"pane": "9"}, {"foreground": holder("claude", PID + 1)}):
        desk = Desk(seen(DIALOG, **more))  # type: ignore[arg-type]
        given = desk.shown().answer(1)
        assert [_again(once, desk, given) for _ in range(2)] == ["typed", "answered"]


def test_an_old_look_forgets_no_new_answer() -> None:
    """A look that began before the answer, and ends after it, shows what was there before."""
    once, desk = Once(0.0, InProcess()), Desk(seen(DIALOG))
    given = desk.shown().answer(1)

    class Slow(Desk):
        def see(self) -> Seen | Refusal:
            assert _again(once, desk, given) == "typed"
            return self.now

    once.look(Slow(seen("claude/working-120", Status.WORKING)))
    assert _again(once, desk, given) == "answered"


def test_what_only_colours_tell_is_answered_once() -> None:
    """The look that is compared has its colours, too: the same dialog is no other one for want of them."""
    shown = named("opencode/permission-80")
    now = Seen(pane=PANE, foreground=holder("opencode"), look=shown.look, status=Status.WAITING)
    once, desk = Once(0.0, InProcess()), Desk(now, styled=shown.styled)
    given = desk.shown().answer(2)

    assert [_again(once, desk, given) for _ in range(2)] == ["typed", "answered"]
    assert once.is_open(given)
    assert desk.typed == ["\x1b[C\r"]
    asked = once.ask(desk)
    assert isinstance(asked, Question) and asked.choices[1].keys == "\x1b[C\r"


def test_what_was_refused_was_not_answered() -> None:
    """A refusal leaves the question open."""
    once, desk = Once(0.0, InProcess()), Desk(seen(DIALOG))
    given = desk.shown().answer(1)
    assert _again(once, desk, attrs.evolve(given, number=9)) == "choice"
    assert once.answer(desk, given, lambda _: Refusal("permission", "")) == Refusal("permission", "")
    assert _again(once, desk, given) == "typed"


def test_what_may_have_been_typed_is_not_typed_again() -> None:
    """A host that fails as it is typed to may have typed: nobody knows."""

    class Broken(Desk):
        def press(self, keys: str) -> None:
            raise SessionError("the session is gone")

    once, desk = Once(0.0, InProcess()), Desk(seen(DIALOG))
    given = desk.shown().answer(1)
    assert _again(once, Broken(seen(DIALOG)), given) == "unreachable"
    assert _again(once, desk, given) == "answered"


def test_text_at_a_prompt_may_be_the_same_again() -> None:
    """Only a dialog is answered once."""
    once, desk = Once(0.0, InProcess()), Desk(seen("claude/idle-start-80", Status.IDLE))
    for _ in range(2):
        assert isinstance(once.say(desk, Say(PANE, PID, START, "go on", enter=True)), Done)
    assert desk.typed == ["go on\r"] * 2


def test_it_waits_until_the_program_has_gone_on() -> None:
    """Whoever has answered hears of it when the screen shows something else: the same dialog may come at once."""

    class Quick(Desk):
        looks = 0

        def see(self) -> Seen | Refusal:
            self.looks += bool(self.typed)
            return seen("claude/working-120", Status.WORKING) if self.looks == 2 else self.now

    once, desk = Once(60.0, InProcess()), Quick(seen(DIALOG))
    given = desk.shown().answer(1)
    assert _again(once, desk, given) == "typed"
    assert desk.looks == 2 and not once.is_open(given)
