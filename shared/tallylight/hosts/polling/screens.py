"""
The screens of a polling host: which are read, when, and which of them together.

A screen is read only while it would be evidence, and not again while its source says that nothing was drawn. Those
that a source can read together are read by one command; where many are wanted, each is read more seldom.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from tallylight.hosts.jobs import Jobs, backoff
from tallylight.hosts.polling.polled_pane import Held
from tallylight.hosts.polling.source import Together
from tallylight.pane.pane import Look

#: A screen that has not changed of late is read in every so many of the times it could be.
CALM_EVERY = 2
#: Screens read in a second, of all panes: so many each by itself, and so many together with others.
READS_A_SECOND, TOGETHER_A_SECOND = 5, 12
#: A screen that its source calls still is read all the same after so many seconds.
STILL_S = 10.0


class _UnreadError(Exception):
    """The screen is wanted, and has to be read first."""


class Screens:
    """*read* is told of every pane whose screen was read, on the loop, where all of this is called."""

    def __init__(self, jobs: Jobs, clock: Callable[[], float], read: Callable[[Held], None]) -> None:
        self._jobs = jobs
        self._clock = clock
        self._read = read
        self._armed: set[Held] = set()
        #: What is to be read together, by what reads it.
        self._due: dict[Together, dict[str, Held]] = {}

    def look(self, held: Held, now: float) -> None:
        """
        Look at the screen of one pane, if it can be read, would be evidence and its time has come.

        What was just read is looked at once more as soon as its source says that it is still: that costs nothing.
        """
        sight = held.sight
        is_due = now >= held.read_at
        if (sight.read is None and sight.together is None) or not (is_due or held.is_armed):
            return
        try:
            held.pane.screen(lambda: self._last_look(held, now), now)
            self._disarm(held)
        except _UnreadError:
            if not is_due:
                return
            held.is_armed = True
            self._armed.add(held)
            if sight.together is not None:
                self._due.setdefault(sight.together, {})[sight.id] = held
            elif sight.read is not None and self._jobs.submit(
                ("screen", sight.id), sight.read, functools.partial(self._was_read, held)
            ):
                held.read_at = self._next(held, now)

    def flush(self, now: float) -> None:
        """Have those read that can be read together, of all that were looked at since this was last called."""
        for together, held in self._due.items():
            job = functools.partial(together, tuple(held))
            if self._jobs.submit(("screens", together), job, functools.partial(self._were_read, held)):
                for one in held.values():
                    one.read_at = self._next(one, now)
        self._due = {}

    def gone(self, held: Held) -> None:
        """The pane is no more."""
        self._disarm(held)

    def _disarm(self, held: Held) -> None:
        held.is_armed = False
        self._armed.discard(held)

    def _last_look(self, held: Held, now: float) -> Look:
        """What was last read, if nothing was drawn since; else it has to be read."""
        sight = held.sight
        if held.look is None or now >= held.good_until or sight.is_still is None or not sight.is_still():
            raise _UnreadError
        held.read_at = max(held.read_at, now + sight.read_every)
        return held.look

    def _next(self, held: Held, now: float) -> float:
        """When the screen may be read again that is read at *now*."""
        is_alone = held.sight.together is None
        rivals = sum((other.sight.together is None) is is_alone for other in self._armed)
        least = rivals / (READS_A_SECOND if is_alone else TOGETHER_A_SECOND)
        return now + max(least, held.sight.read_every * (CALM_EVERY if held.pane.is_calm else 1))

    def _was_read(self, held: Held, result: object) -> None:
        now = self._clock()
        if isinstance(result, Look):
            held.failures = 0
            held.look, held.good_until = result, now + STILL_S
            held.pane.screen(lambda: result, now)
            self._read(held)
        elif isinstance(result, Exception):
            held.failures += 1
            held.read_at = now + backoff(held.failures)
            held.look = None

    def _were_read(self, asked: dict[str, Held], result: object) -> None:
        for id_, held in asked.items():
            if not isinstance(result, Mapping):
                self._was_read(held, result)
            elif id_ in result:
                self._was_read(held, result[id_])
            else:
                # It was not its turn.
                held.read_at = 0.0
