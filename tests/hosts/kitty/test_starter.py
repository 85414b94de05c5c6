"""The starter: kitty loads little of us, a thread loads the rest, and nothing that was told meanwhile is lost."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tallylight.actions.gate import Refusal
from tallylight.actions.request import LookRequest, decode_reply, encode
from tallylight.model.status import Status
from tallylight.snapshot import sockets
from tests import patience
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture


@pytest.fixture
def starter(rig: Rig) -> Iterator[Any]:
    """What kitty has loaded, in a kitty in which nothing of ours has run."""
    module = importlib.import_module("tallylight.hosts.kitty.starter")
    yield module
    module.finished("watcher")


def until(rig: Rig, starter: Any, condition: Callable[[], object] | None = None) -> None:
    """Let kitty's timers go off until the loading is over, or *condition* is true."""
    patience.until(
        lambda: (condition() if condition is not None else starter.loading.is_over) or rig.kitty.run_repeats()
    )


def test_another_thread_loads_it(rig: Rig, starter: Any) -> None:
    """When kitty goes on there is no host yet; it comes by itself, with the settings, and the timer has gone."""
    starter.on_load(rig.boss, {})
    assert starter.loading.watcher is None
    until(rig, starter)
    host = starter.loading.watcher.running()
    assert (host.config.poll_ms, host.surfaces.tabs.style) == (300, "stripe")
    assert starter.loading.took_s > 0
    rig.kitty.run_repeats()
    assert [interval for _, interval, repeats in rig.kitty.timers.values() if repeats] == [0.3]


def test_what_is_told_meanwhile_is_heard(rig: Rig, starter: Any) -> None:
    """Of what stays with a window its last value, and every mark of a shell, in order; of windows that are open."""
    window, gone = rig.boss.open(1, 11), rig.boss.open(2, 12)
    starter.on_load(rig.boss, {})
    window.user_vars["tally"] = "state=waiting;tool=mine"
    starter.CALLS["on_set_user_var"](rig.boss, window, {"key": "tally", "value": "state=waiting;tool=mine"})
    for told in (window, gone):
        starter.CALLS["on_cmd_startstop"](rig.boss, told, {"is_start": True})
    starter.CALLS["on_cmd_startstop"](rig.boss, window, {"is_start": False, "exit_status": 3})
    del rig.boss.window_id_map[2]
    heard: list[tuple[bool, int | None]] = []
    pane = importlib.import_module("tallylight.pane.pane").Pane
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pane, "marked", lambda _, is_start, code, now: heard.append((is_start, code)) or True)
        until(rig, starter)
    assert heard == [(True, None), (False, 3)]
    rig.host = starter.loading.watcher.running()
    rig.until(lambda: rig.status(1) is Status.WAITING, "the light")
    assert 2 not in rig.host.panes
    starter.CALLS["on_set_user_var"](rig.boss, window, {"key": "tally", "value": "state=working;tool=mine"})
    rig.until(lambda: rig.status(1) is Status.WORKING, "the next light")
    assert all(getattr(window.watchers, name) == [call] for name, call in starter.CALLS.items())


def test_a_key_does_not_wait_for_the_timer(rig: Rig, starter: Any) -> None:
    """It waits for the modules alone, and starts the one host there will be."""
    starter.on_load(rig.boss, {})
    starter.finished("keys").attach(rig.boss)
    host = starter.loading.watcher.running()
    assert host is not None
    rig.kitty.run_repeats()
    assert starter.loading.watcher.running() is host
    assert rig.kitty.log == []


def test_a_fault_is_told_once(rig: Rig, starter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """kitty goes on, and its log says what is wrong and what to do."""
    monkeypatch.setattr(starter, "MODULES", ("watcher", "nothing_of_this_name"))
    starter.on_load(rig.boss, {})
    until(rig, starter)
    starter.CALLS["on_close"](rig.boss, rig.boss.open(1, 11), {})
    (line,) = rig.kitty.log
    assert "switched off: ModuleNotFoundError" in line and "tally doctor" in line
    assert not [call for call, _, repeats in rig.kitty.timers.values() if repeats]


@pytest.mark.slow
def test_settings_on_a_dead_disk_are_not_waited_for(rig: Rig, starter: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host starts without them once the thread that reads them was lent enough time."""
    settings, answers = importlib.import_module("tallylight.hosts.kitty.settings"), threading.Event()
    monkeypatch.setattr(settings, "read_ahead", lambda: answers.wait(60))
    starter.on_load(rig.boss, {})
    until(rig, starter)
    assert not answers.is_set()
    assert starter.loading.watcher.running() is not None
    answers.set()


def test_keys_and_the_list_are_loaded_with_the_first_light(
    rig: Rig, starter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then nobody needs them; then a thread, lent the lock meanwhile, has loaded them before a key is pressed."""
    later = [f"tallylight.hosts.kitty.{name}" for name in ("awake", "answering", "keys", "agent_list")]
    for name in later:
        monkeypatch.delitem(sys.modules, name, raising=False)
    window = rig.boss.open(1, 11)
    starter.on_load(rig.boss, {})
    until(rig, starter)
    rig.host = starter.loading.watcher.running()
    for _ in range(3):
        rig.tick()
    assert not {*later} & {*sys.modules}
    lent: list[bool] = []
    monkeypatch.setattr(starter, "_let_run", lambda until: lent.append(until.is_set()) or until.is_set())
    starter.CALLS["on_set_user_var"](rig.boss, window, {"key": "tally_list", "value": "x"})
    starter.CALLS["on_set_user_var"](rig.boss, window, {"key": "tally", "value": "state=working;tool=mine"})
    rig.until(lambda: rig.status(1) is Status.WORKING, "the light")
    rig.until(lambda: rig.host.messages.notices, "notifications")
    assert starter.finished("keys").jump is not None
    assert {*later, "tallylight.parts.conversations.in_kitty"} <= {*sys.modules}
    rig.kitty.run_repeats()
    rig.kitty.run_repeats()
    assert lent.count(True) == 1, "it is lent until all is loaded"
    assert [interval for _, interval, repeats in rig.kitty.timers.values() if repeats] == [0.3]


def test_a_script_is_served_before_the_first_agent(rig: Rig, starter: Any) -> None:
    """What serves it is loaded when it comes."""
    starter.on_load(rig.boss, {})
    until(rig, starter)
    rig.host = starter.loading.watcher.running()
    name, asked = f"kitty-{os.getpid()}", encode(LookRequest("7", "screen"))
    rig.until((rig.run / f"tallylight/{name}.sock").exists, "the socket")
    with sockets.connect(name, 0.01) as connection:
        connection.sendall(asked)
        replies: list[bytes] = []

        def is_answered() -> bool:
            rig.kitty.run_repeats()
            with contextlib.suppress(TimeoutError):
                replies.append(connection.recv(4096))
            return bool(replies)

        rig.until(is_answered, "the reply")
    refusal = decode_reply(replies[0])
    assert isinstance(refusal, Refusal) and refusal.rule == "gone"
    assert rig.kitty.log == []
