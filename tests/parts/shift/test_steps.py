"""The night shift: when a text is typed after a limit, again after the next, and when it is given up."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Seen
from tallylight.actions.answered import InProcess
from tallylight.actions.gate import Refusal
from tallylight.actions.once import Once
from tallylight.actions.queue import ENDED, MARGIN_S, READY_S, TYPED, Moment, typing_time
from tallylight.model.queued import Queued
from tallylight.model.status import Kind, Status
from tallylight.parts.shift.steps import (
    LATE,
    LIMITED,
    MAX_LIMITS,
    SETTLED_S,
    TIMELESS,
    TRY_S,
    WATCH_S,
    WENT_ON,
    Shift,
    step,
)
from tests.actions.desk import PID, START, Desk, holder, seen
from tests.tables import each

#: When the first limit ends, in seconds since the epoch, and a text that waits for that.
ENDS = 1_800_000_000
NIGHT = Queued(pid=PID, start=START, text="Go on", at=typing_time(ENDS))
HOUR = 3600.0


def at_prompt(status: Status = Status.LIMITED, **more: Any) -> Seen:
    """Claude at its prompt, with the cursor in its box."""
    found = seen("claude/idle-after-turn-80", status, **more)
    return attrs.evolve(found, look=attrs.evolve(found.look, cursor_column=2))


WORKING = seen("claude/working-80", Status.WORKING)
ASKING = seen("claude/permission-bash-80", Status.WAITING, kind=Kind.PERMISSION)
MENU = seen("claude/menu-model-80", Status.LIMITED)
TYPING = seen("claude/idle-typed-80", Status.LIMITED)
TYPING = attrs.evolve(TYPING, look=attrs.evolve(TYPING.look, cursor_column=8))
AFTER = ENDS + MARGIN_S


@attrs.define
class Night:
    """A pane at a limit that ends at *until*, its host, and what waits there, *kept*."""

    desk: Desk = attrs.Factory(lambda: Desk(at_prompt()))
    kept: Queued | None = NIGHT
    until: float = ENDS
    once: Once = attrs.Factory(lambda: Once(0.0, InProcess()))
    #: While the machine sleeps the monotonic clock stands still, and by how much the wall clock was moved.
    slept: float = 0.0
    moved: float = 0.0

    def look(self, wall: float, there: Seen | Refusal | None = None, *, is_alive: bool = True) -> Queued | None:
        """The host looks at *wall*, and sees what is *there* from now on."""
        self.desk.now = there if there is not None else self.desk.now
        shown = self.desk.now
        if self.kept is not None:
            status = shown.status if isinstance(shown, Seen) else Status.LIMITED
            moment = Moment(wall - self.slept, is_alive, wall + self.moved, status, self.until, boot=wall)
            self.kept = step(self.desk, self.once, self.kept, moment)
        return self.kept

    def pass_(self, start: float, end: float, there: Seen | Refusal | None = None) -> Queued | None:
        """It looks every half second from *start* to *end*."""
        for half in range(round(2 * (end - start)) + 1):
            self.look(start + half / 2, there)
        return self.kept

    @property
    def problem(self) -> str:
        return self.kept.problem if self.kept is not None else ""

    def next_limit(self, until: float) -> None:
        """Its agent goes on, and stands at the next limit."""
        self.look(self.until + 60, WORKING)
        self.until = until
        self.look(until - 1800, at_prompt())


def test_it_is_typed_once_when_the_limit_has_ended() -> None:
    """At a prompt whose light still tells of the limit; not a moment sooner, with Enter, and no second time."""
    night = Night()
    night.pass_(AFTER - 20, AFTER - 0.5)
    assert night.desk.typed == []
    night.pass_(AFTER, AFTER + READY_S + 1)
    assert night.desk.typed == ["Go on\r"]
    night.pass_(AFTER + 3, AFTER + 30)
    night.pass_(AFTER + 31, AFTER + 60, WORKING)
    night.until = 0
    night.pass_(AFTER + 61, AFTER + 61 + WATCH_S, at_prompt(Status.DONE))
    assert night.desk.typed == ["Go on\r"]
    assert night.kept is None


def test_a_machine_that_sleeps_over_the_end() -> None:
    """The first looks after it are those at the end: the wall clock went on."""
    night = Night()
    night.pass_(AFTER - 9000, AFTER - 8990)
    night.slept = 8 * HOUR
    night.pass_(AFTER + 8 * HOUR - 9000, AFTER + 8 * HOUR - 8995)
    assert night.desk.typed == ["Go on\r"]


@each("moved", [-HOUR, HOUR, 86_400.0])
def test_a_clock_that_is_moved(moved: float) -> None:
    """What decides for a while is the time since the boot, over a sleep too; then the clock as it has stayed."""
    night = Night()
    night.look(AFTER - 2000)
    night.moved, night.slept = moved, 1500
    night.pass_(AFTER - 200, AFTER - 0.5)
    assert night.desk.typed == []
    night.pass_(AFTER, AFTER + READY_S + 1)
    assert night.desk.typed == ["Go on\r"]

    night = Night()
    night.look(AFTER - 2 * HOUR)
    night.moved = moved
    night.look(AFTER - 1.5 * HOUR)
    end = AFTER - moved if moved < 0 else AFTER - 1.5 * HOUR + SETTLED_S
    night.pass_(end - 10, end - 0.5)
    assert night.desk.typed == []
    night.pass_(end, end + READY_S + 1)
    assert night.desk.typed == (["Go on\r"] if moved != HOUR else [])


def test_a_clock_that_is_set_right_in_time() -> None:
    """It was as if nothing had been; and one that is slow or fast is no clock that was moved."""
    night = Night()
    night.look(AFTER - HOUR)
    for second in range(1, 1500):
        night.moved = HOUR if second % 500 > 250 else 0.001 * second
        night.look(AFTER - HOUR + second)
    assert night.desk.typed == []
    night.moved = 2.5
    night.pass_(AFTER - 1000, AFTER - 3)
    assert night.desk.typed == []
    night.pass_(AFTER - 2.5, AFTER + READY_S)
    assert night.desk.typed == ["Go on\r"]


@pytest.mark.slow
@each("there", [ASKING, MENU, WORKING, Refusal("mode", ""), Refusal("unreachable", "")])
def test_an_agent_that_is_not_at_its_prompt_when_its_limit_has_ended(there: Seen | Refusal) -> None:
    """A dialog, a menu, a turn, a pane out of reach: it is tried for a while, and given up with a reason."""
    night = Night()
    night.pass_(AFTER, AFTER + TRY_S - 0.5, there)
    assert not night.problem
    night.pass_(AFTER + TRY_S, AFTER + TRY_S + 5, at_prompt())
    assert night.problem == LATE
    assert night.desk.typed == []


@pytest.mark.slow
@each("there", [ASKING, MENU, WORKING])
def test_a_dialog_that_goes_in_time(there: Seen) -> None:
    """A person has answered it: then the text is typed."""
    night = Night()
    night.pass_(AFTER, AFTER + 60, there)
    night.pass_(AFTER + 61, AFTER + 64, at_prompt())
    assert night.desk.typed == ["Go on\r"]


def test_a_dialog_just_before_it_is_typed() -> None:
    """Nothing reaches the dialog, and it is typed once that is gone."""
    night = Night()
    night.pass_(AFTER, AFTER + READY_S - 0.5)
    night.pass_(AFTER + READY_S, AFTER + 4, ASKING)
    assert night.desk.typed == []
    night.pass_(AFTER + 5, AFTER + 8, at_prompt())
    assert night.desk.typed == ["Go on\r"]


def test_a_text_in_the_input() -> None:
    """What a person has typed there would be sent with it."""
    night = Night()
    night.pass_(AFTER - 5, AFTER + 1, TYPING)
    assert (night.problem, night.desk.typed) == (TYPED, [])


@pytest.mark.slow
def test_another_process() -> None:
    """One that has ended, and another one in its place that looks the same."""
    night = Night()
    night.look(AFTER - 100, is_alive=False)
    assert night.problem == ENDED
    night = Night()
    night.pass_(AFTER, AFTER + TRY_S, at_prompt(foreground=holder("claude", pid=1)))
    assert (night.problem, night.desk.typed) == (LATE, [])


def test_an_agent_that_went_on_by_itself() -> None:
    """By a person, or since it tries again by itself: a later `continue` would be about something else."""
    for at in (AFTER - 1000, AFTER + 1):
        night = Night()
        night.look(AFTER - 2000)
        night.look(at, WORKING)
        night.until = 0
        night.pass_(at + 1, at + 4, at_prompt(Status.DONE))
        assert (night.problem, night.desk.typed) == (WENT_ON, [])
    # A host that has just begun takes an agent for one that works, and has not read of its limit.
    night = Night(until=0)
    night.pass_(AFTER - 1000, AFTER - 990, WORKING)
    assert not night.problem


def test_the_next_limit_is_waited_for_three_times() -> None:
    """Whether it comes at once or after hours of work; never while its agent stands at it."""
    night = Night()
    for number in range(1, MAX_LIMITS + 1):
        until = night.until
        night.pass_(until, until + MARGIN_S + READY_S + 1, at_prompt())
        assert len(night.desk.typed) == number
        for minute in range(1, 300):
            night.look(until + 60 * minute, WORKING)
        night.next_limit(until + 6 * HOUR)
    assert night.problem == LIMITED
    assert len(night.desk.typed) == MAX_LIMITS


def test_a_limit_that_ends_later_than_was_told() -> None:
    """The same limit, told anew before the text was typed, counts once."""
    night = Night()
    for hour in range(5):
        night.until = ENDS + hour * HOUR
        night.pass_(night.until - 10, night.until)
    assert night.desk.typed == []
    assert not night.problem
    night.pass_(night.until, night.until + MARGIN_S + 2)
    assert night.desk.typed == ["Go on\r"]


def test_a_next_limit_that_tells_no_time() -> None:
    """Nobody knows when to go on: that is told."""
    night = Night()
    night.pass_(AFTER, AFTER + 3)
    night.until = 0
    night.pass_(AFTER + 4, AFTER + 5 + WATCH_S, at_prompt())
    assert night.problem == TIMELESS
    assert night.desk.typed == ["Go on\r"]


def test_a_text_for_the_end_of_a_turn() -> None:
    """It is no matter of the shift."""
    night = Night(kept=attrs.evolve(NIGHT, at=0), until=0)
    night.pass_(0, 2, at_prompt(Status.DONE))
    assert night.kept is None
    assert night.desk.typed == ["Go on\r"]
    assert isinstance(Night().look(AFTER - 100), Shift)
