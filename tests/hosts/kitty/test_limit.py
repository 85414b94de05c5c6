"""A limit in kitty's tabs: hollow, with a countdown that is drawn once a minute."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from tallylight.hosts.kitty.attached import decision_of
from tallylight.model import contrast, lights
from tallylight.model.details import Details
from tallylight.model.status import Status
from tallylight.pane.own_files import OwnFiles
from tallylight.snapshot.schema import Pane
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_looks import Desk
from tests.hosts.kitty.test_looks import programs as programs  # a fixture

GROUND = 0x23272F


@pytest.fixture
def desk(kitty: Kitty, programs: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An agent that reports that it can go on in so many minutes."""
    desk = Desk(kitty, programs, monkeypatch)
    desk.host.on_set_user_var(
        desk.window, "tally", "state=waiting;kind=limit;tool=mine;message=try%20again%20in%20134%20min"
    )
    return desk


def test_a_countdown(desk: Desk) -> None:
    """What the tab waits for is how long that lasts; the bar is drawn anew when that is another word, no sooner."""
    surfaces, manager = desk.host.surfaces, desk.boss.all_tab_managers[0]
    rollup = surfaces.rollup
    began = rollup.wall()
    shown = rollup.shown(1)
    assert (shown.decision.status, shown.request, shown.what) == (Status.LIMITED, "2 h 14", "2 h 14")
    assert not shown.pulses
    until = desk.host.panes[1].limited_until
    assert 0 <= until - began - 134 * 60 + 60 < 120

    drawn = []
    for second in range(0, 3600, 5):
        rollup.wall = lambda second=second: until - 134 * 60 + 1 + second  # type: ignore[misc]
        before = manager.times_dirty
        surfaces.follow()
        if manager.times_dirty > before:
            drawn.append((second, rollup.shown(1).request))
    assert [request for _, request in drawn[:3]] == ["2 h 13", "2 h 12", "2 h 11"]
    assert len(drawn) == 59

    rollup.wall = lambda: until + 1
    surfaces.follow()
    assert rollup.shown(1).request == "try again in 134 min"
    before = manager.times_dirty
    surfaces.follow()
    assert manager.times_dirty == before


def test_it_is_hollow(desk: Desk) -> None:
    """Its name is red on the colours of the bar; the tab in front keeps its own."""
    tabs = desk.host.surfaces.tabs
    tabs._bar = tabs._bar_of([(0, 0, 0)], (0, 0, 0))
    data: Any = SimpleNamespace(tab_bg=lambda _: GROUND)

    class Tab(SimpleNamespace):
        def _replace(self, **changes: Any) -> Tab:
            return Tab(**{**vars(self), **changes})

    tab = Tab(tab_id=1, title="a", is_active=False, inactive_bg=None, inactive_fg=None)
    red = contrast.legible(lights.COLOURS[Status.LIMITED], (0x23, 0x27, 0x2F))
    found = tabs._lighted(tab, data, can_fill=True)
    assert (found.inactive_fg, found.inactive_bg) == (int.from_bytes(bytes(red)), None)
    tab.is_active = True
    assert tabs._lighted(tab, data, can_fill=True).inactive_fg is None


@pytest.mark.parametrize(
    ("message", "lasts", "request_"),
    [("resets at noon", 7200 - 60, "1 h 59"), ("try again in 2 h", 0, "try again in 2 h")],
    ids=["words without a time", "words whose end nobody knows"],
)
def test_the_limit_of_a_tmux_that_is_attached(desk: Desk, message: str, lasts: float, request_: str) -> None:
    """It ends when the host of that tmux says, whatever its words."""
    rollup, now = desk.host.surfaces.rollup, time.time()
    rollup.wall = lambda: now
    there = Pane(
        id="%1",
        status=Status.LIMITED,
        agent="claude",
        message=message,
        since=now - 60,
        limited_until=now + lasts if lasts else 0.0,
    )
    rollup.attached = lambda _: (decision_of(there),)
    desk.host.on_set_user_var(desk.window, "tally", "state=clear")
    rollup.refresh()
    assert rollup.shown(1).request == request_


def test_an_end_that_is_told_later(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A screen shows the limit first, and the record its end a moment later: then that is drawn."""
    desk.host.on_set_user_var(desk.window, "tally", "state=waiting;kind=limit;tool=mine;message=no%20more%20today")
    desk.ticks()
    shown = desk.host.surfaces.rollup.shown
    assert shown(1).request == "no more today"
    details = Details(limited_until=desk.host.surfaces.rollup.wall() + 7_200)
    record = SimpleNamespace(details=details, published=(details, False), is_strange=False, deadline=None)
    monkeypatch.setattr(OwnFiles, "transcript", record)
    desk.host.panes[1].tracker.touch()
    desk.ticks()
    assert shown(1).request == "2 h 00"
