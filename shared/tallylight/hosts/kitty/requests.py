"""
Requests to kitty: what other processes ask through the spool, done to kitty's windows.
"""

from __future__ import annotations

from typing import Any

from tallylight.hosts.kitty import actions, windows
from tallylight.pane import marks
from tallylight.pane.pane import Pane
from tallylight.snapshot.requests import Request
from tallylight.tracker.mutes import Mutes


def carry_out(request: Request, boss: Any, panes: dict[int, Pane], mutes: Mutes, snooze_min: float, now: float) -> None:
    """Do what is asked; what names no window of this kitty, or makes no sense, is nothing."""
    id_ = windows.id_of(request.pane)
    if request.verb == "focus":
        actions.focus(boss, id_)
    elif request.verb == "jump":
        actions.jump(boss, panes, request.args, now)
    elif request.verb == "mute":
        window = boss.window_id_map.get(id_)
        mutes.ask(request.args, str(window.tab_id) if window is not None else "", now)
    elif id_ in panes:
        marks.carry_out(request, panes[id_], snooze_min, now)
