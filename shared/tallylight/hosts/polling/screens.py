"""
The screens of a polling host: which are read, when, and which of them together.

A screen is read only while it would be evidence, and not again while its source says that nothing was drawn. Those
that a source can read together are read by one command; where many are wanted, each is read more seldom.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import attrs

from tallylight.hosts.jobs import Jobs, backoff
from tallylight.hosts.polling.source import Source, SourcePane, Together
from tallylight.hosts.polling.word import Ways
from tallylight.pane.pane import Look, Pane
from tallylight.pane.screen_looks import CALM_EVERY

#: Screens read in a second, of all panes: so many each by itself, and so many together with others.
READS_A_SECOND, TOGETHER_A_SECOND = 5, 12
#: Seconds between two readings of a question that is known (`Pane.is_known`): before the last one is too old to count,
#: by `tracker.table.SHOWN_S`.
KNOWN_S = 2.0
#: A screen that its source calls still is read all the same after so many seconds; at the latest after twice as many,
#: because all are read together.
STILL_S = 10.0


@attrs.define(eq=False)
class PolledPane:
    """One pane, how its source saw it, and what was read of its screen. Times are monotonic."""

    pane: Pane
    source: Source
    source_pane: SourcePane
    #: When its screen may be read again, and how often that has failed.
    read_at: float = 0.0
    failures: int = 0
    #: Until then it need not be read while its question is known.
    known_until: float = 0.0
    #: What was last read, and until when it may replace another reading.
    look: Look | None = None
    good_until: float = 0.0
    #: What it has reported lately, by either way.
    ways: Ways = attrs.field(factory=Ways)


class _UnreadError(Exception):
    """The screen is wanted, and has to be read first."""


class Screens:
    """*read* is called with the id of every pane with a new screen, on the loop, where all of this is called."""

    def __init__(self, jobs: Jobs, clock: Callable[[], float], read: Callable[[str], None]) -> None:
        self._jobs = jobs
        self._clock = clock
        self._read = read
        #: The panes with a screen that was evidence, and had to be read, at the last look.
        self._armed: set[PolledPane] = set()
        #: What is to be read together, by what reads it.
        self._due: dict[Together, dict[str, PolledPane]] = {}

    def look(self, polled: PolledPane, now: float) -> None:
        """
        Look at the screen of one pane, if it can be read, would be evidence and its time has come.

        What was just read is looked at once more as soon as its source says that it is still: that costs nothing.
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
        """Have those read that can be read together, of all that were looked at since this was last called."""
        for together, polled in self._due.items():
            job, failed = functools.partial(together, tuple(polled)), functools.partial(self._have_failed, polled)
            if self._jobs.submit(("screens", together), job, functools.partial(self._were_read, polled), failed):
                for one in polled.values():
                    one.read_at = self._next(one, now)
        self._due = {}

    def gone(self, polled: PolledPane) -> None:
        """The pane is no more."""
        self._armed.discard(polled)

    def _last_look(self, polled: PolledPane, now: float) -> Look:
        """What was last read, if nothing was drawn since; else it has to be read."""
        if polled.look is None or not self._has_look(polled, now):
            raise _UnreadError
        polled.read_at = max(polled.read_at, now + polled.source_pane.read_every)
        return polled.look

    @staticmethod
    def _has_look(polled: PolledPane, now: float) -> bool:
        """Whether nothing was drawn since the screen was last read."""
        is_still = polled.source_pane.is_still
        return polled.look is not None and now < polled.good_until and is_still is not None and is_still()

    def _next(self, polled: PolledPane, now: float) -> float:
        """When the screen may be read again that is read at *now*."""
        is_alone = polled.source_pane.together is None
        others = sum((other.source_pane.together is None) is is_alone for other in self._armed)
        least = others / (READS_A_SECOND if is_alone else TOGETHER_A_SECOND)
        every = polled.source_pane.read_every * (CALM_EVERY if polled.pane.looks.is_calm else 1)
        if is_alone or least <= every:
            return now + max(least, every)
        # What is read together is due together, too: what costs most is that a command is run at all.
        return _next_of(least, now + 0.5 * least)

    def _was_read(self, polled: PolledPane, look: Look) -> None:
        now = self._clock()
        polled.failures, polled.known_until = 0, now + KNOWN_S
        polled.look, polled.good_until = look, _next_of(STILL_S, now + STILL_S)
        polled.pane.screen(lambda: look, now)
        self._read(polled.source_pane.id)

    def _failed(self, polled: PolledPane, _error: object) -> None:
        polled.failures += 1
        polled.read_at = self._clock() + backoff(polled.failures)
        polled.look = None

    def _were_read(self, asked: dict[str, PolledPane], looks: Mapping[str, Look | None]) -> None:
        for id_, polled in asked.items():
            if id_ not in looks:
                polled.read_at = 0.0  # it was not its turn
            elif (look := looks[id_]) is not None:
                self._was_read(polled, look)

    def _have_failed(self, asked: dict[str, PolledPane], error: Exception) -> None:
        for polled in asked.values():
            self._failed(polled, error)


def _next_of(every: float, after: float) -> float:
    """The first of the times that come in *every* so many seconds, the same for all that ask, *after* a time."""
    return (after // every + 1.0) * every
