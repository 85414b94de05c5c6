"""`tally wait`: what it waits for, when it returns, and what its exit code says."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import attrs
import pytest

from tallylight.cli import wait
from tallylight.cli.main import main
from tallylight.cli.wait import GONE, GONE_S, Wait
from tallylight.model.status import Status
from tallylight.snapshot.addresses import Found
from tallylight.snapshot.schema import Pane
from tests.cli.panes import DONE, HOST, NOW, SHELL, WAITING, WORKING, publish
from tests.tables import each

IDLE = attrs.evolve(DONE, status=Status.IDLE)
FAILED = attrs.evolve(DONE, status=Status.ERROR)
DOWN = attrs.evolve(DONE, status=Status.DOWN)


def shown(*panes: Pane) -> list[Found]:
    return [Found(HOST, pane) for pane in panes]


def waiting_for(
    *states: str, is_all: bool = False, since: float | None = None, panes: tuple[str, ...] = ("1",)
) -> Wait:
    return Wait(frozenset(states), is_all, since, tuple(f"{HOST}:{pane}" for pane in panes))


def states(found: tuple[wait.End, ...]) -> list[str]:
    return [end.state for end in found]


def test_it_ends_when_the_status_is_there() -> None:
    """Nothing until the pane has one of the statuses; then it, with what was last known of the pane."""
    waited = waiting_for("done")
    assert waited.look(shown(attrs.evolve(WORKING, id="1")), 0) == ()
    (end,) = waited.look(shown(DONE), 1)
    assert (end.address, end.state, end.found) == (f"{HOST}:1", "done", Found(HOST, DONE))


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
    (end,) = waited.look([], 2 + GONE_S)
    assert (end.state, end.found) == (GONE, Found(HOST, DONE))


def test_an_agent_that_has_left_its_pane_is_gone() -> None:
    """A shell where an agent was is no idle agent; a shell where none was is what it is."""
    shell = attrs.evolve(SHELL, id="1")
    assert states(waiting_for("idle").look(shown(shell), 0)) == ["idle"]
    waited = waiting_for("idle", GONE)
    assert waited.look(shown(attrs.evolve(WORKING, id="1")), 0) == ()
    assert states(waited.look(shown(shell), 1)) == [GONE]


@pytest.mark.parametrize("is_json", [False, True])
def test_what_is_printed(runtime: Path, capsys: pytest.CaptureFixture[str], *, is_json: bool) -> None:
    """A line for each pane that was waited for: by default every agent that does not work."""
    publish(runtime, [WAITING, DONE, WORKING, SHELL])

    assert main(["wait", *["--json"] * is_json]) == wait.WAITS
    lines = capsys.readouterr().out.splitlines()
    if is_json:
        told = [json.loads(line) for line in lines]
        assert [(one["address"], one["state"]) for one in told] == [(f"{HOST}:3", "waiting"), (f"{HOST}:1", "done")]
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
        ([IDLE], [], 0),
        ([FAILED], [], wait.FAILED),
        ([DOWN], [], wait.FAILED),
        ([WAITING, FAILED], [], wait.WAITS),
        ([DONE, WORKING], ["2", "--for", "working"], 0),
        ([DONE, WORKING], ["1", "2", "--all", "--for", "working,done"], 0),
        ([WORKING], ["--timeout", "0"], wait.TIMED_OUT),
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

    assert main(["wait", "--timeout", "0"]) == wait.TIMED_OUT
    assert main(["wait", "1"]) == 0


def test_it_waits_for_a_change(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks until the pane is there, and reads what the host has written since."""
    publish(runtime, [WORKING])
    looks = threading.Semaphore(0)
    look = Wait.look

    def counted(self: Wait, panes: list[Found], now: float) -> tuple[wait.End, ...]:
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

    assert codes == [wait.FAILED]
