"""A text that waits in a window of kitty: put by the list that kitty opened, typed by a tick, or given up."""

from __future__ import annotations

import importlib
import time
from types import SimpleNamespace

import attrs
import pytest

from tallylight.actions.queue import ENDED, MARGIN_S, READY_S
from tallylight.actions.say import Busy
from tallylight.hosts import night
from tallylight.model.queued import Queued
from tallylight.model.status import Status
from tallylight.parts.shift.steps import WATCH_S
from tests.actions.desk import PID, START, holder, look
from tests.actions.words import asked
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_answers import Kept
from tests.hosts.kitty.test_typist import Pane, Window


@attrs.define
class Queueing(Pane):
    """A pane in which a text can wait."""

    queued: Queued | None = None
    changes: int = 0
    limited_until: float = 0.0

    def queue(self, queued: Queued | None) -> None:
        self.queued = queued
        self.changes += 1


#: When a limit ends, in seconds since the epoch: at 1000 of the clock of a room.
ENDS = 1_800_000_000


class Room:
    """A list over window 3, in which Claude works, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.queue = importlib.import_module("tallylight.hosts.kitty.queue")
        self.window = Window()
        self.host = Kept(look("claude/working-80"), SimpleNamespace(window_id_map={3: self.window}))
        self.pane = self.host.panes[3] = Queueing(holder("claude"), Status.WORKING)
        self.list = importlib.import_module("tallylight.hosts.kitty.agent_list")._List(self.host, None)
        self.now, self.slept, self.start = 1000.0, 0.0, START
        clock = SimpleNamespace(
            monotonic=lambda: self.now,
            time=lambda: ENDS - 1000 + self.now + self.slept,
            clock_gettime=lambda clock: self.now + self.slept * (clock == time.CLOCK_BOOTTIME),
        )
        for module in (self.queue, night):
            monkeypatch.setattr(module, "time", clock)
        table = SimpleNamespace(start=lambda _pid: self.start)
        monkeypatch.setattr(night.process_table, "table", lambda: table)

    def act(self, verb: str, *words: str) -> str:
        return str(self.list.act(asked(verb, *words)).text)

    def put(self, text: str) -> str:
        """`e`, the text, and Enter."""
        taker = self.list.act(asked("prompt_agent", "3"))
        assert isinstance(taker, Busy) and "it is working" in taker.why
        held = taker.holder
        return self.act("queue", held.pane, str(held.pid), str(held.start), text)

    def ticks(self, seconds: float) -> None:
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            self.queue.advance(self.host)

    def ends(self) -> None:
        """The turn ends."""
        self.host.screen = attrs.evolve(look("claude/idle-after-turn-80"), cursor_column=2)
        self.pane.status = Status.DONE


@pytest.fixture
def room(kitty: Kitty, monkeypatch: pytest.MonkeyPatch) -> Room:
    return Room(monkeypatch)


def test_it_is_typed_when_the_turn_has_ended(room: Room) -> None:
    """As a paste with Enter behind it, once; what waits is published when it changes, and not at every tick."""
    assert room.put("one\ntwo").startswith("queued")
    room.ticks(10)
    assert room.window.written == [] and room.pane.changes == 1

    room.ends()
    room.ticks(READY_S - 0.2)
    assert room.window.written == []
    room.ticks(5)
    assert room.window.written == ["\x1b[200~one\ntwo\x1b[201~\r"] and room.pane.queued is None


def test_the_last_one_counts_and_it_can_be_taken_back(room: Room) -> None:
    """One text waits in a pane: another takes its place, and `E` none."""
    assert room.put("first") == room.put("second") == "queued until its turn ends"
    assert room.pane.queued is not None and room.pane.queued.text == "second"

    assert room.act("unqueue", "3") == "nothing is queued for it any more"
    room.ends()
    room.ticks(5)
    assert room.window.written == [] and room.pane.queued is None


def test_it_is_given_up_when_the_agent_has_ended(room: Room) -> None:
    """Another agent in the same window gets nothing; what was written stays there to be read."""
    room.put("Go on")
    room.ends()
    room.start += 1
    room.pane.foreground = holder("claude", start=room.start)
    room.ticks(5)

    assert room.window.written == []
    assert room.pane.queued == Queued(pid=4711, start=START, text="Go on", problem=ENDED) and room.pane.changes == 2


def test_nothing_else_can_be_queued(room: Room) -> None:
    """A process that is not there, a text that is none, a window that is gone, words that make no sense."""
    for words, problem in (
        (("queue", "3", "1", "1", "x"), "another process"),
        (("queue", "3", "4711", str(START), "\x1b"), "cannot be typed"),
        (("queue", "4", "4711", str(START), "x"), "gone"),
        (("unqueue", "4"), "gone"),
    ):  # fmt: skip
        assert problem in room.act(*words)
    assert room.pane.changes == 0

    room.put("Go on")
    del room.host.boss.window_id_map[3]
    room.ticks(1)
    assert room.window.written == []


def test_a_text_for_the_end_of_a_limit(room: Room) -> None:
    """Nothing is typed at the prompt before that; then it is, once; and the text goes when the agent goes on."""
    room.ends()
    room.now = 400.0
    room.pane.limited_until = ENDS
    room.pane.queue(Queued(pid=PID, start=START, text="continue", at=ENDS + MARGIN_S))
    room.ticks(604)
    assert room.window.written == []
    assert room.pane.changes == 2
    room.ticks(4)
    assert len(room.window.written) == 1
    assert room.pane.queued.typed_at
    room.pane.status = Status.DONE
    room.ticks(WATCH_S)
    assert len(room.window.written) == 1 and room.pane.queued is None


def test_a_machine_that_sleeps_over_the_end_of_a_limit(room: Room) -> None:
    """Awake again it types at once: the clock that goes on in its sleep tells that nobody has set the other one."""
    room.ends()
    room.now, room.pane.limited_until = 400.0, ENDS
    room.pane.queue(Queued(pid=PID, start=START, text="continue", at=ENDS + MARGIN_S))
    room.ticks(10)
    room.slept = 28_800.0
    room.ticks(READY_S + 1)
    assert len(room.window.written) == 1
