"""
`tally record`: a command behind the relay, with all that passes and all that a host would learn of it in a file.

The file is a `recording` of what the program wrote, before the relay took its part of it. What is typed goes in only
with `--input`: there are passwords among it. Four times a second the foreground of the program's terminal and the files
of the agent in it are looked at, as a host does. A disk that is full ends the recording, and never the session.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import shutil
import stat
import sys
import time
from collections.abc import Callable

import attrs

from tallylight import files, processes
from tallylight.cli.output import clean
from tallylight.cli.run import make_core
from tallylight.errors import TallyError
from tallylight.evidence.recorded import Exit, ForegroundChange
from tallylight.hosts.pane import Pane
from tallylight.recording import Encoder, Event, Header, Input, Output, Resize, What
from tallylight.relay import pty, shell
from tallylight.report import Report, Source
from tallylight.tracker import Foreground, Tracker
from tallylight.wire.title import TITLE_LIMIT

#: How often, in seconds, the foreground and the agent's files are looked at, and how soon again where a turn has just
#: ended and its transcript is about to tell how. A host's own times.
POLL_S, SOON_S = 0.25, 0.05
#: Most bytes that wait for the next look before they are written.
BUFFER = 1 << 16
#: Whole in one piece, which is what agents write; a title alone never decides who is in the foreground.
_TITLE = re.compile(rb"\x1b\][02];([^\x07\x1b]{0,%d})(?:\x07|\x1b\\)" % TITLE_LIMIT)


def main(argv: list[str]) -> int:
    """Record one session; its exit code, or the signal it died of, becomes ours."""
    parser = argparse.ArgumentParser(
        prog="tally record",
        usage="tally record [--input] [--overwrite] FILE -- COMMAND [ARGUMENT …]",
        description="COMMAND through the relay, recorded into FILE as asciicast v2 with the evidence of its status.",
    )
    parser.add_argument("file", metavar="FILE", help="made with mode 0600; must not exist")
    parser.add_argument("--input", action="store_true", help="record what is typed, too: passwords and all")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it is there")
    own, dashes, command = _split(argv)
    options = parser.parse_args(own)
    if not dashes or not command:
        parser.error("the command to record goes behind `--`")
    if shutil.which(command[0]) is None:
        raise TallyError(f"{clean(command[0])}: command not found; nothing was recorded")
    outer = pty.open_outer()
    if outer is None:
        raise TallyError("standard input and output are no terminal, so there is nothing to record; run it in one")
    fd = _create(options.file, overwrite=options.overwrite)
    columns, rows = os.get_terminal_size(outer.fd)
    env = {name: os.environ[name] for name in ("SHELL", "TERM") if name in os.environ}
    now, start = time.time(), time.monotonic()
    header = Header(columns, rows, int(now), round(now, 6), shlex.join(command), env=env)
    sink = Sink(fd, options.file, header, start)
    before = _masters()

    def core() -> Recorder:
        # A relay around us reads the sequences, or nobody is to: then we read none.
        inner = Through() if shell.steps_aside() else make_core(command)
        made = next(iter(_masters() - before), -1)
        return Recorder(inner, sink, outer.fd, made, with_input=options.input)

    return shell.run(command, _Outer(outer.fd, sink.close), core)


def _split(argv: list[str]) -> tuple[list[str], bool, list[str]]:
    at = argv.index("--") if "--" in argv else len(argv)
    return argv[:at], at < len(argv), argv[at + 1 :]


def _create(path: str, *, overwrite: bool) -> int:
    """Open *path* for writing by nobody but us, empty."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | (0 if overwrite else os.O_EXCL)
    name = clean(path)
    try:
        fd = os.open(path, flags, 0o600)
    except FileExistsError:
        raise TallyError(f"{name}: is there already; choose another name, or --overwrite it") from None
    except OSError as error:
        raise TallyError(f"{name}: cannot be written: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise TallyError(f"{name}: is not a regular file")
    os.fchmod(fd, 0o600)
    os.ftruncate(fd, 0)
    return fd


class Sink:
    """The file: what happens becomes a line, and a write that fails is the last. *start* is its time 0, monotonic."""

    def __init__(self, fd: int, name: str, header: Header, start: float) -> None:
        self._start = start
        self._fd = fd
        self._name = name
        self._encoder = Encoder()
        self._buffer = bytearray(self._encoder.header(header))
        #: The bytes in the file.
        self._size = 0
        self._problem = ""

    def write(self, what: What, now: float) -> None:
        """Take *what*, which happens now."""
        if not self._problem:
            self._buffer += self._encoder.event(Event(max(0.0, now - self._start), what))
            if len(self._buffer) >= BUFFER:
                self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._problem:
            return
        data = bytes(self._buffer)
        self._buffer.clear()
        at = 0
        try:
            while at < len(data):
                at += os.write(self._fd, data[at:])
        except OSError as error:
            self._problem = f"{clean(self._name)}: recording stopped: {error.strerror}; it holds what came before"
            # To the end of a line. Where that fails too, the last one is broken off.
            at = data.rfind(b"\n", 0, at) + 1
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size + at)
        self._size += at

    def close(self) -> None:
        """The terminal is as it was: write what waits, and say what went wrong."""
        self._buffer += self._encoder.finish()
        self.flush()
        os.close(self._fd)
        if self._problem:
            sys.stderr.write(f"tally record: {self._problem}\n")


class _Outer(pty.Outer):
    """A terminal that tells when it is given back, which also happens before the relay dies of its program's signal."""

    def __init__(self, fd: int, closed: Callable[[], None]) -> None:
        super().__init__(fd)
        self._closed = closed

    def close(self) -> None:
        super().close()
        self._closed()


class Recorder:
    """
    A relay's core that hands on to another, and records what passes and what a host would see.

    *outer* is the terminal around it, *inner* our end of the program's.
    """

    def __init__(self, core: shell.Core, sink: Sink, outer: int, inner: int, *, with_input: bool = False) -> None:
        self._sink = sink
        self._core = core
        self._outer = outer
        self._inner = inner
        self._with_input = with_input
        self._size = os.get_terminal_size(outer)
        self._due = time.monotonic()
        self._is_over = False
        agents, _ = files.load_agents(os.environ)
        table = processes.table()
        self._pane = Pane(files.load_config(os.environ)[0].timing, processes.ForegroundReader(agents, table), table)
        self._pane.tracker = _Witness(sink.write)

    # What passes -------------------------------------------------------------------------------------------------

    def from_child(self, data: bytes, now: float) -> None:
        self._sink.write(Output(data), now)
        if titles := _TITLE.findall(data):
            self._pane.title(titles[-1].decode("utf-8", "replace"), now)
        self._core.from_child(data, now)

    def from_user(self, data: bytes, now: float) -> None:
        if self._with_input:
            self._sink.write(Input(data), now)
        self._core.from_user(data, now)

    def resized(self, now: float) -> None:
        self._note_size(now)
        self._core.resized(now)

    def attached(self, now: float) -> None:
        self._note_size(now)
        self._core.attached(now)

    def finished(self, now: float, exit_code: int | None = 0, signal: int | None = None) -> None:
        self._is_over = True
        self._core.finished(now, exit_code, signal)
        self._sink.write(Exit(exit_code, signal), now)
        self._look(0, now)

    def to_terminal(self) -> bytes:
        return self._core.to_terminal()

    def to_child(self) -> bytes:
        return self._core.to_child()

    # What a host would see ---------------------------------------------------------------------------------------

    def deadline(self) -> float | None:
        due = self._core.deadline()
        if self._is_over:
            return due
        return self._due if due is None else min(due, self._due)

    def tick(self, now: float) -> None:
        due = self._core.deadline()
        if due is not None and due <= now:
            self._core.tick(now)
        if now >= self._due and not self._is_over:
            self._look(self._foreground(), now)
            self._sink.flush()
            self._due = now + (SOON_S if self._pane.is_undecided else POLL_S)

    def _look(self, group: int, now: float) -> None:
        self._pane.foreground(group, now)
        wanted = self._pane.wanted_files()
        if wanted is not None:
            self._pane.files(wanted.status_file, *wanted.read(), now)

    def _foreground(self) -> int:
        """The process group in the foreground of the program's terminal; 0 if nobody knows."""
        try:
            return os.tcgetpgrp(self._inner)
        except OSError:
            return 0

    def _note_size(self, now: float) -> None:
        try:
            size = os.get_terminal_size(self._outer)
        except OSError:
            return
        if size != self._size and all(size):
            self._size = size
            self._sink.write(Resize(size.columns, size.lines), now)


class _Witness(Tracker):
    """A tracker whose input is recorded, as far as the output would not tell it again."""

    def __init__(self, record: Callable[[What, float], None]) -> None:
        super().__init__()
        self._record = record

    def foreground(self, foreground: Foreground | None, now: float, *, is_gone: bool = True) -> None:
        if foreground != self._foreground:
            self._record(ForegroundChange(foreground, is_gone), now)
        super().foreground(foreground, now, is_gone=is_gone)

    def report(self, report: Report, now: float) -> None:
        if report.source is Source.REGISTRY:
            self._record(report, now)
        super().report(report, now)


@attrs.define
class Through:
    """A relay's core that hands on everything and reads nothing."""

    _for_terminal: bytes = b""
    _for_child: bytes = b""

    def from_child(self, data: bytes, now: float) -> None:  # noqa: ARG002
        self._for_terminal += data

    def from_user(self, data: bytes, now: float) -> None:  # noqa: ARG002
        self._for_child += data

    def to_terminal(self) -> bytes:
        data, self._for_terminal = self._for_terminal, b""
        return data

    def to_child(self) -> bytes:
        data, self._for_child = self._for_child, b""
        return data

    def deadline(self) -> float | None:
        return None

    def tick(self, now: float) -> None:
        """Nothing waits."""

    resized = attached = tick

    def finished(self, now: float, exit_code: int | None = 0, signal: int | None = None) -> None:
        """Nothing is kept."""


def _masters() -> set[int]:
    """Our ends of terminals that were made by this process, or by one that should have kept its own."""
    found = set()
    with contextlib.suppress(OSError):
        master = os.stat("/dev/ptmx").st_rdev  # noqa: PTH116
        for name in os.listdir("/dev/fd"):  # noqa: PTH208
            # The one that the directory was read through is there no more.
            with contextlib.suppress(OSError):
                if os.fstat(int(name)).st_rdev == master:
                    found.add(int(name))
    return found
