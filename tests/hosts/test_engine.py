"""The engine of a host: whose turn it is to be looked at, and what of it is told."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.config.settings import Config
from tallylight.hosts.engine import FEW_PANES, HIDDEN_EVERY, LOOKS_A_CHECK, VISIBLE_EVERY, Engine
from tallylight.hosts.jobs import at_once
from tallylight.hosts.store import Store
from tallylight.model.jobs import Done, ignored
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.pane.entry import pane_entry
from tallylight.pane.known import NEW_PROGRAM_LOOKS
from tallylight.pane.pane import Pane
from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.tracker.notify import Notice, Notifier, Settings, View
from tests.hosts.test_pane import CLAUDE, SHELL, HandTable

MANY = 100


class HandEngine(Engine[int]):
    """
    A host of panes with shells, each in the same place; it notes what it looks at and what it makes entries of.

    As the real hosts it lets the engine do its steps; a test says when.
    """

    SLICE_S = 60.0

    def __init__(self, home: Path, panes: int, agents: Agents | None = None) -> None:
        environ = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
        self.now, self.took, self.place = 100.0, 0.0, "here"
        self.looked: list[int] = []
        self.made: list[int] = []
        self.jobs: list[tuple[Callable[[], object], Callable[[object], None]]] = []
        self.group, self.table = SHELL.pid, HandTable(str(home))
        super().__init__(
            "sessions",
            environ,
            config=Config(),
            agents=agents or Agents(()),
            table=self.table,
            submit=self._submit,
            store=Store("sessions", environ, at_once),
            clock=lambda: self.now,
        )
        #: By how many seconds the clock on the wall was set.
        self.wall = 0.0
        self._store.epoch.clock = lambda: self.now + self.wall
        for id_ in range(panes):
            self._add(id_, self.now)

    def _submit(self, _key: object, job: Callable[[], Any], done: Done[Any] = ignored, _failed: object = None) -> bool:
        """Have *job* done after this tick, as a worker would."""
        self.jobs.append((job, done))
        return True

    def guarded(self, feature: str, call: Callable[..., None]) -> Callable[..., None]:
        return call

    def _report_fault(self, id_: int, fault: str) -> None:
        raise AssertionError(fault)

    def _look(self, id_: int, pane: Pane, now: float) -> None:
        self.looked.append(id_)
        self.took += 1.0
        pane.foreground(self.group, now)

    def _host_values(self, id_: int) -> object:
        return self.place

    def _entry(self, id_: int, pane: Pane, epoch: Callable[[float], float]) -> PaneEntry:
        self.made.append(id_)
        return pane_entry(pane, epoch, id_=str(id_), tab=self.place, os_window="", title="")

    def tick(self, *in_front: int) -> list[int]:
        """Let a tick pass; the panes that were looked at."""
        self.now += self.config.poll_s
        self.looked, self.made = [], []
        self._begin_tick(self.now, in_front)
        self._look_at_due(self.now)
        while self.jobs:
            job, done = self.jobs.pop(0)
            done(job())
        self._decide_touched(self.now)
        return self.looked

    @property
    def due(self) -> float:
        """When something is to be done before the next tick."""
        return self._due(self.now)

    def go_on(self) -> list[int]:
        """Go on with the tick; the panes that were looked at."""
        return self._look_at_due(self.now)

    def say(self, id_: int, words: str) -> None:
        """The program in a pane says what it does, between two ticks."""
        self.panes[id_].user_variable(words, self.now)
        self._touched.add(id_)
        self._decide_touched(self.now)

    def close(self, id_: int) -> None:
        """A pane is gone."""
        self._remove(id_)

    def publish(self) -> bool:
        """Write what is new; whether something was written."""
        return self._publish(self.now)

    def entries(self) -> list[PaneEntry]:
        """All that is told now."""
        return list(self._entries(self.panes).values())

    @contextlib.contextmanager
    def published(self) -> Iterator[None]:
        """Keep a snapshot open meanwhile."""
        self._store.open()
        yield
        self._store.close()

    def settled(self) -> HandEngine:
        for _ in range(2 * NEW_PROGRAM_LOOKS):
            self.tick()
        return self


def test_few_are_looked_at_in_every_tick(tmp_path: Path) -> None:
    """As long as they are few, it does not matter that nothing happens."""
    engine = HandEngine(tmp_path, FEW_PANES).settled()
    assert [engine.tick() for _ in range(3)] == [list(range(FEW_PANES))] * 3


def test_many_take_turns(tmp_path: Path) -> None:
    """
    Each in which nothing happens is looked at once in `HIDDEN_EVERY` ticks; one in front of a person twice a second.
    """
    engine = HandEngine(tmp_path, MANY).settled()
    ticks = [engine.tick(7) for _ in range(HIDDEN_EVERY)]
    assert max(map(len, ticks)) <= -(-MANY // HIDDEN_EVERY) + 1
    assert {id_ for looked in ticks for id_ in looked} == set(range(MANY))
    assert sum(7 in looked for looked in ticks) == HIDDEN_EVERY // VISIBLE_EVERY


@pytest.mark.slow
def test_what_shows_something_is_looked_at_in_every_tick(tmp_path: Path) -> None:
    """A command that starts, and a light, bring a pane back into every tick."""
    engine = HandEngine(tmp_path, MANY).settled()
    engine.panes[3].marked(True, None, engine.now)
    engine.say(3, "")
    engine.say(5, "state=working;tool=mine")
    ticks = [engine.tick() for _ in range(HIDDEN_EVERY)]
    assert all({3, 5} <= {*looked} for looked in ticks)


def test_a_slice_is_enough_for_all_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each takes half of a slice, a call ends soon after its slice, and the next goes on where it ended."""
    engine = HandEngine(tmp_path, 40)
    monkeypatch.setattr(time, "thread_time", lambda: engine.took)
    monkeypatch.setattr(HandEngine, "SLICE_S", 2.0)
    assert engine.tick() == list(range(LOOKS_A_CHECK))
    while engine.due < float("inf"):
        assert len(engine.go_on()) == LOOKS_A_CHECK
    assert engine.looked == list(range(40))


def test_one_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no longer looked at, whosever turn it was, nor told of."""
    engine = HandEngine(tmp_path, 12)
    monkeypatch.setattr(HandEngine, "SLICE_S", 0.0)
    assert engine.tick() == []
    engine.close(0)
    monkeypatch.setattr(HandEngine, "SLICE_S", 60.0)
    assert engine.go_on() == list(range(1, 12))
    assert set(engine.panes) == set(range(1, 12))


def test_entries_are_made_where_something_is_new(tmp_path: Path) -> None:
    """Of a pane that was told something, of one that has moved, and of all when the clock was set."""
    engine = HandEngine(tmp_path, 3).settled()
    engine.entries()
    engine.tick()
    assert engine.entries() and engine.made == []
    engine.panes[1].user_variable("state=working;tool=mine", engine.now)
    engine.tick()
    assert engine.entries() and engine.made == [1]
    engine.place = "there"
    engine.tick()
    before = engine.entries()
    assert {entry.place.tab for entry in before} == {"there"}
    engine.wall = HOUR
    engine.tick()
    moved = [later.since - sooner.since for later, sooner in zip(engine.entries(), before, strict=True)]
    assert moved == pytest.approx([HOUR] * 3)


def test_what_is_told_is_written_when_it_may_be(tmp_path: Path) -> None:
    """At once, and after that as often as a snapshot is written."""
    tmp_path.chmod(0o700)
    engine = HandEngine(tmp_path, 1)
    with engine.published():
        engine.tick()
        assert engine.publish()
        engine.say(0, "state=working;tool=mine")
        assert not engine.publish()
        assert engine.now < engine.due < engine.now + 1
        engine.now = engine.due
        assert engine.publish()
        (found,) = writer.read_snapshots(tmp_path / "tallylight")[0]
        assert [pane.agent for pane in found.panes] == ["mine"]


#: What an agent says and a person does, by the tick in which it happens.
DAY: dict[int, Callable[[Pane, float], object]] = {
    4: lambda pane, now: pane.tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING), now),
    12: lambda pane, now: pane.tracker.report(QUESTION, now),
    24: lambda pane, now: pane.tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING), now),
    40: lambda pane, now: pane.tracker.report(Report(source=Source.PROTOCOL, status=Status.DONE), now),
    70: lambda pane, now: pane.tracker.report(Report(source=Source.PROTOCOL, status=Status.WORKING), now),
    82: lambda pane, now: pane.tracker.command_end(0, now),
}
QUESTION = Report(source=Source.PROTOCOL, status=Status.WAITING, kind=Kind.PERMISSION, message="May I?")
#: When the agent comes, and when it is gone.
COMES, GOES = 2, 80
#: When a person looks at it, and no more.
LOOKS, LEAVES = 52, 64
TICKS, HOUR = 100, 3600.0


def live(home: Path, suspended: int, wall: float = 0.0) -> tuple[list[tuple[object, ...]], list[str]]:
    """
    What is shown after each tick, and all that a person is notified of.

    An hour in which nothing runs passes before the tick *suspended*, or the *wall* clock is set by so many seconds.
    """
    engine = HandEngine(home, 1, agent_files.load_agents({"HOME": str(home)})[0])
    notifier, pane = Notifier(Settings(min_turn_s=0.0)), engine.panes[0]
    told, shown, is_visible = list[str](), list[tuple[object, ...]](), False
    for tick in range(TICKS):
        if tick == suspended:
            engine.wall = wall
            engine.now += 0.0 if wall else HOUR
        if tick == GOES:
            del engine.table.processes[CLAUDE.pid]
        engine.group = CLAUDE.pid if COMES <= tick < GOES else SHELL.pid
        engine.tick()
        if tick in DAY:
            DAY[tick](pane, engine.now)
        is_visible = LOOKS <= tick < LEAVES
        pane.look(is_visible, engine.now)
        decision, seen = pane.decision, pane.attention.seen
        shown.append((decision.status, decision.kind, decision.reason.rule, seen))
        view = View(decision=decision, visible=is_visible, seen=seen)
        notice = notifier.look("0", view, engine.now, 0)
        if isinstance(notice, Notice):
            told.append(f"{notice.status}: {notice.title}, {notice.body}")
    return shown, told


@pytest.mark.slow
def test_a_day_in_which_the_clock_jumps(tmp_path: Path) -> None:
    """Before any tick, an hour's suspend or a clock set by an hour: no light is another, none is told twice or lost."""
    shown, told = live(tmp_path, TICKS)
    assert [status for status, _ in itertools.groupby(one[0] for one in shown)] == [
        *(Status.ACTIVE, Status.IDLE, Status.WORKING, Status.WAITING, Status.WORKING, Status.DONE, Status.IDLE),
        *(Status.WORKING, Status.DOWN, Status.DONE),
    ]
    assert told == ["waiting: claude asks for permission, May I?", "done: claude is done, "]
    changed = [
        (tick, wall)
        for tick in range(TICKS)
        for wall in (0.0, HOUR, -HOUR)
        if live(tmp_path, tick, wall) != (shown, told)
    ]
    assert changed == []
