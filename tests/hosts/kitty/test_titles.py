"""The title beside a light in kitty's tab bar: that of the pane the light is of, without the agent's own signs."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tallylight.model.status import Status
from tallylight.snapshot import labels_file
from tallylight.snapshot.labels import Label
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


def test_the_title_is_the_agents_own_where_a_person_wants_that(rig: Rig, tab: Tab) -> None:
    """With `names = false` it is as the agent wrote it, also where it says no more than its own name."""
    rig.host.surfaces.rollup.names = False
    assert title(rig) == "◐ Fix the rounding"
    rename(rig, "✳ Claude Code")
    assert title(rig) == "✳ Claude Code"
    tab.windows.reverse()
    assert title(rig) is None


def rename(rig: Rig, text: str) -> None:
    window = rig.boss.window_id_map[2]
    window.title = text
    rig.host.on_title_change(window, text, True)


@pytest.mark.parametrize(
    "bare", ["✳ Claude Code", "claude", "claude --resume", "tally run claude", "CLAUDE", "", "bash"]
)
def test_a_bare_name_becomes_the_project(rig: Rig, tab: Tab, bare: str) -> None:
    """What the program is called itself tells nobody which of several it is; a summary stays."""
    report(rig, "state=working;tool=claude;project=shop")
    rig.boss.window_id_map[2].default_title = "bash"
    rename(rig, "✳ Claude Code")
    rename(rig, bare)
    assert title(rig) == "shop"
    tab.windows.reverse()
    assert title(rig) == "shop"
    rename(rig, "✳ Feed the cat")
    assert title(rig) == "Feed the cat"


def report(rig: Rig, payload: str, window: int = 2) -> None:
    rig.host.on_set_user_var(rig.boss.window_id_map[window], "tally", payload)
    rig.tick()


def test_the_title_of_a_session_names_its_tab(rig: Rig, tab: Tab) -> None:
    """Of an agent that sets no title of its own, but says in a report what its session is about."""
    rename(rig, "claude")
    report(rig, "state=working;tool=claude;project=shop;title=Fix the cart")
    assert title(rig) == "Fix the cart"


@pytest.mark.slow
def test_the_name_that_a_person_gave_the_conversation_goes_before(rig: Rig, tab: Tab) -> None:
    """It is read from the file that the list writes, on another thread; the name of the tab goes before that."""
    entry = rig.host._entry(2, rig.host.panes[2], float)
    file = labels_file.path(os.environ)
    labels_file.change(file, lambda old: old.with_label(rig.host.name, entry, Label(name="the big one"), 1.0))
    rig.until(lambda: title(rig) == "the big one", "the name")
    tab.name = "mine"
    assert title(rig) is None


def test_a_name_that_is_taken_back_is_gone_at_once(rig: Rig, tab: Tab) -> None:
    """Though kitty tells of no change in the tab: its own title was the same as the name."""
    tabs, bar, same = rig.host.surfaces.tabs, SimpleNamespace(os_window_id=1), ["vim"]
    for name, expected in {"vim": "", "": "Fix the rounding"}.items():
        tab.name = name
        tabs._refresh(bar, same)
        assert tabs.rollup.shown(1).title == expected


@pytest.mark.slow
def test_what_it_asks_is_in_few_words(rig: Rig, tab: Tab) -> None:
    """A command without its tool, and the first line; of what failed its message; nothing while it works."""
    shown = rig.host.surfaces.rollup.shown
    for payload, expected in {
        "state=waiting;kind=permission;tool=claude;what=Bash: npm test%0Arm x": "npm test",
        "state=waiting;kind=permission;tool=claude;what=Edit src/api.py (+1 −1)": "Edit src/api.py (+1 −1)",
        "state=waiting;kind=question;tool=claude;message=Which: a or b?": "Which: a or b?",
        "state=error;tool=claude;message=exit 1": "exit 1",
        "state=working;tool=claude;message=Reading": "",
    }.items():
        report(rig, "state=working", 1)
        rig.until(lambda: rig.status(1) is Status.WORKING, "work")
        report(rig, payload, 1)
        rig.until(lambda found=expected: shown(1).request == found, expected)  # type: ignore[misc]


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


class DrawData(NamedTuple):
    """How a kitty draws tabs that can give them several lines, in a bar at a side."""

    title_template: str = "{index}: {title}"
    max_tab_title_lines: int = 2
    wrap_width: int = 0
    active_title_template: str | None = None
    default_bg: int = 0
    active_bg: int = 0
    inactive_bg: int = 0
    tab_bar_edge: str = "left"
    leading_spaces: int = 0
    alpha: tuple[float, ...] = (0.25, 0.5, 0.75, 1)

    def tab_bg(self, _tab: Any) -> int:
        return self.inactive_bg

    tab_fg = tab_bg


class TabData(NamedTuple):
    title: str
    tab_id: int = 1
    is_active: bool = True


@pytest.mark.parametrize(
    ("draw_data", "style", "names", "expected"),
    [
        (DrawData(max_tab_title_lines=1), "separator", True, "Fix the rounding"),
        (DrawData(), "separator", True, "Fix the rounding\n     \x1b[22mshop"),
        (DrawData(), "slant", True, "Fix the rounding\n       \x1b[22mshop"),
        (DrawData(), "fade", True, "Fix the rounding\n      \x1b[22mshop"),
        (DrawData(), "separator", False, "◐ Fix the rounding"),
        (DrawData("{title} {tab.tally_project}"), "separator", True, "Fix the rounding"),
        (DrawData("{tab.active_wd}\\n{title}"), "separator", True, "Fix the rounding"),
        (DrawData("{tab.active_wd}\\n{title}", 3), "separator", True, "Fix the rounding\n\x1b[22mshop"),
        (DrawData("{index}: {title}", 3, 15), "separator", True, "Fix the\n     rounding\n     \x1b[22mshop"),
    ],
)
def test_the_project_stands_below_in_a_kitty_with_lines_for_it(
    rig: Rig, tab: Tab, monkeypatch: pytest.MonkeyPatch, draw_data: DrawData, style: str, names: bool, expected: str
) -> None:
    """Where the person has let tabs have several lines, and their own template leaves one. Drawn as it was measured."""
    report(rig, "state=working;tool=claude;project=shop")
    rig.kitty.options.tab_bar_style = style  # type: ignore[attr-defined]

    def apply(data: DrawData, one: TabData, index: int, _length: int) -> str:
        text = data.title_template.replace("\\n", "\n").replace("{tab.tally}", "● ").replace("{tab.active_wd}", "/a")
        return text.replace("{index}", str(index)).replace("{title}", one.title)

    monkeypatch.setattr(sys.modules["kitty.tab_bar"], "apply_title_template", apply, raising=False)
    rig.host.surfaces.rollup.names = names
    seen: list[TabData] = []
    screen = SimpleNamespace(columns=40, cursor=SimpleNamespace(x=0, fg=0, bg=0))
    bar: Any = SimpleNamespace(draw_data=draw_data, screen=screen, draw_func=lambda *given: seen.append(given[2]))
    (one,) = rig.host.surfaces.tabs._prepared(bar, [TabData("vim")])
    for is_layout in (True, False):
        bar.draw_func(bar.draw_data, screen, one, 0, 39, 1, True, SimpleNamespace(for_layout=is_layout))
    assert [one.title for one in seen] == [expected] * 2
    assert not rig.kitty.log
