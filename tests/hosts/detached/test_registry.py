"""Sessions that Claude Code and Copilot list and that have no pane: a row each, by files and processes made by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
import pytest

from tallylight.actions.gate import Refusal
from tallylight.agents import agent_files
from tallylight.evidence.process import Process
from tallylight.evidence.procfs import ProcTable
from tallylight.hosts import registries
from tallylight.hosts.polling.source import SourcePane
from tallylight.hosts.registry import source as registry
from tallylight.hosts.registry.source import RegistrySource
from tallylight.model.status import Kind, Status
from tallylight.parts.conversations import fork
from tallylight.parts.conversations.plan import Plan, Verb
from tallylight.snapshot import rows, writer
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter
from tests.entries import new_pane, pane_with
from tests.hosts.detached.polling import System
from tests.tables import each

DAEMON = Process(7, 1, 7, "claude", ("claude", "daemon", "run"), "/opt/claude", 70)
HOLDER = Process(8, 7, 8, "claude", ("claude", "bg-pty-host"), "/opt/claude", 80)
SESSION = Process(20, 8, 20, "claude", ("/opt/claude", "--session-id", "s-1"), "/opt/claude", 200)
#: As an editor starts it.
COPILOT = "/opt/node_modules/@github/copilot-linux-x64/copilot"
EDITORS = Process(27, 16, 16, "copilot", (COPILOT, "--acp"), COPILOT, 200)
JOB = "a0b8cb89"
#: As `claude --bg` wrote it.
BACKGROUND = {"kind": "bg", "jobId": JOB, "name": "fix the lights", "status": "waiting", "waitingFor": "input needed"}


class Hands(ProcTable):
    """Processes of this user, *terminals* those that have one."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.home = home
        self.processes = {process.pid: process for process in (DAEMON, HOLDER, SESSION)}
        self.terminals = {SESSION.pid}
        self.owners: dict[int, int] = {}
        self.links: dict[tuple[int, str], str] = {}

    def get(self, pid: int) -> Process | None:
        return self.processes.get(pid)

    def start(self, pid: int) -> int | None:
        process = self.processes.get(pid)
        return process.start if process is not None else None

    def start_time(self, pid: int) -> float | None:
        return float(start) if (start := self.start(pid)) is not None else None

    def link(self, pid: int, name: str) -> str:
        return self.links.get((pid, name), "")

    def token(self, pid: int) -> object:
        return self.start(pid)

    def fingerprint(self, pid: int) -> object:
        return self.get(pid)

    def owner(self, pid: int) -> int | None:
        return self.owners.get(pid, os.getuid())

    def terminal(self, pid: int) -> int:
        return int(pid in self.terminals)

    def environ(self, pid: int) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": f"{self.home}/bin"}

    def cwd(self, pid: int) -> str:
        return str(self.home)

    def descendants(self, pid: int) -> tuple[Process, ...]:
        return ()


@pytest.fixture
def table(tmp_path: Path) -> Hands:
    return Hands(tmp_path)


@pytest.fixture
def source(tmp_path: Path, table: Hands) -> RegistrySource:
    environ = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    return RegistrySource(environ, agent_files.load_agents(environ)[0], table)


def listed(home: Path, text: str | None = None, pid: int = SESSION.pid, **entries: object) -> Path:
    """A file of the registry, as `claude --bg` writes it but for *entries*; or *text*."""
    path = home / f".claude/sessions/{pid}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {"pid": pid, "procStart": str(SESSION.start), "sessionId": "s-1", "cwd": str(home), **BACKGROUND, **entries}
    path.write_text(json.dumps(known) if text is None else text)
    return path


def looked(source: RegistrySource) -> list[SourcePane]:
    return list(source.look())


def test_a_session_in_the_background(source: RegistrySource, tmp_path: Path) -> None:
    """Its row is called by what opens it, by our own command."""
    listed(tmp_path)
    (found,) = looked(source)
    assert (found.id, found.group, found.host_title) == (f"claude/{JOB}", SESSION.pid, "fix the lights")
    assert found.attach == ("tally", "attach", f"sessions-{os.getpid()}:claude/{JOB}")


@each(
    "entries",
    [
        {"kind": "interactive"},  # it has a terminal, and so a pane
        {"spare": True},
        {"kind": "daemon"},
        {"kind": None},
        {"status": "gone"},
        {"procStart": "201"},  # its number is another process's by now
        {"pid": 21},
    ],
)
def test_what_is_no_session_of_its_own(source: RegistrySource, tmp_path: Path, entries: Mapping[str, object]) -> None:
    """Where the file says otherwise, there is no row."""
    listed(tmp_path, **entries)
    assert looked(source) == []


@each("entries", [{"kind": "interactive"}, {"kind": "daemon-worker"}])
def test_a_session_without_a_terminal(
    source: RegistrySource, table: Hands, tmp_path: Path, entries: Mapping[str, object]
) -> None:
    """An editor's job or one of the remote control: nothing opens it, and it is listed by its process."""
    table.terminals.clear()
    listed(tmp_path, jobId=None, **entries)
    (found,) = looked(source)
    assert (found.id, found.attach) == (f"claude/{SESSION.pid}", ())


@each("text", ["", "{", "[]", "null", '"x"', "[" * 9000, '{"pid": 20}', "\0" * 99, "{}" + " " * 70_000], ids=range(9))
def test_a_file_that_cannot_be_read_costs_itself(source: RegistrySource, tmp_path: Path, text: str) -> None:
    """Whatever is in one, the others are read."""
    listed(tmp_path, text, pid=HOLDER.pid)
    listed(tmp_path)
    assert [found.group for found in looked(source)] == [SESSION.pid]


def test_an_id_that_is_none_is_no_word_of_a_command(source: RegistrySource, tmp_path: Path) -> None:
    """Nothing opens it then."""
    listed(tmp_path, jobId="--dangerous; rm")
    (found,) = looked(source)
    assert (found.id, found.attach) == (f"claude/{SESSION.pid}", ())


def test_another_users_session(source: RegistrySource, table: Hands, tmp_path: Path) -> None:
    """Whoever wrote the file: a process of somebody else's is none of ours."""
    listed(tmp_path)
    table.owners[SESSION.pid] = os.getuid() + 1
    assert looked(source) == []


def test_its_end(source: RegistrySource, table: Hands, tmp_path: Path) -> None:
    """A process that has ended, with the file left behind, is no session; nor is the next one of that number."""
    listed(tmp_path)
    assert looked(source)
    table.processes[SESSION.pid] = attrs.evolve(SESSION, start=201)
    assert looked(source) == []
    del table.processes[SESSION.pid]
    assert looked(source) == []


def test_what_was_a_spare(source: RegistrySource, tmp_path: Path) -> None:
    """A process that waits for its task becomes a session in the same file, which may be written in its place."""
    listed(tmp_path, spare=True)
    assert looked(source) == []
    listed(tmp_path)
    assert looked(source)


def test_stale_files_are_not_read(source: RegistrySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of files of processes that have ended cost no reading, and the list of them is read once."""
    path = listed(tmp_path)
    for pid in range(1000, 4000):
        (path.parent / f"{pid}.json").touch()
    (path.parent / f"{SESSION.pid}.0123.key").touch()
    read: list[Path] = []
    real, listing = registries.read_part, os.scandir
    lists: list[object] = []

    def noted(path: Path, start: int, size: int) -> bytes | None:
        read.append(path)
        return real(path, start, size)

    monkeypatch.setattr(registries, "read_part", noted)
    monkeypatch.setattr(registries.os, "scandir", lambda folder: lists.append(folder) or listing(folder))
    assert [len(looked(source)) for _ in range(3)] == [1, 1, 1]
    assert (read, len(lists)) == ([path] * 3, 1)


def test_no_registry(source: RegistrySource) -> None:
    """Where Claude Code never ran, there is nothing to list."""
    assert looked(source) == []


@pytest.fixture
def host(source: RegistrySource, table: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[System]:
    """A host of sessions with the registry alone."""
    monkeypatch.setattr("tests.hosts.detached.polling.HandTable", lambda _home: table)
    made = System(tmp_path, source)  # type: ignore[arg-type]
    yield made
    made.poller.close()


def test_a_row_is_as_true_as_a_pane(host: System, table: Hands, tmp_path: Path) -> None:
    """It waits, works and is gone with its process, by its own files, with no screen."""
    listed(tmp_path)
    host.steps(3)
    entry = host.entry(f"claude/{JOB}")
    assert (entry.status, entry.kind, entry.agent) == (Status.WAITING, Kind.QUESTION, "claude")
    assert (entry.title, entry.agent_pid, entry.choices) == ("fix the lights", SESSION.pid, ())
    listed(tmp_path, status="busy", waitingFor=None)
    host.steps(3)
    assert host.entry(f"claude/{JOB}").status is Status.WORKING
    del table.processes[SESSION.pid]
    host.steps(3)
    assert host.ids() == []


@pytest.fixture
def around(table: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Pane]:
    """Two sessions, and a kitty with three panes: of the first session, of the view, of an agent of its own."""
    second = attrs.evolve(SESSION, pid=21, ppid=9, pgrp=21)
    table.processes |= {9: attrs.evolve(HOLDER, pid=9), 21: second}
    for pid, words in ((31, ("attach", JOB)), (41, ("agents",)), (51, ())):
        table.processes[pid] = Process(pid, 1, pid, "claude", ("claude", *words), "/opt/claude", pid)
    listed(tmp_path)
    listed(tmp_path, pid=21, jobId="b1", name="another")
    panes = [
        new_pane(id="3", status=Status.WAITING, agent="claude", agent_pid=31, terminal="/dev/pts/3", visible=True),
        new_pane(id="4", status=Status.WAITING, agent="claude", agent_pid=41, terminal="/dev/pts/4"),
        new_pane(id="5", status=Status.IDLE, agent="claude", agent_pid=51, session="s-5", terminal="/dev/pts/5"),
    ]
    # Whoever shows a session is connected to the daemon alone, and so may others be.
    links = {(31, DAEMON.pid), (41, DAEMON.pid), (51, DAEMON.pid), (20, DAEMON.pid), (21, DAEMON.pid)}
    monkeypatch.setattr(registry, "is_linked", lambda one, other, _: (one, other) in links)
    return panes


def shows(home: Path, host: str, panes: list[Pane]) -> None:
    SnapshotWriter.for_host(host, {"XDG_RUNTIME_DIR": str(home)}, lambda: 1.0).publish(panes, 1.0)


def test_where_it_is_shown(source: RegistrySource, tmp_path: Path, around: list[Pane]) -> None:
    """In the pane that was opened for it, and in the view of all, where a person does not see it."""
    shows(tmp_path, "kitty", around)
    first, second = looked(source)
    assert (first.terminals, first.visible) == (("/dev/pts/3", "/dev/pts/4"), True)
    assert (second.terminals, second.visible) == (("/dev/pts/4",), False)


def test_in_a_session_of_tmux(source: RegistrySource, tmp_path: Path, around: list[Pane]) -> None:
    """The terminal of such a pane is nobody's: it is named by its address, and adds no row either."""
    inner = pane_with(around[0], id="tmux/1/%2", terminal="")
    shows(tmp_path, "sessions", [inner])
    address = f"sessions-{os.getpid()}:tmux/1/%2"
    (first, second) = looked(source)
    assert (first.terminals, second.terminals) == ((address,), ())
    own = new_pane(id=first.id, status=Status.WAITING, agent="claude", agent_pid=20, terminals=first.terminals)
    shows(tmp_path, "sessions", [inner, own])
    assert [one.terminals for one in looked(source)] == [(address,), ()]
    snapshots, _ = writer.read_snapshots(writer.directory({"XDG_RUNTIME_DIR": str(tmp_path)}))
    assert [row.pane.id for row in rows.build(snapshots, "", 2.0)] == [first.id]


def test_a_view_that_shows_one(source: RegistrySource, tmp_path: Path, around: list[Pane]) -> None:
    """It is called by the session that it shows now, and shows no other."""
    around[1] = pane_with(around[1], title="another", visible=True)
    shows(tmp_path, "kitty", around)
    first, second = looked(source)
    assert first.terminals == ("/dev/pts/3",)
    assert (second.terminals, second.visible) == (("/dev/pts/4",), True)


def test_one_session_is_one_row(source: RegistrySource, tmp_path: Path, around: list[Pane]) -> None:
    """In the list it is there once, with the truth of its own files."""
    shows(tmp_path, "kitty", around)
    own = [
        new_pane(id=one.id, status=Status.WAITING, agent="claude", agent_pid=one.group, terminals=one.terminals)
        for one in looked(source)
    ]
    shows(tmp_path, "sessions", own)
    snapshots, _ = writer.read_snapshots(writer.directory({"XDG_RUNTIME_DIR": str(tmp_path)}))
    assert {row.pane.id for row in rows.build(snapshots, "", 2.0)} == {*(one.id for one in own), "5"}


def opened(table: Hands, pane: Pane) -> Plan | Refusal:
    agents = agent_files.load_agents({"HOME": str(table.home)})[0]
    return fork.act(Verb.ATTACH, pane, agents, table, pgid=pane.agent_pid or 0)


def test_it_is_opened_by_its_agents_own_command(table: Hands, tmp_path: Path) -> None:
    """By plan and gate: the program in its own PATH, for a process that is there, with nothing but its id."""
    program = tmp_path / "bin/claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    pane = Pane(id=f"claude/{JOB}", status=Status.WAITING, agent="claude", agent_pid=SESSION.pid)
    plan = opened(table, pane)
    assert isinstance(plan, Plan)
    assert plan.argv == (str(program), "attach", JOB)
    refused = opened(table, attrs.evolve(pane, id="claude/--dangerous"))
    assert isinstance(refused, Refusal)
    assert refused.rule == "value"
    del table.processes[SESSION.pid]
    gone = opened(table, pane)
    assert isinstance(gone, Refusal)
    assert gone.rule == "process"


def locked(home: Path, session: str = "s-7", pid: int = EDITORS.pid, at: float = 201.0) -> Path:
    """The lock of a session of Copilot, written *at* that time."""
    path = home / f".copilot/session-state/{session}/inuse.{pid}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{pid}\n")
    os.utime(path, (at, at))
    return path


def test_sessions_of_an_editor(source: RegistrySource, table: Hands, tmp_path: Path) -> None:
    """One process has several: each is a row, and nothing opens it."""
    table.processes[EDITORS.pid] = EDITORS
    locked(tmp_path)
    locked(tmp_path, "s-8")
    (tmp_path / ".copilot/session-state/.session-operation-locks").mkdir()
    assert [(found.id, found.group, found.session, found.attach) for found in looked(source)] == [
        ("copilot/s-7", EDITORS.pid, "s-7", ()),
        ("copilot/s-8", EDITORS.pid, "s-8", ()),
    ]


@each(
    ("at", "argv"),
    [
        (190.0, EDITORS.argv),  # its number was another process's then
        (201.0, (COPILOT, "-p", "fix the lights")),
        (201.0, ("sleep", "900")),
    ],
)
def test_what_is_no_session_of_copilots(
    source: RegistrySource, table: Hands, tmp_path: Path, at: float, argv: tuple[str, ...]
) -> None:
    """A script's own programs are none, nor is a lock that another program has left."""
    table.processes[EDITORS.pid] = attrs.evolve(EDITORS, argv=argv, exe=argv[0])
    locked(tmp_path, at=at)
    assert looked(source) == []


def test_a_session_of_copilot_with_a_pane(
    source: RegistrySource, table: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that writes to its terminal has a pane; one that only was started from it has none."""
    table.processes[EDITORS.pid] = EDITORS
    table.links[EDITORS.pid, "fd/1"] = "/dev/pts/3"
    locked(tmp_path)
    monkeypatch.setattr("tallylight.evidence.process_table.is_on_terminal", lambda pid, path, _: path == "/dev/pts/3")
    assert looked(source) == []
    table.links[EDITORS.pid, "fd/1"] = "pipe:[7]"
    assert looked(source)


def test_each_of_them_has_its_own_light(host: System, table: Hands, tmp_path: Path) -> None:
    """By the events of its own folder: one asks, and the other works."""
    table.processes[EDITORS.pid] = EDITORS
    asked = {"type": "permission.requested", "data": {"requestId": "r-1"}}
    begun = {"type": "user.message", "data": {"content": "go on"}}
    for session, events in (("s-7", (begun, asked)), ("s-8", (begun,))):
        lock = locked(tmp_path, session)
        stamped = ({**event, "timestamp": "2026-11-29T05:07:18.909Z"} for event in events)
        (lock.parent / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in stamped))
    host.steps(6)
    lights = {id_: host.entry(id_).status for id_ in host.ids()}
    assert lights == {"copilot/s-7": Status.WAITING, "copilot/s-8": Status.WORKING}
