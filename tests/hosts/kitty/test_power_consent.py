"""Asking a person about settings that let programs do more: when, about what, and what comes of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.actions.consent import DECLINED_S
from tallylight.actions.gate import Refusal
from tallylight.config.powers import Withheld
from tests.hosts.kitty.fakes import Kitty
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture

ALL = Withheld("scripting.allow", '"all"', '"own"')
COMMAND = Withheld("notify.command", '["touch", "it"]', "[]")


@attrs.define
class Desk:
    """A host whose settings withhold something, and a person."""

    look: Callable[[], None]
    settings: Any
    boss: Any
    now: float = 1000.0
    #: What they were asked, and what is called with their answer; why they cannot be.
    asked: list[tuple[str, ...]] = attrs.Factory(list)
    answers: list[Callable[[bool], None]] = attrs.Factory(list)
    refusal: Refusal | None = None
    agreed: list[tuple[Withheld, ...]] = attrs.Factory(list)

    def withhold(self, *withheld: Withheld) -> None:
        self.settings.current = SimpleNamespace(withheld=withheld)

    def ask(self, _window: Any, page: Any, answered: Callable[[bool], None]) -> Refusal | None:
        if self.refusal is None:
            self.asked.append(page.what)
            self.answers.append(answered)
        return self.refusal


@pytest.fixture
def desk(kitty: Kitty, monkeypatch: pytest.MonkeyPatch) -> Desk:
    module = importlib.import_module("tallylight.hosts.kitty.power_consent")
    settings, boss = SimpleNamespace(current=None), SimpleNamespace(active_window=object())
    host: Any = SimpleNamespace(settings=settings, boss=boss)
    made = Desk(module.PowerConsent(host).ask_if_new, settings, boss)
    settings.agree = made.agreed.append
    monkeypatch.setattr(module, "consents", SimpleNamespace(ask=made.ask))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: made.now))
    return made


def test_each_change_is_asked_about_once(desk: Desk) -> None:
    """With all that it would let programs do; a yes is for what was shown, whatever the file says by then."""
    desk.look()
    desk.withhold()
    desk.look()
    assert desk.asked == []
    desk.withhold(ALL, COMMAND)
    desk.look()
    desk.look()
    ((first, *more),) = desk.asked
    assert "Did you change it?" in first
    assert more[:2] == [
        'scripting.allow is "all" in config.toml, and "own" in force.',
        'notify.command is ["touch", "it"] in config.toml, and [] in force.',
    ]
    assert "PERMISSIONS INCLUDED" in more[2]
    desk.withhold(COMMAND)
    desk.look()
    assert len(desk.asked) == 1
    desk.answers[0](True)
    assert desk.agreed == [(ALL, COMMAND)]
    desk.look()
    assert len(desk.asked[1]) == 2


def test_a_no_is_a_no(desk: Desk) -> None:
    """That change is not asked about again, and another one not before ten minutes are over."""
    desk.withhold(ALL)
    desk.look()
    desk.answers[0](False)
    desk.withhold(COMMAND)
    desk.now += DECLINED_S - 1
    desk.look()
    assert (len(desk.asked), desk.agreed) == (1, [])
    desk.now += 2
    desk.withhold(ALL)
    desk.look()
    assert len(desk.asked) == 1
    desk.withhold(COMMAND)
    desk.look()
    assert len(desk.asked) == 2
    desk.answers[1](True)
    desk.withhold()
    desk.look()
    desk.withhold(COMMAND)
    desk.look()
    assert len(desk.asked) == 3


def test_it_is_asked_where_it_can_be_seen(desk: Desk) -> None:
    """In a window with room for it, when the person comes to one."""
    desk.withhold(ALL)
    desk.boss.active_window = None
    desk.look()
    desk.boss.active_window, desk.refusal = object(), Refusal("room", "")
    desk.look()
    desk.look()
    assert desk.asked == []
    desk.refusal = None
    desk.look()
    assert len(desk.asked) == 1
