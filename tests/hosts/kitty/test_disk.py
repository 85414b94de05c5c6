"""
The host in kitty and the disk: its main thread touches none, and a disk that does not answer costs what lies on it.

kitty is made by hand (`tests.hosts.kitty.fakes`), and so are the processes. A dead disk is one whose every call blocks
until it answers again, as of a network that is gone; on the main thread such a call fails the test.
"""

from __future__ import annotations

import errno
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.evidence import process_table
from tallylight.hosts import part
from tallylight.hosts.worker import LEND_THREADS_S
from tallylight.model.status import Status
from tallylight.parts.diary import history_file
from tallylight.snapshot import requests
from tallylight.snapshot import writer as snapshot
from tallylight.snapshot.requests import Request
from tallylight.wire.envelope import CARRIER
from tests import disk_tracer
from tests.files.test_mounts import mounted
from tests.hosts.kitty.fakes import Boss, Kitty, Window
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.test_pane import CLAUDE, SHELL, HandTable, status_file
from tests.patience import until

#: What a program asks a disk by; the paths come first.
CALLS = ("open", "stat", "lstat", "scandir", "listdir", "mkdir", "unlink", "rmdir", "replace", "access", "readlink")
OTHER = attrs.evolve(CLAUDE, pid=21, pgrp=21, start=210)


class Disk:
    """A disk under some folders that may stop to answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dead: list[str] = []
        self.asked_by_main: list[str] = []
        self.answers = threading.Event()
        self._patch = monkeypatch

    def _blocking(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def blocking(*args: Any, **options: Any) -> Any:
            path = args[0] if args else ""
            if self.dead and isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(tuple(self.dead)):
                if threading.current_thread() is threading.main_thread():
                    self.asked_by_main.append(f"{name} {path}")
                else:
                    self.answers.wait(60)
            return call(*args, **options)

        return blocking

    def die(self, folder: Path) -> None:
        for name in CALLS:
            self._patch.setattr(os, name, self._blocking(name, getattr(os, name)))
        self.dead.append(str(folder))

    def answer(self) -> None:
        self.dead.clear()
        self.answers.set()


@attrs.define
class Rig:
    """A host in a kitty made by hand."""

    kitty: Kitty
    table: HandTable
    home: Path
    run: Path
    disk: Disk
    boss: Boss = attrs.Factory(Boss)
    host: Any = None
    #: How long each tick took, and beside it a wait of as long as a tick may lend to threads.
    took: list[float] = attrs.Factory(list)
    waited: list[float] = attrs.Factory(list)

    def start(self) -> None:
        self.host = self.kitty.host_module.KittyHost(self.boss)

    def tick(self) -> None:
        start = time.perf_counter()
        self.host.tick()
        self.took.append(time.perf_counter() - start)
        self.kitty.run_soon()
        start = time.perf_counter()
        time.sleep(LEND_THREADS_S)
        self.waited.append(time.perf_counter() - start)

    def waits_for_no_disk(self) -> bool:
        """
        Whether ticks took as long as they do on this machine, busy as it is, with a disk that responds.

        One that waits for a disk does so in every tick; what else the machine does is not in every one.
        """
        return sorted(self.took)[len(self.took) // 4] < 4 * statistics.median(self.waited)

    def until(self, condition: Callable[[], object], what: str) -> None:
        until(lambda: condition() or self.tick(), lambda: f"{what} did not come: {self.kitty.log}")

    def claude(self, window: int, process: process_table.Process = CLAUDE, **status: object) -> Window:
        """A window with an agent that keeps a status file."""
        self.table.processes[process.pid] = process
        status_file(self.table.home, process.pid, procStart=str(process.start), **status)
        return self.boss.open(window, process.pid)

    def status(self, window: int) -> Status:
        pane = self.host.panes.get(window)
        return pane.decision.status if pane is not None else Status.ACTIVE

    def snapshot(self) -> dict[str, Status]:
        found, _ = snapshot.read_snapshots(self.run / "tallylight")
        return {pane.id: pane.status for one in found for pane in one.panes}


@pytest.fixture
def rig(kitty: Kitty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    home, run = tmp_path / "home", tmp_path / "run"
    home.mkdir(exist_ok=True)
    run.mkdir(mode=0o700, exist_ok=True)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(run))
    table = HandTable(str(home))
    monkeypatch.setattr(process_table, "_table", table)
    (home / ".config/tallylight").mkdir(parents=True)
    (home / ".config/tallylight/config.toml").write_text("poll_ms = 300\n[kitty]\nstyle = 'stripe'\n")
    rig = Rig(kitty, table, home, run, Disk(monkeypatch))
    yield rig
    rig.disk.answer()


@pytest.fixture(scope="module")
def tracer() -> Iterator[disk_tracer.Tracer]:
    part.classes(is_early=True)  # the starter has imported them on its thread
    before = {name: getattr(os, name) for name in disk_tracer.UNAUDITED}
    made = disk_tracer.install()
    made.may_import = False
    yield made
    made.is_on = False
    for name, call in before.items():
        setattr(os, name, call)


def test_the_main_thread_touches_no_disk(tracer: disk_tracer.Tracer, rig: Rig) -> None:
    """Neither at the start, nor for an agent that comes, works, ends and is killed, nor for requests."""
    tracer.found.clear()
    rig.boss.open(1, SHELL.pid)
    rig.start()
    tracer.is_on = False
    rig.claude(2, status="waiting", waitingFor="permission prompt")
    killed = rig.claude(3, OTHER, status="busy")
    tracer.is_on = True
    rig.until(lambda: (rig.status(2), rig.status(3)) == ("waiting", "working"), "the status files")
    tracer.is_on = False
    rig.until(lambda: rig.snapshot() == {"1": "active", "2": "waiting", "3": "working"}, "the snapshot")
    requests.send(f"kitty-{os.getpid()}", Request("snooze", "2", ("5",)))
    tracer.is_on = True
    rig.until(lambda: rig.host.panes[2].attention.snoozed, "the request")
    tracer.is_on = False
    (rig.home / ".claude/sessions/20.json").unlink()
    tracer.is_on = True
    del rig.table.processes[CLAUDE.pid], rig.table.processes[OTHER.pid]
    rig.boss.window_id_map[2].child.child_fd = killed.child.child_fd = SHELL.pid
    rig.until(lambda: rig.status(3) is Status.DOWN, "the end of the one that was killed")
    rig.until(lambda: not rig.host.panes[2].decision.is_lit, "the leave that the other one took")
    del rig.boss.window_id_map[3]
    rig.until(lambda: 3 not in rig.host.panes, "the end of the window")
    tracer.is_on = False

    assert tracer.found == []
    assert rig.kitty.log == []


@pytest.mark.slow
def test_a_host_that_is_loaded_again(tracer: disk_tracer.Tracer, rig: Rig) -> None:
    """What its windows show is as old as the one before it left it, which the main thread does not read."""
    rig.claude(1, status="waiting", waitingFor="permission prompt")
    rig.claude(2, OTHER, status="busy")
    rig.start()
    rig.until(lambda: rig.snapshot() == {"1": "waiting", "2": "working"}, "the snapshot")
    before = {pane.id: pane.since for one in snapshot.read_snapshots(rig.run / "tallylight")[0] for pane in one.panes}
    rig.kitty.timers.clear()
    status_file(rig.table.home, OTHER.pid, procStart=str(OTHER.start), status="waiting", waitingFor="permission prompt")

    tracer.found.clear()
    tracer.is_on = True
    rig.start()
    rig.until(lambda: (rig.status(1), rig.status(2)) == ("waiting", "waiting"), "the status files")
    rig.until(lambda: rig.host._store.former, "what was left")
    tracer.is_on = False
    now = time.monotonic()
    assert rig.host.panes[1].tracker.decision.since > rig.host.panes[1].decision.since
    assert rig.host.entry(1, now).since == pytest.approx(before["1"], abs=0.01)
    assert rig.host.entry(2, now).since > before["2"]
    assert tracer.found == []


def test_the_tracer_sees(tracer: disk_tracer.Tracer, rig: Rig) -> None:
    """What the host did before: each of these is found, with its place."""
    tracer.found.clear()
    tracer.is_on = True
    requests.Spool("kitty", 1)
    snapshot.directory({"XDG_RUNTIME_DIR": str(rig.run)})
    tracer.is_on = False

    assert any("in checked_directory" in line for line in tracer.found)
    assert tracer.found[-1].startswith("stat") and tracer.found[-1].endswith("in directory")


@pytest.mark.slow
def test_a_dead_home_at_the_start(rig: Rig) -> None:
    """Without settings the lights and the snapshot go by the defaults; what was said before is kept when they come."""
    rig.claude(1, status="busy")
    rig.disk.die(rig.home)
    rig.start()
    rig.until(lambda: any("settings: the disk does not respond" in line for line in rig.kitty.log), "a line in the log")
    # What was said long before an agent is seen is not its own: not before the line, which takes its time.
    rig.host.on_set_user_var(rig.boss.window_id_map[1], CARRIER, "state=waiting;tool=claude;session=s-9;message=Well")
    rig.until(lambda: rig.snapshot() == {"1": "waiting"}, "the snapshot")
    assert rig.host.panes[1].agent is None and rig.host.config.poll_ms == 250
    assert rig.waits_for_no_disk()

    rig.disk.answer()
    rig.until(lambda: rig.host.panes[1].agent is not None, "the agents")
    assert rig.status(1) is Status.WAITING
    assert rig.host.panes[1].conversation.entry.session == "s-9"
    assert (rig.host.config.poll_ms, rig.host.surfaces.tabs.style) == (300, "stripe")

    def intervals() -> list[float]:
        rig.kitty.run_repeats()
        return [interval for _, interval, repeats in rig.kitty.timers.values() if repeats]

    rig.until(lambda: intervals() == [0.3], "the end of the start, whose threads have a timer of their own")
    assert rig.disk.asked_by_main == []


@pytest.mark.slow
def test_turns_are_written(rig: Rig) -> None:
    """A turn with a question lies in the history once it is over, with what it asked."""
    window = rig.claude(1, status="idle")
    rig.start()
    rig.until(lambda: rig.snapshot() == {"1": "idle"}, "the agent")
    for state in ("working", "waiting;kind=permission;message=May I?", "working", "done"):
        rig.host.on_set_user_var(window, CARRIER, f"state={state};tool=claude;project=api")
        rig.until(lambda state=state: rig.snapshot() == {"1": state.partition(";")[0]}, state)  # type: ignore[misc]
    path = history_file.path({"HOME": str(rig.home)})
    rig.until(lambda: history_file.read(path), "the turn")
    (turn,) = history_file.read(path)

    assert (turn.agent, turn.project, turn.ending, turn.questions) == ("claude", "api", "done", 1)
    assert turn.asked == ("May I?",)
    assert 0 < turn.worked_s + turn.waited_s < 60
    assert rig.kitty.log == []


def test_what_the_host_knows_and_what_the_disk_has(rig: Rig) -> None:
    """As of when the snapshot says what the host does: any time once it is written, else one that is yet to come."""
    rig.claude(1, status="busy")
    rig.start()
    newest = lambda: rig.host.newest(time.monotonic())  # noqa: E731
    rig.until(lambda: rig.snapshot() == {"1": "working"} and newest()[1] == 0, "the snapshot")

    rig.host._store._opened.snapshot.min_interval = 3600
    rig.host.on_set_user_var(rig.boss.window_id_map[1], CARRIER, "state=waiting;tool=claude;message=Well")
    rig.until(lambda: rig.status(1) == "waiting", "the light")
    panes, as_of = newest()
    assert [pane.status for pane in panes] == ["waiting"] and rig.snapshot() == {"1": "working"}
    rig.host._store._opened.snapshot.min_interval = 0.2
    rig.until(lambda: rig.snapshot() == {"1": "waiting"}, "the snapshot")
    (found,) = snapshot.read_snapshots(rig.run / "tallylight")[0]
    assert found.written >= as_of > 0
    rig.until(lambda: newest()[1] == 0, "the word that it is written")


@pytest.mark.slow
def test_a_dead_runtime_directory(rig: Rig) -> None:
    """Without it there is a light, and no snapshot until it answers."""
    rig.claude(1, status="busy")
    rig.disk.die(rig.run)
    rig.start()
    rig.until(lambda: rig.status(1) is Status.WORKING, "the light")
    rig.until(lambda: any("runtime directory: the disk" in line for line in rig.kitty.log), "a line in the log")
    assert rig.waits_for_no_disk()
    assert len(rig.kitty.log) == 1

    rig.disk.answer()
    rig.until(lambda: rig.snapshot() == {"1": "working"}, "the snapshot")
    assert rig.disk.asked_by_main == []


@pytest.mark.slow
def test_a_full_runtime_directory(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tabs go on; that others see something older is said once in the log and once to the person."""
    window = rig.claude(1, status="busy")
    rig.start()
    rig.until(lambda: rig.snapshot() == {"1": "working"}, "the snapshot")

    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "RETRY_WRITE_S", 0.1)
        patch.setattr(snapshot.SnapshotWriter, "_write", _refused)
        rig.host.on_set_user_var(window, CARRIER, "state=waiting;tool=claude;message=Well")
        rig.until(lambda: bool(rig.kitty.log) and rig.status(1) is Status.WAITING, "the light, and a line in the log")
        assert rig.snapshot() == {"1": "working"}
        for _ in range(10):
            rig.tick()
            time.sleep(0.05)
    problem = f"snapshot: {rig.run / 'tallylight'}: No space left on device"
    assert rig.kitty.log == [f"tallylight: {problem}"]
    shown = [(one.title, one.body) for one in rig.boss.notification_manager.shown]
    assert shown.count(("Tallylight: other terminals do not see what this kitty shows", problem)) == 1
    rig.until(lambda: rig.snapshot() == {"1": "waiting"}, "the snapshot")


@pytest.mark.slow
def test_a_kitty_that_notifies_of_nothing(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of a notification costs notifications, and neither the lights nor the snapshot."""
    window = rig.claude(1, status="busy")
    rig.start()
    rig.until(lambda: rig.snapshot() == {"1": "working"}, "the snapshot")

    def failed(*_args: object) -> None:
        raise AttributeError("no such method")

    monkeypatch.setattr(rig.boss.notification_manager, "create_notification_cmd", failed)
    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "RETRY_WRITE_S", 0.1)
        patch.setattr(snapshot.SnapshotWriter, "_write", _refused)
        rig.host.on_set_user_var(window, CARRIER, "state=waiting;tool=claude;message=Well")
        rig.until(lambda: len(rig.kitty.log) > 1, "a line of what failed")
    assert rig.kitty.log[1:] == ["tallylight: notifications switched off: AttributeError: no such method"]
    rig.until(lambda: rig.snapshot() == {"1": "waiting"}, "the snapshot")
    assert rig.status(1) is Status.WAITING


def _refused(*_args: object, **_options: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 4])
def test_dead_homes(rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """
    Agents whose files hang keep their lights; those of another one are read, and requests and snapshot go on.

    In the log each disk that hangs stands once, and the snapshot names it.
    """
    dead = [tmp_path / f"far{number}" for number in range(1, count + 1)]
    homes = dict(enumerate([*dead, tmp_path / "near"], CLAUDE.pid))
    mounted(monkeypatch, tmp_path / "table", *dead)
    monkeypatch.setattr(HandTable, "environ", lambda _, pid: {"HOME": str(homes[pid])})
    for window, (pid, home) in enumerate(homes.items(), 1):
        rig.table.processes[pid] = attrs.evolve(CLAUDE, pid=pid, pgrp=pid, start=pid)
        status_file(str(home), pid, procStart=str(pid), status="busy")
        rig.boss.open(window, pid)
    near, near_pid = count + 1, CLAUDE.pid + count
    lit = {str(window): "working" for window in range(1, near + 1)}
    rig.start()
    rig.until(lambda: rig.snapshot() == lit, "the lights")

    for home in dead:
        rig.disk.die(home)
    rig.took.clear(), rig.waited.clear()
    status_file(
        str(homes[near_pid]), near_pid, procStart=str(near_pid), status="waiting", waitingFor="permission prompt"
    )
    rig.until(lambda: rig.snapshot() == lit | {str(near): "waiting"}, "the light of the other one")
    requests.send(f"kitty-{os.getpid()}", Request("snooze", str(near), ("5",)))
    rig.until(lambda: rig.host.panes[near].attention.snoozed, "the request")
    for _ in range(20):
        rig.tick()
    assert rig.waits_for_no_disk()
    rig.until(lambda: len(rig.kitty.log) == count, "the lines in the log")
    words = "tallylight: agents' files: {} does not respond; they are read when it does"
    assert sorted(rig.kitty.log) == [words.format(home) for home in dead]
    rig.until(
        lambda: [one.evidence.hangs for one in rig.host.newest(time.monotonic())[0]] == [*map(str, dead), ""],
        "the names",
    )
    status_file(str(homes[near_pid]), near_pid, procStart=str(near_pid), status="busy")
    rig.until(lambda: rig.snapshot() == lit, "its light once more")

    rig.disk.answer()
    for pid, home in homes.items():
        status_file(str(home), pid, procStart=str(pid), status="waiting")
    rig.until(lambda: set(rig.snapshot().values()) == {"waiting"}, "the lights of all")
    rig.until(lambda: {one.evidence.hangs for one in rig.host.newest(time.monotonic())[0]} == {""}, "that all respond")
    assert rig.disk.asked_by_main == []
    assert len(rig.kitty.log) == count
