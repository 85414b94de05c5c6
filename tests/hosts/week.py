"""
A week of 50 agents in some seconds: a clock that jumps, agents and panes that come and go, the real host around them.

The host is kitty's or a polling one; its threads are none here (a job is done where it is submitted), its clock, its
process table and its screens are made by hand, its files are real. A round is one turn of every agent: they work, some
ask, all end; then the machine is suspended until the next one.
"""

from __future__ import annotations

import importlib
import os
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest

from tallylight.evidence import process_table
from tallylight.evidence.process import Process
from tallylight.hosts import worker
from tallylight.hosts.jobs import run_job
from tallylight.hosts.polling import host as polling_host
from tallylight.hosts.polling.host import PollingHost, SourcePane
from tallylight.model.jobs import Done, Failed, ignored
from tallylight.model.queued import Queued
from tallylight.snapshot import requests
from tallylight.snapshot.requests import Request
from tallylight.wire.envelope import CARRIER
from tests.hosts.detached.polling import HandSource
from tests.hosts.kitty.fakes import Boss, Kitty
from tests.hosts.test_pane import AIDER, CLAUDE, CODEX, CRUSH, SHELL, HandTable, rows, status_file

#: Whether the whole week is lived, which takes minutes.
IS_WHOLE = bool(os.environ.get("TALLYLIGHT_WEEK"))
AGENTS = 50 if IS_WHOLE else 12
#: Rounds of a week: 2,000 turns.
WEEK = 40
SECONDS_OF_A_WEEK = 7 * 86_400.0
#: What an agent says and draws in one turn.
STEPS = 2
#: An agent is started anew in every so many rounds, and its pane is another one in every so many.
RESTARTS, REPLACED = 7, 11
KINDS = CLAUDE, CRUSH, AIDER, CODEX


class Clock:
    """Seconds since some start, and since the epoch: what the machine sleeps counts for the latter alone."""

    def __init__(self) -> None:
        self.now, self.wall = 1000.0, 1_790_000_000.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.wall

    def let_pass(self, seconds: float) -> None:
        self.now += seconds
        self.wall += seconds


class Inline:
    """`Jobs` without threads: a job is done when it is submitted, its result is delivered as ever."""

    def __init__(self, deliver: Callable[[Callable[[], None]], None], *_: object) -> None:
        self._deliver = deliver
        self._busy: set[Hashable] = set()

    @property
    def is_waiting(self) -> bool:
        return bool(self._busy)

    def is_busy(self, key: Hashable) -> bool:
        return key in self._busy

    def hung(self) -> list[Hashable]:
        return []

    def replace_hung(self) -> None:
        """There is no thread."""

    def submit(
        self,
        key: Hashable,
        job: Callable[[], object],
        done: Done[object] = ignored,
        failed: Failed = ignored,
    ) -> bool:
        if key in self._busy:
            return False
        self._busy.add(key)
        call = run_job(job, done, failed)

        def deliver() -> None:
            self._busy.discard(key)
            call()

        self._deliver(deliver)
        return True


@attrs.define(eq=False)
class Spot:
    """One place for an agent: the pane that it is in at the moment, its process, its screen and its title."""

    number: int
    pane: int = 0
    pid: int = 0
    lines: tuple[str, ...] = ("$",)
    title: str = ""


class Life(ABC):
    """The agents and the host of them. *home* has all files of both."""

    #: Which host it is, as in the names of its files.
    host: str

    def __init__(self, home: Path, clock: Clock, table: HandTable) -> None:
        self.home, self.clock, self.table = home, clock, table
        self.spots = [Spot(number) for number in range(AGENTS)]
        self._pids, self._panes, self.rounds = 1000, 0, 0
        self.begin()
        for spot in self.spots:
            self._replace(spot)

    @abstractmethod
    def begin(self) -> None:
        """The host starts."""

    @abstractmethod
    def end(self) -> None:
        """The host ends, and is not told."""

    @abstractmethod
    def opened(self, spot: Spot) -> None:
        """There is a new pane."""

    @abstractmethod
    def closed(self, spot: Spot) -> None:
        """The pane of *spot* is gone."""

    @abstractmethod
    def told(self, spot: Spot) -> None:
        """Its title, or who is in its foreground, is another one."""

    @abstractmethod
    def say(self, spot: Spot, words: str) -> None:
        """A program reports; nobody hears it where no carrier leads to the host."""

    @abstractmethod
    def tick(self) -> None:
        """The host looks."""

    @abstractmethod
    def queue(self, spot: Spot, queued: Queued) -> None:
        """A text waits."""

    def problems(self) -> dict[str, str]:
        """What is wrong, beside what kitty's log says."""
        return {}

    @abstractmethod
    def forget_shown(self) -> None:
        """Drop what stays in the fakes alone."""

    def restart(self) -> None:
        """The host ends, and another one takes its place."""
        self.end()
        self.begin()
        for spot in self.spots:
            self.opened(spot)

    # What happens ---------------------------------------------------------------------------------------------

    def _replace(self, spot: Spot) -> None:
        if spot.pane:
            self._stop(spot)
            self.closed(spot)
        self._panes += 1
        spot.pane, spot.lines, spot.title = self._panes, ("$",), ""
        self.opened(spot)
        self._start(spot)

    def _start(self, spot: Spot) -> None:
        self._pids += 1
        kind: Process = KINDS[spot.number % len(KINDS)]
        spot.pid = self._pids
        self.table.processes[spot.pid] = attrs.evolve(kind, pid=spot.pid, pgrp=spot.pid, start=10 * spot.pid)
        self._status(spot, "idle")
        self.told(spot)

    def _stop(self, spot: Spot) -> None:
        self.table.processes.pop(spot.pid, None)
        (self.home / f".claude/sessions/{spot.pid}.json").unlink(missing_ok=True)
        spot.pid, spot.title = SHELL.pid, "bash"
        self.told(spot)

    def _status(self, spot: Spot, status: str) -> None:
        if KINDS[spot.number % len(KINDS)] is CLAUDE:
            session, cwd = f"s-{self.rounds}-{spot.number}", f"/w/project-{self.rounds}-{spot.number}"
            status_file(
                str(self.home), spot.pid, status=status, procStart=str(10 * spot.pid), sessionId=session, cwd=cwd
            )

    def _ticks(self, number: int, seconds: float = 0.25) -> None:
        for _ in range(number):
            self.clock.let_pass(seconds)
            self.tick()

    def round(self) -> None:
        """One turn of every agent, and what else happens in three hours."""
        number = self.rounds = self.rounds + 1
        for spot in self.spots:
            age = number + spot.number
            if age % REPLACED == 0:
                self._replace(spot)
            elif age % RESTARTS == 0:
                self._stop(spot)
        self._ticks(3)
        for spot in self.spots:
            if spot.pid == SHELL.pid:
                self._start(spot)
        self._ticks(3)
        for step in range(STEPS):
            for spot in self.spots:
                spot.lines = tuple(f"line {number} {spot.number} {step} {row}" for row in range(8))
                spot.title = f"{'⠂⠐'[step % 2]} Task {number} of {spot.number}"
                self._status(spot, "busy")
                self.told(spot)
                self.say(spot, f"state=working;tool=scout;session=s{number};message=step {step} of {number}")
                self.say(spot, f"state=working;tool=scout;id=task-{number}-{step};message=a subagent")
                self.say(spot, f"state=working;tool=scout;id=hook;at={1000 * number + step};of=t{number}")
            self._ticks(2)
        self._ask(number)
        for spot in self.spots:
            spot.lines = (f"It is done: {number}", "", "> ")
            spot.title = f"✳ Task {number} of {spot.number}"
            self._status(spot, "idle")
            self.told(spot)
            for step in range(STEPS):
                self.say(spot, f"state=clear;id=task-{number}-{step}")
            self.say(spot, "state=clear;id=hook")
            self.say(spot, f"state=done;tool=scout;session=s{number};message=all of {number}")
        self._ticks(4)
        self._ticks(4, 2.5)
        self._suspend(SECONDS_OF_A_WEEK / WEEK - 20, is_stopped=number % 3 == 0)

    def _ask(self, number: int) -> None:
        for spot in self.spots:
            if (number + spot.number) % 5 == 0:
                spot.lines = ("Do you want to proceed?", "❯ 1. Yes", f"  2. No, {number}", "", "Esc to cancel")
                self._status(spot, "waiting")
                self.say(spot, f"state=waiting;tool=scout;kind=permission;message=Run {number}?")
                self.told(spot)
            if (number + spot.number) % 5 == 1:
                self.queue(spot, Queued(pid=spot.pid, start=10 * spot.pid, text=f"Go on with {number}"))
        for spot in self.spots[::6]:
            requests.send(f"{self.host}-{os.getpid()}", Request("snooze", self.id_of(spot)))
        self._ticks(6)

    def id_of(self, spot: Spot) -> str:
        """The id of its pane."""
        return str(spot.pane)

    def _suspend(self, seconds: float, *, is_stopped: bool) -> None:
        """The machine sleeps, or the process was stopped: then the monotonic clock went on."""
        if is_stopped:
            self.clock.let_pass(seconds)
        else:
            self.clock.wall += seconds
        self._ticks(2)

    # What is left ---------------------------------------------------------------------------------------------

    def files(self) -> Counter[str]:
        """How many files there are, by the folder in the home."""
        found = [path for path in self.home.rglob("*") if not path.is_dir()]
        return Counter(str(path.parent.relative_to(self.home)) for path in found)


class KittyLife(Life):
    """In kitty, as its watcher is called."""

    host = "kitty"

    def __init__(self, home: Path, clock: Clock, table: HandTable, kitty: Kitty) -> None:
        self.kitty = kitty
        self.boss = Boss()
        self.watcher: Any = None
        super().__init__(home, clock, table)

    def begin(self) -> None:
        self.watcher = importlib.import_module("tallylight.hosts.kitty.watcher")
        self.watcher.start(self.boss)
        self._host._files.clock = self.clock.monotonic

    @property
    def _host(self) -> Any:
        return self.watcher.running()

    def end(self) -> None:
        self.watcher._host = None
        self.kitty.timers.clear()
        self.boss = Boss()

    def opened(self, spot: Spot) -> None:
        window = self.boss.open(spot.pane, spot.pid or SHELL.pid)
        window.os_window_id = 1
        self.boss.arrange(*([id_] for id_ in self.boss.window_id_map))

    def closed(self, spot: Spot) -> None:
        window = self.boss.window_id_map.pop(spot.pane)
        self.boss.arrange(*([id_] for id_ in self.boss.window_id_map))
        self.watcher.on_close(self.boss, window, {})

    def told(self, spot: Spot) -> None:
        window = self.boss.window_id_map[spot.pane]
        window.child.child_fd = spot.pid
        window.screen.text = "\n".join(spot.lines)
        if spot.title != window.child_title:
            window.title = window.child_title = spot.title
            self.watcher.on_title_change(self.boss, window, {"title": spot.title, "from_child": True})

    def say(self, spot: Spot, words: str) -> None:
        window = self.boss.window_id_map[spot.pane]
        if spot.number % len(KINDS) == 1:
            self.watcher.on_set_user_var(self.boss, window, {"key": CARRIER, "value": words})

    def queue(self, spot: Spot, queued: Queued) -> None:
        self._host.panes[spot.pane].queue(queued)

    def forget_shown(self) -> None:
        self.boss.notification_manager.shown.clear()

    def tick(self) -> None:
        self.kitty.run_repeats()
        self.kitty.run_soon()


class PollingLife(Life):
    """Beside the multiplexers."""

    host = "sessions"

    def begin(self) -> None:
        self.source = HandSource()
        self.source.told = Last()
        self.poller = PollingHost(
            self.host, [self.source], dict(os.environ), table=self.table, clock=self.clock.monotonic
        )

    def end(self) -> None:
        self.poller.close()

    def opened(self, spot: Spot) -> None:
        self._show()

    def closed(self, spot: Spot) -> None:
        """The source shows what there is."""

    def told(self, spot: Spot) -> None:
        self._show()

    def id_of(self, spot: Spot) -> str:
        return f"tmux/1/%{spot.pane}"

    def _show(self) -> None:
        self.source.source_panes = [
            SourcePane(
                id=self.id_of(spot),
                group=spot.pid or SHELL.pid,
                title=spot.title,
                read=lambda spot=spot: rows(*spot.lines),  # type: ignore[misc]
                visible=spot.number % 2 == 0,
            )
            for spot in self.spots
            if spot.pane
        ]

    def say(self, spot: Spot, words: str) -> None:
        """No carrier leads here."""

    def queue(self, spot: Spot, queued: Queued) -> None:
        pane = self.poller.pane(self.id_of(spot))
        assert pane is not None
        pane.queue(queued)

    def problems(self) -> dict[str, str]:
        return self.poller.problems

    def forget_shown(self) -> None:
        """The source keeps the last only."""

    def tick(self) -> None:
        for _ in range(2):
            self.poller.step(self.clock.now)


@contextmanager
def lives(kind: type[Life], home: Path, kitty: Kitty, jobs: type) -> Iterator[Callable[[], Life]]:
    """Makes the one life of a test, with *jobs* in place of the threads of its host; clock and processes are ours."""
    clock, table = Clock(), HandTable(str(home))
    begun: list[Life] = []

    def begin() -> Life:
        begun.append(KittyLife(home, clock, table, kitty) if kind is KittyLife else PollingLife(home, clock, table))
        return begun[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "Jobs", jobs)
        patch.setattr(polling_host, "Jobs", jobs)
        patch.setattr(process_table, "_table", table)
        patch.setattr(time, "monotonic", clock.monotonic)
        patch.setattr(time, "time", clock.time)
        yield begin
        for life in begun:
            life.end()


class Last(list[Any]):
    """A list of the last thing only."""

    def append(self, what: Any) -> None:
        self[:] = [what]
