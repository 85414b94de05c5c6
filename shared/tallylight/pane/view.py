"""
A pane as the notifier sees it.
"""

from __future__ import annotations

from tallylight.pane.pane import Pane
from tallylight.snapshot import fields
from tallylight.tracker.notify import View


def view_of(pane: Pane, name: str) -> View:
    """Return *pane* as the notifier sees it now; *name* is its display name."""
    attention = pane.attention
    return View(
        decision=pane.decision,
        visible=attention.visible,
        seen=attention.seen,
        snoozed=attention.snoozed,
        muted=attention.muted_until is not None,
        project=pane.project,
        name=name,
        outcome=pane.outcome,
        behind=fields.words(pane.more),
        is_whole=pane.is_counted,
        unanswered=pane.unanswered,
    )
