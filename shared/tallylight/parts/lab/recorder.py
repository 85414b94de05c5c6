"""
A recorder: a relay's core that passes everything to another one, and records it with a host's view.

Four times a second it looks at the foreground of the program's terminal and at the files of its agent, as a host does.
`Sink` is the file, `Recorder` the core in front of another.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
import time
from collections.abc import Callable

from tallylight.agents import agent_files
from tallylight.config import config_file
from tallylight.evidence import process_table
from tallylight.model.report import Report, Source
from tallylight.model.timing import Timing
from tallylight.pane.pane import Pane
from tallylight.parts.lab.asciicast import Encoder, Event, Header, Input, Output, Resize, What
from tallylight.parts.lab.events import Exit, ForegroundChange, Program
from tallylight.relay.passing import Core
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tallylight.ui.layout import clean
from tallylight.wire.title import TITLE_LIMIT

#: How often, in seconds, the foreground and the agent's files are looked at. A turn that has just ended is looked at
#: again sooner, for its transcript to show how. These are a host's own times.
RECORDER_LOOK_S, RECORDER_SOON_S = 0.25, 0.05
#: The most bytes that wait for the next look before they are written.
BUFFER_BYTES = 1 << 16
#: A title in one piece, as agents write it; a title alone never decides which program is in the foreground.
_TITLE = re.compile(rb"\x1b\][02];([^\x07\x1b]{0,%d})(?:\x07|\x1b\\)" % TITLE_LIMIT)


class Sink:
    """The file: each event becomes a line, and a failed write is the last. *start* is its time 0, monotonic."""

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
        if not self._problem:
            self._buffer += self._encoder.event(Event(max(0.0, now - self._start), what))
            if len(self._buffer) >= BUFFER_BYTES:
                self.flush()

    def flush(self) -> None:
        """Write the buffer."""
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
            # Up to the end of a line. If that fails too, the last one is incomplete.
            at = data.rfind(b"\n", 0, at) + 1
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, self._size + at)
        self._size += at

    def close(self) -> None:
        """Write the buffer and print the error, if there was one: the terminal is restored by now."""
        self._buffer += self._encoder.finish()
        self.flush()
        os.close(self._fd)
        if self._problem:
            sys.stderr.write(f"tally record: {self._problem}\n")


class Recorder(Core):
    """
    A relay's core that passes everything to another one, and records it with a host's view.

    *outer* is the terminal around it, *inner* our end of the program's.
    """

    def __init__(self, core: Core, sink: Sink, outer: int, inner: int, *, with_input: bool = False) -> None:
        self._sink = sink
        self._core = core
        self._outer = outer
        self._inner = inner
        self._with_input = with_input
        self._size = os.get_terminal_size(outer)
        self._due = time.monotonic()
        self._is_over = False
        agents, _ = agent_files.load_agents(os.environ)
        table = process_table.table()
        timing = config_file.load_config(os.environ)[0].timing
        self._reader = process_table.ForegroundReader(agents, table)
        self._program: Program | None = None
        self._pane = Pane(timing, self._reader, table, tracker=_Witness(timing, sink.write))

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
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(self._outer)
            if size != self._size and all(size):
                self._size = size
                self._sink.write(Resize(size.columns, size.lines), now)
        self._core.resized(now)

    def finished(self, now: float, exit_code: int | None = 0, signal: int | None = None) -> None:
        self._is_over = True
        self._core.finished(now, exit_code, signal)
        self._sink.write(Exit(exit_code, signal), now)
        self._record_foreground(0, now)

    def to_terminal(self) -> bytes:
        return self._core.to_terminal()

    def to_child(self) -> bytes:
        return self._core.to_child()

    # A host's view ----------------------------------------------------------------------------------------------

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
            try:
                group = os.tcgetpgrp(self._inner)
            except OSError:
                group = 0
            self._record_foreground(group, now)
            self._sink.flush()
            self._due = now + (RECORDER_SOON_S if self._pane.is_undecided else RECORDER_LOOK_S)

    def _record_foreground(self, group: int, now: float) -> None:
        """Record the foreground group *group* and the files of its agent, as a host would see them."""
        self._pane.foreground(group, now)
        found = self._reader.look(group)
        program = Program.of(found.process) if found.unknown and found.process is not None else None
        if program is not None and program != self._program:
            self._program = program
            self._sink.write(program, now)
        for request in self._pane.requests():
            self._pane.take_result(request, request.read(), now)


class _Witness(Tracker):
    """A tracker that records those inputs that the output does not contain."""

    def __init__(self, timing: Timing, record: Callable[[What, float], None]) -> None:
        super().__init__(timing)
        self._record = record

    def foreground(self, foreground: Foreground | None, now: float, *, is_gone: bool = True) -> None:
        if foreground != self._foreground:
            self._record(ForegroundChange(foreground, is_gone), now)
        super().foreground(foreground, now, is_gone=is_gone)

    def report(self, report: Report, now: float, since: float = math.inf) -> None:
        if report.source in (Source.REGISTRY, Source.RECORD):
            self._record(report, now)
        super().report(report, now, since)
