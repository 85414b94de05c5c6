"""
Subagents: what the children of a pane's record make of its light.

One that asks or has failed shows in place of the pane; one that works keeps a pane whose own turn is over at work. Of a
pane that says nothing itself its children say all: the most urgent of them shows, as iTerm2 has it for OSC 7501.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import attrs

from tallylight.model.decision import Decision, what_would_change
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.tracker.claims import Claim, with_gaps_filled
from tallylight.tracker.questions import View, answers, light
from tallylight.tracker.rollup import urgency


def survey(
    root: Decision, children: Iterable[tuple[str, dict[Source, Claim]]], view: View, deadlines: list[float]
) -> tuple[int, str]:
    """
    How many *children* work, and which of them shows in place of the pane's own record, *root*; nothing for none.

    *deadlines* gets when one of them may be so no more. One that asks or has failed shows if that is more urgent.
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


def _shown(claims: dict[Source, Claim], view: View, deadlines: list[float]) -> tuple[Status, float] | None:
    if len(claims) == 1:  # as there may be hundreds
        (claim,) = claims.values()
        return None if view.refusal(claim, claims, deadlines) else (claim.status, claim.since)
    found = answers(claims, view)
    deadlines += found.deadlines
    shown = light(found)
    return (shown[0], shown[1].since) if shown is not None else None


def in_place_of(root: Decision, child: Decision, screen: Claim | None, answered_sequence: int) -> Decision:
    """
    *child* as it shows in place of *root*: the pane's agent, session and project are the root's.

    What it says is said to be its: `EU West: Approve?`. One that waits and does not say for what asks what stands on
    the *screen*, unless that was *told* up to *answered* and is of a question before.
    """
    is_asked = screen is not None and screen.status is Status.WAITING and screen.sequence > answered_sequence
    question = screen.report.message if screen is not None and is_asked else ""
    whose = child.report.title or child.report.id.rpartition("/")[2]
    said = child.report.message or (question if child.status is Status.WAITING else "")
    report = attrs.evolve(
        with_gaps_filled(child.report, root.report),
        title=root.report.title,
        message=f"{whose}: {said}" if said else whose,
    )
    # The dialog on the screen may be another's.
    return attrs.evolve(child, report=report, whose=whose, confirmed_kind=None)


def in_background(root: Decision, busy: int) -> Decision:
    """*root*, or, while its own turn is over and *busy* of its subagents still run, that it is in the background."""
    if not busy or root.status not in (Status.DONE, Status.IDLE):
        return root
    rule = f"{busy} of its subagents still run"
    reason = attrs.evolve(root.reason, rule=rule, changes=what_would_change(Status.BACKGROUND, None))
    report = attrs.evolve(root.report, status=Status.BACKGROUND, background=busy)
    return attrs.evolve(root, status=Status.BACKGROUND, kind=None, reason=reason, report=report)
