"""`tally record`: a real command on a real terminal, and the file it leaves."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.parts.lab import recorder
from tallylight.parts.lab.asciicast import Event, Header, Input, Output, Resize
from tallylight.parts.lab.decoder import Problem, decode
from tallylight.parts.lab.events import Exit, ForegroundChange
from tallylight.parts.lab.verbs import record
from tests.patience import until
from tests.tables import each
from tests.terminal import Terminal, bare_environment, launcher

#: An agent by its name: it draws a title, keeps a status file as Claude Code does, and waits for a line to end.
_CLAUDE = """\
import json, os, sys, time
folder = os.path.expanduser("~/.claude/sessions")
os.makedirs(folder, exist_ok=True)
path = f"{folder}/{os.getpid()}.json"
start = open("/proc/self/stat").read().rpartition(")")[2].split()[19]
with open(path, "w") as file:
    json.dump({"pid": os.getpid(), "procStart": start, "status": "busy", "sessionId": "s-1", "cwd": "/"}, file)
sys.stdout.write("\\x1b]1338;state=working;tool=claude\\x07ready \\u2713\\n")
sys.stdout.flush()
sys.stdin.readline()
os.remove(path)
"""


class Desk:
    """A folder with the command, and files to record into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        python, _, script = launcher(folder)
        self.command = [python, "-I", script]
        self.file = folder / "a.cast"
        (folder / "bin").mkdir()
        self.environment = bare_environment(HOME=str(folder), LC_ALL="C.UTF-8")
        self.environment["PATH"] = f"{folder}/bin:{self.environment['PATH']}"

    def claude(self) -> None:
        """Put an agent on PATH."""
        program = self.folder / "bin" / "claude"
        program.write_text(f"#!{sys.executable} -IS\n{_CLAUDE}", "utf-8")
        program.chmod(0o755)

    def record(self, *words: str) -> list[str]:
        return [*self.command, "record", *words]

    def read(self) -> list[Header | Event | Problem]:
        with self.file.open("rb") as file:
            return list(decode(file.readline))

    def events(self) -> list[Event]:
        return [item for item in self.read() if isinstance(item, Event)]

    def output(self) -> bytes:
        return b"".join(event.what.data for event in self.events() if isinstance(event.what, Output))

    def wait_for(self, text: str) -> None:
        until(lambda: self.file.exists() and text in self.file.read_text("utf-8"), f"{text} was not recorded")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "desk"
    folder.mkdir()
    return Desk(folder)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with Terminal() as made:
        yield made


@pytest.mark.slow
def test_a_session_is_recorded(desk: Desk, terminal: Terminal) -> None:
    """The file has the header, the program's bytes as it wrote them, and how it ended; nobody else may read it."""
    command = desk.record(str(desk.file), "--", "printf", r"\033]1338;state=working;tool=x\007hi \342\234\223\377")

    assert terminal.run(command, desk.environment) == 0

    header = desk.read()[0]
    assert isinstance(header, Header)
    assert (header.columns, header.rows, header.env["TERM"]) == (80, 24, "xterm-256color")
    assert header.command.startswith("printf ")
    assert abs(header.started - time.time()) < 20
    assert header.timestamp == int(header.started)
    assert desk.output() == b"\x1b]1338;state=working;tool=x\x07hi \xe2\x9c\x93\xff"
    assert b"1338" not in terminal.received, "the relay has taken its part"
    assert b"hi \xe2\x9c\x93\xff" in terminal.received
    assert desk.events()[-1].what == Exit(0)
    assert stat.S_IMODE(desk.file.stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize(("script", "code", "end"), [("exit 3", 3, Exit(3)), ("kill -9 $$", -9, Exit(None, 9))])
def test_how_it_ended_is_recorded_and_passed_on(
    desk: Desk, terminal: Terminal, script: str, code: int, end: Exit
) -> None:
    """An exit code or a signal is the recorder's own end too, and is in the file."""
    assert terminal.run(desk.record(str(desk.file), "--", "sh", "-c", script), desk.environment) == code
    assert [event.what for event in desk.events()][-1] == end


@pytest.mark.slow
def test_what_a_host_would_see_is_recorded(desk: Desk, terminal: Terminal) -> None:
    """The agent in the foreground and its own status file are in the file, and a replay believes them."""
    desk.claude()
    process = terminal.start(desk.record(str(desk.file), "--", "claude"), desk.environment)
    terminal.wait_for(b"ready")
    desk.wait_for("status file: busy")
    terminal.type(b"\n")
    assert process.wait(30) == 0

    whats = [event.what for event in desk.events()]
    changes = [what.foreground for what in whats if isinstance(what, ForegroundChange)]
    assert [change.name if change else None for change in changes] == ["claude", None]
    reports = [what for what in whats if isinstance(what, Report)]
    assert [(report.source, report.status) for report in reports] == [
        (Source.REGISTRY, Status.WORKING),
        (Source.REGISTRY, None),
    ]
    assert not any(isinstance(what, Input) for what in whats)
    done = subprocess.run([*desk.command, "replay", str(desk.file)], capture_output=True, text=True, check=True)
    assert "claude working" in done.stdout


@pytest.mark.slow
def test_keys_are_recorded_only_when_asked_for(desk: Desk, terminal: Terminal) -> None:
    """With --input what is typed is in the file."""
    process = terminal.start(desk.record("--input", str(desk.file), "--", "head", "-n1"), desk.environment)
    terminal.wait_for(lambda _: desk.file.exists())
    terminal.type(b"secret\n")
    assert process.wait(30) == 0

    assert b"".join(e.what.data for e in desk.events() if isinstance(e.what, Input)) == b"secret\n"


@pytest.mark.slow
def test_a_new_size_is_recorded(desk: Desk, terminal: Terminal) -> None:
    """A terminal that is made larger is an event."""
    process = terminal.start(desk.record(str(desk.file), "--", "sh", "-c", "echo up; read x"), desk.environment)
    terminal.wait_for(b"up")
    termios.tcsetwinsize(terminal.slave, (40, 100))
    desk.wait_for("100x40")
    terminal.type(b"\n")
    process.wait(30)

    assert Resize(100, 40) in [event.what for event in desk.events()]


@pytest.mark.slow
def test_nothing_is_overwritten(desk: Desk, terminal: Terminal) -> None:
    """A file that is there stays as it is, unless --overwrite says so; then it is ours alone."""
    desk.file.write_text("precious", "utf-8")
    desk.file.chmod(0o644)

    assert terminal.run(desk.record(str(desk.file), "--", "echo", "ran"), desk.environment) == 1
    assert b"--overwrite" in terminal.received
    assert b"ran" not in terminal.received.replace(b"overwritten", b"")
    assert desk.file.read_text("utf-8") == "precious"

    assert terminal.run(desk.record("--overwrite", str(desk.file), "--", "echo", "ran"), desk.environment) == 0
    assert desk.output().strip() == b"ran"
    assert stat.S_IMODE(desk.file.stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "fifo", "no folder", "device"])
def test_what_is_no_file_is_refused(desk: Desk, terminal: Terminal, kind: str) -> None:
    """A directory, a FIFO nobody reads, a device or a path that leads nowhere: said at once, and nothing is run."""
    path = {"device": "/dev/null", "no folder": str(desk.folder / "x" / "y")}.get(kind, str(desk.file))
    if kind == "folder":
        desk.file.mkdir()
    elif kind == "fifo":
        os.mkfifo(desk.file)

    assert terminal.run(desk.record("--overwrite", path, "--", "echo", "ran"), desk.environment) == 1
    assert terminal.received.startswith(b"tally: ")
    assert b"ran" not in terminal.received


@pytest.mark.slow
def test_a_command_that_is_not_there_leaves_no_file(desk: Desk, terminal: Terminal) -> None:
    """A misspelt command is said, and there is nothing to clean up."""
    assert terminal.run(desk.record(str(desk.file), "--", "no-such-command"), desk.environment) == 1
    assert b"no-such-command: command not found" in terminal.received
    assert not desk.file.exists()


@pytest.mark.slow
def test_without_a_terminal_there_is_nothing_to_record(desk: Desk) -> None:
    """In a pipe it says so, and runs nothing."""
    command = desk.record(str(desk.file), "--", "echo", "ran")
    done = subprocess.run(command, env=desk.environment, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, "")
    assert "not a terminal" in done.stderr
    assert not desk.file.exists()


@each("words", [[], ["f"], ["f", "--"], ["--", "true"], ["f", "true"], ["--nope", "f", "--", "true"]])
def test_wrong_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A file, two dashes and a command are all needed."""
    with pytest.raises(SystemExit) as left:
        record.main(words)
    assert left.value.code == 2


@pytest.mark.slow
@pytest.mark.parametrize("end", ["exit 4", "kill -9 $$"])
def test_a_full_disk_ends_the_recording_and_not_the_session(desk: Desk, terminal: Terminal, end: str) -> None:
    """When no more can be written the session goes on to its own end, and then that is said; the file can be read."""
    script = f"i=0; while [ $i -lt 3000 ]; do echo line $i of many words; i=$((i+1)); done; echo last; {end}"
    limited = ["sh", "-c", 'ulimit -f 24; exec "$@"', "sh", *desk.record(str(desk.file), "--", "sh", "-c", script)]

    # The limit is on every file: a cache of Python's own that is cut off would break whoever reads it next.
    environment = desk.environment | {"PYTHONDONTWRITEBYTECODE": "1"}
    assert terminal.run(limited, environment) in (4, -9)
    assert b"last" in terminal.received
    assert b"recording stopped" in terminal.received.partition(b"last")[2]
    assert 0 < desk.file.stat().st_size <= 24 * 1024
    assert not any(isinstance(item, Problem) for item in desk.read())


@pytest.mark.slow
def test_it_is_killed(desk: Desk, terminal: Terminal) -> None:
    """What was written until the recorder is killed can be read."""
    process = terminal.start(desk.record(str(desk.file), "--", "sh", "-c", "echo up; sleep 60"), desk.environment)
    desk.wait_for('"up')  # the output: the header has the command
    process.kill()
    process.wait()

    assert b"up" in desk.output()


@pytest.mark.slow
def test_inside_a_relay_it_only_listens(desk: Desk, terminal: Terminal) -> None:
    """Where TALLY_RELAY=0 or a relay around it says so, it records and passes on every byte."""
    frame = b"\x1b]1338;state=working;tool=x\x07"
    command = desk.record(str(desk.file), "--", "printf", r"\033]1338;state=working;tool=x\007")

    assert terminal.run(command, desk.environment | {"TALLY_RELAY": "0"}) == 0

    assert frame in terminal.received
    assert desk.output() == frame


def test_writing_is_bounded(tmp_path: Path) -> None:
    """What waits to be written is never more than the buffer and one event."""
    path = tmp_path / "a.cast"
    sink = recorder.Sink(record._create(str(path), overwrite=False), str(path), Header(), 0.0)
    most = 0
    for number in range(200):
        sink.write(Output(b"x" * 4096), number)
        most = max(most, len(sink._buffer))
    sink.close()

    assert most < recorder.BUFFER_BYTES + 5000
    assert path.stat().st_size > 200 * 4096
