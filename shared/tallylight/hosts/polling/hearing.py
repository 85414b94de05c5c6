"""
Collects reports of the programs in a polling host's panes: from their output, and from the socket of reports.

A program may report before its source has listed the pane. Such a report waits a moment.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.hosts.polling.screens import PolledPane
from tallylight.hosts.polling.word import Word

#: For how long, in seconds, words wait for their pane, and how many.
EARLY_S, MAX_EARLY = 10.0, 64
#: The two ways that a word arrives.
STREAM, SOCKET = "stream", "socket"


@attrs.define(eq=False)
class _Early:
    """
    Words of a pane that is not listed yet. *find* returns its id once it is.

    *ways* are the way that they arrived, and the other one. *since* is when they began to wait.
    """

    find: Callable[[], str | None]
    words: Sequence[Word]
    ways: tuple[str, str]
    since: float = 0.0


@attrs.define
class Hearing:
    """
    Passes words to the panes *held*. `hear` and `hand` may be called on any thread.

    *post* makes a call on the host's loop. *clock* returns monotonic seconds. *refresh* reads the foreground program of
    a pane again, *touched* publishes the pane.
    """

    post: Callable[[Callable[[], None]], None]
    held: Mapping[str, PolledPane]
    clock: Callable[[], float]
    refresh: Callable[[PolledPane, float], None]
    touched: Callable[[str], None]
    _early: deque[_Early] = attrs.field(factory=lambda: deque(maxlen=MAX_EARLY))

    def hear(self, id_: str, words: Sequence[Word]) -> None:
        """Pass on *words* from the output of the pane *id_*."""
        self.post(lambda: self._take(_Early(lambda: id_ if id_ in self.held else None, words, (STREAM, SOCKET))))

    def hand(self, line: Sequence[int], reports: Sequence[str]) -> None:
        """
        Pass on *reports* from the socket. *line* is the sender and its parents, and one of them is the pane's leader.
        """

        def find() -> str | None:
            leaders = {polled.source_pane.leader: id_ for id_, polled in self.held.items()}
            return next((leaders[pid] for pid in line if pid in leaders), None)

        self.post(lambda: self._take(_Early(find, [*map(Word.of_payload, reports)], (SOCKET, STREAM))))

    def listed(self) -> None:
        """Pass on the words of panes that are listed by now. Call it on the loop."""
        early, self._early = self._early, deque(maxlen=MAX_EARLY)
        for said in early:
            self._take(said)

    def _take(self, said: _Early) -> None:
        now, id_ = self.clock(), said.find()
        if id_ is None:
            said.since = said.since or now
            if now - said.since < EARLY_S:
                self._early.append(said)
            return
        polled = self.held[id_]
        if not polled.pane.is_behind:
            self.refresh(polled, now)
        for word in said.words:
            if word.report is None or polled.ways.admits(word.report, *said.ways, now):
                word.take(polled.pane, now)
        self.touched(id_)
