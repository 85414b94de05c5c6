"""The screens of our own that stand in the corners of windows, where kitty draws title bars from such screens."""

from __future__ import annotations

import gc
import importlib
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tallylight.model.lights import COLOURS
from tallylight.model.status import Status
from tests.hosts.kitty.fakes import Boss, Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture


class OwnScreen:
    """A screen of one line, which counts how many of it there are."""

    there = 0

    def __init__(self, *_: object) -> None:
        self.cursor, self.text = SimpleNamespace(x=0), ""
        OwnScreen.there += 1

    def __del__(self) -> None:
        OwnScreen.there -= 1

    def reset_mode(self, _: int) -> None:
        """It does not wrap."""

    def draw(self, text: str) -> None:
        assert self.cursor.x == 0
        self.text, self.cursor.x = text, len(text)


class Desk:
    """One tab of windows that all show a light: `lit` says which, `corners` what stands in them."""

    def __init__(self, kitty_data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.corners: dict[int, str] = {}
        self.grounds: dict[int, int] = {}
        named = {"set_window_title_bar_render_data": self._draw, "Screen": OwnScreen, "DECAWM": 7}
        for name, value in named.items():
            monkeypatch.setattr(kitty_data, name, value, raising=False)
        self.boss = Boss()
        self.lit: dict[int, Status] = {}
        module = importlib.import_module("tallylight.hosts.kitty.splits")
        self.lights = module.SplitLights(self.boss, self.lit, self._decision, COLOURS)
        assert isinstance(self.lights.corner, module.ScreenCorner)

    def _draw(self, _os: int, _tab: int, id_: int, screen: OwnScreen, left: int, _top: int, right: int, _: int) -> None:
        self.corners[id_] = screen.text if right > left else ""
        self.grounds[id_] = screen.cursor.bg >> 8

    def _decision(self, window: Any) -> Any:
        status = self.lit[window.id]
        return SimpleNamespace(is_lit=status is not Status.IDLE, status=status, kind=None)

    def show(self, lit: dict[int, Status]) -> None:
        """These windows are there now, with these lights."""
        windows: Any = self.boss.window_id_map
        for id_ in windows.keys() - lit.keys():
            del windows[id_]
            self.corners.pop(id_, None)
        for id_ in lit.keys() - windows.keys():
            windows[id_] = SimpleNamespace(
                id=id_,
                os_window_id=1,
                is_visible_in_layout=True,
                geometry=SimpleNamespace(top=0, right=720),
                screen=SimpleNamespace(columns=80, lines=24),
                refresh=lambda: None,
                _title_bar_screen=None,
            )
        self.boss.arrange(list(windows))
        self.lit.clear()
        self.lit.update(lit)
        self.lights.refresh()


@pytest.fixture
def desk(kitty: Kitty, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A kitty that has title bars of windows."""
    return Desk(sys.modules["kitty.fast_data_types"], monkeypatch)


def test_the_light_of_a_split_stands_in_its_corner(desk: Desk) -> None:
    """It changes and goes with the light, and comes again."""
    desk.show({1: Status.WAITING, 2: Status.WORKING})
    assert {id_: mark.strip() for id_, mark in desk.corners.items()} == {1: "!", 2: "●"}
    assert desk.grounds == {1: 0xFFAA00, 2: 0}, "work has no more than a mark"
    desk.show({1: Status.WORKING, 2: Status.IDLE})
    assert {id_: mark.strip() for id_, mark in desk.corners.items()} == {1: "●", 2: ""}
    desk.show({1: Status.WORKING, 2: Status.DONE})
    assert {id_: mark.strip() for id_, mark in desk.corners.items()} == {1: "●", 2: "✓"}


@pytest.mark.slow
def test_no_window_has_a_second_screen_and_none_that_is_gone_has_one(desk: Desk) -> None:
    """However often a light changes, and whatever a window showed when it was closed: kitty's screens are large."""
    statuses = (Status.WAITING, Status.IDLE, Status.WORKING, Status.DONE)
    gc.collect()
    of_others = OwnScreen.there  # of tests before this one
    for number in range(40):
        desk.show({id_: statuses[(number + id_) % 4] for id_ in range(number, number + 5)})
        assert OwnScreen.there <= of_others + 5
    desk.show({1000: Status.IDLE})
    assert OwnScreen.there <= of_others
