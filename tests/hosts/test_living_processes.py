"""
Programs that nobody has described, on terminals of their own: those that talk to a model have a light while they do,
and those that talk to something else have none. The model is on loopback; all run at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import attrs
import pytest

from tallylight.agents.agent import Agents
from tallylight.evidence import connections
from tallylight.evidence.connections import Tree
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.procfs import ProcTable
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.pane import Look, Pane
from tallylight.recordings.grid import Grid
from tallylight.wire.scanner import Scanner
from tests.patience import patient

AGENTS = ["repl", "full screen", "without motion", "proxy", "websocket", "server", "beside", "two", "retries"]
OTHERS = ["upload", "follow", "poll", "database"]
PROGRAM = Path(__file__).with_name("living_agent.py")
QUESTION = "why is lamp 7 red"
#: Seconds until the model says its first word, and until its last; it says one every tenth.
THINKS_S, SAYS_S = 2.5, 3.0
TICK_S = 0.25


class Model(BaseHTTPRequestHandler):
    """What all of them talk to. `turns` has when each answer began and ended, by its program."""

    protocol_version = "HTTP/1.1"
    server: Serving

    def do_CONNECT(self) -> None:
        self.close_connection = False
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        if self.path == "/ws":
            self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
            while self._has_more():
                with self.server.turn(self.client_address):
                    time.sleep(THINKS_S)
                    for _ in range(int(SAYS_S * 10)):
                        self.wfile.write(b"\x81\x7e" + b"word " * 30)
                        time.sleep(0.1)
                    self.wfile.write(b"[END]")
            return
        self._begin()
        for _ in range(3 if self.path == "/poll" else 1000):
            with contextlib.suppress(OSError):
                self._piece(b"a line of a log\r\n" * 9)
            time.sleep(0.3)
        self._piece(b"")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/busy":
            self.send_error(429)
        elif self.path == "/telemetry":
            self._begin()
            self._piece(b"{}")
            self._piece(b"")
        else:
            with self.server.turn(self.client_address):
                self._begin()
                time.sleep(THINKS_S)
                for _ in range(int(SAYS_S * 10)):
                    self._piece(b"data: " + b"word " * 30)
                    time.sleep(0.1)
            self._piece(b"")

    def _has_more(self) -> bool:
        try:
            return bool(self.connection.recv(1 << 20))
        except OSError:
            return False

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _piece(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Serving(ThreadingHTTPServer):
    """A model of one program's own."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("", 0), Model)
        self.began: float | None = None
        self.ended: float | None = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @contextlib.contextmanager
    def turn(self, _who: object) -> Iterator[None]:
        self.began = self.began or time.monotonic()
        with contextlib.suppress(OSError):
            yield
        self.ended = time.monotonic()


@attrs.define
class Terminal:
    """One program on a terminal of its own, looked at as a host does it."""

    word: str
    model: Serving = attrs.Factory(Serving)
    pid: int = 0
    master: int = -1
    grid: Grid = attrs.Factory(lambda: Grid(80, 24))
    scanner: Scanner = attrs.Factory(Scanner)
    pane: Pane = attrs.field(init=False)
    tree: Tree | None = None
    shown: list[tuple[float, Status]] = attrs.Factory(list)

    def __attrs_post_init__(self) -> None:
        table = ProcTable()
        self.pane = Pane(Timing(), ForegroundReader(Agents(()), table), table)
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execv(
                sys.executable, [sys.executable, str(PROGRAM), self.word.replace(" ", "-"), str(self.model.server_port)]
            )
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

    def draw(self) -> None:
        with contextlib.suppress(OSError):
            self.grid.draw(self.scanner.feed(os.read(self.master, 65536)))

    def look(self, now: float) -> None:
        with contextlib.suppress(OSError):
            self.pane.foreground(os.tcgetpgrp(self.master), now)
        if self.pane.unknown.program is not None:
            self.pane.unknown.program.made_with = ""  # the checkout around it says more than a program would
        grid = self.grid
        self.pane.screen(lambda: Look(grid.lines, grid.cursor_row, grid.cursor_column, 80, grid.cursor_visible), now)
        self.pane.tick(now)
        self.shown.append((now, self.pane.decision.status))

    def wanted(self, now: float) -> Tree | None:
        process = self.pane.processes.process
        if process is None or not self.pane.processes.due(now):
            return None
        if self.tree is None or self.tree.pid != process.pid:
            self.tree = Tree(ProcTable(), process.pid)
        return self.tree

    def close(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        os.close(self.master)
        os.waitpid(self.pid, 0)
        self.model.shutdown()
        self.model.server_close()


def tick(terminals: list[Terminal], until: float) -> None:
    """Look at all of them four times a second, and sample what is due."""
    due = time.monotonic()
    while (now := time.monotonic()) < until:
        ready, _, _ = select.select([one.master for one in terminals], [], [], max(0.0, due - now))
        for one in terminals:
            if one.master in ready:
                one.draw()
        if time.monotonic() < due:
            continue
        due += TICK_S
        now = time.monotonic()
        for one in terminals:
            one.look(now)
        wanted = {index: tree for index, one in enumerate(terminals) if (tree := one.wanted(now)) is not None}
        for index, sample in zip(wanted, connections.look(list(wanted.values())), strict=True):
            process = terminals[index].pane.processes.process
            assert process is not None
            terminals[index].pane.sampled(process.run, sample, time.monotonic())


def played(words: list[str]) -> list[Terminal]:
    """All of them, with a question typed into each, until a while after their answers."""
    terminals = [Terminal(word) for word in words]
    try:
        tick(terminals, time.monotonic() + patient(4))
        for text in (QUESTION[:4], QUESTION[4:], "\n"):
            for one in terminals:
                os.write(one.master, text.encode())
            tick(terminals, time.monotonic() + 1)
        end = time.monotonic() + patient(THINKS_S + SAYS_S + 10)
        while time.monotonic() < end and any(one.model.ended is None for one in terminals if one.word in AGENTS):
            tick(terminals, time.monotonic() + TICK_S)
        tick(terminals, time.monotonic() + 5)
    finally:
        for one in terminals:
            one.close()
    return terminals


@pytest.mark.slow
def test_what_talks_to_a_model_and_what_does_not() -> None:
    found = played([*AGENTS, *OTHERS])
    shares = {}
    for one in found:
        began, ended = one.model.began, one.model.ended
        lit = [at for at, status in one.shown if status is Status.WORKING]
        if one.word in OTHERS:
            assert not lit, one.word
            assert {status for _, status in one.shown} == {Status.ACTIVE}, one.word
            continue
        assert began is not None and ended is not None, (one.word, one.grid.lines)
        inside = [status for at, status in one.shown if began + 1 <= at <= ended]
        outside = [at for at in lit if not began <= at <= ended + 2]
        shares[one.word] = sum(status is Status.WORKING for status in inside) / len(inside), len(outside)
    assert {word: share for word, share in shares.items() if share[0] < 0.85 or share[1] > 2} == {}
