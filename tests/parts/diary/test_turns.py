"""Turns of agents as time lines: when one begins, what is work and what is waiting, how it ends, what is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from tallylight.model.status import Kind, Status
from tallylight.parts.diary.history import total
from tallylight.parts.diary.turns import (
    CHECKPOINT_S,
    END_SETTLES_S,
    FIRST_SAVE_S,
    MAX_PANES,
    MAX_QUESTIONS,
    QUESTION_CELLS,
    Ending,
    Turn,
    Turns,
)
from tallylight.snapshot.schema import Pane, ReasonEntry, RecordEntry
from tests.entries import new_pane
from tests.tables import each

#: The wall clock at monotonic 0.
CLOCK = 1_763_690_000.0
DAY, NEXT = "2026-11-21", "2026-11-22"

W, Q, D, R, E = Status.WORKING, Status.WAITING, Status.DONE, Status.IDLE, Status.ERROR


@attrs.define
class Desk:
    """A host of one pane or more; `show` lets it show something from a time on, and sums up what was written."""

    turns: Turns = attrs.Factory(lambda: Turns("kitty-1"))
    now: float = 0.0
    slept: float = 0.0
    written: list[Turn] = attrs.Factory(list)
    panes: dict[str, Pane] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.tick()

    def show(self, status: Status, at: float, id_: str = "3", *, seen_at: float | None = None, **fields: Any) -> None:
        """The pane shows *status* since *at*, which the host looks at then, or at *seen_at*."""
        self.now = at if seen_at is None else seen_at
        fields = {"agent": "claude", "agent_pid": 7, "project": "api"} | fields
        self.panes[id_] = new_pane(id=id_, status=status, since=CLOCK + self.slept + at, **fields)
        self.look()

    def look(self) -> None:
        self.written += self.turns.take(self.panes.values(), self.now, CLOCK + self.slept + self.now)

    def tick(self, seconds: float = 0.0, day: str = DAY) -> None:
        self.now += seconds
        self.written += self.turns.tick(day, self.now, CLOCK + self.slept + self.now)

    def close(self, id_: str = "3") -> None:
        del self.panes[id_]
        self.look()

    def line(self, *steps: tuple[Status, float]) -> list[Turn]:
        """The turns that a line of statuses comes to."""
        for status, at in steps:
            self.show(status, at)
        return self.over()

    def over(self) -> list[Turn]:
        self.tick(END_SETTLES_S)
        return self.written


def told(turn: Turn) -> tuple[float, float, int, Ending]:
    return turn.worked_s, turn.waited_s, turn.questions, turn.ending


LINES: dict[str, tuple[Sequence[tuple[Status, float]], list[tuple[float, float, int, Ending]]]] = {
    "one turn": ([(R, 0), (W, 10), (D, 40)], [(30, 0, 0, Ending.DONE)]),
    "it asks once": ([(W, 0), (Q, 10), (W, 70), (D, 75)], [(15, 60, 1, Ending.DONE)]),
    "it asks twice": ([(W, 0), (Q, 10), (W, 20), (Q, 30), (W, 35), (D, 40)], [(25, 15, 2, Ending.DONE)]),
    "it asks before it works": ([(Q, 0), (W, 20), (D, 25)], [(5, 20, 1, Ending.DONE)]),
    "two turns": ([(W, 0), (D, 5), (W, 6), (D, 8)], [(5, 0, 0, Ending.DONE), (2, 0, 0, Ending.DONE)]),
    "it fails": ([(W, 0), (E, 5), (W, 20), (D, 21)], [(5, 0, 0, Ending.ERROR), (1, 0, 0, Ending.DONE)]),
    "it vanishes": ([(W, 0), (Status.DOWN, 5)], [(5, 0, 0, Ending.DOWN)]),
    "its agents run on": ([(W, 0), (Status.BACKGROUND, 5), (D, 50)], [(5, 0, 0, Ending.DONE)]),
    "stopped": ([(W, 0), (R, 5)], [(5, 0, 0, Ending.STOPPED)]),
    "a question refused": ([(W, 0), (Q, 1), (R, 5)], [(1, 4, 1, Ending.STOPPED)]),
    "a flicker of work": ([(R, 0), (W, 10), (R, 11)], []),
    "done, then known as stopped": ([(W, 0), (D, 5), (R, 5.5)], [(5, 0, 0, Ending.STOPPED)]),
    "stopped, then known as done": ([(W, 0), (R, 5), (D, 5.5)], [(5, 0, 0, Ending.DONE)]),
    "done, then known as failed": ([(W, 0), (D, 5), (E, 5.5)], [(5, 0, 0, Ending.ERROR)]),
    "shorter than a look": ([(R, 0), (D, 5)], [(0, 0, 0, Ending.DONE)]),
    "failed at once": ([(D, 0), (E, 5)], [(0, 0, 0, Ending.ERROR)]),
    "old news at the first look": ([(D, 0)], []),
    "an error as old": ([(E, 0)], []),
    "nothing": ([(R, 0)], []),
}


@pytest.mark.parametrize(("steps", "turns"), LINES.values(), ids=LINES)
def test_time_lines(steps: Sequence[tuple[Status, float]], turns: list[tuple[float, float, int, Ending]]) -> None:
    """Each line of statuses, with the time since when each is shown, is these turns."""
    assert [told(turn) for turn in Desk().line(*steps)] == turns


def test_who_where_when() -> None:
    """The turn says who it was, since when by the wall, and what the conversation is called at its end."""
    desk = Desk()
    desk.show(W, 10, title="claude")
    desk.show(D, 40, topic="Add a retry", session="s-1")

    (turn,) = desk.over()
    assert (turn.agent, turn.project, turn.title, turn.session) == ("claude", "api", "Add a retry", "s-1")
    assert (turn.began, turn.ended) == (CLOCK + 10, CLOCK + 40)
    assert turn.id.startswith("kitty-1:3:") and not turn.is_remote


def test_a_late_look() -> None:
    """What counts is since when it is shown, not when the host came to look."""
    desk = Desk()
    desk.show(W, 0, seen_at=0.4)
    desk.show(Q, 10, seen_at=13)
    desk.show(D, 20, seen_at=20.3)

    assert [told(turn) for turn in desk.over()] == [(10, 10, 1, Ending.DONE)]


def test_the_machine_sleeps() -> None:
    """A night in suspension is neither work nor waiting; the clock of the wall goes on."""
    desk = Desk()
    desk.show(W, 0)
    desk.slept = 8 * 3600
    desk.show(D, 30)

    (turn,) = desk.over()
    assert told(turn) == (30, 0, 0, Ending.DONE)
    assert turn.ended == CLOCK + 8 * 3600 + 30


def test_a_clock_that_is_set_back() -> None:
    """A time that lies in the future is now."""
    desk = Desk()
    desk.show(W, 0)
    desk.slept = -7200
    desk.show(D, 30)

    (turn,) = desk.over()
    assert told(turn) == (30, 0, 0, Ending.DONE)
    assert turn.ended >= turn.began


def test_a_limit_is_no_question() -> None:
    """An agent whose limit is used up waits for nobody, and does not work."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(Status.LIMITED, 10)
    desk.show(W, 3610)
    desk.show(D, 3620)

    assert [told(turn) for turn in desk.over()] == [(20, 0, 0, Ending.DONE)]


def test_silence_is_no_question() -> None:
    """An agent that is quiet asks nothing, and waits for nobody: as far as anyone knows its turn is over."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(Status.QUIET, 10, message="x")

    (turn,) = desk.over()
    assert (told(turn), turn.asked) == ((10, 0, 0, Ending.DONE), ())


def test_what_was_asked() -> None:
    """The words come when they are known, one for each question, in one line; the first ones are kept."""
    desk = Desk()
    desk.show(W, 0)
    for n in range(MAX_QUESTIONS + 2):
        desk.show(Q, 10 * n + 1, kind=Kind.PERMISSION)
        desk.show(Q, 10 * n + 1, seen_at=10 * n + 2, kind=Kind.PERMISSION, question="May I?", what=f"Bash: make {n}\n")
        desk.show(Q, 10 * n + 1, seen_at=10 * n + 3, kind=Kind.PERMISSION, what="x" * 999)
        desk.show(W, 10 * n + 5)
    desk.show(D, 500)

    (turn,) = desk.over()
    assert turn.questions == MAX_QUESTIONS + 2
    assert turn.asked == tuple(f"Bash: make {n}" for n in range(MAX_QUESTIONS))


def test_a_question_is_cut() -> None:
    """A long one is no longer than what a list would show."""
    desk = Desk()
    desk.show(Q, 0, kind=Kind.QUESTION, question="x" * 400)
    desk.show(D, 1)

    assert [len(asked) for turn in desk.over() for asked in turn.asked] == [QUESTION_CELLS]


def test_a_finished_turn_that_is_shown_as_waiting() -> None:
    """Where a person wants `done` to be shown as waiting, the turn is over all the same, and nothing was asked."""
    desk = Desk()
    own = RecordEntry(status=D, source="registry")
    desk.show(W, 0)
    desk.show(Q, 5, kind=Kind.INPUT, records=(own,))
    assert [told(turn) for turn in desk.over()] == [(5, 0, 0, Ending.DONE)]

    child = RecordEntry(id="a", status=Q, source="protocol")
    desk.show(W, 10)
    desk.show(Q, 15, kind=Kind.INPUT, records=(own, child))
    desk.show(W, 18)
    desk.show(D, 20)
    assert told(desk.over()[-1]) == (7, 3, 1, Ending.DONE)


def test_a_look_is_no_other_end() -> None:
    """`done` that was looked at is idle, and still a turn that was done."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(D, 5)
    desk.show(R, 6, reason=ReasonEntry(source="registry", rule="status file: done; seen"))

    assert [told(turn) for turn in desk.over()] == [(5, 0, 0, Ending.DONE)]


@each("status", [W, Q])
def test_its_agent_leaves(status: Status) -> None:
    """An agent that is gone works no longer and waits no longer, though the light stays until somebody has looked."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(status, 5 if status is Q else 0, seen_at=5)
    desk.show(status, 5 if status is Q else 0, seen_at=8, agent_pid=None)
    desk.show(status, 5 if status is Q else 0, seen_at=100, agent_pid=None)
    desk.show(Status.ACTIVE, 200, agent="", agent_pid=None)

    assert [told(turn) for turn in desk.over()] == [(5, 3, 1, Ending.LEFT) if status is Q else (8, 0, 0, Ending.LEFT)]


def test_left_for_the_shell() -> None:
    """A turn that ends with its agent, at a shell's prompt, was not stopped: its agent left."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(R, 5, agent="", agent_pid=None)

    assert [told(turn) for turn in desk.over()] == [(5, 0, 0, Ending.LEFT)]


def test_its_pane_is_closed() -> None:
    """The turn ends there; a turn that was over before is written as it was."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(W, 0, id_="4")
    desk.show(D, 5, id_="4")
    desk.now = 6
    desk.close("4")
    desk.now = 9
    desk.close("3")

    assert [told(turn) for turn in desk.written] == [(5, 0, 0, Ending.DONE), (9, 0, 0, Ending.LEFT)]


def test_an_agent_without_a_process() -> None:
    """One that runs on another machine is heard of through its terminal alone: its turns are marked."""
    desk = Desk()
    desk.show(R, 0, agent_pid=None)
    desk.show(W, 1, agent_pid=None)
    desk.show(D, 5, agent_pid=None)

    (turn,) = desk.over()
    assert (told(turn), turn.is_remote) == ((4, 0, 0, Ending.DONE), True)


def test_a_plain_command_is_no_turn() -> None:
    """What is no agent works for nobody: a command with a progress bar, or one that is done."""
    desk = Desk()
    for status, at in ((R, 0), (W, 1), (D, 5), (E, 9)):
        desk.show(status, at, agent="", agent_pid=None)

    assert desk.over() == []


def test_a_turn_that_goes_on_is_written_now_and_then() -> None:
    """So that a host that is killed loses little; the last of what is written with the same name counts."""
    desk = Desk()
    desk.show(W, 0)
    desk.tick(FIRST_SAVE_S - 1)
    assert desk.written == []
    desk.tick(1)
    desk.tick(1)
    (first,) = desk.written
    desk.show(Q, 10)
    desk.tick(FIRST_SAVE_S)
    desk.tick(CHECKPOINT_S - 1)
    assert len(desk.written) == 2
    desk.tick(1)
    desk.show(D, 400)

    assert [(*told(turn), turn.doing) for turn in desk.written] == [
        (5, 0, 0, Ending.OPEN, "working"), (10, 5, 1, Ending.OPEN, "waiting"), (10, 305, 1, Ending.OPEN, "waiting"),
    ]  # fmt: skip
    last = desk.over()[-1]
    assert (told(last), last.id, last.doing) == ((10, 390, 1, Ending.DONE), first.id, "")


def test_a_reader_counts_on() -> None:
    """Two minutes into a turn it has worked for two minutes; what waits waits; and no longer than it can be silent."""
    desk = Desk()
    desk.show(W, 0)
    desk.tick(FIRST_SAVE_S)
    (turn,) = desk.written
    assert told(turn.at(CLOCK + 120)) == (120, 0, 0, Ending.OPEN) and turn.at(CLOCK) == turn
    desk.show(Q, 130)
    desk.tick(FIRST_SAVE_S)
    assert told(desk.written[-1].at(CLOCK + 200)) == (130, 70, 1, Ending.OPEN)
    assert desk.written[-1].at(CLOCK + 9000).waited_s == 5 + 2 * CHECKPOINT_S
    desk.show(Status.LIMITED, 140)
    desk.tick(CHECKPOINT_S)
    assert desk.written[-1].doing == ""
    done = desk.line((D, 900))[-1]
    assert done.at(CLOCK + 9000) == done


def test_midnight() -> None:
    """A turn is cut: each day has what was done in it, and the turn counts in the first."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(Q, 10)
    desk.tick(50, NEXT)
    desk.show(W, 100)
    desk.show(D, 130)

    evening, morning = desk.over()
    assert (told(evening), evening.goes_on) == ((10, 50, 1, Ending.MIDNIGHT), False)
    assert (told(morning), morning.goes_on) == ((30, 40, 0, Ending.DONE), True)
    assert morning.id != evening.id and morning.began == evening.ended


def test_the_host_ends() -> None:
    """What runs in its panes goes on without it: their turns are written as far as they are."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(W, 0, id_="4")
    desk.show(D, 5, id_="4")

    assert [told(turn) for turn in desk.turns.close(6, CLOCK + 6)] == [(5, 0, 0, Ending.DONE), (6, 0, 0, Ending.OPEN)]


@pytest.mark.parametrize("first", [None, W], ids=["at once", "after a guess"])
def test_a_host_that_was_started_again(first: Status | None) -> None:
    """What the pane shows is older than this run: the time before, the turn and its question were written already."""
    desk = Desk()
    desk.show(W, 0)
    desk.show(Q, 60, what="Bash: npm test", kind=Kind.PERMISSION)
    desk.now = 1000
    before = desk.turns.close(desk.now, CLOCK + desk.now)

    again = Desk(Turns("kitty-2"), now=1010)
    if first is not None:
        again.show(first, 1010)
    again.show(Q, 60, seen_at=1011, what="Bash: npm test", kind=Kind.PERMISSION)
    again.show(Q, 60, seen_at=1015, what="Bash: npm test", kind=Kind.PERMISSION)
    again.show(W, 1100)
    again.show(Q, 1110, what="Bash: rm", kind=Kind.PERMISSION)
    again.show(D, 1120)
    whole = total([*before, *again.over()])
    assert (whole.turns, whole.questions) == (1, 2)
    assert whole.waited_s == pytest.approx(1120 - 60 - 10 - 10, abs=3)
    assert whole.worked_s == pytest.approx(60 + 10, abs=3)


def test_a_clock_that_is_set_does_not_make_a_turn_older() -> None:
    """Nor does a night in suspension: it counts as one that began here."""
    for slept in (8 * 3600, -3600):
        desk = Desk()
        desk.show(W, 10)
        desk.slept = slept
        desk.look()
        desk.show(Q, 50)
        desk.show(D, 60)
        assert (total(desk.over()).turns, desk.written[0].questions) == (1, 1)


def test_too_many_panes() -> None:
    """A host that shows more than there can be has the first of them followed."""
    turns = Turns("kitty-1")
    panes = [Pane(id=str(n), status=W, agent="a", agent_pid=1, since=CLOCK) for n in range(MAX_PANES + 5)]
    turns.take(panes, 0, CLOCK)

    assert len(turns.close(1, CLOCK + 1)) == MAX_PANES


def test_as_json_and_back() -> None:
    """What is written is read as it was; what says nothing takes no room."""
    desk = Desk()
    desk.show(Q, 0, kind=Kind.QUESTION, question="Which one?", topic="日本語 🙂")
    desk.show(D, 5)
    (turn,) = desk.over()

    assert Turn.from_json(turn.to_json()) == turn
    assert "goes_on" not in turn.to_json()
    assert Turn.from_json(turn.to_json() | {"ending": "eaten", "worked_s": -3, "asked": "x"}) == attrs.evolve(
        turn, ending=Ending.OPEN, asked=()
    )
    assert [Turn.from_json(value) for value in (None, [], {}, turn.to_json() | {"began": "x"})] == [None] * 4
