"""
Requests to kitty: what other processes ask through the spool, and the key that snoozes, done to kitty's windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kitty.utils import log_error

from tallylight.hosts import asked, kitty_actions
from tallylight.hosts.pane import Pane
from tallylight.requests import Request


def carry_out(request: Request, boss: Any, panes: dict[int, Pane], snooze_min: float, now: float) -> None:
    """Do what is asked; what names no window of this kitty, or makes no sense, is nothing."""
    id_ = int(request.pane) if request.pane.isascii() and request.pane.isdigit() and len(request.pane) < 20 else 0
    if request.verb == "focus":
        kitty_actions.focus(boss, id_)
    elif request.verb == "jump":
        kitty_actions.jump(boss, panes, request.args, now)
    elif id_ in panes:
        asked.carry_out(request, panes[id_], snooze_min, now)


def snooze_key(boss: Any, window_id: int, args: Sequence[str]) -> None:
    """Snooze window *window_id*, for as many minutes as *args* say, or wake it if it is snoozed."""
    # Here, because the host imports this module.
    from tallylight.hosts import kitty

    host = kitty._host
    if host is None:
        boss.show_error("Tallylight", "Tallylight does not run in this kitty; `tally doctor` tells why.")
        return
    pane = host._panes.get(window_id)
    is_snoozed = pane is not None and pane.attention.snoozed
    minutes = ("0",) if is_snoozed else tuple(args)
    try:
        host._carry_out([Request("snooze", str(window_id), minutes)])
    except Exception as error:  # kitty must not see our faults
        log_error(f"tallylight: snooze: {type(error).__name__}: {error}")
