"""What a mux server's side does to a pane's terminal: one variable, written only while nothing of the pane runs."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tallylight.evidence import process_table
from tallylight.hosts.wezterm.terminals import MUX_WORDS, Terminal, activity, tell
from tallylight.model.status import Kind, Status

TABLE = process_table.table()
#: Only `/proc` tells whether anything of a pane runs; elsewhere nothing is written.
needs_proc = pytest.mark.skipif(not isinstance(TABLE, process_table.ProcTable), reason="/proc is not what is read here")
WORD = MUX_WORDS["working"]
START, END = b"\x1b]2;half", b"whole\x07"


class Program:
    """A Python program on a terminal of its own, and all that came out of it."""

    def __init__(self, code: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(sys.executable, [sys.executable, "-ISc", code])
        number = struct.unpack("I", fcntl.ioctl(self.fd, 0x80045430, b"\0\0\0\0"))[0]  # TIOCGPTN
        self.terminal = Terminal(f"/dev/pts/{number}", self.pid)
        self.out = b""

    def read(self, until: bytes, timeout: float = 20) -> bytes:
        end = time.monotonic() + timeout
        while until not in self.out and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                self.out += os.read(self.fd, 65536)
        assert until in self.out, self.out
        return self.out

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def wake(panes: Sequence[Terminal], table: process_table.Table, patience: float = 2.0) -> Terminal | None:
    """Write `WORD` to those of *panes* that are quiet; the first of them."""
    return next(iter(tell(dict.fromkeys(panes, WORD), table, patience=patience)), None)


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    program = Program(request.param)
    yield program
    program.close()


def code(*lines: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", ["\n".join(("import os, sys, time", *lines))], indirect=True)


#: Half a sequence, then work, then the other half: as a program does whose buffer is full in the middle.
HALVES = (
    f"os.write(1, {START!r})",
    "end = time.monotonic() + 0.7",
    "while time.monotonic() < end: pass",
    f"os.write(1, {END!r})",
    "time.sleep(100)",
)


@pytest.mark.slow
@needs_proc
@code(*HALVES)
def test_never_within_a_sequence(program: Program) -> None:
    """A sequence of which half is written is not broken: the program that writes it runs until it is whole."""
    program.read(START)
    assert wake([program.terminal], TABLE, patience=20) == program.terminal
    assert program.read(WORD) == START + END + WORD


@needs_proc
@code("if os.fork() == 0:", *(f"    {line}" for line in HALVES), "time.sleep(100)")
def test_nor_that_of_a_child(program: Program) -> None:
    """A process below the pane's first counts as much."""
    program.read(START)
    assert wake([program.terminal], TABLE, patience=20) == program.terminal
    assert program.read(WORD) == START + END + WORD


@pytest.mark.slow
@needs_proc
@code("print('up', flush=True)", "while True: pass")
def test_one_that_runs(program: Program) -> None:
    """A program that never rests is not written to, and another pane is."""
    program.read(b"up")
    assert wake([program.terminal], TABLE, patience=0.3) is None
    other = Program("import time; print('up', flush=True); time.sleep(100)")
    try:
        other.read(b"up")
        assert wake([program.terminal, other.terminal], TABLE, patience=0.5) == other.terminal
        assert other.read(WORD).endswith(WORD)
    finally:
        other.close()
    assert WORD not in program.out


@pytest.mark.slow
@needs_proc
@code("print('up', flush=True)", "while True: pass")
def test_each_its_own_word(program: Program) -> None:
    """Of several panes each is told its own, and one that never rests holds up no other."""
    program.read(b"up")
    others = [Program("import time; print('up', flush=True); time.sleep(100)") for _ in range(2)]
    words = [MUX_WORDS["waiting:question"], MUX_WORDS[""]]
    try:
        for other in others:
            other.read(b"up")
        told = dict(zip([other.terminal for other in others], words, strict=True))
        written = tell({program.terminal: WORD, **told}, TABLE, patience=1)
        assert set(written) == set(told)
        for other, word in zip(others, words, strict=True):
            assert other.read(word).endswith(b"\n" + word)
    finally:
        for other in others:
            other.close()


@code("print('up', flush=True)", "time.sleep(100)")
def test_one_that_is_stopped(program: Program) -> None:
    """A program that was stopped may have been in the middle of anything."""
    program.read(b"up")
    os.kill(program.pid, signal.SIGSTOP)
    while b"T" not in Path(f"/proc/{program.pid}/stat").read_bytes().rpartition(b")")[2].split()[:1]:
        time.sleep(0.01)
    assert activity(program.terminal, TABLE) is None
    assert wake([program.terminal], TABLE, patience=0.2) is None


@code("print('up', flush=True)", "time.sleep(100)")
def test_a_terminal_of_another(program: Program, tmp_path: Path) -> None:
    """What is no terminal, or not that of the pane's first process, is never written to."""
    program.read(b"up")
    other = Program("import time; print('up', flush=True); time.sleep(100)")
    file = tmp_path / "file"
    file.write_text("kept")
    try:
        other.read(b"up")
        for path in (other.terminal.path, str(file), "/dev/null", str(tmp_path / "none"), "/dev/full"):
            assert wake([Terminal(path, program.pid)], TABLE, patience=0.05) is None
        with contextlib.suppress(BlockingIOError):
            os.set_blocking(other.fd, False)
            other.out += os.read(other.fd, 100)
        assert WORD not in other.out and file.read_text() == "kept"
    finally:
        other.close()


def fill(fd: int) -> None:
    """Write until nothing fits any more, not even after the kernel has moved on what it has."""
    refusals = 0
    while refusals < 5:
        try:
            os.write(fd, b"x")
            refusals = 0
        except BlockingIOError:
            refusals += 1
            time.sleep(0.02)


@code("print('up', flush=True)", "time.sleep(100)")
def test_a_terminal_that_is_full(program: Program) -> None:
    """A terminal that takes nothing, as after ctrl-S, costs the moment, and is never waited for."""
    program.read(b"up")
    fd = os.open(program.terminal.path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        fill(fd)
        assert wake([program.terminal], TABLE, patience=0.2) is None
    finally:
        os.close(fd)


def test_the_words() -> None:
    """It is one user variable with one of some words, and nothing else is written."""
    assert len(MUX_WORDS) == 1 + len(Status) * (1 + len(Kind))
    assert all(
        re.fullmatch(rb"\x1b\]1337;SetUserVar=tally_mux=[A-Za-z0-9+/=]*\x07", word) for word in MUX_WORDS.values()
    )
    with pytest.raises(AssertionError):
        tell({Terminal("/dev/null", 1): b"\x1b]0;x\x07"}, TABLE)


def test_nothing_to_write_to() -> None:
    """Without a pane nothing is waited for."""
    assert wake([], TABLE, patience=3600) is None


@code("import time; print('up', flush=True); time.sleep(100)")
def test_where_nobody_can_tell_nothing_is_written(program: Program) -> None:
    """Without `/proc` it is not known whether a program is in the middle of a sequence: none is broken."""
    program.read(b"up")
    assert wake([program.terminal], process_table.PsutilTable(), patience=0.3) is None
    assert WORD not in program.out
