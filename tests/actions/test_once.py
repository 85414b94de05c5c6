"""What was answered is not answered again before the screen was seen to show something else."""

from __future__ import annotations

from types import SimpleNamespace

import attrs
import pytest

from tallylight.actions import once as module
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
    assert once.is_pending(given)
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
        def press(self, keys: str, seen: Seen | None = None) -> bool:
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
    assert desk.looks == 2 and not once.is_pending(given)


#: A number and a bullet of the dialog's screen: both may move on.
LIVELY = seen(DIALOG)
MOVED = attrs.evolve(
    LIVELY, look=attrs.evolve(LIVELY.look, lines=[line.replace("● The", "○ The") for line in LIVELY.look.lines])
)
OTHER = seen("claude/permission-write-80")

#: What the program has drawn and its host reads only with the keys, each time that it would type; what becomes of each
#: try; and what is typed.
UNREAD = {
    "nothing": ([], ["typed"], ["1"]),
    "another dialog": ([OTHER], ["", "changed"], []),
    "the end of the dialog": ([seen("claude/working-120", Status.WORKING)], ["", "no-question"], []),
    "another agent": ([seen(DIALOG, foreground=holder("claude", PID + 1))], ["", "process"], []),
    "what may differ": ([MOVED], ["", "typed"], ["1"]),
    "that again and again": ([MOVED, LIVELY, MOVED, MOVED], ["", "", "", "typed"], ["1"]),
    "another dialog after that": ([MOVED, OTHER], ["", "", "changed"], []),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_comes_with_the_keys_is_compared_anew(name: str) -> None:
    """Nothing is decided, and nothing typed, until nothing new comes with the keys. What was not typed is no answer."""
    unread, expected, typed = UNREAD[name]
    once, desk = Once(0.0, InProcess()), Desk(seen(DIALOG))
    given = desk.shown().answer(1)
    desk.unread = list(unread)

    told = [once.answer(desk, given) for _ in expected]
    assert ["" if one is None else one.rule if isinstance(one, Refusal) else "typed" for one in told] == expected
    assert (desk.typed, once.is_pending(given)) == (typed, bool(typed))
    desk.now = seen("claude/working-120", Status.WORKING)
    once.look(desk)
    desk.now = seen(DIALOG)
    assert _again(once, desk, given) == "typed"


def test_where_it_may_wait_it_decides_by_itself() -> None:
    """Whoever asks hears nothing of it."""
    once, desk = Once(0.001, InProcess()), Desk(seen(DIALOG), unread=[MOVED, LIVELY])
    assert _again(once, desk, Desk(seen(DIALOG)).shown().answer(1)) == "typed"
    assert desk.typed == ["1"] and not desk.unread


@pytest.mark.parametrize("settle_s", [0.0, 1.0])
def test_a_screen_that_never_holds_still(settle_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused after a second, and the question is open again."""
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    monkeypatch.setattr(
        module,
        "time",
        SimpleNamespace(monotonic=lambda: clock[0], monotonic_ns=lambda: int(clock[0] * 1e9), sleep=sleep),
    )
    once, desk = Once(settle_s, InProcess()), Desk(seen(DIALOG), unread=[MOVED, LIVELY] * 100)
    given = desk.shown().answer(1)
    told = None
    while told is None:
        told = once.answer(desk, given)
        sleep(0.03)
    desk.unread = []
    assert isinstance(told, Refusal) and told.rule == "changed" and "kept changing for 1 s" in told.text
    assert 1.0 <= clock[0] < 1.2 and desk.typed == [] and not once.is_pending(given)
    assert _again(once, desk, given) == "typed"


def test_a_question_is_taken_while_its_answer_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another answer to it is refused meanwhile, and no longer: whoever gave the first may be gone."""
    clock = [100.0]
    monkeypatch.setattr(
        module, "time", SimpleNamespace(monotonic=lambda: clock[0], monotonic_ns=lambda: int(clock[0] * 1e9))
    )
    once, desk = Once(0.0, InProcess()), Desk(seen(DIALOG), unread=[MOVED])
    given = Desk(seen(DIALOG)).shown().answer(1)
    assert once.answer(desk, given) is None
    assert _again(once, desk, attrs.evolve(given, number=4)) == "answered"
    assert desk.typed == []
    clock[0] += 2 * module.HOLD_STILL_S
    assert _again(once, desk, attrs.evolve(given, number=4)) == "typed"
    assert _again(once, desk, given) == "answered"
    assert len(desk.typed) == 1


def test_text_waits_for_what_comes_with_it() -> None:
    """At a prompt that turns into a dialog, and in a dialog for text that turns into another, nothing is typed."""
    once, prompt = Once(0.0, InProcess()), seen("claude/idle-start-80", Status.IDLE)
    desk = Desk(prompt, unread=[seen(DIALOG)])
    given = Say(PANE, PID, START, "1", enter=True)
    assert once.say(desk, given) is None
    refused = once.say(desk, given)
    assert isinstance(refused, Refusal) and refused.rule == "asking"
    desk.now = prompt
    assert isinstance(once.say(desk, given), Done) and desk.typed == ["1\r"]
