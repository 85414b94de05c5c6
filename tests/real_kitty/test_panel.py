"""The panel in a real kitty: opened and closed by its key, beside agents, through changes of tabs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.real_kitty.asking_claude import SCREEN
from tests.real_kitty.desk import Desk as LightsDesk
from tests.real_kitty.test_agents_list import Board, picture
from tests.story import better_told

PANEL = ("ctrl+shift+a", "p")
#: Tells of every window in which tab it is, how wide it is, and whether it is a panel.
_WINDOWS = """
return [
    dict(id=w.id, tab=t.id, columns=w.screen.columns, left=w.geometry.left, panel=bool(w.user_vars.get("tally_panel")),
         front=t is tm.active_tab, active=w is t.active_window, layout=t.current_layout.name)
    for tm in boss.all_tab_managers for t in tm for w in t
]
"""


class Desk(Board):
    """A kitty with a key for the panel."""

    def configure(self, more: str = "") -> None:
        super().configure(f"map ctrl+shift+a>p kitten {self.kittens}/panel.py\n{more}")

    def set_config(self, text: str) -> None:
        """Change config.toml, and wait until it is in force."""
        LightsDesk.configure(self, text)

    def windows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.kitty.eval(_WINDOWS)
        return found

    def panels(self, *, in_front: bool = False) -> list[dict[str, Any]]:
        """The panels; in the tab that is shown, or all."""
        return [window for window in self.windows() if window["panel"] and (window["front"] or not in_front)]

    def panel(self, found: str = "") -> int:
        """Wait for a panel in the tab that is shown, whose program shows this; its window."""
        self.kitty.wait_until(lambda: self.panels(in_front=True), what="a panel")
        (window,) = self.panels(in_front=True)
        self.kitty.wait_until(self.is_ready, what="the program of the panel")
        if found:
            self.kitty.wait_text(window["id"], found)
        return int(window["id"])

    def wait_gone(self) -> None:
        self.kitty.wait_until(lambda: not self.panels(), what="the end of the panels")

    def show(self, window: int) -> None:
        """Show the tab of a window, as a person does."""
        self.kitty.focus_window(window)
        self.kitty.wait_until(lambda: self.in_front() == window, what="the window in front")


@pytest.fixture(scope="module")
def _desk(kitty_version: str) -> Iterator[Desk]:
    desk = Desk(kitty_version)
    yield desk
    desk.close()


@pytest.fixture
def desk(_desk: Desk) -> Desk:
    """A kitty with one plain tab, in front, and no panel."""
    for _ in range(2):
        if _desk.panels():
            _desk.press(*PANEL)
            _desk.wait_gone()
    _desk.close_all_but_first()
    return _desk


def test_it_opens_beside_the_work_and_closes(desk: Desk) -> None:
    """The key opens it at the left, 32 columns wide, and closes it; the keyboard and the layout are as before."""
    first = desk.in_front()
    (before,) = desk.windows()
    desk.wait_status(desk.agent("shop", "waiting;kind=permission;message=May I?"), "waiting")
    desk.press(*PANEL)
    panel = desk.panel("shop")

    shown = {window["id"]: window for window in desk.windows()}
    assert shown[panel]["columns"] == 32 and shown[panel]["left"] < shown[first]["left"]
    assert shown[first]["active"] and desk.in_front() == first
    assert desk.kitty.get_text(panel).splitlines()[0].split()[1:2] == ["1"]
    assert "▸" not in desk.kitty.get_text(panel)

    desk.press(*PANEL)
    desk.wait_gone()
    desk.kitty.wait_until(lambda: desk.windows()[0] == before, what="the tab as it was")


def test_it_is_in_view_in_every_tab(desk: Desk) -> None:
    """Each tab that is shown has one, of the same width; a visit changes no size a second time; one key closes all."""
    first = desk.in_front()
    other = desk.agent("shop", "working")
    desk.press(*PANEL)
    desk.panel("shop")
    desk.show(other)
    second = desk.panel("shop")
    sizes = {window["id"]: window["columns"] for window in desk.windows()}
    assert sizes[second] == 32 and len(desk.panels()) == 2
    for window in (first, other, first):
        desk.show(window)
        assert {window["id"]: window["columns"] for window in desk.windows()} == sizes
        assert desk.in_front() == window

    desk.press(*PANEL)
    desk.wait_gone()


@contextlib.contextmanager
def settings(desk: Desk, more: str) -> Iterator[None]:
    """While these settings are in force, too."""
    config = desk.config_toml.read_text()
    desk.set_config(config + more)
    try:
        yield
    finally:
        desk.set_config(config)


def test_one_a_tab_stays_in_its_tab(desk: Desk) -> None:
    """By setting it is in the tab where it was opened alone, and as wide as is set."""
    other = desk.agent("shop", "working")
    with settings(desk, '\n[panel]\nper = "tab"\nwidth = 24\n'):
        desk.press(*PANEL)
        panel = desk.panel("shop")
        assert next(window["columns"] for window in desk.panels()) == 24
        desk.show(other)
        desk.let_pass(1)
        assert [window["id"] for window in desk.panels()] == [panel]
        desk.kitty.close_window(panel)
        desk.wait_gone()


def test_a_click_goes_there(desk: Desk) -> None:
    """One click on a row brings its pane to the front. The panel is there, too, and keeps no keyboard, as after Esc."""
    first = desk.in_front()
    agents = {name: desk.agent(name, "working") for name in ("mill", "shop", "farm")}
    desk.wait_status(agents["farm"], "working")
    desk.press(*PANEL)
    panel = desk.panel("farm")
    row = next(n for n, line in enumerate(desk.kitty.get_text(panel).splitlines()) if "shop" in line)
    desk.click(panel, row)
    desk.kitty.wait_until(lambda: desk.in_front() == agents["shop"], what="the clicked pane in front")
    assert panel in {window["id"] for window in desk.panels()}
    assert not desk.kitty.window(panel)["is_active"] and desk.kitty.window(first)["is_active"]
    there = desk.panel("farm")

    desk.kitty.focus_window(there)
    desk.kitty.wait_text(there, "▸")
    desk.press("Escape")
    desk.kitty.wait_until(lambda: desk.in_front() == agents["shop"], what="the keyboard back")
    desk.kitty.wait_until(lambda: "▸" not in desk.kitty.get_text(there), what="no selection")
    desk.show(first)


def test_it_is_no_agent_and_goes_with_the_last_one(desk: Desk) -> None:
    """What it shows lights no tab and is in no snapshot; a tab with nothing else in it closes."""
    asking = desk.kitty.launch(str(desk.kitty.home / ".local/bin/claude"), keep_focus=True, type="tab")
    desk.wait_status(asking, "waiting")
    desk.press(*PANEL)
    panel = desk.panel("! 1")
    desk.let_pass(1)
    snapshot = desk.snapshot()
    assert snapshot is not None and str(panel) not in {pane.id for pane in snapshot.panes}
    assert desk.kitty.user_vars(panel).keys() == {"tally_panel", "tally_list"} & desk.kitty.user_vars(panel).keys()

    desk.show(asking)
    there = desk.panel("! 1")
    desk.kitty.close_window(asking)
    desk.kitty.wait_until(lambda: there not in {window["id"] for window in desk.windows()}, what="the tab's end")


def test_a_hidden_panel_is_asleep(desk: Desk) -> None:
    """A panel in a tab that is not shown is woken by nothing; shown again it is as new as the others."""
    first = desk.in_front()
    agent = desk.agent("shop", "working")
    desk.press(*PANEL)
    hidden = desk.panel("shop")
    desk.show(agent)
    desk.panel("shop")
    desk.kitty.wait_until(
        lambda: (
            not desk.kitty.eval(
                f"from tallylight.hosts.kitty import agent_list as m; return m._lists[{hidden}].is_seen"
            )
        ),
        what="a panel that knows that it is hidden",
    )
    desk.send(agent, "state=waiting;tool=scout;project=forge")
    desk.kitty.wait_text(desk.panel(), "forge")
    assert "forge" not in desk.kitty.get_text(hidden)
    desk.show(first)
    desk.kitty.wait_text(hidden, "forge")


def test_how_it_looks(desk: Desk) -> None:
    """A picture of the panel beside an agent, for a person to look at; names of wide characters are cut to cells."""
    for name, payload in (
        ("shop", "waiting;kind=permission;message=Bash: alembic upgrade head"),
        ("docs", "working;progress=3/7;message=Rewriting the guide"),
        ("api", "done;message=All 214 tests pass"),
        ("forge", "error;message=API error 529"),
        ("mill", "idle"),
    ):
        desk.wait_status(desk.agent(name, payload), payload.partition(";")[0])
    (desk.kitty.home / "screen").write_text(better_told(SCREEN.read_text("utf-8")))
    cart = desk.kitty.home / "cart"
    cart.mkdir()
    argv = ("sh", "-c", "read -r go; exec ~/.local/bin/claude")
    asking = desk.kitty.launch(*argv, tab_title="cart", keep_focus=True, cwd=str(cart))
    with settings(desk, "\n[panel]\nwidth = 28\n"):
        desk.show(asking)
        desk.press(*PANEL)
        panel = desk.panel("forge")
        # Beside the panel: it draws as wide as its window is when it starts.
        desk.kitty.send_text(asking, "\r")
        desk.kitty.wait_text(panel, "npm test")
        desk.kitty.wait_text(panel, "docs")
        shot = desk.kitty.screenshot(picture(desk, "panel"))
        desk.keep(shot, "panel")
        (desk.kitty.home / "screen").write_text(SCREEN.read_text("utf-8"))
        desk.agent("日本語プロジェクト", "done;message=テストは全部通りました")
        desk.kitty.wait_text(panel, "日本語プロジェクト")
