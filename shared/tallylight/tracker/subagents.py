"""
Subagents: what the children of a pane's record make of its light.

One that asks or has failed shows in place of the pane; one that works keeps a pane whose own turn is over at work.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from tallylight.model.decision import Decision, what_would_change
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.tracker.claims import Claim, Timing, expires
from tallylight.tracker.rollup import urgency


@attrs.frozen
class Child:
    """A child by its id path: the *status* by its best source, and *since* when."""

    status: Status
    since: float
    id: str


def survey(
    children: Iterable[tuple[str, dict[Source, Claim]]],
    timing: Timing,
    now: float,
    last_output: float | None,
    deadlines: list[float],
) -> tuple[int, Child | None]:
    """How many *children* work, and the most urgent that needs a person; *deadlines* gets when one's claim expires."""
    busy, urgent = 0, None
    for id_, claims in children:
        claim = claims[max(claims)]
        end, status = expires(claim, timing, last_output), claim.status
        if end is not None and now >= end:
            status = Status.IDLE
        elif end is not None:
            deadlines.append(end)
        if status in (Status.WORKING, Status.BACKGROUND):
            busy += 1
        elif status in (Status.WAITING, Status.ERROR):
            key = urgency(status), claim.changed
            if urgent is None or key > (urgency(urgent.status), urgent.since):
                urgent = Child(status, claim.changed, id_)
    return busy, urgent


def in_background(root: Decision, busy: int) -> Decision:
    """*root*, whose own turn is over, while *busy* of its subagents still run."""
    rule = f"{busy} of its subagents still run"
    reason = attrs.evolve(root.reason, rule=rule, changes=what_would_change(Status.BACKGROUND, None))
    report = attrs.evolve(root.report, status=Status.BACKGROUND, background=busy)
    return attrs.evolve(root, status=Status.BACKGROUND, kind=None, reason=reason, report=report)
