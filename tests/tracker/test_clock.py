"""An hour in which nobody could run, at each place of every time-line: a suspended machine changes no light."""

from __future__ import annotations

import pytest

from tallylight.tracker.tracker import Tracker
from tests.tables import each
from tests.tracker.test_trust_rules import ROWS, Row, shown, steps

pytestmark = pytest.mark.slow

HOUR = 3600.0


def track(row: Row, suspended: int | None = None) -> list[tuple[object, ...]]:
    """What is shown after each step, and when it is due to change; an hour passes before the one *suspended*."""
    tracker, late, found = Tracker(row.timing), 0.0, []
    for number, (at, step) in enumerate(steps(row.line)):
        if number == suspended:
            tracker.pause(HOUR)
            late = HOUR
        step(tracker, at + late)
        due = tracker.deadline()
        wants = tracker.wants_output, tracker.wants_screen
        found.append((shown(tracker.decision), None if due is None else round(due - late, 6), wants))
    return found


@each("rule", [*ROWS])
def test_an_hours_suspend_changes_nothing(rule: str) -> None:
    """Each rule holds as if the hour had not been: nothing fades in it, is too late after it, or comes twice."""
    changed = []
    for row in ROWS[rule]:
        before = track(row)
        changed += [(row.line, at, before) for at in range(1, len(before)) if track(row, at) != before]

    assert changed == []
