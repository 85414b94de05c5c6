"""
Events while the user was away: a line for each conversation, from its turns that ended since and its pane's status now.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

import attrs

from tallylight.model.status import NEEDS_PERSON, Status
from tallylight.parts.diary import history_file
from tallylight.parts.diary.history import Sum, added, total
from tallylight.parts.diary.turns import Turn
from tallylight.snapshot.addresses import Row
from tallylight.ui.layout import duration

#: The days of turns to search.
_SEARCHED_DAYS = 7


@attrs.frozen
class Away:
    """The sum of the turns of one conversation, and the pane that shows it; None if that is gone."""

    total: Sum
    found: Row | None


def left_at(turns: Iterable[Turn]) -> float:
    """Return when the last turn began, in seconds since the epoch: a person was there. 0 without any turn."""
    return max((turn.began for turn in turns if not turn.goes_on), default=0.0)


def since(turns: Sequence[Turn], panes: Iterable[Row], then: float) -> list[Away]:
    """
    Return conversations with turns that ended after *then*, or that need a person now; the latter first.

    *then* is in seconds since the epoch. *turns* are those of `History`, *panes* are lit, most urgent first.
    """
    ended: dict[tuple[str, str, str], list[Turn]] = {}
    for turn in turns:
        if turn.ended > then and not turn.doing:
            ended.setdefault((turn.agent, turn.project, turn.session), []).append(turn)
    lines: list[Away] = []
    for found in panes:
        pane = found.pane
        key = pane.agent, pane.project, pane.session
        if key in ended or (pane.status in NEEDS_PERSON and pane.since > then):
            lines.append(_line(key, ended.pop(key, []), found))
    left = sorted(ended.items(), key=lambda one: max(turn.ended for turn in one[1]), reverse=True)
    return lines + [_line(key, own, None) for key, own in left]


def _line(key: tuple[str, str, str], turns: Iterable[Turn], found: Row | None) -> Away:
    """Return the sum of *turns* of one conversation, with the row *found* that shows it."""
    return Away(attrs.evolve(total(turns), agent=key[0], project=key[1]), found)


def in_one_line(lines: Iterable[Away]) -> str:
    """Return a summary: `3 turns, 1 question, 1 failed, 2 wait for you`; empty without events."""
    every = list(lines)
    panes = [line.found.pane for line in every if line.found is not None]
    limited, waits = (sum(pane.status is status for pane in panes) for status in (Status.LIMITED, Status.WAITING))
    more = _counted((limited, "at a limit", "at a limit"), (waits, "waits for you", "wait for you"))
    return ", ".join([*counts(added(line.total for line in every)), *more])


def counts(whole: Sum) -> list[str]:
    """Return the counts of turns: `3 turns`, `1 question`, `1 failed`; zeros are left out."""
    return _counted(
        (whole.turns, "turn", "turns"), (whole.questions, "question", "questions"), (whole.errors, "failed", "failed")
    )


def _counted(*numbers: tuple[int, str, str]) -> list[str]:
    """Return each number with its noun, in the singular or the plural; zeros are left out."""
    return [f"{number} {one if number == 1 else more}" for number, one, more in numbers if number]


def absence(panes: Iterable[Row], seconds: float) -> str:
    """Return a line on the last *seconds*, from turns and the lit *panes*; empty without news."""
    now = time.time()
    words = in_one_line(since(history_file.recent(os.environ, now, _SEARCHED_DAYS).turns, panes, now - seconds))
    return f"the last {duration(seconds)}: {words}" if words else ""
