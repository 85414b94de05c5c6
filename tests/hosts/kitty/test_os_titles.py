"""The light in the title of an OS window: where there is no tab bar to see it in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tallylight.wire.envelope import CARRIER
from tests.hosts.kitty.fakes import TabManager
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture


@pytest.fixture
def config(rig: Rig) -> Path:
    path = rig.home / ".config/tallylight/config.toml"
    path.write_text("")
    return path


def titled(rig: Rig, *titles: str) -> None:
    for id_, title in enumerate(titles, 1):
        rig.boss.open(id_, 10 + id_).title = title


def say(rig: Rig, id_: int, state: str) -> None:
    rig.host.on_set_user_var(rig.boss.window_id_map[id_], CARRIER, f"state={state};tool=mine")
    rig.host.tick()


def retitle(rig: Rig, id_: int, title: str) -> None:
    """As kitty does: it notes the title, and tells the window system through its own module."""
    window = rig.boss.window_id_map[id_]
    window.title = title
    sys.modules["kitty.window"].update_window_title(window.os_window_id, window.tab_id, id_, title)  # type: ignore[attr-defined]


@pytest.fixture
def one_tab(rig: Rig, config: Path) -> TabManager:
    """Two windows in the one tab of a kitty that shows no tab bar for it."""
    titled(rig, "vim", "api")
    manager = rig.boss.arrange([1, 2])
    manager.tab_bar_should_be_visible = False
    rig.start()
    rig.tick()
    return manager


def test_one_tab(rig: Rig, one_tab: TabManager) -> None:
    """The mark of the most urgent pane stands in front, with that pane's title if another one is in front."""
    assert rig.kitty.titles == {}
    say(rig, 1, "working")
    assert rig.kitty.titles == {1: "● vim"}
    say(rig, 2, "waiting;kind=permission")
    assert rig.kitty.titles[1] == "! api · vim"
    retitle(rig, 1, "vim x")
    assert rig.kitty.titles[1] == "! api · vim x"
    retitle(rig, 2, "api y")
    assert rig.kitty.titles[2] == "api y"
    say(rig, 2, "clear")
    say(rig, 1, "clear")
    rig.until(lambda: rig.kitty.titles[1] == "vim x", "the title without a mark")
    assert set(rig.kitty.synced) == {1}


def test_the_project_in_place_of_a_bare_name(rig: Rig, one_tab: TabManager) -> None:
    """As the tab has it, whether that can be seen or not; what the program says of its work stays, and comes back."""
    retitle(rig, 1, "mine")
    rig.host.on_set_user_var(rig.boss.window_id_map[1], CARRIER, "state=working;tool=mine;project=shop")
    rig.host.tick()
    assert rig.kitty.titles[1] == "● shop"
    retitle(rig, 1, "mine")
    assert rig.kitty.titles[1] == "● shop"
    one_tab.tab_bar_should_be_visible = True
    rig.until(lambda: rig.kitty.titles[1] == "shop", "the title without a mark")
    say(rig, 1, "clear")
    rig.until(lambda: rig.kitty.titles[1] == "mine", "the program's own title")


def test_an_idle_agent_leaves_the_title_alone(rig: Rig, one_tab: TabManager) -> None:
    """There is nothing to see to."""
    say(rig, 1, "idle")
    assert rig.kitty.titles == {}


def test_another_window_in_front(rig: Rig, one_tab: TabManager) -> None:
    """The title that was marked is again what the window's program says; the new one has the mark."""
    say(rig, 2, "waiting")
    one_tab.active_tab.windows.reverse()
    rig.host.on_focus_change()

    assert rig.kitty.titles == {1: "vim", 2: "! api"}


def test_a_tab_bar_that_is_seen_is_enough(rig: Rig, one_tab: TabManager) -> None:
    """With it the mark goes within two ticks; with `tab_bar_style hidden` it is there again."""
    say(rig, 1, "waiting")
    one_tab.tab_bar_should_be_visible = True
    rig.until(lambda: rig.kitty.titles == {1: "vim"}, "the title without a mark")
    one_tab.tab_bar_hidden = True
    rig.until(lambda: rig.kitty.titles == {1: "! vim"}, "the mark")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "bar", "title"),
    [
        ("os_window_title = 'always'", True, "! vim"),
        ("os_window_title = 'off'", False, ""),
        ("style = 'off'", False, ""),
    ],
)
def test_the_person_decides(rig: Rig, one_tab: TabManager, config: Path, settings: str, bar: bool, title: str) -> None:
    """By `[kitty] os_window_title`; no style is no mark either."""
    one_tab.tab_bar_should_be_visible = bar
    rig.until(lambda: rig.host.settings.current is not None, "the settings")
    config.write_text(f"[kitty]\n{settings}\n")
    stamp = rig.host.settings.current.stamps
    rig.until(lambda: rig.host.settings.current.stamps != stamp, "the new settings")
    say(rig, 1, "waiting")

    assert rig.kitty.titles.get(1, "") == title


def test_what_a_program_calls_itself_is_text(rig: Rig, one_tab: TabManager) -> None:
    """The title of another pane is sanitised and cut."""
    rig.boss.window_id_map[2].title = "\x1b]2;evil\u202e" + "x" * 500
    say(rig, 2, "waiting")

    shown = rig.kitty.titles[1]
    assert "\x1b" not in shown and "\u202e" not in shown and len(shown) < 60
