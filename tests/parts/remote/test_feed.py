"""A fleet in `tally watch` and in the list: what is shown of other machines, and what is never done for them."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.actions.answer import Done
from tallylight.actions.gate import Refusal
from tallylight.actions.request import LookRequest, Mark, Open
from tallylight.model.status import Kind, Status
from tallylight.snapshot import rows
from tallylight.snapshot.elsewhere import harmless
from tallylight.snapshot.entries import ConversationEntry
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.ui.agent_list.actions import Elsewhere
from tests.entries import pane_with
from tests.parts.remote.broker import Broker, Machine

pytestmark = pytest.mark.programs

WAITING = Pane(id="3", status=Status.WAITING, kind=Kind.QUESTION, agent="claude", message="Which one?", since=5.0)
#: What no machine may make another one run or type.
HARMFUL = pane_with(
    WAITING,
    resume=("claude", "--resume", "x"),
    fork=("claude", "--fork", "x"),
    attach=("sh", "-c", "touch /tmp/owned"),
    choices=(("rm -rf ~\r", "Yes"),),
    conversation=ConversationEntry(session="x"),
)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    made = Broker(tmp_path).start()
    yield made
    made.stop()


def test_nothing_that_could_run_comes_over_the_wire() -> None:
    """Argument lists, keys and sessions of another machine's panes are left out; what is shown stays."""
    assert harmless(HARMFUL) == WAITING


def test_no_machine_hides_a_row_of_another() -> None:
    """A session that two machines tell of are two agents; one that this machine tells of itself is shown once."""
    told = attrs.evolve(WAITING, session="s1")
    inside = attrs.evolve(told, id="4", agent_pid=7)
    assert rows.repeated([("atlas/kitty-1", told), ("borea/kitty-1", told)]) == set()
    assert rows.repeated([("atlas/kitty-1", told), ("kitty-1", told)]) == {("atlas/kitty-1", "3")}
    assert rows.repeated([("atlas/kitty-1", inside), ("kitty-1", told)]) == {("atlas/kitty-1", "4")}
    assert rows.repeated([("atlas/kitty-1", told), ("atlas/sessions-1", inside)]) == {("atlas/kitty-1", "3")}


def test_the_list_shows_other_machines_and_touches_nothing() -> None:
    """Every action on a row of another machine is refused with the machine's name."""
    found = Snapshot(host="atlas/kitty", pid=7, started=0.0, written=0.0, panes=(WAITING,))
    (row,) = rows.build((found,), "", 10.0)
    marks: list[tuple[str, float | None]] = []
    actions = Elsewhere(lambda _host, _pane, verb, minutes: marks.append((verb, minutes)))
    opened = [actions.perform(row, Open(verb, "3")) for verb in ("go", "fork", "resume")]
    asked = actions.perform(row, LookRequest(row.pane.id, "question"))
    for told in (*opened, asked, actions.perform(row, Mark("mute", "3"))):
        assert told == Refusal("elsewhere", "do this on atlas itself")
    assert actions.screen(row) == "do this on atlas itself"
    for args in (("5",), ()):
        assert isinstance(actions.perform(row, Mark("snooze", "3", args)), Done)
    assert marks == [("snooze", 5.0), ("snooze", None)]


def _has_pane(line: dict[str, Any]) -> bool:
    """Whether this line tells of a pane that appears."""
    return bool(line.get("panes")) or (line["event"] == "pane" and line["before"] is None)


def test_watch_follows_machines_and_the_broker(broker: Broker, tmp_path: Path) -> None:
    """`tally watch --broker` begins with everything, then tells of panes, of machines, and of the broker itself."""
    machine = Machine("atlas", tmp_path / "atlas", broker.fleet()).start()
    machine.shows(WAITING)
    watch = subprocess.Popen(
        machine.command("watch", "--broker"), env=dict(machine.environ), stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert watch.stdout is not None
    lines = (json.loads(line) for line in watch.stdout)

    def until(event: str, **wanted: object) -> dict[str, Any]:
        for line in lines:
            if line["event"] == event and all(line.get(name) == value for name, value in wanted.items()):
                return line
        raise AssertionError(f"no {event} {wanted}")

    try:
        # Whether the machine or the watch comes first to the broker, nobody knows.
        told: list[dict[str, Any]] = []
        while not (any(line["event"] == "machine" for line in told) and any(map(_has_pane, told))):
            told.append(next(lines))
        assert [line["up"] for line in told if line["event"] == "broker"][-1]
        assert [line["up"] for line in told if line["event"] == "machine"] == [True]
        assert [line["event"] for line in told].count("state") == 1
        machine.shows(attrs.evolve(WAITING, status=Status.WORKING, kind=None))
        found = until("pane", before="waiting")
        assert found["host"].startswith("atlas/kitty-")
        assert found["counts"]["working"] == 1
        machine.stop(signal.SIGKILL)
        until("machine", machine="atlas", up=False)
        broker.stop()
        assert until("broker", up=False)["problem"]
    finally:
        watch.kill()
        watch.communicate()
        machine.stop()


def test_watch_once_without_a_broker_fails(broker: Broker, tmp_path: Path) -> None:
    """With `--once` a broker that is away is an error, not an empty state."""
    machine = Machine("atlas", tmp_path / "atlas", broker.fleet()).start()
    machine.shows(WAITING)
    try:
        found = machine.tally("watch", "--broker", "--once")
        assert json.loads(found.stdout.splitlines()[-1])["event"] == "state"
        broker.stop()
        found = machine.tally("watch", "--broker", "--once")
        assert (found.returncode, "refused" in found.stderr) == (1, True)
    finally:
        machine.stop()
