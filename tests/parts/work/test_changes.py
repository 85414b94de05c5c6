"""What the turn of an agent left uncommitted: asked of git once at its end, on a worker, and never in a hurry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.files.mounts import Mounts
from tallylight.model.jobs import Failed, ignored
from tallylight.model.report import Report, Source
from tallylight.model.repository_status import RepositoryStatus
from tallylight.model.status import Status
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.parts.work import changes as work_module
from tallylight.parts.work.changes import MAX_SLOW, Work
from tallylight.snapshot.schema import Pane as PaneEntry
from tests.actions.test_git import Trap, clean
from tests.actions.test_git import trap as trap  # a fixture
from tests.hosts.test_projects import _pane as pane_in


@attrs.define
class Jobs:
    """Jobs that are done when a test says so."""

    waiting: list[tuple[Callable[[], Any], Callable[[Any], object]]] = attrs.field(factory=list)
    names: list[str] = attrs.field(factory=list)
    failed: Failed = ignored

    def submit(self, name: object, job: Callable[[], Any], done: Callable[[Any], object], failed: Failed) -> bool:
        self.failed = failed
        self.names.append(str(name))
        self.waiting.append((job, done))
        return True

    def run(self) -> None:
        job, done = self.waiting.pop(0)
        done(job())


@attrs.define
class Desk:
    """One pane in *folder*, and what a host does for it."""

    folder: Path
    jobs: Jobs = attrs.field(factory=Jobs)
    told: list[str] = attrs.field(factory=list)
    now: float = 10.0
    pane: Pane = attrs.field(init=False)
    work: Work[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.pane = pane_in(self.folder)
        self.work = Work(self.jobs.submit, "/home/nobody", Mounts(), self.told.append)

    def shows(self, status: Status) -> None:
        self.now += 5.0
        self.pane.tracker.report(Report(source=Source.PROTOCOL, status=status), self.now)
        self.pane.tick(self.now + 1.0)
        self.now += 1.0

    def look(self, *, is_wanted: bool = True) -> None:
        self.work.look("1", self.pane, self.now, is_wanted=is_wanted)

    @property
    def entry(self) -> PaneEntry:
        return pane_entry(self.pane, lambda at: at, id_="1", tab="", os_window="", title="")


@pytest.fixture
def desk(trap: Trap) -> Desk:
    """An agent in a repository that names a program, with two lines in the place of one that is committed."""
    clean(trap)
    trap.write("src/a", "1\n2\n")
    trap.ran()
    return Desk(trap.root)


def test_what_is_not_committed_is_told_of_a_turn_that_is_over(desk: Desk, trap: Trap) -> None:
    """Asked once for each end, away from the loop, and no program that the repository names runs for it."""
    desk.shows(Status.WORKING)
    desk.look()
    assert not desk.jobs.waiting
    desk.shows(Status.DONE)
    desk.look()
    desk.look()
    assert desk.entry.more.get("diffstat") is None and not desk.told
    desk.jobs.run()
    assert (desk.entry.more.get("diffstat"), desk.told) == ((2, 1), ["1"])
    assert PaneEntry.from_json(desk.entry.to_json()) == desk.entry
    for _ in range(3):
        desk.look()
    assert not desk.jobs.waiting and not trap.ran()


def test_the_next_turn_begins_without_it(desk: Desk, trap: Trap) -> None:
    """And what it leaves is asked for anew."""
    desk.shows(Status.DONE)
    desk.look()
    desk.jobs.run()
    desk.shows(Status.WORKING)
    desk.look()
    assert (desk.entry.more.get("diffstat"), desk.pane.more.get("diffstat")) == (None, None)
    trap.write("src/a", "1\n2\n3\n")
    desk.shows(Status.DONE)
    desk.look()
    desk.jobs.run()
    assert desk.entry.more.get("diffstat") == (3, 1)


def test_nothing_is_asked_where_nobody_wants_it(desk: Desk) -> None:
    """Nor in no repository: then there is nothing to wait for, either."""
    desk.shows(Status.DONE)
    desk.look(is_wanted=False)
    assert not desk.jobs.waiting and desk.pane.counted_at == desk.pane.decision.since


def test_a_slow_repository_is_left_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the next end it is not asked, and so many are remembered."""
    asked: list[str] = []

    def slow(directory: str, _home: str) -> tuple[RepositoryStatus, bool]:
        asked.append(directory)
        return RepositoryStatus(branch="main"), True

    monkeypatch.setattr(work_module, "read_one", slow)
    for _ in range(2):
        desk.shows(Status.DONE)
        desk.look()
        while desk.jobs.waiting:
            desk.jobs.run()
        desk.shows(Status.WORKING)
        desk.look()
    assert asked == [str(desk.folder)] and desk.entry.more.get("diffstat") is None
    for number in range(2 * MAX_SLOW):
        desk.work._was_read("/", f"/{number}", "1", desk.pane, 0.0, desk.now, (RepositoryStatus(), True))
    assert len(desk.work._slow) == MAX_SLOW


def test_a_disk_that_fails_or_hangs_costs_this_alone(desk: Desk) -> None:
    """One job a disk; an error is no diffstat."""
    desk.shows(Status.DONE)
    desk.look()
    other = Desk(desk.folder, jobs=desk.jobs)
    other.work = desk.work
    other.shows(Status.DONE)
    other.look()
    assert len(desk.jobs.names) == 1
    desk.jobs.waiting.clear()
    desk.jobs.failed(OSError("gone"))
    assert (desk.pane.more.get("diffstat"), desk.pane.counted_at) == (None, desk.pane.decision.since)
    assert not desk.work._asked


def test_a_strange_diffstat_is_none() -> None:
    """Two numbers that lines can have, or nothing."""
    entry = {"id": "1", "status": "done"}
    for odd in ([1], [1, 2, 3], ["1", "2"], [1, -2], [1, None], {"a": 1}, "12", 5):
        found = PaneEntry.from_json(entry | {"diffstat": odd})
        assert found is not None and "diffstat" not in found.more
