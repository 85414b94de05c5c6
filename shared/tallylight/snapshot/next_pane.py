"""
Jump: to the next pane that needs a person, and after the last one back to where the person was.

A journey begins at the person's pane at the first jump. Each jump goes to the most urgent pane that was not visited;
after the last one it ends at its begin. Going elsewhere by other means ends it, too. A visit changes no pane: a waiting
pane still waits, and a pane with a new need is visited again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from tallylight.snapshot.rows import NEEDS, conversation_of, is_lit, is_snoozed, need
from tallylight.snapshot.schema import Pane

#: The most visits that a journey remembers; there are more visits than panes only if panes change meanwhile.
MAX_VISITS = 1000

Visit = tuple[str, float]


@attrs.frozen
class Journey:
    """A journey: the pane where it began, the visited panes with the begin of their status, and its direction."""

    origin: str
    visits: tuple[Visit, ...]
    is_backward: bool = False


def stops(panes: Sequence[Pane], now: float, *, is_any: bool = False) -> list[Pane]:
    """
    Return the panes to visit, in the order of every list: waiting, the oldest first; then error, down and done.

    *now* is epoch seconds. Snoozed panes are left out. With *is_any* every agent is a stop, by urgency. If panes of one
    conversation show the same status, only the newest is a stop.
    """
    newest = {(conversation_of(pane), pane.status): pane for pane in sorted(panes, key=lambda pane: pane.since)}
    panes = tuple(newest.values())
    ordered = sorted((pane for pane in panes if is_lit(pane)), key=lambda pane: (*need(pane, now), pane.id))
    if is_any:
        return ordered
    return [pane for pane in ordered if pane.status in NEEDS and not is_snoozed(pane, now)]


def jump(
    journey: Journey | None,
    order: Sequence[Pane],
    here: str,
    *,
    existing: Collection[str],
    is_backward: bool = False,
) -> tuple[Journey | None, str | None]:
    """
    Return the journey after a jump from the pane *here*, and the pane to go to; None if there is nothing to visit.

    *order* are the `stops`. Against its direction a journey goes back the way it came. A pane that is not *existing*
    any more is skipped.
    """
    if journey is None or journey.visits[-1][0] != here:
        journey = Journey(here, ())
    elif journey.is_backward is not is_backward:
        visits = journey.visits[:-1]
        while visits and visits[-1][0] not in existing:
            visits = visits[:-1]
        if visits:
            return attrs.evolve(journey, visits=visits), visits[-1][0]
        return None, journey.origin if journey.origin in existing else None
    visited = set(journey.visits)
    for pane in reversed(order) if is_backward else order:
        visit = (pane.id, pane.since)
        if visit not in visited and pane.id != here:
            return Journey(journey.origin, (*journey.visits, visit)[-MAX_VISITS:], is_backward), pane.id
    return None, journey.origin if journey.origin != here and journey.origin in existing else None
