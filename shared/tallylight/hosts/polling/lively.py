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

    def survey(self) -> None:
        """Something was told to one of them, or to several."""
        panes = [polled.pane for polled in self._panes]
        self.deadline = min((due for pane in panes if (due := pane.deadline()) is not None), default=None)
        self.is_undecided = any(pane.is_undecided for pane in panes)

    def let_pass(self, now: float, touch: Callable[[PolledPane], None]) -> None:
        """Tell those to which *now* matters that it is now; *touch* is told which."""
        if self.deadline is None or now < self.deadline:
            return
        for polled in self._panes:
            deadline = polled.pane.deadline()
            if deadline is not None and now >= deadline:
                polled.pane.tick(now)
                touch(polled)
        self.survey()
