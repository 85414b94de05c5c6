"""
What a host has looked up elsewhere is told late, and in any order: no light stays that nothing stands behind, and no
text that waits is typed into another agent, or into one that works or asks.

The hosts are those of a week (`week`); what their threads would do is done here at any later moment, and delivered at
any moment after that. Once all is quiet and everything was delivered, every light is that of what is there.
"""

from __future__ import annotations

import functools
import os
import random
import re
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.evidence.process import Process
from tallylight.hosts.jobs import run_job
from tallylight.model.decision import Decision
from tallylight.model.jobs import Done, Failed, ignored
from tallylight.model.queued import Queued
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.snapshot import writer
from tests.evidence.test_prompts import load
from tests.hosts.kitty import fakes
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.test_pane import CLAUDE, SHELL, VIM
from tests.hosts.week import KINDS, KittyLife, Life, PollingLife, Spot, lives

pytestmark = pytest.mark.slow

SEEDS = range(4)
#: Things that happen in one life, and ticks that are enough for all that is told to be shown.
EVENTS, QUIET = 120, 80
#: How likely a host beside the multiplexers ends with any event, and another one takes its place.
RESTARTS = 0.02
#: How likely a text is queued for an agent before something happens to it.
QUEUED = 0.5
WORKING = ("Writing the tests", "esc to interrupt")
ASKING = ("Do you want to proceed?", "❯ 1. Yes", "  2. No", "", "Esc to cancel")
READY = ("It is done.", "", "> ")
SCREENS = Path(__file__).parents[1] / "evidence/screens/claude"
#: Claude Code's own screens, by the word of its status file.
REAL = {
    word: load(SCREENS / f"{name}.txt")
    for word, name in (("idle", "idle-after-turn-80"), ("busy", "working-80"), ("waiting", "permission-bash-80"))
}


class Late:
    """`Jobs` of which each is done at some step after it was submitted, and delivered at some step after that."""

    chance: random.Random
    #: How likely something goes on in one step.
    speed = 0.3
    made: list[Late]

    def __init__(self, deliver: Callable[[Callable[[], None]], None], *_: object) -> None:
        self._deliver = deliver
        self._waiting: dict[Hashable, Callable[[], Callable[[], object]]] = {}
        self._done: dict[Hashable, Callable[[], object]] = {}
        self.made.append(self)

    @property
    def is_waiting(self) -> bool:
        return False  # nobody is to wait for it

    def is_busy(self, key: Hashable) -> bool:
        return key in self._waiting or key in self._done

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
        if self.is_busy(key):
            return False
        self._waiting[key] = functools.partial(run_job, job, done, failed)
        return True

    def step(self) -> None:
        for key in [key for key in self._done if self.chance.random() < self.speed]:
            self._deliver(self._done.pop(key))
        for key in [key for key in self._waiting if self.chance.random() < self.speed]:
            self._done[key] = self._waiting.pop(key)()


class Deed:
    """What may happen to one agent, by chance."""

    def __init__(self, life: Life, chance: random.Random) -> None:
        self.life, self.chance = life, chance
        self.states: dict[int, str] = {spot.number: "idle" for spot in life.spots}
        #: What became of the agent before the one that is there.
        self.before: dict[int, str] = {}
        #: What was queued, for which agent and process; what was typed.
        self.queued: dict[str, tuple[int, int]] = {}
        self.typed: list[str] = []

    def happens(self) -> None:
        spot = self.chance.choice(self.life.spots)
        if self.states[spot.number] in ("ended", "killed"):
            match self.chance.choice(("start", "command", "command")):
                case "start":
                    self.before[spot.number] = self.states[spot.number]
                    self.life._start(spot)
                    self.shows(spot, "idle", READY)
                case "command":
                    self.in_front(spot, VIM if spot.pid == self.shell(spot) else SHELL)
            return
        if self.chance.random() < QUEUED:
            self.queue(spot)
        match self.chance.choice(("work", "work", "ask", "ask", "finish", "end", "end", "kill", "replace")):
            case "work":
                self.shows(spot, "busy", (*WORKING, str(self.chance.random())))
            case "ask":
                self.shows(spot, "waiting", ASKING)
            case "finish":
                self.shows(spot, "idle", READY)
            case "end":
                self.life._stop(spot)
                self.in_front(spot, SHELL)
                pane = pane_of(self.life, spot)
                # Of one that came and went between two looks nobody has heard.
                is_known = pane is None or pane.agent is not None
                self.shows(spot, "ended" if is_known else self.before.get(spot.number, "ended"), ("$",))
            case "kill":
                del self.life.table.processes[spot.pid]
                spot.title = ""
                self.in_front(spot, SHELL)
                self.shows(spot, "killed", ("$",))
            case "replace":
                self.before.pop(spot.number, None)
                self.life._replace(spot)
                self.shows(spot, "idle", READY)

    def queue(self, spot: Spot) -> None:
        """A text is to wait for the end of the turn."""
        if not isinstance(self.life, KittyLife) or spot.pane not in self.life._host.panes:
            return  # in the others a thread types
        if self.life._host.panes[spot.pane].queued is not None:
            return
        text = f"Go on with {len(self.queued)}"
        self.queued[text] = spot.number, spot.pid
        self.life.queue(spot, Queued(pid=spot.pid, start=10 * spot.pid, text=text))

    def was_typed(self, window: int, typed: str) -> None:
        """Something is typed into a window of kitty."""
        text = re.sub(r"\x1b\[20[01]~|\r", "", typed)
        spot = next(spot for spot in self.life.spots if spot.pane == window)
        self.typed.append(text)
        assert self.queued[text] == (spot.number, spot.pid), f"{text!r} was for another one"
        assert self.states[spot.number] == "idle", f"{text!r} came when it was {self.states[spot.number]}"

    @staticmethod
    def shell(spot: Spot) -> int:
        return 500 + spot.number

    def in_front(self, spot: Spot, kind: Process) -> None:
        """The shell of *spot* has the foreground, or gives it to a program that it runs."""
        spot.pid = self.shell(spot) + (0 if kind is SHELL else 100)
        process = attrs.evolve(kind, pid=spot.pid, pgrp=spot.pid, start=10 * spot.pid)
        self.life.table.processes[spot.pid] = process
        self.life.told(spot)

    def shows(self, spot: Spot, state: str, lines: tuple[str, ...]) -> None:
        self.states[spot.number] = state
        spot.lines, row = lines, 0
        if KINDS[spot.number % len(KINDS)] is CLAUDE and state in REAL:
            screen = REAL[state]
            # No two are the same: a clock runs on them.
            spot.lines, row = (*screen.lines, f" {self.life.clock.now:.2f}"), screen.cursor
        if isinstance(self.life, KittyLife):
            self.life.boss.window_id_map[spot.pane].screen.cursor = fakes.Cursor(2, row)
        if state not in ("ended", "killed"):
            self.life._status(spot, state)
        self.life.told(spot)


def pane_of(life: Life, spot: Spot) -> Pane | None:
    """The host's pane of it, if the host knows of it by now."""
    if isinstance(life, KittyLife):
        pane: Pane | None = life._host.panes.get(spot.pane)
        return pane
    assert isinstance(life, PollingLife)
    return life.poller.pane(life.id_of(spot))


def light(life: Life, spot: Spot) -> Decision:
    """What the host shows of it."""
    pane = pane_of(life, spot)
    assert pane is not None
    return pane.decision


def is_true(spot: Spot, state: str, decision: Decision) -> bool:
    """Whether *decision* may be shown of it, with everything known."""
    if state == "waiting":
        return decision.status is Status.WAITING
    if KINDS[spot.number % len(KINDS)] is not CLAUDE:
        # No file of theirs says whether they work, or went on purpose, and their screens are not those of real ones.
        return state in ("idle", "busy") or decision.status is not Status.WORKING
    if state == "busy":
        return decision.status is Status.WORKING
    if state == "killed" or decision.reason.source is Source.SCREEN:
        # What it asked, or was doing, is news; so it is where no answer came in time to tell that it has a status file.
        return decision.status is not Status.WORKING
    return decision.status not in (Status.WAITING, Status.WORKING, Status.BACKGROUND, Status.DOWN)


@pytest.fixture(params=[KittyLife, PollingLife], ids=["kitty", "sessions"])
def begin(request: pytest.FixtureRequest, fake_home: Path, kitty: Kitty) -> Iterator[Callable[[random.Random], Life]]:
    """Makes a life whose jobs are late by the chance that it is given."""
    with lives(request.param, fake_home, kitty, Late) as begin:

        def late(chance: random.Random) -> Life:
            Late.chance, Late.made = chance, []
            return begin()

        yield late


def let_pass(life: Life, ticks: int) -> None:
    """Time passes, and some of what is done elsewhere comes to its end."""
    for _ in range(ticks):
        for late in Late.made:
            late.step()
        life._ticks(1)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_light_stays_that_nothing_stands_behind(
    begin: Callable[[random.Random], Life], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents start, work, ask, finish and end in any order, with all that is read of them told late."""
    chance = random.Random(seed)
    monkeypatch.setattr(Late, "speed", chance.choice((0.1, 0.3, 0.7)))
    life = begin(chance)
    deed = Deed(life, chance)
    monkeypatch.setattr(fakes.Window, "write_to_child", lambda window, typed: deed.was_typed(window.id, typed))
    for _ in range(EVENTS):
        deed.happens()
        if isinstance(life, PollingLife) and chance.random() < RESTARTS:
            Late.made.clear()
            life.restart()
        let_pass(life, chance.choice((0, 0, 1, 2, 5)))
    let_pass(life, QUIET)
    monkeypatch.setattr(Late, "speed", 1.0)
    let_pass(life, QUIET)

    wrong = []
    for spot in life.spots:
        state, decision = deed.states[spot.number], light(life, spot)
        if not is_true(spot, state, decision):
            kind = KINDS[spot.number % len(KINDS)].comm
            wrong.append(f"{spot.number}, {kind}: {state}, but {decision.status}: {decision.reason}")
    assert not wrong, "\n".join(wrong)
    told = {
        pane.id: pane.status for one in writer.read_snapshots(writer.directory(os.environ))[0] for pane in one.panes
    }
    assert told == {life.id_of(spot): light(life, spot).status for spot in life.spots}

    if isinstance(life, KittyLife):
        ready = [spot for spot in life.spots[:: len(KINDS)] if deed.states[spot.number] == "idle"]
        for spot in ready:
            life._host.panes[spot.pane].queue(None)
            deed.queue(spot)
        let_pass(life, QUIET)
        typed = [deed.queued[text][0] for text in deed.typed[len(deed.typed) - len(ready) :]]
        assert sorted(typed) == [spot.number for spot in ready]
