"""
What a person asks of a pane from elsewhere, done to any host's pane: `snooze`, `unread`, `seen`.
"""

from __future__ import annotations

from tallylight.pane.pane import Pane
from tallylight.snapshot.requests import Request

#: The longest snooze in minutes: a day. A longer one would mean that the light is not wanted.
MAX_MINUTES = 24 * 60


def carry_out(request: Request, pane: Pane, snooze_min: float, now: float) -> bool:
    """
    Do what is asked to the ledger of *pane*; False if it is another verb's or makes no sense here.

    *snooze_min* is how many minutes a snooze is that names none. Only what needs a person can be snoozed.
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
    """A person has looked at *pane*, or says so: `done` is old news, a question stays one."""
    pane.tracker.seen(now)
    pane.attention.shown(pane.decision, now)
    pane.attention.see()
