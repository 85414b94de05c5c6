"""`tally wait`: what it waits for, when it returns, and what its exit code says."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import attrs
import pytest

from tallylight.cli import exit_codes, waiting
from tallylight.cli.main import main
from tallylight.cli.waiting import GONE, PANE_GONE_S, Wait
from tallylight.model.status import Status
from tallylight.snapshot.addresses import Row
from tallylight.snapshot.schema import Pane, ReasonEntry
from tests.cli.panes import DONE, HOST, NOW, SHELL, WAITING, WORKING, publish
from tests.entries import pane_with
from tests.tables import each

IDLE = attrs.evolve(DONE, status=Status.IDLE)
LOOKED_AT = ReasonEntry(rule="idle; seen")
FAILED = attrs.evolve(DONE, status=Status.ERROR)
DOWN = attrs.evolve(DONE, status=Status.DOWN)


def shown(*panes: Pane) -> list[Row]:
    return [Row(HOST, pane) for pane in panes]


def waiting_for(
    *states: str, is_all: bool = False, since: float | None = None, panes: tuple[str, ...] = ("1",)
) -> Wait:
    return Wait(frozenset(states), is_all, since, tuple(f"{HOST}:{pane}" for pane in panes))


def states(found: tuple[waiting.End, ...]) -> list[str]:
    return [end.state for end in found]


def test_it_ends_when_the_status_is_there() -> None:
    """Nothing until the pane has one of the statuses; then it, with what was last known of the pane."""
    waited = waiting_for("done")
    assert waited.look(shown(attrs.evolve(WORKING, id="1")), 0) == ()
    (end,) = waited.look(shown(DONE), 1)
    assert (end.address, end.state, end.found) == (f"{HOST}:1", "done", Row(HOST, DONE))


def test_any_and_all() -> None:
    """One of several is enough, or all have to be there at the same time."""
    panes = ("1", "2")
    working = attrs.evolve(WORKING, id="1")
    finished = attrs.evolve(DONE, id="2")
    assert states(waiting_for("done", panes=panes).look(shown(working, finished), 0)) == ["done"]
    waited = waiting_for("done", panes=panes, is_all=True)
    assert waited.look(shown(working, finished), 0) == ()
    assert waited.look(shown(DONE, attrs.evolve(working, id="2")), 1) == ()
    assert states(waited.look(shown(DONE, finished), 2)) == ["done", "done"]


def test_only_what_is_new() -> None:
    """What began before the command is not waited for; what begins after it is."""
    waited = waiting_for("done", since=DONE.since)
    assert waited.look(shown(DONE), 0) == ()
    assert states(waited.look(shown(attrs.evolve(DONE, since=DONE.since + 1)), 1)) == ["done"]


def test_gone_is_what_stays_away() -> None:
    """A pane that is missing for a moment is not gone: its host may be writing; one that stays away is."""
    waited = waiting_for(GONE)
    assert waited.look(shown(DONE), 0) == ()
    assert waited.look([], 1) == ()
    assert waited.look(shown(DONE), 1.5) == ()
    assert waited.look([], 2) == ()
    (end,) = waited.look([], 2 + PANE_GONE_S)
    assert (end.state, end.found) == (GONE, Row(HOST, DONE))


def test_an_agent_that_has_left_its_pane_is_gone() -> None:
    """A shell where an agent was is no idle agent; a shell where none was is what it is."""
    shell = attrs.evolve(SHELL, id="1")
    assert states(waiting_for("idle").look(shown(shell), 0)) == ["idle"]
    waited = waiting_for("idle", GONE)
    assert waited.look(shown(attrs.evolve(WORKING, id="1")), 0) == ()
    assert states(waited.look(shown(shell), 1)) == [GONE]


def test_a_look_at_what_is_done_does_not_undo_it() -> None:
    """One of several has finished and was looked at, which makes it idle: it still has finished."""
    waited = waiting_for("done", panes=("1", "2"), is_all=True)
    working = attrs.evolve(WORKING, id="2")
    assert waited.look(shown(DONE, working), 0) == ()
    looked_at = attrs.evolve(IDLE, since=NOW, reason=LOOKED_AT)
    assert states(waited.look(shown(looked_at, attrs.evolve(DONE, id="2")), 1)) == ["done", "done"]
    assert waiting_for("done").look(shown(looked_at), 0) == ()


@attrs.define
class Turn:
    """A pane to which a text was sent at `NOW`, and what `wait` says of it, second by second."""

    waited: Wait
    now: float = NOW

    @classmethod
    def after(cls, pane: Pane) -> Turn:
        """The text goes to *pane*."""
        turn = cls(Wait(waiting.AT_REST, True, NOW, (f"{HOST}:{pane.id}",), is_turn=True))
        turn.waited.clock = lambda: turn.now
        assert turn.at(NOW, pane) == []
        return turn

    def at(self, now: float, pane: Pane) -> list[str]:
        """What is said of *pane* at *now*."""
        self.now = now
        return states(self.waited.look(shown(pane), now))


@each(
    "end",
    [DONE, IDLE, FAILED, DOWN, attrs.evolve(WAITING, id="1")],
)
def test_the_turn_that_was_sent_is_waited_for(end: Pane) -> None:
    """What the pane showed before is no end, however long its turn takes to begin; a look at it is none either."""
    turn = Turn.after(DONE)
    assert turn.at(NOW + 1, attrs.evolve(IDLE, since=NOW + 0.5, reason=LOOKED_AT)) == []
    assert turn.at(NOW + 9, attrs.evolve(WORKING, id="1", since=NOW + 8)) == []
    assert turn.at(NOW + 900, attrs.evolve(WORKING, id="1", since=NOW + 8)) == []
    assert turn.at(NOW + 901, attrs.evolve(end, since=NOW + 901)) == [end.status]


def test_a_turn_that_is_over_before_anybody_waits() -> None:
    """`send --json`, then `wait --since`: it is over at once, also if somebody has looked at its end already."""
    for end in (DONE, IDLE):
        turn = Turn(Wait(waiting.AT_REST, True, NOW, (f"{HOST}:1",), is_turn=True))
        turn.waited.clock = lambda turn=turn: turn.now  # type: ignore[misc]
        assert turn.at(NOW + 60, attrs.evolve(end, since=NOW + 20)) == [end.status]


def test_a_turn_that_nobody_saw() -> None:
    """One that was over between two looks has ended, and is not taken for a look at what was done before."""
    turn = Turn.after(DONE)
    ended = attrs.evolve(IDLE, since=NOW + 1)
    assert turn.at(NOW + 2, ended) == []
    assert turn.at(NOW + waiting.QUEUED_TURN_S, ended) == ["idle"]


def test_no_turn_follows() -> None:
    """A command of the agent's own begins none: that is said, and nobody waits for ever."""
    turn = Turn.after(DONE)
    assert turn.at(NOW + waiting.QUEUED_TURN_S - 1, DONE) == []
    assert turn.at(NOW + waiting.QUEUED_TURN_S, DONE) == [waiting.NO_TURN]
    asked = attrs.evolve(WAITING, id="1")
    assert Turn.after(asked).at(NOW + waiting.QUEUED_TURN_S, asked) == ["waiting"]


def test_a_text_that_waits_has_its_turn_after_the_present_one() -> None:
    """The end of the turn that goes on is not the end of the one that was sent; a text that is given up has none."""
    queued = pane_with(DONE, queued="then commit it")
    turn = Turn.after(attrs.evolve(queued, status=Status.WORKING))
    assert turn.at(NOW + 60, attrs.evolve(queued, since=NOW + 60)) == []
    assert turn.at(NOW + 61, attrs.evolve(DONE, since=NOW + 60)) == []
    assert turn.at(NOW + 62, attrs.evolve(WORKING, id="1", since=NOW + 62)) == []
    assert turn.at(NOW + 63, attrs.evolve(DONE, since=NOW + 63)) == ["done"]
    assert turn.at(NOW + 64, pane_with(DONE, unsent="its agent has ended", queued="x")) == [waiting.NO_TURN]


def test_the_reply_is_that_of_the_turn() -> None:
    """A title may tell the end before the record has the reply: `read` is not to print an earlier one."""
    turn = Turn.after(attrs.evolve(DONE, reply="Before."))
    end = attrs.evolve(DONE, reply="Before.", since=NOW + 5)
    assert turn.at(NOW + 5, end) == []
    assert turn.at(NOW + 6, attrs.evolve(end, reply="Now.")) == ["done"]
    assert turn.at(NOW + 5 + waiting.REPLY_SETTLES_S, end) == ["done"]


@pytest.mark.parametrize("is_json", [False, True])
def test_what_is_printed(runtime: Path, capsys: pytest.CaptureFixture[str], *, is_json: bool) -> None:
    """A line for each pane that was waited for: by default every agent that does not work."""
    publish(runtime, [WAITING, DONE, WORKING, SHELL])

    assert main(["wait", *["--json"] * is_json]) == exit_codes.WAITS
    lines = capsys.readouterr().out.splitlines()
    if is_json:
        told = [json.loads(line) for line in lines]
        assert [(one["address"], one["state"]) for one in told] == [(f"{HOST}:3", "waiting"), (f"{HOST}:1", "done")]
        assert {one["version"] for one in told} == {1}
        assert told[0]["pane"]["message"] == "Allow rm -r build?"
    else:
        assert lines == [
            "3  waiting (permission)  claude  tallylight  Allow rm -r build?",
            "1  done  codex  make tests",
        ]


@each(
    "panes, argv, code",
    [
        ([DONE], [], 0),
        ([IDLE], ["--timeout", "0"], exit_codes.TIMED_OUT),
        ([IDLE], ["--all"], 0),
        ([IDLE], ["1"], 0),
        ([IDLE, WORKING], ["--for", "idle"], 0),
        ([DONE], ["1", "--since", str(NOW - 11)], exit_codes.NOTHING),
        ([DONE], ["1", "--since", "1"], 0),
        ([DONE], ["1", "--since", "1", "--new"], 2),
        ([FAILED], [], exit_codes.FAILED),
        ([DOWN], [], exit_codes.FAILED),
        ([WAITING, FAILED], [], exit_codes.WAITS),
        ([DONE, WORKING], ["2", "--for", "working"], 0),
        ([DONE, WORKING], ["1", "2", "--all", "--for", "working,done"], 0),
        ([WORKING], ["--timeout", "0"], exit_codes.TIMED_OUT),
        ([WORKING], ["7"], 1),
        ([SHELL], [], 1),
        ([DONE], ["--for", "sleeping"], 2),
        ([DONE], ["--timeout", "-1"], 2),
        ([DONE], ["--timeout", "nan"], 2),
    ],
)
def test_the_exit_code_is_of_the_most_urgent(runtime: Path, panes: list[Pane], argv: list[str], code: int) -> None:
    """Waiting, failed, gone, and else 0; of several panes the most urgent decides."""
    publish(runtime, panes)
    assert main(["wait", *argv]) == code


def test_not_for_oneself(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that waits for the others does not wait for itself, unless it says so."""
    monkeypatch.setenv("KITTY_PID", HOST.removeprefix("kitty-"))
    monkeypatch.setenv("KITTY_WINDOW_ID", "1")
    publish(runtime, [DONE, WORKING])

    assert main(["wait", "--timeout", "0"]) == exit_codes.TIMED_OUT
    assert main(["wait", "1"]) == 0


def test_it_waits_for_a_change(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks until the pane is there, and reads what the host has written since."""
    publish(runtime, [WORKING])
    looks = threading.Semaphore(0)
    look = Wait.look

    def counted(self: Wait, panes: list[Row], now: float) -> tuple[waiting.End, ...]:
        looks.release()
        return look(self, panes, now)

    monkeypatch.setattr(Wait, "look", counted)
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["wait", "2"])))
    thread.start()
    for _ in range(3):
        assert looks.acquire(timeout=30)
    publish(runtime, [attrs.evolve(WORKING, status=Status.ERROR, since=NOW)])
    thread.join(30)

    assert codes == [exit_codes.FAILED]
