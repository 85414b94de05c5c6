"""The engine of a host: whose turn it is to be looked at, and what of it is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tallylight.agents.agent import Agents
from tallylight.config.settings import Config
from tallylight.hosts.engine import A_CHECK, FEW, OFTEN, SELDOM, Engine
from tallylight.hosts.store import Store, at_once
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import EAGER_LOOKS, Pane
from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane as PaneEntry
from tests.hosts.test_pane import SHELL, HandTable

MANY = 100


class HandEngine(Engine[int]):
    """A host of panes with shells, each in the same place; what it looks at is noted."""

    SLICE_S = 60.0

    def __init__(self, home: Path, panes: int) -> None:
        environ = {"HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
        self.now, self.took, self.place = 100.0, 0.0, "here"
        self.looked: list[int] = []
        super().__init__(
            "sessions",
            environ,
            config=Config(),
            agents=Agents(()),
            table=HandTable(str(home)),
            submit=at_once,
            store=Store("sessions", environ, at_once),
            clock=lambda: self.now,
        )
        self._store.epoch.clock = lambda: self.now
        for id_ in range(panes):
            self._add(id_, self.now)

    def guarded(self, feature: str, call: Callable[..., None]) -> Callable[..., None]:
        return call

    def _tell_fault(self, id_: int, fault: str) -> None:
        raise AssertionError(fault)

    def _look(self, id_: int, pane: Pane, now: float) -> None:
        self.looked.append(id_)
        self.took += 1.0
        pane.foreground(SHELL.pid, now)

    def _place(self, id_: int) -> object:
        return self.place

    def _entry(self, id_: int, pane: Pane, epoch: Callable[[float], float]) -> PaneEntry:
        return pane_entry(pane, epoch, id_=str(id_), tab=self.place, os_window="", title="")

    def tick(self, *in_front: int) -> list[int]:
        """Let a tick pass; the panes that were looked at."""
        self.now += self.config.poll_s
        self.looked = []
        self._begin(self.now, in_front)
        self._take_turns(self.now)
        self._settle(self.now)
        return self.looked

    def settled(self) -> HandEngine:
        for _ in range(2 * EAGER_LOOKS):
            self.tick()
        return self


def test_few_are_looked_at_in_every_tick(tmp_path: Path) -> None:
    """As long as they are few, it does not matter that nothing happens."""
    engine = HandEngine(tmp_path, FEW).settled()
    assert [engine.tick() for _ in range(3)] == [list(range(FEW))] * 3


def test_many_take_turns(tmp_path: Path) -> None:
    """Each in which nothing happens is looked at once in `SELDOM` ticks; one in front of a person twice a second."""
    engine = HandEngine(tmp_path, MANY).settled()
    ticks = [engine.tick(7) for _ in range(SELDOM)]
    assert max(map(len, ticks)) <= -(-MANY // SELDOM) + 1
    assert {id_ for looked in ticks for id_ in looked} == set(range(MANY))
    assert sum(7 in looked for looked in ticks) == SELDOM // OFTEN


def test_what_shows_something_is_looked_at_in_every_tick(tmp_path: Path) -> None:
    """A command that starts, and a light, bring a pane back into every tick."""
    engine = HandEngine(tmp_path, MANY).settled()
    engine.panes[3].marked(True, None, engine.now)
    engine.panes[5].carrier("state=working;tool=mine", engine.now)
    engine._touched.update((3, 5))
    engine._settle(engine.now)
    ticks = [engine.tick() for _ in range(SELDOM)]
    assert all({3, 5} <= {*looked} for looked in ticks)


def test_a_slice_is_enough_for_all_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each takes half of a slice, a call ends soon after its slice, and the next goes on where it ended."""
    engine = HandEngine(tmp_path, 40)
    monkeypatch.setattr(time, "thread_time", lambda: engine.took)
    monkeypatch.setattr(HandEngine, "SLICE_S", 2.0)
    assert engine.tick() == list(range(A_CHECK))
    while engine._due(engine.now) < float("inf"):
        before = len(engine.looked)
        engine._take_turns(engine.now)
        assert len(engine.looked) - before == A_CHECK
    assert engine.looked == list(range(40))


def test_one_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no longer looked at, whosever turn it was, nor told of."""
    engine = HandEngine(tmp_path, 12)
    monkeypatch.setattr(HandEngine, "SLICE_S", 0.0)
    engine._begin(engine.now)
    engine._remove(0, engine.now)
    monkeypatch.setattr(HandEngine, "SLICE_S", 60.0)
    assert engine._take_turns(engine.now) == list(range(1, 12))
    assert set(engine.panes) == set(range(1, 12))


def test_entries_are_made_where_something_is_new(tmp_path: Path) -> None:
    """Of a pane that was told something, of one that has moved, and of all when the clock was set."""
    engine = HandEngine(tmp_path, 3).settled()
    made = lambda: [id(entry) for entry in engine._entries(range(3)).values()]  # noqa: E731
    before = made()
    engine.tick()
    assert made() == before
    engine.panes[1].carrier("state=working;tool=mine", engine.now)
    engine.tick()
    assert [one == other for one, other in zip(made(), before, strict=True)] == [True, False, True]
    engine.place = "there"
    engine.tick()
    assert {entry.tab for entry in engine._entries(range(3)).values()} == {"there"}
    before = [entry.since for entry in engine._entries(range(3)).values()]
    engine._store.epoch.clock = lambda: engine.now + 3600
    engine.tick()
    after = [entry.since for entry in engine._entries(range(3)).values()]
    assert [round(later - sooner) for later, sooner in zip(after, before, strict=True)] == [3600] * 3


def test_what_is_told_is_written_when_it_may_be(tmp_path: Path) -> None:
    """At once, and after that as often as a snapshot is written."""
    tmp_path.chmod(0o700)
    engine = HandEngine(tmp_path, 1)
    engine._store.open()
    engine.tick()
    assert engine._publish(engine.now)
    engine.panes[0].carrier("state=working;tool=mine", engine.now)
    engine._touched.add(0)
    engine._settle(engine.now)
    assert not engine._publish(engine.now)
    assert engine.now < (due := engine._due(engine.now)) < engine.now + 1
    assert engine._publish(due)
    (found,) = writer.read_snapshots(tmp_path / "tallylight")[0]
    assert [pane.agent for pane in found.panes] == ["mine"]
    engine._store.close()
