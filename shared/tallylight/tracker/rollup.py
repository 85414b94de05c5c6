"""
Roll-up: how urgent a status is, and one light for the many panes of a tab.

Green means that nothing is left to wait for. So in one light for several panes work goes before an unseen `done`, which
is then only a mark beside it. In a list each pane has its own light, and `done` goes before work. Of equals, the one
that changed last counts.
"""

from __future__ import annotations

from collections.abc import Collection

from tallylight.model.decision import Decision
from tallylight.model.status import TAB_ORDER, URGENCY, Status


def urgency(status: Status) -> int:
    """How urgent *status* is: greater is more urgent."""
    return len(URGENCY) - URGENCY.index(status)


def precedence(status: Status) -> int:
    """Which status one light for several panes shows: the greatest."""
    return len(TAB_ORDER) - TAB_ORDER.index(status)


def of_tab(decisions: Collection[Decision]) -> Decision | None:
    """The decision that one light shows for all of *decisions*; None where there are none."""
    return max(decisions, key=lambda decision: (precedence(decision.status), decision.since), default=None)


def has_hidden_done(shown: Decision, decisions: Collection[Decision]) -> bool:
    """Whether an unseen `done` is among *decisions* beside the work that is *shown* for them."""
    is_work = shown.status in (Status.WORKING, Status.BACKGROUND)
    return is_work and any(decision.status is Status.DONE for decision in decisions)
