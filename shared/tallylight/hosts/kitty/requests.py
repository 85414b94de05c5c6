"""
Requests to kitty: what other processes ask through the spool, done to kitty's windows.
"""

from __future__ import annotations

from typing import Any

from tallylight.hosts.kitty import actions
from tallylight.pane import marks
from tallylight.pane.pane import Pane
from tallylight.snapshot.requests import Request


def carry_out(request: Request, boss: Any, panes: dict[int, Pane], snooze_min: float, now: float) -> None:
    """Do what is asked; what names no window of this kitty, or makes no sense, is nothing."""
    id_ = int(request.pane) if request.pane.isascii() and request.pane.isdigit() and len(request.pane) < 20 else 0
    if request.verb == "focus":
        actions.focus(boss, id_)
    elif request.verb == "jump":
        actions.jump(boss, panes, request.args, now)
    elif id_ in panes:
        marks.carry_out(request, panes[id_], snooze_min, now)
