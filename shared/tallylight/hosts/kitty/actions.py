"""
Actions in kitty: to a window, and to the next one that needs a person. Any process may ask for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallylight.pane.pane import Pane
from tallylight.snapshot import next_pane as order
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.schema import ReasonEntry

#: The journey that the person is on. One kitty has one person.
_journey: order.Journey | None = None


def focus(boss: Any, id_: int) -> bool:
    """Bring window *id_* to the front: its OS window, its tab, itself. False if there is none."""
    window = boss.window_id_map.get(id_)
    if window is None:
        return False
    boss.set_active_window(window, switch_os_window_if_needed=True)
    return True


def jump(boss: Any, panes: Mapping[int, Pane], options: Sequence[str], now: float) -> bool:
    """
    To the next window that needs a person, or back after the last one; False if there is nowhere to go.

    *options* are those of `tally jump`: `--previous`, `--any`. *now* is monotonic.
    """
    global _journey
    here = boss.active_window
    entries = [_entry(id_, pane, now) for id_, pane in panes.items() if id_ in boss.window_id_map]
    stops = order.stops(entries, now, is_any="--any" in options)
    _journey, goal = order.jump(
        _journey,
        stops,
        str(here.id) if here is not None else "",
        existing={str(id_) for id_ in boss.window_id_map},
        is_backward="--previous" in options,
    )
    return goal is not None and goal.isdigit() and focus(boss, int(goal))


def _entry(id_: int, pane: Pane, now: float) -> PaneEntry:
    """What of a pane decides where it stands in the order; its times are monotonic here."""
    decision = pane.decision
    source = decision.reason.source
    return PaneEntry(
        id=str(id_),
        status=decision.status,
        since=decision.since,
        reason=ReasonEntry(source=source.word if source is not None else ""),
        snoozed_until=now + 1 if pane.attention.snoozed else 0.0,
    )
