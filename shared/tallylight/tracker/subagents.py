"""
Subagents: how the children of a pane's record change its light.

A child that asks or has failed shows in place of the pane. A child that works keeps the pane in the background after
its own turn. If the pane itself has no claim, its most urgent child shows, as in iTerm2 for OSC 7501.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import attrs

from tallylight.model.decision import Decision, what_would_change
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.tracker.claims import Claim
from tallylight.tracker.questions import Circumstances, answers, light
from tallylight.tracker.rollup import urgency


def survey(
    root: Decision, children: Iterable[tuple[str, dict[Source, Claim]]], view: Circumstances, deadlines: list[float]
) -> tuple[int, str]:
    """
    Return how many *children* work, and the id of the one that shows in place of *root*, the pane's own decision.

    The id is empty for none. *deadlines* gets the times at which the result may change by itself.
    """
    is_silent = root.report.status is Status.ACTIVE
    busy, urgent = 0, ""
    most = urgency(root.status if is_silent else max(root.status, Status.DOWN, key=urgency)), math.inf
    for id_, claims in children:
        if (shown := _shown(claims, view, deadlines)) is None:
            continue
        busy += shown[0] in (Status.WORKING, Status.BACKGROUND)
        if (key := (urgency(shown[0]), shown[1])) > most:
            most, urgent = key, id_
    return busy, urgent


def _shown(claims: dict[Source, Claim], view: Circumstances, deadlines: list[float]) -> tuple[Status, float] | None:
    """Return the status of a child with these *claims*, and since when; None if no claim counts."""
    if len(claims) == 1:  # the common case, made cheap: there may be hundreds
        (claim,) = claims.values()
        return None if view.refusal(claim, claims, deadlines) else (claim.status, claim.since)
    found = answers(claims, view)
    deadlines += found.deadlines
    shown = light(found)
    return (shown[0], shown[1].since) if shown is not None else None


def in_place_of(root: Decision, child: Decision, screen: Claim | None, answered_sequence: int) -> Decision:
    """
    Return *child* as it shows in place of *root*: with agent, session and project of the root.

    Its message begins with its name: `EU West: Approve?`. A child that waits without a message gets the question on
    the *screen*. A screen report up to *answered_sequence* is about an earlier question and does not count.
    """
    is_asked = screen is not None and screen.status is Status.WAITING and screen.sequence > answered_sequence
    question = screen.report.message if screen is not None and is_asked else ""
    child_name = child.report.title or child.report.id.rpartition("/")[2]
    said = child.report.message or (question if child.status is Status.WAITING else "")
    report = attrs.evolve(
        child.report.with_gaps_filled(root.report),
        title=root.report.title,
        message=f"{child_name}: {said}" if said else child_name,
    )
    # The dialog on the screen may be another's.
    return attrs.evolve(child, report=report, child_name=child_name, confirmed_kind=None)


def in_background(root: Decision, busy: int) -> Decision:
    """Return *root*, with status `background` if its own turn is over and *busy*, a number of subagents, still run."""
    if not busy or root.status not in (Status.DONE, Status.IDLE):
        return root
    rule = f"{busy} of its subagents still run"
    reason = attrs.evolve(root.reason, rule=rule, changes=what_would_change(Status.BACKGROUND, None))
    report = attrs.evolve(root.report, status=Status.BACKGROUND, background=busy)
    return attrs.evolve(root, status=Status.BACKGROUND, kind=None, reason=reason, report=report)
