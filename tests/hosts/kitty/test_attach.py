"""A kitty that was running before Tallylight was set up: it starts there, and looks after the windows that are open."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tallylight.model.status import Status
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture


@pytest.fixture
def keys(rig: Rig) -> Any:
    """What a key of ours calls, in a kitty in which nothing of ours has run; one of its windows has said something."""
    window = rig.boss.open(1, 11)
    window.user_vars["tally"] = "state=waiting;tool=mine"
    window.child_title = "mine"
    rig.boss.open(2, 12)
    return importlib.import_module("tallylight.hosts.kitty.keys")


def test_a_key_is_enough(rig: Rig, keys: Any) -> None:
    """It starts the host; each open window is watched, once, and what was said in it before has its light."""
    keys.jump(rig.boss, ())
    watcher = importlib.import_module("tallylight.hosts.kitty.watcher")
    starter = importlib.import_module("tallylight.hosts.kitty.starter")
    rig.host = watcher.running()
    rig.until(lambda: rig.status(1) is Status.WAITING, "the light")
    assert rig.host.panes[1].clean_title == "mine"

    assert rig.boss.active_window is rig.boss.window_id_map[1]
    keys.attach(rig.boss)
    assert watcher.running() is rig.host
    for window in rig.boss.window_id_map.values():
        assert all(getattr(window.watchers, name) == [call] for name, call in starter.CALLS.items())
    assert (rig.boss.errors, rig.kitty.log) == ([], [])


def test_a_snooze_that_changes_nothing_says_so(rig: Rig, keys: Any) -> None:
    """Only what needs a person is snoozed; the key again ends it."""
    keys.attach(rig.boss)
    rig.host = importlib.import_module("tallylight.hosts.kitty.watcher").running()
    rig.until(lambda: rig.status(1) is Status.WAITING, "the light")
    keys.snooze(rig.boss, 2, ())
    assert ["nothing to snooze" in error for error in rig.boss.errors] == [True]
    for is_snoozed in (True, False):
        keys.snooze(rig.boss, 1, ("5",))
        assert rig.host.panes[1].attention.snoozed is is_snoozed
    assert len(rig.boss.errors) == 1


def test_a_jump_that_goes_nowhere_says_so(rig: Rig, keys: Any) -> None:
    """The only window that needs a person is the one in front: a notification tells, and the view stays."""
    keys.attach(rig.boss)
    rig.host = importlib.import_module("tallylight.hosts.kitty.watcher").running()
    rig.until(lambda: rig.status(1) is Status.WAITING, "the light")
    rig.boss.set_active_window(rig.boss.window_id_map[2])
    keys.jump(rig.boss, ())
    assert (rig.boss.active_window, rig.boss.errors) == (rig.boss.window_id_map[1], [])

    rig.boss.set_active_window(rig.boss.window_id_map[2])
    rig.boss.set_active_window(rig.boss.window_id_map[1])
    importlib.import_module("tallylight.hosts.kitty.actions")._journey = None
    keys.jump(rig.boss, ())
    assert rig.boss.notification_manager.shown[-1].title == "No other agent needs you."
    assert rig.boss.active_window is rig.boss.window_id_map[1], "a jump to nowhere moves nothing"


def test_a_window_of_a_kitty_that_loaded_the_watcher_itself_is_watched_once(rig: Rig, keys: Any) -> None:
    """kitty's own copy of our functions is not added to."""
    on_close = importlib.import_module("tallylight.hosts.kitty.starter").CALLS["on_close"]
    window = rig.boss.window_id_map[1]
    window.watchers.on_close.append(on_close)
    keys.attach(rig.boss)

    assert window.watchers.on_close == [on_close]


def test_one_that_cannot_start_says_so(rig: Rig, keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key tells the person, and remote control the one that asked."""
    watcher = importlib.import_module("tallylight.hosts.kitty.watcher")
    monkeypatch.setattr(watcher, "KittyHost", lambda _boss: 1 // 0)
    keys.jump(rig.boss, ())
    assert "tally doctor" in rig.boss.errors[0]
    with pytest.raises(RuntimeError, match="tally doctor"):
        keys.attach(rig.boss)
