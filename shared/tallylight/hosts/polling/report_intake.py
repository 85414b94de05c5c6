"""
Receives reports of the programs in a polling host's panes: from their output, and from the socket of reports.

A program may report before its source has listed the pane. Such a report waits up to `EARLY_S` seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.hosts.polling.pane_events import PaneEvent
from tallylight.hosts.polling.screens import PolledPane

#: How many seconds events wait for their pane to be listed, and the most that wait.
EARLY_S, MAX_EARLY = 10.0, 64
#: The two ways that a report arrives by.
STREAM, SOCKET = "stream", "socket"


@attrs.define(eq=False)
class _EarlyEvents:
    """
    Events of a pane that is not listed yet. *find* returns its id once it is.

    *ways* are the way that they arrived by, and the other one. *since* is when they began to wait.
    """

    find: Callable[[], str | None]
    events: Sequence[PaneEvent]
    ways: tuple[str, str]
    since: float = 0.0


@attrs.define
class ReportIntake:
    """
    Passes events to the panes *held*. `from_output` and `from_socket` may be called on any thread.

    *post* makes a call on the host's loop. *clock* returns monotonic seconds. *refresh* reads the foreground program of
    a pane again, *touched* publishes the pane.
    """

    post: Callable[[Callable[[], None]], None]
    held: Mapping[str, PolledPane]
    clock: Callable[[], float]
    refresh: Callable[[PolledPane, float], None]
    touched: Callable[[str], None]
    _early: deque[_EarlyEvents] = attrs.field(factory=lambda: deque(maxlen=MAX_EARLY))

    def from_output(self, id_: str, events: Sequence[PaneEvent]) -> None:
        """Pass on *events* that were read from the output of the pane *id_*."""
        self.post(lambda: self._take(_EarlyEvents(lambda: id_ if id_ in self.held else None, events, (STREAM, SOCKET))))

    def from_socket(self, line: Sequence[int], reports: Sequence[str]) -> None:
        """
        Pass on *reports* from the socket. *line* has the sender and its parents, and so the first process of its pane.
        """

        def find() -> str | None:
            leaders = {polled.source_pane.leader: id_ for id_, polled in self.held.items()}
            return next((leaders[pid] for pid in line if pid in leaders), None)

        self.post(lambda: self._take(_EarlyEvents(find, [*map(PaneEvent.of_payload, reports)], (SOCKET, STREAM))))

    def deliver_early(self) -> None:
        """Pass on the events of panes that are listed by now. Call it on the loop."""
        early, self._early = self._early, deque(maxlen=MAX_EARLY)
        for early_events in early:
            self._take(early_events)

    def _take(self, early_events: _EarlyEvents) -> None:
        """Pass the events to their pane; keep them if it is not listed yet."""
        now, id_ = self.clock(), early_events.find()
        if id_ is None:
            early_events.since = early_events.since or now
            if now - early_events.since < EARLY_S:
                self._early.append(early_events)
            return
        polled = self.held[id_]
        if not polled.pane.is_behind:
            self.refresh(polled, now)
        for event in early_events.events:
            if event.report is None or polled.copies.admits(event.report, *early_events.ways, now):
                event.take(polled.pane, now)
        self.touched(id_)
