"""
The clock of the list: when its picture changes by itself, because time goes on.

Until then an idle list has nothing to do, not even once a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list.record import OVER, State
from tallylight.ui.layout import countdown

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


def due(state: State) -> float:
    """Return when an age or an end next changes the picture, in seconds since the epoch; infinite for never."""
    if state.mode in OVER:
        return math.inf
    times = (at for row in state.rows for at in _change_times(row.pane, state.now))
    return min((at for at in times if at > state.now), default=math.inf)


def _change_times(pane: Pane, now: float) -> Iterator[float]:
    """Yield the times at which the picture of *pane* changes next; some of them may have passed."""
    if pane.since:
        yield _age_changes_at(pane.since, now)
        if pane.status is Status.WAITING and pane.attention.waited_s:
            # A sum is drawn, which has digits that a time has no room for.
            age = pane.attention.waited_s + max(0.0, now - pane.since)
            yield max(math.nextafter(now, math.inf), now + _age_changes_at(-age, 0.0))
    if pane.attention.snoozed_until > now:
        # When `layout.left` changes, at the latest: of hours it may be a minute too early.
        left = pane.attention.snoozed_until - now
        unit = 1 if left <= _MINUTE_S + 1 else _MINUTE_S
        yield pane.attention.snoozed_until - (math.ceil(left / unit) - 1) * unit
    if pane.limited_until > now:
        yield now + countdown(pane.limited_until - now)[1]
        # A day ahead or more its end is shown with the day.
        yield math.nextafter(pane.limited_until - _DAY_S, math.inf)
    if pane.unanswered_since:
        yield now + _MINUTE_S - (now - pane.unanswered_since) % _MINUTE_S
    if pane.queue.until > now:
        yield pane.queue.until


def _age_changes_at(since: float, now: float) -> float:
    """Return when the `layout.age` of an event at *since* changes."""
    age = max(0.0, now - since)
    unit = next((unit for unit in (_DAY_S, _HOUR_S, _MINUTE_S) if age >= unit), 1)
    return since + (math.floor(age / unit) + 1) * unit
