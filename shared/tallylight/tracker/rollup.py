"""
Roll-up: one light for many records, or for the many panes of a tab.

The most urgent wins; of equals, the one that changed last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tallylight.model.decision import Decision
from tallylight.model.status import URGENCY, Status

_RANK = {status: len(URGENCY) - i for i, status in enumerate(URGENCY)}

D = TypeVar("D", bound=Decision)


def urgency(status: Status) -> int:
    """How urgent *status* is: greater is more urgent."""
    return _RANK[status]


def most_urgent(decisions: Iterable[D]) -> D | None:
    """The decision a single light shows for all of *decisions*; None where there are none."""
    return max(decisions, key=lambda d: (_RANK[d.status], d.since), default=None)
