"""A window in which kitty asks for a person's consent: where there is one, and what counts as an answer."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.actions.consent import Consent
from tallylight.actions.gate import Refusal
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.tables import each

WHAT = ("It asks 'that'.", 'It may then do "this" and \\ that.')


@attrs.define
class Tab:
    """Opens overlays."""

    opened: list[Any] = attrs.Factory(list)

    def new_special_window(self, special: Any, **how: Any) -> Any:
        self.opened.append(SimpleNamespace(special=special, how=how, actions_on_removal=[]))
        return self.opened[-1]


@attrs.define
class Desk:
    """A window of so many cells in a tab, and what a person said of it."""

    module: Any
    columns: int = 80
    lines: int = 24
    tab: Tab | None = attrs.Factory(Tab)
    said: list[bool] = attrs.Factory(list)

    def ask(self) -> Refusal | None:
        window = SimpleNamespace(
            id=2, screen=SimpleNamespace(columns=self.columns, lines=self.lines), tabref=lambda: self.tab
        )
        told: Refusal | None = self.module.ask(window, Consent(WHAT), self.said.append)
        return told


@pytest.fixture
def desk(kitty: Kitty, monkeypatch: pytest.MonkeyPatch) -> Desk:
    module = importlib.import_module("tallylight.hosts.kitty.consents")
    monkeypatch.setattr(module, "SpecialWindow", lambda command, **how: SimpleNamespace(command=command, **how))
    return Desk(module)


@each("columns, lines", [(20, 2), (20, 200), (200, 5), (1, 1), (0, 0)])
def test_nobody_is_asked_where_not_all_of_it_is_seen(desk: Desk, columns: int, lines: int) -> None:
    """The caller is told how large a window has to be."""
    desk = Desk(desk.module, columns, lines)
    told = desk.ask()
    assert told is not None and told.rule == "room"
    assert f"window 2 has {columns} columns and {lines} lines" in told.text
    assert desk.tab is not None and desk.tab.opened == desk.said == []
    desk.columns, desk.lines = 60, int(told.text.partition("60 columns and ")[2].split()[0])
    assert desk.ask() is None
    desk.tab = None
    assert desk.ask() == Refusal("gone", "the pane for the question is gone; nothing was done")


@each("word, is_yes", [(b"yes", True), (b"", False), (b"no", False), (b"y", False), (b"yes!", False), (b"YES", False)])
def test_only_its_own_channel_says_yes(desk: Desk, word: bytes, is_yes: bool) -> None:
    """The window lies over the pane, and has nothing of the caller's; what closes without that word is a no."""
    desk = Desk(desk.module)
    opened = []
    new = Tab.new_special_window

    def open_(tab: Tab, special: Any, **how: Any) -> Any:
        # As a child that inherits it.
        opened.append(os.dup(how["pass_fds"][0]))
        return new(tab, special, **how)

    assert desk.tab is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tab, "new_special_window", open_)
        assert desk.ask() is None
    (made,) = desk.tab.opened
    assert (made.special.overlay_for, made.special.cwd, made.special.command[:2]) == (2, "/", ["kitty", "+runpy"])
    assert not hasattr(made.special, "env")
    os.write(opened[0], word)
    os.close(opened[0])
    made.actions_on_removal[0](None)
    assert desk.said == [is_yes]


def test_a_program_that_goes_on_keeps_nobody_waiting(desk: Desk) -> None:
    """Its window is gone and it has said nothing: that is a no."""
    assert desk.ask() is None
    assert desk.tab is not None
    desk.tab.opened[0].actions_on_removal[0](None)
    assert desk.said == [False]


@pytest.mark.slow
def test_what_it_runs_is_its_own_program(desk: Desk) -> None:
    """With every sentence as it is, whatever quotes are in it."""
    assert desk.ask() is None
    assert desk.tab is not None
    code = desk.tab.opened[0].special.command[2]
    stub = "import tallylight.ui.consent as page; page.main = lambda *given: print(repr(given[0])); "
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", stub + code], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{WHAT!r}\n"
