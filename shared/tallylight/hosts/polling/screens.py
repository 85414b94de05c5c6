"""
The screens of a polling host: which ones to read, when, and which together.

A screen is read only while it would be evidence, and not again while its source reports no drawing. If a source can
read several at once, one command reads them. Where many are needed, each is read less often.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import attrs

from tallylight.hosts.jobs import Jobs, backoff
from tallylight.hosts.polling.pane_events import ReportCopies
from tallylight.hosts.polling.source import Source, SourcePane, Together
from tallylight.pane.pane import Look, Pane
from tallylight.pane.screen_looks import CALM_EVERY

#: Readings in a second over all panes: of single screens, and of screens that are read together.
READS_A_SECOND, TOGETHER_A_SECOND = 5, 12
#: Seconds between two readings of a known question (`Pane.is_known`): less than its last reading remains valid,
#: `tracker.table.SHOWN_DIALOG_S`.
KNOWN_S = 2.0
#: A still screen is read again after so many seconds, at the latest after twice as many: all are read together.
STILL_S = 10.0


@attrs.define(eq=False)
class PolledPane:
    """One pane of a source, and the last reading of its screen. Times are monotonic."""

    pane: Pane
    source: Source
    source_pane: SourcePane
    #: When its screen may be read next, and how often reading it failed in a row.
    read_at: float = 0.0
    failures: int = 0
    #: Until then the screen need not be read while its question is known.
    known_until: float = 0.0
    #: When it was last looked at, in seconds since the epoch, and how often it was its turn in vain since.
    looked_at: float = 0.0
    rests: int = 0
    #: The process group in the foreground then.
    group: int = 0
    #: The last reading, and until when it may replace another one.
    look: Look | None = None
    good_until: float = 0.0
    #: Recognises reports that arrive twice.
    copies: ReportCopies = attrs.field(factory=ReportCopies)


class _UnreadError(Exception):
    """The screen is needed, and must be read first."""


class Screens:
    """Decides which screens to read, and when. *read* gets the id of each pane with a new screen. All on the loop."""

    def __init__(self, jobs: Jobs, clock: Callable[[], float], read: Callable[[str], None]) -> None:
        self._jobs = jobs
        self._clock = clock
        self._read = read
        #: Panes with a screen that was needed at the last look and had to be read.
        self._armed: set[PolledPane] = set()
        #: Panes to read together, by the function that reads them.
        self._due: dict[Together, dict[str, PolledPane]] = {}

    def look(self, polled: PolledPane, now: float) -> None:
        """
        Use or read the screen of one pane, if it can be read, would be evidence, and is due.

        A screen that was just read is used once more when its source reports no drawing: that is free.
        """
        source_pane = polled.source_pane
        is_due = now >= polled.read_at
        if source_pane.read is None and source_pane.together is None:
            return
        if now < polled.known_until and polled.pane.looks.is_known:
            return
        if not is_due and not (polled in self._armed and self._has_look(polled, now)):
            return
        try:
            polled.pane.screen(lambda: self._last_look(polled, now), now)
            self._armed.discard(polled)
        except _UnreadError:
            if not is_due:
                return
            self._armed.add(polled)
            if source_pane.together is not None:
                self._due.setdefault(source_pane.together, {})[source_pane.id] = polled
            elif source_pane.read is not None and self._jobs.submit(
                ("screen", source_pane.id),
                source_pane.read,
                functools.partial(self._was_read, polled),
                functools.partial(self._failed, polled),
            ):
                polled.read_at = self._next(polled, now)

    def flush(self, now: float) -> None:
        """Start reading the screens that can be read together, of all panes since the last call."""
        for together, polled in self._due.items():
            job, failed = functools.partial(together, tuple(polled)), functools.partial(self._have_failed, polled)
            if self._jobs.submit(("screens", together), job, functools.partial(self._were_read, polled), failed):
                for one in polled.values():
                    one.read_at = self._next(one, now)
        self._due = {}

    def gone(self, polled: PolledPane) -> None:
        """Forget a pane that is gone."""
        self._armed.discard(polled)

    def _last_look(self, polled: PolledPane, now: float) -> Look:
        """Return the last reading if nothing was drawn since; raise `_UnreadError` if the screen must be read."""
        if polled.look is None or not self._has_look(polled, now):
            raise _UnreadError
        polled.read_at = max(polled.read_at, now + polled.source_pane.read_every)
        return polled.look

    @staticmethod
    def _has_look(polled: PolledPane, now: float) -> bool:
        """Return whether the last reading is still valid: nothing was drawn since."""
        is_still = polled.source_pane.is_still
        return polled.look is not None and now < polled.good_until and is_still is not None and is_still()

    def _next(self, polled: PolledPane, now: float) -> float:
        """Return when a screen that is read at *now* may be read next."""
        is_alone = polled.source_pane.together is None
        others = sum((other.source_pane.together is None) is is_alone for other in self._armed)
        least = others / (READS_A_SECOND if is_alone else TOGETHER_A_SECOND)
        every = polled.source_pane.read_every * (CALM_EVERY if polled.pane.looks.is_calm else 1)
        if is_alone or least <= every:
            return now + max(least, every)
        # Screens that are read together are due together: starting a command costs most.
        return _next_of(least, now + 0.5 * least)

    def _was_read(self, polled: PolledPane, look: Look) -> None:
        """Pass on the screen of *polled*, and schedule the next reading."""
        now = self._clock()
        polled.failures, polled.known_until = 0, now + KNOWN_S
        polled.look, polled.good_until = look, _next_of(STILL_S, now + STILL_S)
        polled.pane.screen(lambda: look, now)
        self._read(polled.source_pane.id)

    def _failed(self, polled: PolledPane, _error: object) -> None:
        """Schedule the next try, later after each failure."""
        polled.failures += 1
        polled.read_at = self._clock() + backoff(polled.failures)
        polled.look = None

    def _were_read(self, asked: dict[str, PolledPane], looks: Mapping[str, Look | None]) -> None:
        """Pass on the screens that one command has read; those that it left out are due again."""
        for id_, polled in asked.items():
            if id_ not in looks:
                polled.read_at = 0.0  # it was not its turn
            elif (look := looks[id_]) is not None:
                self._was_read(polled, look)

    def _have_failed(self, asked: dict[str, PolledPane], error: Exception) -> None:
        for polled in asked.values():
            self._failed(polled, error)


def _next_of(every: float, after: float) -> float:
    """Return the first multiple of *every* seconds *after* a time: the same for all callers."""
    return (after // every + 1.0) * every
