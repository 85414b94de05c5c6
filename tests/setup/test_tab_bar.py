"""`tally setup` offers to show kitty's tab bar with one tab; `tally doctor` says where no light can be seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from tallylight.cli.setup import main
from tallylight.model.finding import Finding, Health
from tallylight.setup import checks
from tests.setup.test_keys import KeySystem
from tests.setup.test_keys import home as home  # a fixture
from tests.setup.test_keys import system as key_system

LINE = "tab_bar_min_tabs 1"


@dataclasses.dataclass(frozen=True)
class BarSystem(KeySystem):
    """A system whose kitty tells of its tab bar; the line that setup wrote counts."""

    style: str = "fade"
    min_tabs: int = 2
    decorations: bool = True

    @property
    def options(self) -> dict[str, object]:
        conf = self.home / ".local/share/tallylight/kitty.conf"
        is_set = conf.exists() and LINE in conf.read_text().splitlines()
        least = 1 if is_set else self.min_tabs
        return {"bar_style": self.style, "bar_min_tabs": least, "has_decorations": self.decorations}


def make(home: Path, ask: Callable[[str], bool | None] = lambda _: None, **bar: object) -> BarSystem:
    plain = key_system(home)
    fields = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)}
    return BarSystem(**{**fields, "ask": ask}, **bar)  # type: ignore[arg-type]


def bar_line(home: Path) -> bool:
    return LINE in (home / ".local/share/tallylight/kitty.conf").read_text().splitlines()


def setup(system: BarSystem, *argv: str) -> str:
    system.said.clear()
    assert main(argv, system) == 0
    return system.text


@pytest.mark.slow
@pytest.mark.parametrize("wish", [True, False])
def test_it_is_offered_and_shown(home: Path, wish: bool) -> None:
    """A person is asked once more, after the look of it; what they say is kept by later runs."""
    asked: list[str] = []

    def ask(question: str) -> bool:
        asked.append(question)
        return wish or "tab bar" not in question

    it = make(home, ask)
    told = setup(it)

    assert "Show the tab bar with one tab, too?" in asked
    assert " ! api \n" in told and LINE in told
    assert bar_line(home) is wish
    setup(it, "--yes")
    assert bar_line(home) is wish


@pytest.mark.parametrize("bar", [{"min_tabs": 1}, {"style": "hidden"}, {"style": ""}])
def test_it_is_not_offered_where_it_changes_nothing(home: Path, bar: dict[str, object]) -> None:
    """The bar is there already, or hidden by the person."""
    asked: list[str] = []
    bar = {"min_tabs": 0, **bar} if bar == {"style": ""} else bar

    def ask(question: str) -> bool:
        asked.append(question)
        return True

    setup(make(home, ask, **bar))
    assert [question for question in asked if "tab bar" in question] == []


@pytest.mark.slow
def test_it_can_be_asked_for_and_taken_back(home: Path) -> None:
    """By an option, which is shown; `--yes` alone does not change what kitty shows."""
    it = make(home)
    setup(it, "--yes")
    assert not bar_line(home)
    assert f"add `{LINE}`" in setup(it, "--yes", "--tab-bar")
    assert bar_line(home)
    assert f"remove `{LINE}`" in setup(it, "--yes", "--no-tab-bar")
    assert not bar_line(home)


def finding(system: BarSystem) -> Finding:
    (found,) = [found for found in checks.terminal(system) if found.what == "tab bar"]
    assert bool(found.remedy) == found.is_fault
    return found


@pytest.mark.parametrize(
    ("bar", "settings", "health", "word"),
    [
        ({"min_tabs": 1}, "", Health.OK, "always shown"),
        ({}, "", Health.OK, "fewer than 2 tabs; the mark moves to the window's title"),
        ({"style": "hidden"}, "", Health.OK, "hidden by tab_bar_style; the mark moves to the window's title"),
        ({}, "os_window_title = 'off'", Health.BROKEN, "you see no light then"),
        ({"decorations": False}, "", Health.BROKEN, "hide_window_decorations hides that too"),
        ({"style": "hidden"}, "os_window_title = 'off'", Health.BROKEN, "hidden by tab_bar_style, and"),
        ({"min_tabs": 1, "decorations": False}, "os_window_title = 'off'", Health.OK, "always shown"),
        ({}, "style = 'off'", Health.SKIPPED, "no light is drawn"),
    ],
)
def test_the_doctor_says_where_a_light_is_seen(
    home: Path, bar: dict[str, object], settings: str, health: Health, word: str
) -> None:
    """In the tab bar, else in the title; a fault where there is neither."""
    config = home / ".config/tallylight/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[kitty]\n{settings}\n")
    found = finding(make(home, **bar))

    assert (found.health, word in found.text) == (health, True), found


def test_the_doctors_own_remedy_helps(home: Path) -> None:
    """After `tally setup --tab-bar` the light is always seen."""
    it = make(home, decorations=False)
    assert "tally setup --tab-bar" in finding(it).remedy
    setup(it, "--yes", "--tab-bar")
    assert finding(it).text == "always shown"
