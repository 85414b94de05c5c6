"""When a repository is looked at, and what panes are told: with panes, records and repositories, and jobs by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.records import claude_ending
from tallylight.evidence.records.reading import Edit, Reading
from tallylight.files.by_directory import MAX_CACHED_DIRECTORIES
from tallylight.files.mounts import Mounts
from tallylight.files.program import StuckError
from tallylight.model.jobs import ignored
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.pane.transcript import TranscriptState
from tallylight.parts.work import watch as watch_module
from tallylight.parts.work.others import RECORDS_S, SNAPSHOTS_S
from tallylight.parts.work.watch import CALM, LOOK_AT_PANES_S, MARKED, SOON, Collisions
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import SnapshotWriter
from tests.actions.test_git import Trap
from tests.actions.test_git import trap as trap  # a fixture
from tests.hosts.test_pane import CODEX, HandTable
from tests.hosts.test_projects import _pane as pane_in
from tests.parts.work.test_looks import Shop, changed, edit
from tests.parts.work.test_looks import shop as shop  # a fixture


def reader_in(home: Path) -> ForegroundReader:
    """What a host of a person with this *home* knows of agents and processes."""
    return ForegroundReader(agent_files.load_agents({"HOME": str(home)})[0], HandTable(str(home)))


@attrs.define
class Desk:
    """An agent in each work tree of a shop, and what a host does for them. Each look takes *cost* seconds."""

    shop: Shop
    cost: float = 0.001
    now: float = 100.0
    told: list[int] = attrs.field(factory=list)
    asked: list[Any] = attrs.field(factory=list)
    panes: dict[int, Pane] = attrs.field(init=False)
    watch: Collisions[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        root = self.shop.trap.root
        self.panes = {1: pane_in(root), 2: pane_in(self.shop.other)}
        environ = {"HOME": str(root.parent.parent), "XDG_RUNTIME_DIR": str(root.parent)}
        self.watch = Collisions("kitty-1", environ, self._submit, Mounts(), self.told.append, reader_in(root.parent))

    def _submit(
        self,
        key: object,
        job: Callable[[], Any],
        done: Callable[[Any], object],
        failed: Callable[[Exception], object] = ignored,
    ) -> bool:
        self.asked.append(key)
        try:
            result = job()
        except (StuckError, ZeroDivisionError) as error:
            failed(error)
        else:
            done((result[0], self.cost) if isinstance(result, tuple) else result)
        return True

    def shows(self, id_: int, status: Status, what: str = "") -> None:
        kind = Kind.PERMISSION if what else None
        self.panes[id_].tracker.report(Report(source=Source.PROTOCOL, status=status, kind=kind, what=what), self.now)
        self.panes[id_].tick(self.now + 0.2)

    def writes(self, id_: int, *edits: Edit) -> None:
        """The record of a pane's agent tells of these."""
        transcript = self.panes[id_]._run.transcript  # type: ignore[union-attr]
        assert transcript is not None
        transcript.found = TranscriptState(reading=Reading(edits=edits))

    def passes(self, seconds: float = LOOK_AT_PANES_S, *, is_wanted: bool = True) -> int:
        """Time passes; how often the repository was looked at."""
        del self.asked[:]
        end = self.now + seconds
        while self.now < end:
            self.now += LOOK_AT_PANES_S
            self.watch.look(self.panes, self.now, is_wanted)
        return sum(isinstance(key, tuple) and key[0] == "collisions" for key in self.asked)

    def lines(self, id_: int) -> list[tuple[str, str, bool]]:
        return [(one.pane, one.lines, one.same) for one in self.panes[id_].collisions]


@pytest.fixture
def desk(shop: Shop) -> Desk:
    found = Desk(shop)
    found.passes(2 * LOOK_AT_PANES_S)
    return found


@pytest.mark.slow
def test_a_second_write_is_told_at_once(desk: Desk) -> None:
    """Both are marked, in what is published as well; both lose it when one is undone."""
    desk.passes(60)
    desk.shop.write(changed(40, 41))
    desk.writes(1, edit(40, 41))
    desk.passes(CALM[0] + 1)
    desk.shop.write(changed(41, word="theirs"), desk.shop.other)
    desk.writes(2, edit(41, word="theirs"))
    assert desk.passes(LOOK_AT_PANES_S) == 1
    assert (desk.lines(1), desk.lines(2)) == ([("kitty-1:2", "41", True)], [("kitty-1:1", "40–41", True)])
    assert desk.panes[1].collides and set(desk.told) == {1, 2}
    entry = pane_entry(desk.panes[1], lambda at: at, id_="1", tab="", os_window="", title="")
    assert entry.collides and PaneEntry.from_json(entry.to_json()) == entry
    desk.shop.write(changed(), desk.shop.other)
    desk.passes(2 * MARKED[0])
    assert desk.lines(1) == desk.lines(2) == [] and not desk.panes[1].collides


def test_what_is_written_a_moment_after_the_record(desk: Desk) -> None:
    """A record tells of a call before it is carried out: what it writes is looked for once more."""
    desk.shop.write(changed(40))
    desk.writes(1, edit(40))
    desk.passes(60)
    desk.writes(2, edit(40, word="theirs"))
    desk.passes(LOOK_AT_PANES_S)
    assert desk.lines(2) == []
    desk.shop.write(changed(40, word="theirs"), desk.shop.other)
    desk.passes(2 * SOON[0])
    assert desk.lines(2) == [("kitty-1:1", "40", True)]


def test_where_nothing_happens_git_is_not_asked(desk: Desk) -> None:
    """Nor is it where an agent works alone, or nobody wants it."""
    assert desk.passes(600) == 0
    desk.shows(1, Status.WORKING)
    assert desk.passes(LOOK_AT_PANES_S, is_wanted=False) == 0
    del desk.panes[2]
    assert desk.passes(600) == 0


def test_a_change_is_considered_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at each tick until git is asked again, which may be minutes later."""
    considered: list[str] = []
    real = watch_module._Group._concerns_others

    def counted(group: Any, party: Any, parties: Any) -> bool:
        considered.append(party.address)
        return real(group, party, parties)

    monkeypatch.setattr(watch_module._Group, "_concerns_others", counted)
    desk.cost = 0.1
    desk.shows(1, Status.WORKING)
    desk.passes(2 * CALM[0])
    del considered[:]
    desk.writes(1, edit(40))
    assert desk.passes(60) == 0
    assert considered == ["kitty-1:1"]


@pytest.mark.slow
def test_what_it_costs_is_bounded(desk: Desk) -> None:
    """An agent that works is looked at seldom, and the more seldom the longer that takes."""
    desk.shows(1, Status.WORKING)
    for cost in (0.001, 0.01, 0.1):
        desk.cost = cost
        desk.passes(20 * CALM[0])
        every = max(CALM[0], CALM[1] * cost)
        assert desk.passes(20 * every) in range(18, 22)


def test_a_repository_that_is_slow(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left alone, and what is known of it stays."""

    def slow(*_: object) -> object:
        raise StuckError("git")

    monkeypatch.setattr(watch_module, "_look", slow)
    desk.shows(1, Status.WORKING)
    desk.passes(CALM[0] + 1)
    assert desk.passes(800) == 0
    assert desk.passes(200) == 1


def test_a_fault_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no fault of git or a disk ends it: its host says so once."""

    def broken(*_: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr(watch_module, "_look", broken)
    desk.shows(1, Status.WORKING)
    with pytest.raises(ZeroDivisionError):
        desk.passes(2 * CALM[0])


def test_what_asks_to_write(desk: Desk) -> None:
    """It is told who has changed the file, and so is nobody else."""
    desk.shop.write(changed(40))
    desk.writes(1, edit(40, at=77.0))
    desk.shows(2, Status.WAITING, "Edit cart.py (+1 −1)")
    desk.passes(LOOK_AT_PANES_S)
    assert [(one.pane, one.asked, one.same, one.at) for one in desk.panes[2].collisions] == [
        ("kitty-1:1", True, False, 77.0)
    ]
    assert desk.panes[1].collisions == () and not desk.panes[2].collides
    desk.shows(2, Status.WORKING)
    desk.passes(2 * CALM[0])
    assert desk.panes[2].collisions == ()


def test_one_that_is_gone(desk: Desk) -> None:
    """With its agent goes what it collides with, at once."""
    for number, top in enumerate((desk.shop.trap.root, desk.shop.other), 1):
        desk.shop.write(changed(40, word=f"{number}"), top)
        desk.shows(number, Status.WORKING)
    desk.passes(3 * CALM[0])
    assert desk.panes[1].collides
    del desk.panes[2]
    desk.passes(LOOK_AT_PANES_S)
    assert desk.panes[1].collisions == ()


def test_nobody_wants_it(desk: Desk) -> None:
    for number, top in enumerate((desk.shop.trap.root, desk.shop.other), 1):
        desk.shop.write(changed(40, word=f"{number}"), top)
        desk.shows(number, Status.WORKING)
    desk.passes(3 * CALM[0])
    assert desk.panes[1].collides
    desk.passes(LOOK_AT_PANES_S, is_wanted=False)
    assert desk.panes[1].collisions == ()


@pytest.mark.slow
def test_an_agent_of_another_host(desk: Desk, trap: Trap) -> None:
    """It counts by what git says of its work tree; what another machine says does not."""
    folder = trap.root.parent / "tallylight"
    folder.mkdir(mode=0o700)
    other = desk.panes.pop(2)
    entry = pane_entry(other, lambda at: at, id_="7", tab="", os_window="", title="")
    # The same process would be the same agent.
    entry = attrs.evolve(entry, agent_pid=4242)
    host = SnapshotWriter(folder / f"kitty-{os.getpid()}.json", "kitty", lambda: 1.0)
    host.publish([entry], 1.0)
    desk.shop.write(changed(40))
    desk.shop.write(changed(40, word="theirs"), desk.shop.other)
    desk.shows(1, Status.WORKING)
    desk.passes(SNAPSHOTS_S + 3 * CALM[0])
    assert desk.lines(1) == [(f"kitty-{os.getpid()}:7", "40", True)]
    host.close()
    desk.passes(2 * SNAPSHOTS_S)
    assert desk.panes[1].collisions == ()


def test_an_agent_of_another_host_in_the_same_work_tree(desk: Desk, trap: Trap) -> None:
    """Which of the lines there are its own, its record tells: told soon after they were written, and nobody's else."""
    top = trap.root
    folder = top.parent / "tallylight"
    folder.mkdir(mode=0o700)
    parts = claude_ending.path_parts(str(top), "s-9")
    assert parts is not None
    record = top.parent.joinpath(".claude", *parts)
    record.parent.mkdir(parents=True)
    record.touch()
    entry = pane_entry(desk.panes.pop(2), lambda at: at, id_="7", tab="", os_window="", title="")
    works_in = attrs.evolve(entry.conversation, cwd=str(top))
    entry = attrs.evolve(entry, agent="claude", agent_pid=CODEX.pid, session="s-9", cwd=str(top), conversation=works_in)
    host = SnapshotWriter(folder / f"tmux-{os.getpid()}.json", "tmux", lambda: 1.0)
    host.publish([entry], 1.0)
    desk.shop.write(changed(40, 41, word="all mine"))
    desk.writes(1, edit(40, 41, word="all mine"))
    desk.passes(SNAPSHOTS_S + 3 * CALM[0])
    assert desk.lines(1) == []
    given = {"file_path": str(top / "cart.py"), "old_string": "all mine 41", "new_string": "theirs 41"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": given}
    said = {"type": "assistant", "timestamp": "2026-11-26T09:00:00.000Z", "message": {"content": [call]}}
    record.write_text(json.dumps(said, separators=(",", ":")) + "\n")
    desk.shop.write(changed(40, 41, word="all mine").replace("all mine 41", "theirs 41"))
    desk.passes(RECORDS_S + 2 * SOON[0])
    assert desk.lines(1) == [(f"tmux-{os.getpid()}:7", "41", True)]


def test_what_is_remembered_is_bounded(desk: Desk) -> None:
    desk.watch._places._were_read("/", {f"/d/{number}": ("", "") for number in range(2 * MAX_CACHED_DIRECTORIES)})
    assert len(desk.watch._places._known) == MAX_CACHED_DIRECTORIES
    desk.watch._places._failed("/", OSError("gone"))
    desk.watch._others._were_seen(OSError("gone"))
    desk.watch._others._were_read(OSError("gone"))
