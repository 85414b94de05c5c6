"""What a polling host does not do: ask anew what cannot have changed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tallylight.evidence.process import Process
from tallylight.hosts.polling import own_files, sleepers
from tallylight.hosts.polling.host import SourcePane
from tallylight.hosts.polling.run_times import Runtimes
from tallylight.model.status import Status
from tallylight.pane.file_request import FileRequest
from tallylight.pane.pane import Look
from tests.hosts.detached.polling import HandSource, System, until
from tests.hosts.test_pane import AIDER, CLAUDE, SHELL, rows, status_file


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not say how long a process ran")
@pytest.mark.parametrize("limit", [0, 8])
def test_runtimes_of_processes(limit: int) -> None:
    """A process that sleeps has always run as long, one that runs ever longer; one that is gone has no runtime."""
    runtimes = Runtimes(limit=limit)
    child = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1)
    assert child.stdout is not None
    child.stdout.readline()
    until(lambda: "S" in Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2])
    first, second = runtimes.read(child.pid), runtimes.read(child.pid)
    own = runtimes.read(os.getpid())
    until(lambda: runtimes.read(os.getpid()) != own)
    child.communicate(b"\n")

    assert first is not None
    assert first == second
    assert runtimes.read(child.pid) is None
    assert runtimes.read(child.pid) is None
    runtimes.close()


def test_runtimes_are_bounded(tmp_path: Path) -> None:
    """No more files are held open than may be, and none of a process that is of no interest any more."""
    for pid in range(1, 6):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "schedstat").write_text(f"{pid}00 7 8\n")
    texts = [f"{pid}00 7 8\n".encode() for pid in range(1, 5)]
    (tmp_path / "5/schedstat").write_text("what is this\n")

    def polled() -> int:
        return sum(_target(fd).startswith(str(tmp_path)) for fd in Path("/proc/self/fd").iterdir())

    runtimes = Runtimes(str(tmp_path), limit=3)
    assert [runtimes.read(pid) for pid in (1, 2, 3, 4, 5, 6, 0)] == [*texts, None, None, None]
    assert polled() == 3
    runtimes.keep({2})
    assert polled() == 1
    runtimes.close()
    assert polled() == 0
    assert Runtimes(None).read(os.getpid()) is None


def _target(fd: Path) -> str:
    try:
        return str(fd.readlink())
    except OSError:
        return ""


class HandRuntimes:
    """Runtimes made by hand."""

    def __init__(self) -> None:
        self.of: dict[int, int | None] = {}

    def read(self, pid: int) -> bytes | None:
        ran = self.of.get(pid)
        return None if ran is None else str(ran).encode()

    def keep(self, pids: object) -> None:
        """Nothing is held."""

    def close(self) -> None:
        """Nor then."""


class HandGroups:
    """The foreground groups, by leader, and how often they were asked for."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}
        self.looks = 0

    def look(self, pid: int, now: float) -> int:
        self.looks += 1
        return self.of[pid]


def test_processes_that_sleep_are_left_alone(system: System, source: HandSource) -> None:
    """
    While neither leader nor foreground has run, the foreground is asked for only now and then.

    At the next look after one of them ran it is asked for; and always, where a runtime cannot be told.
    """
    runtimes, groups = HandRuntimes(), HandGroups()
    system.poller._sleepers.runtimes, system.poller._groups = runtimes, groups  # type: ignore[assignment]
    status_file(str(system.home), status="busy")
    runtimes.of, groups.of = {SHELL.pid: 1, CLAUDE.pid: 1}, {SHELL.pid: SHELL.pid}
    source.source_panes = [SourcePane(id="a", leader=SHELL.pid)]
    system.steps(4)
    groups.looks = 0
    system.steps(40)
    assert 1 <= groups.looks <= 40 / sleepers.DOUBTFUL + 1

    groups.of[SHELL.pid], runtimes.of[SHELL.pid] = CLAUDE.pid, 2
    system.steps(2)
    assert system.entry().status is Status.WORKING
    groups.of[SHELL.pid], runtimes.of[CLAUDE.pid] = SHELL.pid, 2
    system.steps(2)
    assert system.entry().agent_pid is None

    runtimes.of[SHELL.pid] = None
    groups.looks = 0
    system.steps(10)
    assert groups.looks >= 8


def test_an_agent_that_sleeps_is_at_rest(system: System, source: HandSource) -> None:
    """One that has slept for a while is looked at every few seconds, and at once after it ran or is seen."""
    runtimes, groups = HandRuntimes(), HandGroups()
    system.poller._sleepers.runtimes, system.poller._groups = runtimes, groups  # type: ignore[assignment]
    status_file(str(system.home), status="busy")
    runtimes.of, groups.of = {SHELL.pid: 1, CLAUDE.pid: 1}, {SHELL.pid: CLAUDE.pid}
    source.source_panes = [SourcePane(id="a", leader=SHELL.pid)]
    system.steps(6)
    assert system.entry().status is Status.WORKING
    looks: list[float] = []
    pane = system.poller._held["a"].pane
    look = pane.look

    def counted(visible: bool, now: float) -> None:
        looks.append(now)
        look(visible, now)

    pane.look = counted  # type: ignore[method-assign]
    system.steps(12)
    assert 2 <= len(looks) <= 4

    looks.clear()
    status_file(str(system.home), status="waiting", waitingFor="permission prompt")
    runtimes.of[CLAUDE.pid] = 2
    system.steps(0.5)
    assert looks
    assert system.entry().status is Status.WAITING

    system.steps(6)
    looks.clear()
    source.source_panes = [SourcePane(id="a", leader=SHELL.pid, visible=True)]
    system.steps(4)
    assert len(looks) >= 6
    assert system.entry().seen


@pytest.mark.parametrize("has_child", [False, True])
def test_a_script_that_sleeps_without_children_has_none_later(
    system: System, source: HandSource, monkeypatch: pytest.MonkeyPatch, has_child: bool
) -> None:
    """The foreground of a script named like an agent is asked for only now and then, unless a child could tell more."""
    script = Process(91, 10, 91, "aider", ("/bin/bash", "/v/bin/aider"), "/bin/bash", 910)
    child = Process(92, 91, 91, "sleep", ("sleep", "9"), "/bin/sleep", 920)
    system.table.processes |= {script.pid: script, child.pid: child}
    below = {script.pid: (child,)} if has_child else {}
    monkeypatch.setattr(type(system.table), "descendants", lambda _, pid: below.get(pid, ()))
    runtimes, groups = HandRuntimes(), HandGroups()
    system.poller._sleepers.runtimes, system.poller._groups = runtimes, groups  # type: ignore[assignment]
    runtimes.of, groups.of = {SHELL.pid: 1, script.pid: 1}, {SHELL.pid: script.pid}
    source.source_panes = [SourcePane(id="a", leader=SHELL.pid)]
    system.steps(4)
    assert system.entry().agent == "aider"
    groups.looks = 0
    system.steps(10)
    assert groups.looks >= 20 if has_child else groups.looks <= 3


def test_a_file_that_is_as_it_was_is_not_read(
    system: System, source: HandSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither is an unchanged status file read again; but one that was just written is, and one that was changed."""
    reads: list[Path] = []
    read = FileRequest.read

    def counted(self: FileRequest) -> tuple[bytes | None, bytes]:
        reads.append(self.status_file)
        return read(self)

    monkeypatch.setattr(FileRequest, "read", counted)
    monkeypatch.setattr(own_files, "FRESH_NS", 0)
    path = status_file(str(system.home), status="busy")
    source.source_panes = [SourcePane(id="a", group=CLAUDE.pid)]
    system.steps(3)
    assert system.entry().status is Status.WORKING
    assert 1 <= len(reads) <= 2, "the first, and one more if it wanted a second"
    reads.clear()
    system.steps(5)
    assert reads == []

    status_file(str(system.home), status="waiting", waitingFor="permission prompt")
    os.utime(path, (1, 1))
    system.steps(1)
    assert system.entry().status is Status.WAITING

    monkeypatch.setattr(own_files, "FRESH_NS", 10**18 * 10)
    reads.clear()
    system.steps(2)
    assert len(reads) >= 6


class Reader:
    """Reads screens together; *left_out* are those that are not read in one go, *fails* raises."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.left_out: set[str] = set()
        self.fails = False

    def __call__(self, ids: Sequence[str]) -> Mapping[str, Look | None]:
        self.calls.append(tuple(ids))
        if self.fails:
            raise OSError("no")
        left_out, self.left_out = self.left_out, set()
        return {id_: rows(*(f"{id_} {len(self.calls)} {n}" for n in range(5))) for id_ in ids if id_ not in left_out}


def test_screens_are_read_together(system: System, source: HandSource) -> None:
    """One call reads all that share a reader and are wanted; one it leaves out is asked for at the next tick."""
    reader, other = Reader(), Reader()
    source.source_panes = [
        SourcePane(id="a", group=AIDER.pid, together=reader, read_every=1.0),
        SourcePane(id="b", group=AIDER.pid, together=reader, read_every=1.0),
        SourcePane(id="c", group=AIDER.pid, together=other, read_every=1.0),
        SourcePane(id="d", group=10, together=reader, read_every=1.0),
    ]
    reader.left_out = {"b"}
    system.steps(4)

    assert ("a", "b") in reader.calls
    assert reader.calls[reader.calls.index(("a", "b")) + 1] == ("b",)
    assert {id_ for ids in reader.calls for id_ in ids} == {"a", "b"}
    assert set(other.calls) == {("c",)}
    assert 3 <= len(other.calls) <= 5
    assert {system.entry(id_).status for id_ in "abc"} == {Status.WORKING}


def test_screens_that_began_apart_are_read_together(system: System, source: HandSource) -> None:
    """Where so many screens are wanted that each waits for its turn, all of one reader have it at the same time."""
    reader = Reader()
    panes = [SourcePane(id=f"{n:02}", group=AIDER.pid, together=reader, read_every=0.2) for n in range(18)]
    source.source_panes = panes
    system.steps(4)
    for number, id_ in enumerate(system.ids()):
        system.poller._held[id_].read_at += number % 3 * 0.5
    system.steps(3)
    reader.calls.clear()
    system.steps(12)

    assert {len(ids) for ids in reader.calls} == {18}
    assert 6 <= len(reader.calls) <= 9


def test_a_reader_that_fails_is_left_alone(system: System, source: HandSource) -> None:
    """None of its screens is asked for again before longer and longer times, and all are once it works."""
    reader = Reader()
    reader.fails = True
    source.source_panes = [SourcePane(id=id_, group=AIDER.pid, together=reader, read_every=0.1) for id_ in "ab"]
    system.steps(8)
    assert 2 <= len(reader.calls) <= 5

    reader.fails = False
    system.steps(12)
    assert {system.entry(id_).status for id_ in "ab"} == {Status.WORKING}


def test_a_still_screen_counts_twice(system: System, source: HandSource) -> None:
    """What was read once, and is still the same as its source says, needs no second reading to be believed."""
    question = rows("", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel")
    calls: list[Look] = []
    shown = rows(*(f"line {n}" for n in range(5)))

    def read() -> Look:
        calls.append(shown)
        return shown

    is_still = [False]
    source.source_panes = [SourcePane(id="a", group=AIDER.pid, read=read, read_every=3.0, is_still=lambda: is_still[0])]
    system.steps(4)
    assert calls
    before = len(calls)
    shown, is_still[0] = question, True
    system.poller._held["a"].look = None
    until_asked = system.now + 4
    while len(calls) == before and system.now < until_asked:
        system.steps(0.25)
    system.steps(0.75)

    assert len(calls) == before + 1
    assert system.entry().status is Status.WAITING
