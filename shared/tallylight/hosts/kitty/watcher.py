"""
The watcher: the one host of this kitty process, and the functions that kitty calls through `starter`.

https://sw.kovidgoyal.net/kitty/launch/#watchers lists the functions of a watcher. Each is guarded: a fault switches off
its feature, with one line in kitty's log.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import kitty.launch  # noqa: F401 - read from the disk now, and not when a key is pressed for the first time
from kitty.utils import log_error

from tallylight.hosts.kitty import channel, starter, user_vars
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.windows import is_watched
from tallylight.hosts.sessions_process import SessionsProcess
from tallylight.ui.agent_list.channel import BELL, PANEL
from tallylight.wire.envelope import CARRIER

_host: KittyHost | None = None


def running() -> KittyHost | None:
    """Return the host of this kitty; None if it does not run."""
    return _host


def start(boss: Any) -> KittyHost | None:
    """Return the host of this kitty, after starting it if necessary; None if it cannot start."""
    global _host  # noqa: PLW0603 - one host a process, whatever kitty does with its modules
    if _host is not None:
        return _host
    try:
        _host = KittyHost(boss)
    except Exception as error:  # kitty has to start
        log_error(f"tallylight: switched off: {type(error).__name__}: {error}")
        starter.took_over(boss, sys.modules[__name__])
        return None
    _host.sessions_process = SessionsProcess(
        os.environ, lambda *words: channel.command(_host.command if _host else "", *words)
    )
    _host.guarded("scripts", _host.door.open)(_host.worker.submit)
    _host.each_tick.append(_host.guarded("scripts", _host.door.look))
    _host.adopt = functools.partial(_host.guarded("open windows", _adopt), boss, _host)
    _host.adopt()
    _host.guarded("shell marks", starter.took_over)(boss, sys.modules[__name__])
    return _host


def _adopt(boss: Any, host: KittyHost) -> None:
    """Watch the windows that were open before the watcher was loaded, and process their titles and variables."""
    for window in list(boss.window_id_map.values()):
        for name, call in starter.CALLS.items():
            calls = getattr(window.watchers, name)
            if call not in calls:
                calls.append(call)
        if not is_watched(window):
            continue
        if window.child_title:
            host.on_title_change(window, window.child_title, True)
        for key, value in list(window.user_vars.items()):
            if not user_vars.drop(window, key, value) and key == CARRIER:
                host.on_set_user_var(window, CARRIER, value)


# kitty's calls ---------------------------------------------------------------------------------------------------


def _call(feature: str, call: Callable[[KittyHost], None], window: Any = None) -> None:
    """Call the host with an event, unless it is about a panel of ours."""
    if _host is not None and _host.is_wired and (window is None or is_watched(window)):
        _host.guarded(feature, call)(_host)


def on_set_user_var(_boss: Any, window: Any, data: dict[str, Any]) -> None:
    if data["key"] == BELL:
        # A bell before the first list comes from another program.
        if (lists := sys.modules.get(f"{__package__}.agent_list")) is not None:
            _call("list of agents", lambda _: lists.receive(window))
        return
    if data["key"] == PANEL:
        _call("panels", lambda host: host.panel_came())
    if not user_vars.drop(window, data["key"], data["value"]):
        _call("user variables", lambda host: host.on_set_user_var(window, data["key"], data["value"]), window)


def on_title_change(_boss: Any, window: Any, data: dict[str, Any]) -> None:
    _call("titles", lambda host: host.on_title_change(window, data["title"], data["from_child"]), window)


def on_cmd_startstop(_boss: Any, window: Any, data: dict[str, Any]) -> None:
    code = data.get("exit_status")
    _call("shell marks", lambda host: host.on_cmd_startstop(window, data["is_start"], code), window)


def on_focus_change(_boss: Any, _window: Any, _data: dict[str, Any]) -> None:
    _call("focus", lambda host: host.on_focus_change())


def on_close(_boss: Any, window: Any, _data: dict[str, Any]) -> None:
    _call("closing", lambda host: host.on_close(window))
