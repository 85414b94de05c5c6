"""
Agents that live, as they talk to the scripted model: `python -m benchmarks.living [NAME…]`, as root.

A recording has no connections. So each agent is started in a room of its own, and a script plays the person. A host of
one pane looks at it, as `hosts` do: with the agent's file, and as if nobody had described it, each time with and
without its connections. The tables are those of `benchmarks.accuracy`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import threading
import time
import tty
from pathlib import Path

from tests.real_agents.driver import Launch
from tests.real_agents.driver import Pane as Terminal
from tests.real_agents.room import HOME
from tests.real_agents.session import Session

from tallylight import wire
from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.evidence import connections
from tallylight.evidence.connections import Tree
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.procfs import ProcTable
from tallylight.evidence.traffic import Sample
from tallylight.model.timing import Timing
from tallylight.pane.pane import Look, Pane
from tallylight.parts.lab import scoring
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.scanner import Scanner
from tallylight.wire import osc9_4
from tallylight.wire.osc9_4 import ProgressReport
from tallylight.wire.scanner import Sequence
from tallylight.wire.title import Title

NAMES = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "kilo", "aider", "kimi", "pi", "cline")
_POLL_S = 0.25


class Host:
    """A host of one pane, in the room. Its program has a terminal of its own; each light is noted in *log*."""

    def __init__(self, log: Path, without: str, argv: list[str], *, samples: bool) -> None:
        self._log, self._samples = log.open("w", buffering=1), samples
        agents, _ = agent_files.load_agents({"HOME": "/nonexistent"})
        table = ProcTable()
        reader = ForegroundReader(Agents([agent for agent in agents if agent.name != without]), table)
        self._pane = Pane(Timing(), reader, table, sys.exit)
        size = fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8))
        rows, columns, *_ = struct.unpack("HHHH", size)
        self._grid, self._scanner = Grid(columns, rows), Scanner()
        self._tree: tuple[tuple[int, int], Tree] | None = None
        self._sampler: threading.Thread | None = None
        self._sampled: list[tuple[tuple[int, int], Sample]] = []
        self._last = ""
        pid, self._master = pty.fork()
        if pid == 0:
            os.execvp(argv[0], argv)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        tty.setraw(0)

    def run(self) -> None:
        """Pass on what comes and goes, and look four times a second, until the program has ended."""
        due = time.monotonic()
        with contextlib.suppress(OSError):
            while True:
                ready, _, _ = select.select([0, self._master], [], [], max(0.0, due - time.monotonic()))
                now = time.monotonic()
                if 0 in ready:
                    os.write(self._master, os.read(0, 65536))
                if self._master in ready:
                    self._draw(os.read(self._master, 65536), now)
                if now >= due:
                    due = now + _POLL_S
                    self._look(now)
        self._log.write(json.dumps([time.time(), "gone"]) + "\n")

    def _draw(self, data: bytes, now: float) -> None:
        os.write(1, data)
        items = self._scanner.feed(data)
        for item in items:
            match wire.decode(item) if isinstance(item, Sequence) else None:
                case Title(text):
                    self._pane.title(text, now)
                case ProgressReport(state):
                    self._pane.progress(state != osc9_4.CLEAR, now)
        self._grid.draw(items)

    def _look(self, now: float) -> None:
        pane, grid = self._pane, self._grid
        pane.foreground(os.tcgetpgrp(self._master), now)
        look = Look(grid.lines, grid.cursor_row, grid.cursor_column, grid.columns, grid.cursor_visible)
        pane.screen(lambda: look, now)
        pane.tick(now)
        while self._sampled:
            pane.sampled(*self._sampled.pop(0), now)
        process = pane.processes.process
        is_idle = self._sampler is None or not self._sampler.is_alive()
        if self._samples and process is not None and is_idle and pane.processes.due(now):
            if self._tree is None or self._tree[0] != process.run:
                self._tree = process.run, Tree(ProcTable(), process.pid)
            self._sampler = threading.Thread(target=self._sample, args=self._tree, daemon=True)
            self._sampler.start()
        if pane.decision.status != self._last:
            self._last = pane.decision.status
            self._log.write(json.dumps([time.time(), self._last]) + "\n")

    def _sample(self, run: tuple[int, int], tree: Tree) -> None:
        self._sampled += [(run, sample) for sample in connections.samples_of([tree])]


class Living(Session):
    """An agent in front of such a host."""

    without, samples = "", True

    def begin(self, *words: str, argv: list[str] | None = None) -> None:
        """Start it, and do not wait."""
        command = argv or [*self.launch.argv, *words]
        host = [sys.executable, "-m", "benchmarks.living", "--host", str(HOME / "log"), self.without, str(self.samples)]
        env = {**self.launch.env, "PYTHONPATH": os.pathsep.join(sys.path), "TALLY_RELAY": "0"}
        self.truth("starting")
        self.pane = Terminal(self.room, Launch([*host, *command], env, self.launch.cwd), *self._size, answers=True)

    def play(self) -> None:
        """Two commands that are approved, and three answers: one that streams, and two that take thought."""
        self.start()
        self.rest(3)
        for prompt in ("AFTER 4 TOOL mkdir -p one; sleep 3 THEN AFTER 5 SLOW 3", "AFTER 2 TOOL touch two THEN fine"):
            self.turn(prompt)
            if self.manner.permission:
                self.asked("permission")
                self.rest(4)
                self.approve(40)
            else:  # it never asks
                self.mark("done")
            self.rest(5)
            for answer in ("SLOW 6", "THINK 9"):
                self.turn(answer)
                self.mark("done")
                self.rest(5)

    def track(self) -> scoring.Track:
        """The lights that were shown, by the clock on the wall."""
        rows = map(json.loads, (self.home / "log").read_text().splitlines())
        return [(at, status) for at, status in rows]


def measured(name: str, *, is_known: bool, samples: bool) -> scoring.Score:
    """Play an agent once, and compare."""
    session = Living(name)
    with session:
        session.without, session.samples = "" if is_known else name, samples
        session.play()
        truth = session.truths_so_far()
        return scoring.score(truth, session.track(), truth[-1][0])


def main(names: list[str]) -> None:
    """Print a line an agent and a way: missed, false, wrong working."""
    for name in names or NAMES:
        for is_known in (False, True):
            for samples in (False, True):
                score = measured(name, is_known=is_known, samples=samples)
                ways = "its file" if is_known else "no file", "processes" if samples else ""
                shares = score.missed_waiting, score.false_waiting, score.wrong_working
                print(f"{name:10} {ways[0]:9} {ways[1]:10}", *(f"{100 * share:5.1f} %" for share in shares), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--host"]:
        Host(Path(sys.argv[2]), sys.argv[3], sys.argv[5:], samples=sys.argv[4] == "True").run()
    else:
        main(sys.argv[1:])
