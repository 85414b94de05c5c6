"""What a host writes of its turns: by a job, again when the disk refuses, and nothing where a person wants none."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.hosts.jobs import run_job
from tallylight.model.status import Status
from tallylight.parts.diary import history_file
from tallylight.parts.diary.host import MAX_UNSAVED_DIARY_TURNS, HistoryRecorder
from tallylight.parts.diary.turns import END_SETTLES_S, Turns
from tallylight.snapshot.schema import Pane

CLOCK = 1_763_690_000.0


@attrs.define
class Desk:
    """A host whose jobs are done when `work` says so."""

    environ: dict[str, str]
    now: float = 0.0
    jobs: list[Callable[[], Callable[[], object]]] = attrs.Factory(list)
    told: list[str] = attrs.Factory(list)
    kept: HistoryRecorder = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.kept = HistoryRecorder("kitty", self.environ, self._submit, self.told.append, lambda: CLOCK + self.now)
        self.kept.use(keep=True)
        self.pass_(0)
        self.work()

    def _submit(self, _name: object, *job: Any) -> bool:
        if self.jobs:
            return False
        self.jobs.append(functools.partial(run_job, *job))
        return True

    def work(self) -> None:
        """Do what was submitted."""
        while self.jobs:
            call = self.jobs[0]()
            self.jobs.clear()
            call()

    def pass_(self, seconds: float, *shown: Pane) -> None:
        self.now += seconds
        self.kept.tick(self.now, shown or None)

    def turn(self, id_: str = "3") -> None:
        """A turn of ten seconds, of which the host knows how it ended."""
        for status in (Status.IDLE, Status.WORKING, Status.DONE):
            since = CLOCK + self.now
            shown = Pane(id=id_, status=status, agent="claude", agent_pid=7, since=since)
            self.pass_(10 if status is Status.WORKING else 0, shown)
        self.pass_(END_SETTLES_S)

    @property
    def written(self) -> list[float]:
        return [turn.worked_s for turn in history_file.read(history_file.path(self.environ))]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk({"XDG_STATE_HOME": str(tmp_path)})


def test_a_turn_is_written_by_a_job(desk: Desk) -> None:
    """The loop only hands it over."""
    desk.turn()
    assert desk.written == [] and len(desk.jobs) == 1
    desk.work()

    assert desk.written == [10.0]
    desk.pass_(60)
    assert desk.jobs == []


def test_what_comes_while_it_writes_is_written_next(desk: Desk) -> None:
    """One job at a time, and nothing twice."""
    desk.turn()
    desk.turn()
    desk.work()
    desk.pass_(1)
    desk.work()

    assert desk.written == [10.0, 10.0]


def test_a_disk_that_refuses(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told once, and tried again less and less often; what waited is written when the disk takes it."""
    with monkeypatch.context() as patch:
        patch.setattr(history_file, "append", lambda *_: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
        desk.turn()
        tries = 0
        for _ in range(20):
            tries += bool(desk.jobs)
            desk.work()
            desk.pass_(1)
        assert desk.told == ["history: [Errno 30] Read-only file system"] and 2 <= tries < 8
    desk.pass_(60)
    desk.work()

    assert desk.written == [10.0]


def test_another_host_writes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is no fault: it comes again in a moment."""
    with monkeypatch.context() as patch:
        patch.setattr(history_file, "append", lambda *_: (_ for _ in ()).throw(history_file.BusyError("busy")))
        desk.turn()
        desk.work()
    desk.pass_(1)
    desk.work()

    assert desk.written == [10.0] and desk.told == []


def test_a_disk_that_never_answers(desk: Desk) -> None:
    """What waits for it is bounded: the newest are kept."""
    for _ in range(MAX_UNSAVED_DIARY_TURNS + 10):
        desk.turn()

    assert len(desk.kept._waiting) <= MAX_UNSAVED_DIARY_TURNS


def test_nothing_is_kept_if_nothing_is_to_be(desk: Desk) -> None:
    """From the moment the setting says so; what was not yet written is forgotten."""
    desk.turn()
    desk.jobs.clear()
    desk.kept.use(keep=False)
    desk.turn()
    desk.pass_(5)
    desk.kept.close(desk.now)

    assert desk.jobs == [] and desk.written == []


def test_a_fault_costs_the_history_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told once, and the host goes on; the settings do not bring it back."""
    monkeypatch.setattr(Turns, "take", lambda *_: 1 / 0)
    desk.turn()
    desk.kept.use(keep=True)
    desk.turn()
    desk.kept.close(desk.now)

    assert desk.told == ["history switched off: ZeroDivisionError: division by zero"]
    assert desk.jobs == [] and desk.written == []


def test_the_host_ends(desk: Desk) -> None:
    """What waits, and what goes on, is written at once."""
    desk.turn()
    desk.pass_(0.5, Pane(id="9", status=Status.WORKING, agent="claude", agent_pid=7, since=CLOCK + desk.now))
    desk.kept.close(desk.now + 2.5)

    assert desk.written == [10.0, 3.0]


def test_a_new_day_takes_out_what_is_old(desk: Desk) -> None:
    """Also where no agent ran."""
    desk.turn()
    desk.work()
    desk.pass_(31 * 86400)
    desk.work()

    assert desk.written == []
