"""What is told of a pane: what kitty shows has tabs drawn again, what the snapshot alone tells does not."""

from __future__ import annotations

from typing import Any

import pytest

from tallylight.model.queued import Queued
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_looks import Desk
from tests.hosts.kitty.test_looks import programs as programs  # a fixture
from tests.real_agents.driver import wait_until


@pytest.fixture
def desk(kitty: Kitty, programs: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(kitty, programs, monkeypatch)
    desk.host.on_set_user_var(desk.window, "tally", "state=working;tool=mine")
    desk.ticks(60)
    return desk


def drawn(desk: Desk) -> int:
    """How often the tab bar was to be drawn since the last time."""
    manager: Any = desk.boss.all_tab_managers[0]
    times, manager.times_dirty = manager.times_dirty, 0
    return int(times)


def test_what_the_snapshot_alone_tells(desk: Desk) -> None:
    """It is told, and no tab is drawn for it."""
    drawn(desk)
    pane = desk.host.panes[1]
    told = desk.host.entry(1, 0.0)
    pane.queue(Queued(pid=1, start=1, text="Go on"))
    desk.ticks(4)
    assert told.queue.text == "" and desk.host.newest(0.0)[0][0].queue.text == "Go on"
    assert drawn(desk) == 0


def test_what_kitty_shows(desk: Desk) -> None:
    """Another status has the tabs drawn."""
    drawn(desk)
    desk.host.on_set_user_var(desk.window, "tally", "state=error;tool=mine")
    wait_until(lambda: desk.ticks(1) is not None and drawn(desk) > 0, 5, "another status")
