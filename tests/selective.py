"""A tracker that ignores some sources, to see the light without them."""

from __future__ import annotations

import math
from collections.abc import Collection

from tallylight.model.report import Report, Source
from tallylight.tracker.tracker import Tracker


class SelectiveTracker(Tracker):
    """A `Tracker` that ignores the sources in *without*. The foreground program is no source."""

    def __init__(self, without: Collection[Source]) -> None:
        super().__init__()
        self._without = frozenset(without)

    def report(self, report: Report, now: float, since: float = math.inf) -> None:
        """Process a report, unless its source is ignored."""
        if report.source not in self._without:
            super().report(report, now, since)

    def output(self, now: float, *, has_started: bool = False) -> None:
        """Process visible output; *has_started*: it showed a progress bar."""
        if Source.HEURISTIC not in self._without and not (has_started and Source.PROGRESS in self._without):
            super().output(now, has_started=has_started)

    def command_start(self, now: float) -> None:
        """Process the start of a shell's command."""
        if Source.SHELL not in self._without:
            super().command_start(now)

    def command_end(self, exit_code: int | None, now: float) -> None:
        """Process the end of a shell's command."""
        if Source.SHELL not in self._without:
            super().command_end(exit_code, now)
