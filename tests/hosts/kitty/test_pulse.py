"""The pulse of a tab bar with a light that waits: by kitty's own function, as its version has it, or its manager."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_looks import Desk
from tests.hosts.kitty.test_looks import programs as programs  # a fixture

BEATS = 25


@pytest.fixture
def desk(kitty: Kitty, programs: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(kitty, programs, monkeypatch)
    desk.host.on_set_user_var(desk.window, "tally", "state=waiting;tool=mine")
    assert desk.host.surfaces.rollup._timer is not None
    return desk


def beats(desk: Desk, number: int = BEATS) -> int:
    """Let the pulse beat; how often its manager was asked to draw the bar."""
    manager: Any = desk.boss.all_tab_managers[0]
    before = manager.times_dirty
    for _ in range(number):
        if (timer := desk.host.surfaces.rollup._timer) is not None:
            desk.kitty.run(timer)
    return int(manager.times_dirty - before)


def new(drawn: list[int]) -> Callable[..., None]:
    return lambda os_window_id, _is_shown: drawn.append(os_window_id)


def old(drawn: list[int]) -> Callable[..., None]:
    return lambda os_window_id: drawn.append(os_window_id)


@pytest.mark.parametrize("function", [new, old])
def test_each_version_of_kitty(desk: Desk, monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    """The function is given what it wants, at each beat."""
    drawn: list[int] = []
    module = sys.modules["kitty.fast_data_types"]
    monkeypatch.setattr(module, "mark_tab_bar_dirty", function(drawn), raising=False)
    assert beats(desk) == 0
    assert drawn == [1] * BEATS


def test_a_kitty_without_it(desk: Desk) -> None:
    """The manager does it."""
    assert beats(desk) == BEATS


def test_a_bar_that_is_hidden(desk: Desk) -> None:
    """It is drawn for a second at most, and the pulse ends."""
    desk.boss.all_tab_managers[0].tab_bar_hidden = True
    assert beats(desk) <= 10
    assert desk.host.surfaces.rollup._timer is None


def test_nobody_waits_any_more(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pulse ends with the next beat."""
    monkeypatch.setattr(desk.host._panes[1].tracker, "_shown", desk.host._pane(2).decision)
    desk.host.surfaces.rollup.refresh()
    assert beats(desk, 1) == 0
    assert desk.host.surfaces.rollup._timer is None


def test_it_ends_ten_seconds_after_the_light_changed(desk: Desk) -> None:
    """The bar is drawn once more then, and not by the next beats; another look at the same light begins nothing."""
    rollup, tabs = desk.host.surfaces.rollup, desk.host.surfaces.tabs
    since = rollup.shown(1).decision.since
    rollup.now = lambda: since + 9.9
    rollup.redraw()
    assert rollup.shown(1).pulses and beats(desk) == BEATS
    rollup.now = tabs.now = lambda: since + 10.1
    tabs._refresh(SimpleNamespace(os_window_id=1), [(1, "a tab")])
    assert not rollup.shown(1).pulses and beats(desk) == 0
    assert rollup._timer is None
    rollup.redraw()
    assert rollup._timer is None


def test_tabs_that_have_not_changed_are_not_looked_through_again(desk: Desk) -> None:
    """At the beats of a pulse; a tab that has changed is, in either OS window, and all are once a second."""
    tabs, times, now = desk.host.surfaces.tabs, list[float](), 100.0
    found = SimpleNamespace(refresh=lambda: times.append(now), names_of=lambda _place: [])
    tabs.rollup, tabs.now = found, lambda: now
    one, other = SimpleNamespace(os_window_id=1), SimpleNamespace(os_window_id=2)
    title = "a tab"
    for beat in range(20):
        now = 100.0 + beat / 10
        title = "renamed" if beat == 15 else title
        tabs._refresh(one, [(1, title)])
        tabs._refresh(other, [(2, "another")])
    assert times == [100.0, 100.0, 101.0, 101.5]
