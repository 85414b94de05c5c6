"""
The activity of the processes of a pane's program: when a worker samples it, and what is reported of it.
"""

from __future__ import annotations

import math

import attrs

from tallylight.evidence.process import Process
from tallylight.evidence.screen import Look
from tallylight.evidence.traffic import Fact, Sample, Traffic
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.tracker.tracker import Tracker

#: Seconds between two samples: of an active program, of an agent that reports its turns, of a program without
#: connections, and of one at rest.
ACTIVE_S, REPORTING_S, UNCONNECTED_S, RESTING_S = 0.4, 2.0, 1.0, 10.0
#: The last rows of the screen that are compared.
_COMPARED_ROWS = 16


@attrs.define
class ProcessWatch:
    """Watches the processes of one pane, and reports to its *tracker*. *now* is monotonic seconds."""

    tracker: Tracker
    process: Process | None = None
    traffic: Traffic = attrs.field(factory=Traffic)
    #: Since when the model has been late to answer; None if it is not.
    unanswered: float | None = None
    _at: float = -math.inf
    #: The fact of the last sample, and the report that was made of one.
    _fact: Fact | None = None
    _said: Report | None = None

    def begin(self, process: Process | None) -> None:
        """Watch *process* with all below it from now on; None for none."""
        run = process.run if process is not None else None
        if run != (self.process.run if self.process is not None else None):
            self.traffic, self._at, self.unanswered = Traffic(), -math.inf, None
            self._fact = self._said = None
        self.process = process

    def due(self, now: float) -> bool:
        """Return whether to take a sample now."""
        return self.process is not None and now - self._at >= self._pause(now)

    def _pause(self, now: float) -> float:
        """Return the seconds between two samples: the more is going on, the fewer."""
        tracker = self.tracker
        if tracker.claims.tells_turns:
            return REPORTING_S if tracker.decision.status is Status.WORKING else RESTING_S
        if self._said is None and not self.traffic.is_pending(now):
            return RESTING_S
        return ACTIVE_S if self.traffic.is_known else UNCONNECTED_S

    def look(self, look: Look, now: float) -> None:
        """Take in the screen, without the cursor's row: a person types there."""
        last = len(look.lines)
        while last and not look.lines[last - 1].strip():
            last -= 1
        first = max(0, last - _COMPARED_ROWS)
        rows = list(look.lines[first:last])
        if look.cursor_visible and first <= look.cursor_row < last:
            del rows[look.cursor_row - first]
        self.traffic.look(rows, now)

    def take(self, sample: Sample, now: float) -> None:
        """Take in a worker's *sample*."""
        self._at = now
        tracker = self.tracker
        works = tracker.decision.status is Status.WORKING
        self.traffic.take(sample)
        self._fact = self.traffic.fact(now, is_running=works and tracker.claims.tells_turns)
        before, self.unanswered = self.unanswered, self.traffic.unanswered_since(now) if works else None
        if self.unanswered != before:
            tracker.touch()

    def report_fact(self, now: float, *, is_asked: bool) -> None:
        """Report the fact of the last sample to the tracker. *is_asked*: a dialog is on the screen, and wins."""
        fact, said = self._fact, self._said
        if fact is None and said is not None:
            self._said = None
            self.tracker.report(Report(source=Source.PROCESS, status=None), now)
        elif fact is not None and not is_asked:
            self._said = Report(source=Source.PROCESS, status=Status.WORKING, rule=fact.rule)
            self.tracker.report(self._said, now, fact.since)
