"""The process table: recorded lines, odd ones, and real processes by both back ends alike."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tallylight.agents.agent import Agents, parse_agent
from tallylight.evidence import process_table
from tallylight.evidence.process_table import (
    ForegroundReader,
    Groups,
    ProcTable,
    PsutilTable,
    Table,
    foreground,
    own_number,
    table,
)
from tallylight.evidence.procfs import Stat, device_number, parse_stat
from tests.evidence.agents import AGENTS
from tests.patience import until
from tests.tables import each

HAS_PROC = Path("/proc/self/stat").exists()
needs_proc = pytest.mark.skipif(not isinstance(table(), ProcTable), reason="/proc is not what is read here")
TABLES: list[Callable[[], Table]] = [PsutilTable, *([ProcTable] if HAS_PROC else [])]


@pytest.fixture(params=TABLES, ids=lambda kind: kind.__name__)
def either(request: pytest.FixtureRequest) -> Table:
    """Each back end in turn."""
    made: Table = request.param()
    return made


def is_claude(source: Table, pid: int) -> bool:
    found = foreground(pid, AGENTS, source)
    return found.agent is not None and found.agent.name == "claude" and found.leader is not None


def argv_of(source: Table, pid: int) -> tuple[str, ...]:
    process = source.get(pid)
    return process.argv if process else ()


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start processes that are ended with the test, each the leader of a group."""
    started: list[subprocess.Popen[bytes]] = []

    def starter(*argv: str, executable: str | None = None, group: int = 0) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            argv, executable=executable, process_group=group, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        started.append(process)
        return process

    yield starter
    for process in started:
        for kill in (lambda p=process: os.killpg(p.pid, signal.SIGKILL), process.kill):
            with contextlib.suppress(ProcessLookupError):
                kill()
        process.wait()


TAIL = b"0 0 0 0 0 0 0 0 0 20 0 1 0 777 0"


@each(
    ("line", "tpgid"),
    [
        (b"1234 (bash) S 1000 1234 1234 34816 5678 " + TAIL, 5678),
        (b"1234 ((weird)thing) S 1 2 3 0 -1 " + TAIL, None),
        (b"9 (my prog) S 1 2 3 4 9999 " + TAIL, 9999),
        (b"9 (a) S 1 2 (b) S 1 2 3 4 9999 " + TAIL, 9999),
        (b"9 (line\nend) S 1 2 3 4 9999 " + TAIL, 9999),
        (b"9 () S 1 2 3 4 9999 " + TAIL, 9999),
        (b"9 (zero) S 1 2 3 4 0 " + TAIL, None),
    ],
)
def test_stat_lines(line: bytes, tpgid: int | None) -> None:
    """The fields begin behind the last bracket, whatever the name holds."""
    stat = parse_stat(line)

    assert stat is not None
    assert (stat.tpgid, stat.start) == (tpgid, 777)


@each(
    "line",
    [
        b"",
        b"9 bash S 1 2 3 4 9999 " + TAIL,
        b"9 (bash) S 1 2 3 4 abc " + TAIL,
        b"9 (bash) S 1 2 3 4",
        b"9 (bash)",
        b")",
        b"\0" * 100,
        b"9 (bash) S 1 2 3 4 " + b"9" * 5000 + b" " + TAIL,
    ],
)
def test_bad_stat_lines(line: bytes) -> None:
    """No bracket, too few fields or no numbers: no fields."""
    assert parse_stat(line) is None


def test_stat_fields() -> None:
    """Each field comes from its own place; the start is field 22."""
    fields = b" ".join(str(n).encode() for n in range(4, 53))

    assert parse_stat(b"1 (\xffx) S " + fields) == Stat("\ufffdx", "S", 4, 5, 6, 7, 8, 22, 20)


class FakeProc:
    """A `/proc` of files in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, pid: int, argv: bytes, *, ppid: int = 1, pgrp: int = 0, state: str = "S", comm: str = "x") -> None:
        folder = self.root / str(pid)
        folder.mkdir()
        (folder / "stat").write_bytes(f"{pid} ({comm}) {state} {ppid} {pgrp or pid} 1 34816 {pid} ".encode() + TAIL)
        (folder / "cmdline").write_bytes(argv)
        (folder / "exe").symlink_to("/bin/" + comm.strip())


@pytest.fixture
def fake(tmp_path: Path) -> FakeProc:
    return FakeProc(tmp_path)


def test_odd_processes(fake: FakeProc) -> None:
    """Kernel threads, zombies, padded, cut and unreadable ones are None or empty."""
    fake.add(10, b"", comm="kworker/0:1")
    fake.add(11, b"claude\0", state="Z")
    fake.add(12, b"pi\0\0\0\0", comm="pi")
    fake.add(13, b"a\xff\0b\0", comm="a) S 9 (\n")
    fake.add(14, b"x\0")
    (fake.root / "14" / "cmdline").unlink()
    (fake.root / "14" / "exe").unlink()
    (fake.root / "15").mkdir()
    (fake.root / "sys").mkdir()
    source = ProcTable(str(fake.root))

    assert [p.argv if (p := source.get(pid)) else None for pid in (10, 11, 12, 13, 14, 15, 16, 0, -1)] == [
        (),
        None,
        ("pi",),
        ("a\udcff", "b"),
        (),
        None,
        None,
        None,
        None,
    ]
    assert (p := source.get(13)) is not None and p.comm == "a) S 9 (\n"
    assert source.start(11) is None
    assert source.start(10) == 777
    assert source.environ(10) == {}
    assert source.cwd(10) == ""
    assert source.token(16) is None
    assert source.start_time(10) is None


def test_dead_leader_of_a_pipeline(fake: FakeProc) -> None:
    """If a group's leader is gone or a zombie, its living members stand in."""
    fake.add(20, b"cat\0notes\0", state="Z")
    fake.add(21, b"claude\0", pgrp=20)
    fake.add(22, b"codex\0", pgrp=22)
    source = ProcTable(str(fake.root))

    found = foreground(20, AGENTS, source)
    assert found.agent is not None and found.process is not None
    assert (found.agent.name, found.process.pid, found.leader) == ("claude", 21, None)
    assert foreground(99, AGENTS, source).agent is None


def test_children_without_the_kernels_list(fake: FakeProc) -> None:
    """Descendants are found by their parents where the kernel does not list children, nearest first."""
    for pid, ppid in ((30, 1), (31, 30), (32, 31), (33, 30), (34, 1)):
        fake.add(pid, b"x\0", ppid=ppid, pgrp=30)
    for pid in (30, 31, 32, 33, 34):
        (fake.root / str(pid) / "task" / str(pid)).mkdir(parents=True)

    assert [p.pid for p in ProcTable(str(fake.root)).descendants(30)] == [31, 33, 32]


def test_children_with_the_kernels_list(fake: FakeProc) -> None:
    """Where it does, every thread is asked, and vanished children are left out."""
    for pid in (40, 41, 42):
        fake.add(pid, b"x\0", ppid=1)
        (fake.root / str(pid) / "task" / str(pid)).mkdir(parents=True)
        (fake.root / str(pid) / "task" / str(pid) / "children").write_bytes(b"")
    (fake.root / "40" / "task" / "40" / "children").write_bytes(b"41 49 ")
    (fake.root / "40" / "task" / "45").mkdir()
    (fake.root / "40" / "task" / "45" / "children").write_bytes(b"42 ")

    assert [p.pid for p in ProcTable(str(fake.root)).descendants(40)] == [41, 42]


def test_loops_and_crowds_end(fake: FakeProc) -> None:
    """A loop of parents, made by pids that were reused while we read, and a fork bomb are read to a bound."""
    fake.add(50, b"x\0", ppid=51)
    fake.add(51, b"x\0", ppid=50)
    for pid in range(100, 300):
        fake.add(pid, b"x\0", ppid=50, pgrp=50)
    for pid in (50, 51):
        (fake.root / str(pid) / "task" / str(pid)).mkdir(parents=True)
    source = ProcTable(str(fake.root))

    assert len(source.descendants(50)) == 64
    assert len(source.group(50)) == 64


def test_own_process(either: Table) -> None:
    """Both tables know this very process."""
    me = either.get(os.getpid())

    assert me is not None
    assert (me.pid, me.ppid, me.pgrp) == (os.getpid(), os.getppid(), os.getpgrp())
    assert Path(me.exe).resolve() == Path(sys.executable).resolve()
    assert me.argv and me.comm
    assert either.cwd(me.pid) == str(Path.cwd())
    assert either.start(me.pid) == me.start
    started = either.start_time(me.pid)
    assert started is not None and 0 <= time.time() - started < 86_400


@needs_proc
def test_start_is_field_22() -> None:
    """The start that `/proc` gives is the number Claude Code writes into its file."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()

    assert ProcTable().start(os.getpid()) == int(fields[19])


def test_both_tables_agree() -> None:
    """Both give the same argument list, executable and start in seconds."""
    if not HAS_PROC:
        pytest.skip("there is one table here")
    a, b = ProcTable(), PsutilTable()
    one, other = a.get(os.getpid()), b.get(os.getpid())

    assert one is not None and other is not None
    assert (one.argv, one.exe, one.ppid, one.pgrp) == (other.argv, other.exe, other.ppid, other.pgrp)
    assert a.start_time(os.getpid()) == pytest.approx(b.start_time(os.getpid()), abs=1.1)


def test_gone_process(either: Table, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    """A process that ended, as a zombie and after, is None and empty everywhere."""
    process = start("sleep", "60")
    until(lambda: either.get(process.pid) is not None)
    process.kill()
    until(lambda: either.get(process.pid) is None)
    assert argv_of(either, process.pid) == ()
    process.wait()

    assert either.get(process.pid) is None
    assert either.token(process.pid) is None
    assert either.start(process.pid) is None
    assert either.start_time(process.pid) is None
    assert either.environ(process.pid) == {}
    assert either.cwd(process.pid) == ""
    assert either.descendants(process.pid) == ()
    assert either.group(process.pid) == ()


@pytest.mark.parametrize("pid", [0, -1, 2**31 - 1, 2**40])
def test_impossible_pids(either: Table, pid: int) -> None:
    """No number is an error."""
    either.get(pid)
    either.token(pid)
    either.start(pid)
    either.environ(pid)
    either.descendants(pid)


def test_environment(either: Table) -> None:
    """The environment a process was started with is read."""
    process = subprocess.Popen(["sleep", "60"], env={"CLAUDE_CONFIG_DIR": "/c d", "X": ""})
    try:
        until(lambda: argv_of(either, process.pid) == ("sleep", "60"))
        assert either.environ(process.pid) == {"CLAUDE_CONFIG_DIR": "/c d", "X": ""}
    finally:
        process.kill()
        process.wait()


def test_real_group(either: Table, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    """A real shell's children are its descendants and members of its group."""
    shell = start("sh", "-c", "sleep 61 & sleep 62; true")
    # Between fork and exec a child still has its parent's arguments.
    until(lambda: sorted("".join(p.argv[-1:]) for p in either.descendants(shell.pid)) == ["61", "62"])

    members = either.group(shell.pid)
    assert members[0].pid == shell.pid and len(members) == 3


def test_real_agent_of_each_kind(either: Table, start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path) -> None:
    """A program, a script of an interpreter, a shell script and a wrapped one named claude are claude."""
    script = tmp_path / "claude"
    script.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    script.chmod(0o755)
    shell_script = tmp_path / "sub" / "claude"
    shell_script.parent.mkdir()
    shell_script.write_text("#!/bin/sh\nsleep 60\nexit\n")
    shell_script.chmod(0o755)
    commands = [
        start("claude", "60", executable="/bin/sleep") if Path("/bin/sleep").exists() else None,
        start(str(script)),
        start(str(shell_script)),
        start("timeout", "60", str(script)),
    ]

    for process in commands:
        if process is not None:
            until(partial(is_claude, either, process.pid))


def test_wrapped_agent_tells_its_own_pid(
    either: Table, start: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """Behind `timeout` the agent's own process is found, with its own start."""
    script = tmp_path / "claude"
    script.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    script.chmod(0o755)
    leader = start("timeout", "60", str(script))
    until(lambda: foreground(leader.pid, AGENTS, either).is_direct)

    found = foreground(leader.pid, AGENTS, either)
    assert found.process is not None and found.process.pid != leader.pid
    assert found.process.start == either.start(found.process.pid)
    assert found.process.ppid == leader.pid


@needs_proc
def test_terminal_of_a_process() -> None:
    """The device number of a process's terminal is that of its pty, and its foreground group is known."""
    pid, master = pty.fork()
    if pid == 0:
        os.execv("/bin/sleep", ["sleep", "60"])
    try:
        source = ProcTable()
        until(lambda: argv_of(source, pid) == ("sleep", "60"))
        assert source.terminal(pid) == Path(f"/proc/{pid}/fd/0").stat().st_rdev
        assert (stat := source.stat(pid)) is not None and stat.tpgid == os.tcgetpgrp(master) == pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(master)


class CountingTable(ProcTable):
    """A table that counts what is asked of it."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.full = self.close = 0

    def get(self, pid: int):  # type: ignore[no-untyped-def]
        self.full += 1
        return super().get(pid)

    def fingerprint(self, pid: int) -> object:
        self.close += 1
        return super().fingerprint(pid)


def test_reader_reads_little(fake: FakeProc) -> None:
    """An unchanged pane costs a cheap look, gives the same object, and has its arguments read every eighth time."""
    fake.add(60, b"claude\0", comm="claude")
    source = CountingTable(str(fake.root))
    reader = ForegroundReader(AGENTS, source)
    first = reader.look(60)
    for _ in range(ForegroundReader.EAGER):
        reader.look(60)
    source.full = source.close = 0

    looks = [reader.look(60) for _ in range(80)]
    assert all(look is first for look in looks)
    assert (source.full, source.close) == (0, 10)


def test_reader_sees_exec(fake: FakeProc) -> None:
    """A leader that becomes another program is seen at the next look; one of the same interpreter within eight."""
    fake.add(61, b"bash\0", comm="bash")
    reader = ForegroundReader(AGENTS, ProcTable(str(fake.root)))
    for _ in range(50):
        assert reader.look(61).agent is None

    (fake.root / "61" / "cmdline").write_bytes(b"claude\0")
    (fake.root / "61" / "exe").unlink()
    (fake.root / "61" / "exe").symlink_to("/bin/claude")
    assert reader.look(61).agent is not None

    for _ in range(50):
        reader.look(61)
    (fake.root / "61" / "cmdline").write_bytes(b"codex\0")
    assert any((agent := reader.look(61).agent) is not None and agent.name == "codex" for _ in range(8))


def test_reader_sees_a_shells_child_become_its_command(fake: FakeProc) -> None:
    """In a pane's first looks, a shell that becomes a script of the same shell is seen at once."""
    fake.add(62, b"-bash\0", comm="bash")
    reader = ForegroundReader(AGENTS, ProcTable(str(fake.root)))
    assert reader.look(62).agent is None
    (fake.root / "62" / "cmdline").write_bytes(b"bash\0/home/u/bin/claude\0")

    assert reader.look(62).agent is not None


def test_reader_sees_the_end_and_a_reused_pid(fake: FakeProc) -> None:
    """A leader that ended, and another process with its number, are seen."""
    fake.add(63, b"claude\0", comm="claude")
    reader = ForegroundReader(AGENTS, ProcTable(str(fake.root)))
    for _ in range(20):
        before = reader.look(63)
    stat = fake.root / "63" / "stat"
    stat.write_bytes(stat.read_bytes().replace(b" 777 ", b" 778 "))
    after = [reader.look(63) for _ in range(8)][-1]
    assert before.process is not None and after.process is not None
    assert (before.process.start, after.process.start) == (777, 778)
    for file in (fake.root / "63").iterdir():
        file.unlink()

    assert reader.look(63).agent is None


def test_reader_forgets(fake: FakeProc) -> None:
    """What a pane no longer asks for can be forgotten; impossible groups are nobody."""
    fake.add(64, b"claude\0", comm="claude")
    reader = ForegroundReader(AGENTS, ProcTable(str(fake.root)))
    reader.look(64)
    reader.forget(64)
    reader.forget(65)

    assert len(reader._seen) == 0
    assert reader.look(0).agent is None and reader.look(-1).agent is None


class Clock:
    """Seconds that a test lets pass."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def _behind(fake: FakeProc, pid: int, ppid: int, argv: bytes) -> Path:
    """A process below another one, in the foreground of its own terminal; the terminal is `/dev/zero` here."""
    fake.add(pid, argv, ppid=ppid, comm=argv.partition(b"\0")[0].decode())
    folder = fake.root / str(pid)
    device = device_number(Path("/dev/zero").stat().st_rdev)
    (folder / "stat").write_bytes((folder / "stat").read_bytes().replace(b" 34816 ", f" {device} ".encode()))
    (folder / "fd").mkdir()
    for number in ("0", "1"):
        (folder / "fd" / number).symlink_to("/dev/zero")
    _begets(fake, pid)
    return folder


def _begets(fake: FakeProc, pid: int, *children: int) -> None:
    task = fake.root / str(pid) / "task" / str(pid)
    task.mkdir(parents=True, exist_ok=True)
    (task / "children").write_text(" ".join(map(str, children)))
    (fake.root / "loadavg").write_text(f"0.1 0.1 0.1 1/80 {max((pid, *children))}\n")


def test_reader_finds_what_an_old_leader_starts(fake: FakeProc) -> None:
    """An agent that an idle editor or shell starts is found within a second of looks, and so is that it has ended."""
    fake.add(70, b"nvim\0", comm="nvim")
    _begets(fake, 70)
    clock = Clock()
    reader = ForegroundReader(AGENTS, ProcTable(str(fake.root)), clock)
    for _ in range(50):
        clock.now += 0.25
        before = reader.look(70)
    folder = _behind(fake, 71, 70, b"claude\0")
    _begets(fake, 70, 71)

    found = []
    for _ in range(5):
        clock.now += 0.25
        found.append(reader.look(70).agent)
    assert before.agent is None and found[-1] is not None
    for _ in range(50):
        clock.now += 0.25
        assert reader.look(70) is reader.look(70)
    # In the background it is no longer the pane's.
    stat = folder / "stat"
    stat.write_bytes(stat.read_bytes().replace(f" {71} ".encode() + TAIL, b" 999 " + TAIL))
    for _ in range(5):
        clock.now += 0.25
        found.append(reader.look(70).agent)
    assert found[-1] is None


def test_the_rest_of_a_pipeline(fake: FakeProc) -> None:
    """It has the leader's parent, and only its own group is looked at; what is above them hides nothing."""
    fake.add(90, b"kitty\0", comm="kitty")
    fake.add(91, b"bash\0", ppid=90, comm="bash")
    fake.add(92, b"cat\0", ppid=91, comm="cat")
    folder = _behind(fake, 93, 91, b"claude\0")
    _begets(fake, 90, 91)
    _begets(fake, 91, 92, 93)
    _begets(fake, 92)
    source = ProcTable(str(fake.root))
    assert foreground(92, AGENTS, source).agent is None

    stat = folder / "stat"
    stat.write_bytes(stat.read_bytes().replace(b" 91 93 ", b" 91 92 ").replace(b" 93 " + TAIL, b" 92 " + TAIL))
    assert (found := foreground(92, AGENTS, source).process) is not None and found.pid == 93


def test_reader_sees_the_end_of_an_agent_behind_a_leader_at_once(fake: FakeProc) -> None:
    """The next look sees that it has gone, however long its leader stays."""
    fake.add(72, b"bash\0", comm="bash")
    folder = _behind(fake, 73, 72, b"claude\0")
    _begets(fake, 72, 73)
    reader = ForegroundReader(AGENTS, ProcTable(str(fake.root)), Clock())
    for _ in range(20):
        assert reader.look(72).agent is not None
    shutil.rmtree(folder)

    assert reader.look(72).agent is None


def test_reader_looks_behind_a_leader_only_if_something_began(fake: FakeProc) -> None:
    """Without a new process anywhere nothing is behind an idle shell, and nothing there is read."""
    fake.add(74, b"bash\0", comm="bash")
    _begets(fake, 74)
    clock, source = Clock(), CountingTable(str(fake.root))
    reader = ForegroundReader(AGENTS, source, clock)
    for _ in range(20):
        reader.look(74)
    source.full = 0
    _begets(fake, 74, 75)  # it has ended by now
    (fake.root / "loadavg").write_text("0 0 0 1/80 74\n")
    for _ in range(80):
        clock.now += 0.25
        reader.look(74)

    assert source.full == 0


@each(
    ("given", "writes", "terminal", "front", "expected"),
    [
        ("/dev/zero", "/dev/zero", "/dev/zero", True, True),
        ("/dev/zero", "/dev/zero", "/dev/zero", False, False),
        ("/dev/null", "/dev/zero", "/dev/zero", True, False),
        ("/dev/zero", "/dev/null", "/dev/zero", True, False),
        ("pipe", "/dev/zero", "/dev/zero", True, True),
        ("/dev/zero", "pipe", "/dev/zero", True, False),
        ("/proc/self/stat", "/dev/zero", "/dev/zero", True, False),
        ("/dev/zero", "/dev/zero", "", True, True),
        ("/dev/null", "/dev/null", "", True, False),
        ("", "/dev/zero", "/dev/zero", True, False),
    ],
)
def test_who_is_shown(given: str, writes: str, terminal: str, front: bool, expected: bool) -> None:
    """It has the foreground of its terminal, writes there, and reads there or from a pipe."""
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeProc(Path(folder))
        leader, shown = _behind(fake, 10, 1, b"make\0"), _behind(fake, 11, 10, b"claude\0")
        pipe = Path(folder, "pipe")
        os.mkfifo(pipe)
        for number, path in (("0", given), ("1", writes)):
            (shown / "fd" / number).unlink()
            if path:
                (shown / "fd" / number).symlink_to(pipe if path == "pipe" else path)
        stat = (leader / "stat").read_bytes().replace(b"10 (make) S 1 10", b"11 (claude) S 10 11")
        if not terminal:
            stat = stat.replace(str(device_number(Path("/dev/zero").stat().st_rdev)).encode() + b" 10", b"0 -1")
        elif front:
            stat = stat.replace(b" 10 " + TAIL, b" 11 " + TAIL)
        (shown / "stat").write_bytes(stat)

        assert ProcTable(folder).is_shown(11, 10) is expected


def test_the_number_of_a_process_for_itself(fake: FakeProc) -> None:
    """In a sandbox with processes of its own it has another number than here."""
    fake.add(80, b"claude\0")
    fake.add(81, b"claude\0")
    (fake.root / "80" / "status").write_text("Name:\tclaude\nUid:\t7\t7\t7\t7\nNSpid:\t80\t12\t2\n")
    source = ProcTable(str(fake.root))

    assert [own_number(pid, source) for pid in (80, 81, 82)] == [2, 81, 82]
    assert own_number(os.getpid(), PsutilTable()) == os.getpid()


@needs_proc
def test_look_is_cheap(start: Callable[..., subprocess.Popen[bytes]]) -> None:
    """A look at an unchanged pane costs microseconds: 100 panes at 4 Hz stay far below half a percent of a core."""
    process = start("claude", "60", executable="/bin/sleep")
    reader = ForegroundReader(AGENTS)
    until(lambda: reader.look(process.pid).agent is not None)
    for _ in range(20):
        reader.look(process.pid)
    best = min(_timed(lambda: reader.look(process.pid), 400) for _ in range(10))

    assert best < 50e-6


def _timed(call: Callable[[], object], times: int) -> float:
    begin = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - begin) / times


@needs_proc
def test_psutil_is_not_needed() -> None:
    """With `/proc`, nothing here imports psutil."""
    code = "import sys, tallylight.evidence.process_table as p; p.table().get(1); sys.exit('psutil' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": "shared"}, check=False)

    assert done.returncode == 0
    assert isinstance(table(), ProcTable)


def test_no_agents_known() -> None:
    """Without agent files nobody is an agent, and nothing fails."""
    assert foreground(os.getpgrp(), Agents()).agent is None
    assert len(Agents([parse_agent('name="x"\nprocesses=["x"]', "x")])) == 1


def test_groups_by_ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no /proc, `ps` tells the foreground groups; a line that is none of its own costs itself."""
    program = tmp_path / "ps"
    program.write_text("#!/bin/sh\nprintf 'PID TPGID\\n  12   -1\\n34 56\\nps: a b\\n78\\n\\n9 8 7\\n² 3\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    groups = Groups(PsutilTable())

    assert [groups.look(pid, 0.0) for pid in (12, 34, 78, 9)] == [0, 56, 0, 0]


def test_psutil_that_may_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that psutil is not allowed to look at is as good as none, never an error."""
    table = PsutilTable()

    def refuse(process: object) -> float:
        raise table._psutil.AccessDenied(1)

    monkeypatch.setattr(table._psutil.Process, "create_time", refuse)
    pid = os.getpid()

    assert (table.token(pid), table.fingerprint(pid), table.get(pid), table.start(pid)) == (None, None, None, None)


def test_whose_a_process_is(either: Table, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    """Its real user, and nothing of one that is not there."""
    process = start("sleep", "600")
    assert process_table.owner(process.pid, either) == os.getuid()
    assert process_table.owner(2**22 + 1, either) is None
    assert process_table.terminal(2**22 + 1, either) in (0, "")


def test_a_process_that_was_an_agent(start: Callable[..., subprocess.Popen[bytes]]) -> None:
    """It is known by its number and its start, whatever it runs by now."""
    process = start("claude", "600", executable=shutil.which("sleep"))
    until(lambda: is_claude(table(), process.pid))
    reader = ForegroundReader(AGENTS)
    reader.look(process.pid)
    born = table().start(process.pid)
    assert born is not None and reader.was_agent(process.pid, born) == "Claude Code"
    assert reader.was_agent(process.pid, born + 1) == ""
