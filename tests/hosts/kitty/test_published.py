"""What is told of a pane: what kitty shows has tabs drawn again, what the snapshot alone tells does not."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.hosts.kitty.fakes import Boss, Kitty
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
    told = desk.host._published._shown[1].more
    pane.tracker.touch()
    desk.ticks(4)
    assert desk.host._published._shown[1].more != told
    assert drawn(desk) == 0


def test_what_kitty_shows(desk: Desk) -> None:
    """Another status, and another title, have the tabs drawn."""
    drawn(desk)
    desk.host.on_set_user_var(desk.window, "tally", "state=error;tool=mine")
    wait_until(lambda: desk.ticks(1) is not None and drawn(desk) > 0, 5, "another status")
    desk.ticks(20)
    drawn(desk)
    desk.host.on_title_change(desk.window, "another", True)
    assert drawn(desk) > 0


def test_entries_are_made_where_something_may_be_new(kitty: Kitty) -> None:
    """Of a pane that was looked at, of a window that has moved, and of all when the clock was set or time passed."""
    module = importlib.import_module("tallylight.hosts.kitty.published")
    host = kitty.host_module.KittyHost(boss := Boss())
    windows = {id_: boss.open(id_, 0) for id_ in (1, 2, 3)}
    panes = {id_: host._pane(id_) for id_ in windows}
    published, made = module.Published(), list[int]()

    def make(id_: int, pane: Any) -> Any:
        made.append(id_)
        return published.entry(id_, windows[id_], pane, "", lambda at: at)

    def entries(now: float, origin: float = 0.0) -> list[int]:
        made.clear()
        found = published.entries(panes, windows, make, now, origin)
        assert [entry.tab for entry in found] == [str(window.tab_id) for window in windows.values()]
        return list(made)

    assert entries(100.0) == [1, 2, 3]
    assert entries(100.2) == []
    published.may_be_new([2])
    assert entries(100.4) == [2]
    windows[3].tab_id = 7
    assert entries(100.6) == [3]
    assert entries(100.8, origin=3600.0) == [1, 2, 3]
    assert entries(101.0, origin=3600.0) == []
    assert entries(101.0 + module.ALL_S, origin=3600.0) == [1, 2, 3]
