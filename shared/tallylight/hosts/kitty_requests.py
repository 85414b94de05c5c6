"""
Requests to kitty: what other processes ask through the spool, done to kitty's windows.
"""

from __future__ import annotations

from typing import Any

from tallylight.hosts import asked
from tallylight.hosts.pane import Pane
from tallylight.requests import Request


def carry_out(request: Request, boss: Any, panes: dict[int, Pane], snooze_min: float, now: float) -> None:
    """Do what is asked; what names no window of this kitty, or makes no sense, is nothing."""
    id_ = int(request.pane) if request.pane.isascii() and request.pane.isdigit() and len(request.pane) < 20 else 0
    if request.verb == "focus":
        focus(boss, id_)
    elif request.verb != "jump" and id_ in panes:
        asked.carry_out(request, panes[id_], snooze_min, now)


def focus(boss: Any, id_: int) -> bool:
    """Bring window *id_* to the front: its OS window, its tab, itself. False if there is none."""
    window = boss.window_id_map.get(id_)
    if window is None:
        return False
    boss.set_active_window(window, switch_os_window_if_needed=True)
    return True
