"""
Roll-up: how urgent a status is, and one light for the panes of a tab.

Green means that nothing in the tab is left to wait for. So in the one light of several panes work goes before an unseen
`done`, which then shows as a mark. In a list each pane has its own light, and `done` goes before work. Of two equals,
the one that changed last counts.
"""

from __future__ import annotations

from collections.abc import Collection

from tallylight.model.decision import Decision
from tallylight.model.status import TAB_ORDER, URGENCY, Status


def urgency(status: Status) -> int:
    """Return how urgent *status* is: greater is more urgent."""
    return len(URGENCY) - URGENCY.index(status)


def precedence(status: Status) -> int:
    """Return the rank of *status* in the one light of several panes: the greatest is shown."""
    return len(TAB_ORDER) - TAB_ORDER.index(status)


def of_tab(decisions: Collection[Decision]) -> Decision | None:
    """Return the decision that one light shows for all of *decisions*; None if there are none."""
    return max(decisions, key=lambda decision: (precedence(decision.status), decision.since), default=None)


def has_hidden_done(shown: Decision, decisions: Collection[Decision]) -> bool:
    """Return whether an unseen `done` is among *decisions* while *shown*, their light, is work."""
    is_work = shown.status in (Status.WORKING, Status.BACKGROUND)
    return is_work and any(decision.status is Status.DONE for decision in decisions)
