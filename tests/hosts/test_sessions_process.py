"""The host of sessions that a terminal starts beside it: one for all, and it makes way for one that a person starts."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs
import pytest

from tallylight.agents.agent_files import load_agents
from tallylight.evidence import process_table
from tallylight.evidence.process import Process
from tallylight.hosts import sessions_process
from tallylight.hosts.sessions_process import SessionsProcess, this_program
from tallylight.hosts.tmux.source import TmuxSource, sockets_of
from tallylight.snapshot import writer
from tallylight.snapshot.writer import SnapshotWriter
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture
from tests.hosts.test_pane import HandTable
from tests.patience import until

TMUX = Process(44, 10, 44, "tmux: client", ("tmux", "attach"), "/usr/bin/tmux", 440)


@attrs.define
class Started:
    """What `Popen` was called with, and the child that it made."""

    argvs: list[Sequence[str]] = attrs.field(factory=list)
    envs: list[dict[str, str]] = attrs.field(factory=list)
    code: int | None = None

    def __call__(self, argv: Sequence[str], env: dict[str, str], **_how: object) -> Started:
        self.argvs.append(argv)
        self.envs.append(env)
        return self

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.code = -15


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    made = Started()
    monkeypatch.setattr(sessions_process.subprocess, "Popen", made)
    return made


def test_one_is_started_where_there_is_none(started: Started, tmp_path: Path) -> None:
    """By our own command; not again while it runs, later if it ends."""
    keeper = SessionsProcess({"XDG_RUNTIME_DIR": str(tmp_path), "A": "b"}, lambda *words: ["tally", *words])
    keeper.keep(10.0)
    keeper.keep(11.0)
    assert started.argvs == [["tally", "host", "sessions", "--with-parent", str(os.getpid())]]
    assert started.envs == [{"XDG_RUNTIME_DIR": str(tmp_path), "A": "b"}]
    started.code = 1
    keeper.keep(11.5)
    assert len(started.argvs) == 2
    keeper.keep(12.0)
    assert len(started.argvs) == 2, "it waits longer each time"
    keeper.keep(14.0)
    assert len(started.argvs) == 3


def test_none_is_started_where_one_runs(started: Started, tmp_path: Path) -> None:
    """Whoever started it."""
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    SnapshotWriter.for_host("sessions", environ, time.time).publish((), 1.0)
    SessionsProcess(environ).keep(10.0)
    assert started.argvs == []


def test_a_kitty_with_tmux_in_it(rig: Rig, started: Started) -> None:
    """A pane that shows tmux has one started, and one that shows anything else has not."""
    rig.start()
    rig.host.sessions_process = SessionsProcess(os.environ, lambda *words: ["tally", *words])
    rig.boss.open(1, rig.table.processes[10].pid)
    for _ in range(12):
        rig.tick()
    assert started.argvs == []
    rig.table.processes[TMUX.pid] = TMUX
    rig.boss.open(2, TMUX.pid)
    rig.until(lambda: started.argvs, "the host of sessions")
    assert started.argvs == [["tally", "host", "sessions", "--with-parent", str(os.getpid())]]
    assert rig.kitty.log == []


def test_a_session_that_a_registry_lists(started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is started where an agent's own files list one without a pane."""
    listed: list[object] = []
    looks: list[object] = []
    monkeypatch.setattr(sessions_process.Registries, "look", lambda self: looks.append(self) or listed)
    keeper = SessionsProcess({"XDG_RUNTIME_DIR": str(tmp_path)}, lambda *words: ["tally", *words])
    agents = tuple(load_agents({})[0])
    for now in range(20):
        keeper.keep(float(now), agents=agents)
    assert (started.argvs, len(looks)) == ([], 20)
    listed.append(("claude", object()))
    for now in range(20, 40):
        keeper.keep(float(now), agents=agents)
    assert started.argvs == [["tally", "host", "sessions", "--with-parent", str(os.getpid())]]
    assert len(looks) == 21, "while it runs, nobody has to ask"


@pytest.mark.parametrize(
    ("argv", "environ", "path"),
    [
        (("tmux",), {}, "/tmp/tmux-{uid}/default"),
        (("tmux", "attach", "-t", "shop"), {"TMUX_TMPDIR": "/run/me"}, "/run/me/tmux-{uid}/default"),
        (("tmux", "-2u", "-L", "work", "new", "-s", "x"), {}, "/tmp/tmux-{uid}/work"),
        (("tmux", "-f", "/dev/null", "-S", "/home/me/socket", "new", "-Lx"), {}, "/home/me/socket"),
        (("tmux", "-Ssocket"), {}, "/home/me/socket"),
        (("tmux", "-Z"), {}, ""),
        (("vim", "-S", "session.vim"), {}, ""),
    ],
)
def test_the_socket_of_a_client(
    monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], environ: dict[str, str], path: str
) -> None:
    """A client in a pane leads to its server, wherever that has its socket."""
    table = HandTable("", folder="/home/me")
    table.processes[TMUX.pid] = attrs.evolve(TMUX, argv=argv, exe=f"/usr/bin/{argv[0]}")
    monkeypatch.setattr(HandTable, "environ", lambda _table, _pid: environ)
    monkeypatch.setattr(process_table, "_table", table)
    expected = (path.format(uid=os.getuid()),) if path else ()
    assert sockets_of((None, TMUX.pid, 4711)) == expected


@pytest.mark.parametrize(("mode", "is_asked"), [(0o700, True), (0o755, True), (0o1777, True), (0o777, False)])
def test_a_socket_that_others_can_replace(tmp_path: Path, mode: int, is_asked: bool) -> None:
    """The directory that a client in a pane names may be anybody's: a server that is not ours is asked nothing."""
    folder = tmp_path / "open"
    folder.mkdir()
    path = str(folder / "default")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)
        folder.chmod(mode)
        source = TmuxSource({"XDG_RUNTIME_DIR": str(tmp_path), "TMUX_TMPDIR": str(tmp_path)}, shows_lights=False)
        source._shown = (path,)
        assert (path in source._sockets()) == is_asked


@pytest.fixture
def tally(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `tally host sessions` in a runtime directory of its own."""
    children: list[subprocess.Popen[str]] = []
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "TMUX_TMPDIR": str(tmp_path), "HOME": str(tmp_path)}

    def start(*options: str) -> subprocess.Popen[str]:
        argv = this_program("host", "sessions", "--no-screen", *options)
        children.append(subprocess.Popen(argv, env=environ, stderr=subprocess.PIPE, text=True))
        return children[-1]

    yield start
    for child in children:
        child.kill()
        child.wait()


def watched_by(folder: Path) -> list[int]:
    return [host.pid for host in writer.read_snapshots(folder / "tallylight")[0]]


@pytest.mark.programs
def test_only_one_of_all_that_start_at_once(tally: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    """Two terminals that start one in the same moment get one."""
    both = [tally("--with-parent"), tally("--with-parent")]
    until(lambda: any(child.poll() is not None for child in both), "the end of one of them")
    (ended,) = (child for child in both if child.poll() is not None)
    (other,) = (child for child in both if child is not ended)
    assert ended.returncode == 1
    assert "the sessions are already watched by " in ended.communicate()[1]
    until(lambda: watched_by(tmp_path) == [other.pid], "its snapshot")


@pytest.mark.programs
def test_one_whose_terminal_ended_while_it_started(tally: Callable[..., subprocess.Popen[str]]) -> None:
    """It does not stay for ever: the number says which process it belongs to, whoever its parent is by now."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert tally("--with-parent", str(gone.pid)).wait(60) == 0
    assert tally("--with-parent", "x").wait(60) == 2


@pytest.mark.programs
def test_it_makes_way(tally: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    """A terminal's own ends for one that a person or their login starts, and that one for nobody."""
    terminals = tally("--with-parent")
    until(lambda: watched_by(tmp_path) == [terminals.pid], "its snapshot")
    persons = tally()
    until(lambda: watched_by(tmp_path) == [persons.pid], "the other's snapshot")
    assert terminals.wait(30) == 0
    for options in ((), ("--with-parent",)):
        late = tally(*options)
        assert late.wait(60) == 1
        assert f"watched by sessions-{persons.pid}" in late.communicate()[1]
    assert persons.poll() is None
