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
import time
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
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.scanner import Scanner
from tests.hosts.living_model import SAYS_S, THINKS_S, Serving
from tests.patience import patient

pytestmark = pytest.mark.slow

AGENTS = [
    "repl",
    "full screen",
    "without motion",
    "proxy",
    "websocket",
    "streams",
    "server",
    "beside",
    "two",
    "retries",
]
OTHERS = ["upload", "follow", "poll", "database"]
PROGRAM = Path(__file__).with_name("living_agent.py")
QUESTION = "why is lamp 7 red"
TICK_S = 0.25


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
        for index, sample in zip(wanted, connections.samples_of(list(wanted.values())), strict=True):
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
