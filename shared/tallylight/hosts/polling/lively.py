"""
The panes of a polling host of which time alone may change what they show, and when the next of them has something due.

What becomes of a pane is worked out when something was told to it, and at each tick; a step in which nothing was told
to any costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import attrs

from tallylight.hosts.polling.polled_pane import PolledPane


@attrs.define
class Lively:
    """In the order of the last tick. Times are monotonic."""

    _panes: list[PolledPane] = attrs.Factory(list)
    #: When the first of them has something to do; None if none has.
    deadline: float | None = None
    #: Whether a turn or an agent is over in one of them, and a file has yet to tell how.
    is_undecided: bool = False

    def __iter__(self) -> Iterator[PolledPane]:
        return iter(self._panes)

    def tick(self, panes: Iterable[PolledPane]) -> None:
        """A tick begins, in which there are *panes*, all weighed."""
        self._panes = [polled for polled in panes if polled.is_lively]

    def survey(self, touched: Iterable[PolledPane]) -> None:
        """A tick has begun, or something was told to *touched*."""
        for polled in touched:
            polled.appoint()
        self.deadline, self.is_undecided = None, False
        for polled in self._panes:
            due = polled.due
            if due is not None and (self.deadline is None or due < self.deadline):
                self.deadline = due
            if polled.is_undecided:
                # A file that is not found is waited for so many ticks, and then no more.
                polled.appoint()
                self.is_undecided = self.is_undecided or polled.is_undecided

    def let_pass(self, now: float, touch: Callable[[PolledPane], None]) -> None:
        """Tell those to which *now* matters that it is now; *touch* is told which."""
        if self.deadline is None or now < self.deadline:
            return
        late = [polled for polled in self._panes if polled.due is not None and now >= polled.due]
        for polled in late:
            polled.pane.tick(now)
            touch(polled)
        self.survey(late)
