"""The title beside a light in kitty's tab bar: that of the pane the light is of, without the agent's own signs."""

from __future__ import annotations

import pytest

from tallylight.model.status import Status
from tests.hosts.kitty.fakes import Tab
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture


@pytest.fixture
def tab(rig: Rig) -> Tab:
    """A tab with an editor in front and Claude beside it, which works and has a spinner in its title."""
    rig.boss.open(1, 11).title = "vim"
    window = rig.claude(2, status="busy")
    window.title = "◐ Fix the rounding"
    manager = rig.boss.arrange([1, 2])
    rig.start()
    rig.until(lambda: rig.status(2) is Status.WORKING, "the light")
    rig.host.on_title_change(window, window.title, True)
    rig.host.surfaces.rollup.refresh()
    return manager.active_tab


def title(rig: Rig) -> str | None:
    rig.host.surfaces.rollup.refresh()
    shown = rig.host.surfaces.rollup.shown(1)
    return shown.title or None if shown is not None else None


def test_the_light_stands_beside_its_own_panes_title(rig: Rig, tab: Tab) -> None:
    """Not beside that of the pane in front; and once its own pane is in front, kitty's title without the spinner."""
    assert rig.host.surfaces.rollup.shown(1).owner == 2
    assert title(rig) == "Fix the rounding"
    tab.windows.reverse()
    assert title(rig) == "Fix the rounding"


def test_the_agents_signs_stay_where_a_person_wants_them(rig: Rig, tab: Tab) -> None:
    """With `strip_glyphs = false` the title is as the agent wrote it."""
    rig.host.surfaces.rollup.strips_glyphs = False
    assert title(rig) == "◐ Fix the rounding"
    tab.windows.reverse()
    assert title(rig) is None


def test_a_persons_own_names_stay(rig: Rig, tab: Tab) -> None:
    """A name of the tab, or of the window, is not touched."""
    tab.name = "◐ mine"
    assert title(rig) is None
    tab.name = ""
    window = rig.boss.window_id_map[2]
    window.title = window.override_title = "◐ my window"
    assert title(rig) == "◐ my window"


def test_a_tab_without_a_light_has_kittys_title(rig: Rig, tab: Tab) -> None:
    """There is nothing for another title to stand beside."""
    del rig.boss.window_id_map[2]
    tab.windows.pop()
    rig.tick()
    assert title(rig) is None


@pytest.mark.slow
def test_a_style_without_marks_keeps_the_agents(rig: Rig, tab: Tab) -> None:
    """Where no mark stands beside a title, the agent's own sign is all there is."""
    settings = rig.home / ".config/tallylight/config.toml"
    settings.write_text("[kitty]\nmark = false\n")
    rig.until(lambda: not rig.host.surfaces.tabs.with_mark, "the settings")
    assert not rig.host.surfaces.rollup.strips_glyphs
    settings.write_text("[kitty]\nmark = false\nstyle = 'icon'\n")
    rig.until(lambda: rig.host.surfaces.rollup.strips_glyphs, "the settings")
