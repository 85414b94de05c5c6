"""
Which panes of a polling host sleep, so that a look at them would find what the last one found.

A process that has not run has changed nothing in its pane (`run_times`), and what was drawn by one of its threads or
by another process, its source tells. All else that a look does is to let time pass, and few panes wait for that.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from tallylight.hosts.polling.polled_pane import PolledPane
from tallylight.hosts.polling.run_times import Runtimes

#: Of a pane that sleeps, every so many looks ask all the same who holds its foreground, and look at its screen: what
#: stands there is then told again well within the time after which a guess is stale.
DOUBTFUL = 16
#: An agent that has slept for so many looks is at rest, if nothing is expected of it.
SETTLED = 8


class Sleepers:
    """For one thread; *runtimes* tells how long processes have run."""

    def __init__(self, runtimes: Runtimes) -> None:
        self.runtimes = runtimes

    def passes(self, polled: PolledPane, now: float) -> bool:
        """Whether the look at this pane that is due at *now* may be left out. Counts it; to be asked once a look."""
        polled.looks += 1
        if not self._has_slept(polled):
            polled.slept, polled.is_doubted = 0, True
            return False
        polled.slept += 1
        if not polled.is_of_interest:
            polled.is_doubted = not polled.looks % DOUBTFUL
            return not polled.is_doubted
        polled.is_doubted = not polled.looks % (2 * DOUBTFUL)
        return polled.looks % DOUBTFUL != 0 and self._rests(polled, now)

    def _has_slept(self, polled: PolledPane) -> bool:
        """Whether neither the pane's leader nor that of its foreground has run since the last look at them."""
        leader, group = polled.source_pane.leader, polled.group
        if not leader or not polled.is_by_leader:
            return False
        ran = self.runtimes.read(leader)
        before = polled.runtimes
        polled.runtimes = after = ran, ran if group == leader else self.runtimes.read(group)
        return after == before and None not in after

    @staticmethod
    def _rests(polled: PolledPane, now: float) -> bool:
        """Whether an agent that sleeps shows nothing that time, or another look at the same screen, would change."""
        if polled.slept < SETTLED or not polled.is_settled or polled.is_armed:
            return False
        if not polled.wants_look:
            return True
        is_still = polled.source_pane.is_still
        return is_still is not None and now < polled.good_until and is_still()

    @staticmethod
    def wake(panes: Iterable[PolledPane]) -> None:
        """Something is to be told of all *panes*: they are looked at when it is their turn."""
        for polled in panes:
            polled.slept = 0

    def keep(self, pids: Container[int]) -> None:
        """Only *pids* are of interest from now on."""
        self.runtimes.keep(pids)

    def close(self) -> None:
        """The host ends."""
        self.runtimes.close()
