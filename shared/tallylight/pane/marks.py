"""
The marks that a person sets on a pane from elsewhere, for any host: `snooze`, `unread`, `seen`.
"""

from __future__ import annotations

from tallylight.pane.pane import Pane
from tallylight.snapshot.requests import Request

#: The longest snooze, in minutes: a day.
MAX_MINUTES = 24 * 60


def carry_out(request: Request, pane: Pane, snooze_min: float, now: float) -> bool:
    """
    Set the mark of *request* on *pane*; return False if it asks for something else or makes no sense here.

    *snooze_min*: the minutes of a snooze that names none. Only a status that needs a person can be snoozed.
    """
    attention = pane.attention
    attention.shown(pane.decision, now)
    if request.verb == "seen":
        mark_seen(pane, now)
    elif request.verb == "unread":
        pane.tracker.seen(now, is_so=False)
        attention.shown(pane.decision, now)
        attention.mark_unread()
    elif request.verb == "snooze":
        try:
            minutes = float(request.args[0]) if request.args else snooze_min
        except ValueError:
            return False
        is_sound = not request.args or 0 <= minutes <= MAX_MINUTES  # NaN is in no range
        if not is_sound or not (pane.decision.needs_person or attention.snoozed):
            return False
        attention.snooze(60 * minutes, now)
    else:
        return False
    return True


def mark_seen(pane: Pane, now: float) -> None:
    """Mark *pane* as looked at by a person: `done` becomes old news, a question stays one."""
    pane.tracker.seen(now)
    pane.attention.shown(pane.decision, now)
    pane.attention.see()
