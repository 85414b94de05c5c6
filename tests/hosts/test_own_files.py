"""The agents' own files: what is read reaches its pane, and nobody is asked twice."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs
import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.hosts import own_files
from tallylight.hosts.jobs import RETRY_JOB_S, Jobs
from tallylight.hosts.mailbox import Mailbox
from tallylight.hosts.own_files import HANGS_ASKED, MAX_READINGS, READ_HANGS_S, FileReader
from tallylight.hosts.worker import Worker
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.file_request import FileRequest, Request
from tallylight.pane.pane import Pane
from tests.files.test_mounts import mounted
from tests.hosts.test_pane import CLAUDE, HandTable, status_file
from tests.patience import until


@pytest.fixture
def pane(tmp_path: Path) -> Pane:
    """A pane with Claude in it, which is busy by its status file."""
    status_file(str(tmp_path), status="busy")
    table = HandTable(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(CLAUDE.pid, time.monotonic() - 10)
    return pane


@attrs.define
class Desk:
    """A reader that tells *pane* what was read, with a worker that is lent time by hand."""

    pane: Pane
    worker: Worker = attrs.Factory(Worker)
    reader: FileReader[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.reader = FileReader(self.worker.submit, self._told, print, time.monotonic)

    def _told(self, found: Sequence[tuple[int, Request, object]]) -> None:
        for _, request, what in found:
            self.pane.take_result(request, what, time.monotonic())

    def until_read(self) -> None:
        """Ask once, and let the worker run until it has read."""
        self.reader.ask({3: self.pane})
        until(lambda: not self.worker.is_waiting or self.worker.lend(0.05))


@pytest.fixture
def desk(pane: Pane) -> Desk:
    return Desk(pane)


def test_what_was_read_reaches_its_pane(desk: Desk) -> None:
    """The pane shows what its agent's status file says."""
    desk.until_read()
    assert desk.pane.decision.status is Status.WORKING


def test_a_pane_is_not_asked_while_its_files_are_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts how often its files were looked for in vain; what a slow disk has not told yet is no such look."""
    read, answers, asked, requests = FileRequest.read, threading.Event(), [0], desk.pane.requests
    monkeypatch.setattr(FileRequest, "read", lambda request: read(request) if answers.wait(20) else None)

    def counted() -> object:
        asked[0] += 1
        return requests()

    monkeypatch.setattr(desk.pane, "requests", counted)
    for _ in range(30):
        desk.reader.ask({3: desk.pane})
        desk.worker.lend()
    assert asked == [1]
    answers.set()
    desk.until_read()
    desk.until_read()
    assert asked[0] > 1


def test_a_fault_in_a_reading_costs_that_reading(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one is made, and is told."""

    def broken(_: FileRequest) -> None:
        raise ValueError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(FileRequest, "read", broken)
        desk.until_read()
    assert desk.pane.decision.status is not Status.WORKING
    desk.until_read()
    assert desk.pane.decision.status is Status.WORKING


def test_what_is_not_new_is_not_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that says what it said is read, and nobody hears of it."""
    desk.until_read()
    told: list[object] = []
    monkeypatch.setattr(desk.pane, "take_result", lambda *found: told.append(found))
    desk.until_read()
    assert told == []


@attrs.frozen
class Wanted:
    """Something at *path* that is read as soon as its disk responds, and is the number of its reading."""

    path: Path
    responds: threading.Event
    reads: list[int] = attrs.Factory(list)
    beside: tuple[Path, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, *self.beside)

    def read(self) -> int:
        self.reads.append(len(self.reads))
        self.responds.wait(60)
        return len(self.reads)


@attrs.define
class HandPane:
    """A pane that wants something of each of its disks whenever it is asked."""

    wanted: tuple[Wanted, ...]
    asked: int = 0

    def requests(self) -> tuple[Wanted, ...]:
        self.asked += 1
        return self.wanted


class Yard:
    """A reader with real threads, and a clock made by hand, for panes whose files lie on disks that may hang."""

    def __init__(self, top: Path) -> None:
        self.top, self.now = top, 100.0
        self.events: dict[str, threading.Event] = {}
        self.panes: dict[int, HandPane] = {}
        self.told: list[str] = []
        self.found: dict[int, int] = {}
        self.posted: Mailbox[Callable[[], None]] = Mailbox()
        self.reader: FileReader[int] = FileReader(
            Jobs(self.posted.put, lambda: self.now).submit, self._read, self.told.append, lambda: self.now
        )

    def _read(self, found: Sequence[tuple[int, Request, object]]) -> None:
        for id_, _, _ in found:
            self.found[id_] = self.found.get(id_, 0) + 1

    def pane(self, *disks: str) -> int:
        """A pane with a file on each of *disks*, folders of the top."""
        for disk in disks:
            self.events.setdefault(disk, threading.Event())
        id_ = len(self.panes) + 1
        self.panes[id_] = HandPane(tuple(Wanted(self.top / disk / str(id_), self.events[disk]) for disk in disks))
        return id_

    def step(self, times: int = 1) -> None:
        """Let a quarter of a second pass, so many times; what can be read is, if it is to be."""
        able = {id_ for id_, pane in self.panes.items() if any(one.responds.is_set() for one in pane.wanted)}
        for _ in range(times):
            self.now += 0.25
            before = dict(self.found)
            self.reader.ask(self.panes)  # type: ignore[arg-type]
            end = time.monotonic() + 0.02
            with contextlib.suppress(queue.Empty):
                while any(self.found.get(id_) == before.get(id_) for id_ in able):
                    self.posted.get(max(0.0, end - time.monotonic()))()

    def until_hung(self) -> None:
        """Let as much time pass as it takes until what hangs is given up."""
        self.step(max(HANGS_ASKED, int(READ_HANGS_S / 0.25)) + 2)


@pytest.fixture
def yard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Yard]:
    disks = [tmp_path / name for name in ("home", *(f"dead{number}" for number in range(12)))]
    mounted(monkeypatch, tmp_path / "table", *disks)
    yard = Yard(tmp_path)
    yield yard
    for event in yard.events.values():
        event.set()


@pytest.mark.parametrize("count", [1, 3, 6])
def test_what_hangs_costs_what_lies_there(yard: Yard, count: int) -> None:
    """However many disks hang, the files on another one are read in every tick, before and after those are given up."""
    healthy = yard.pane("home")
    yard.events["home"].set()
    hang = [yard.pane(f"dead{number}") for number in range(count)]
    yard.step(4)
    assert yard.found == {healthy: yard.found[healthy]} and yard.found[healthy] >= 3
    yard.until_hung()
    before = yard.found[healthy]
    yard.step(8)
    assert yard.found[healthy] >= before + 7
    assert [yard.reader.hangs(id_) for id_ in hang] == [str(yard.top / f"dead{number}") for number in range(count)]
    assert yard.reader.hangs(healthy) == ""


def test_it_is_told_once_and_read_again_when_it_responds(yard: Yard) -> None:
    """It is tried again after longer and longer times, by no more than two threads, and then goes on as before."""
    id_ = yard.pane("dead0")
    other = yard.pane("dead0")
    yard.until_hung()
    for _ in range(4):
        yard.step(int(RETRY_JOB_S / 0.25))
        yard.until_hung()
    where = yard.top / "dead0"
    assert yard.told == [f"agents' files: {where} does not respond; they are read when it does"]
    reads = [pane.wanted[0].reads for pane in yard.panes.values()]
    until(lambda: sum(map(len, reads)) >= own_files.MAX_GIVEN_UP)
    assert sum(map(len, reads)) == own_files.MAX_GIVEN_UP
    assert yard.found == {} and yard.reader.hangs(id_) == yard.reader.hangs(other) == str(where)

    yard.events["dead0"].set()
    yard.step(8)
    assert yard.found.keys() == {id_, other}
    assert yard.reader.hangs(id_) == yard.reader.hangs(other) == ""
    assert len(yard.told) == 1


def test_an_agent_that_has_gone(yard: Yard) -> None:
    """A pane that wants nothing any more of what hangs is not told to hang for ever."""
    id_ = yard.pane("dead0")
    yard.until_hung()
    assert yard.reader.hangs(id_)
    yard.panes[id_].wanted = ()
    yard.now += own_files.WANTED_S
    yard.step(2)
    assert yard.reader.hangs(id_) == ""


@pytest.mark.slow
def test_a_pane_with_files_on_two_disks(yard: Yard) -> None:
    """What of it lies on the one that responds is read all the same."""
    id_ = yard.pane("home", "dead0")
    yard.events["home"].set()
    yard.until_hung()
    before = yard.found[id_]
    yard.step(4)
    assert yard.found[id_] >= before + 3
    assert yard.reader.hangs(id_) == str(yard.top / "dead0")


def test_a_file_here_and_one_beside_it_that_hangs(yard: Yard) -> None:
    """What is read with it on another disk costs that alone: the others on this one never wait."""
    healthy, both = yard.pane("home"), yard.pane("dead0")
    yard.events["home"].set()
    (wanted,) = yard.panes[both].wanted
    yard.panes[both].wanted = (attrs.evolve(wanted, path=yard.top / "home/2", beside=(wanted.path,)),)
    for _ in range(3):
        before = yard.found.get(healthy, 0)
        yard.step(8)
        assert yard.found[healthy] >= before + 7
        yard.until_hung()
    assert (yard.reader.hangs(healthy), yard.reader.hangs(both)) == ("", str(yard.top / "dead0"))


def test_what_hangs_behind_a_link(yard: Yard) -> None:
    """It counts for the disk that the link leads to, and not for the one that the link lies on."""
    (yard.top / "home").mkdir(exist_ok=True)
    (yard.top / "home/link").symlink_to(yard.top / "dead0")
    healthy, hangs = yard.pane("home"), yard.pane("home/link")
    yard.events["home"].set()
    yard.until_hung()
    before = yard.found[healthy]
    yard.step(4)
    assert yard.found[healthy] >= before + 3
    assert (yard.reader.hangs(healthy), yard.reader.hangs(hangs)) == ("", str(yard.top / "dead0"))


def test_only_so_much_is_read_at_a_time(yard: Yard) -> None:
    """Where more disks hang than threads may be lost, one that has responded before still is read."""
    healthy = yard.pane("home")
    yard.events["home"].set()
    yard.step(4)
    hang = [yard.pane(f"dead{number}") for number in range(12)]
    yard.until_hung()
    before = yard.found[healthy]
    yard.step(8)
    assert yard.found[healthy] >= before + 7
    reads = [yard.panes[id_].wanted[0].reads for id_ in hang]
    until(lambda: sum(map(bool, reads)) > 4)
    assert sum(map(bool, reads)) < MAX_READINGS
