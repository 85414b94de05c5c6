"""
What a polling host hears from the programs in its panes: in their output, and over the socket of reports.

A program may speak before its source has listed the pane. What it says then waits for that, for a moment.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.hosts.polling.screens import PolledPane
from tallylight.hosts.polling.word import Word

#: How long, in seconds, words wait for their pane, and how many do at most.
EARLY_S, MAX_EARLY = 10.0, 64
#: The two ways that a word comes.
STREAM, SOCKET = "stream", "socket"


@attrs.define(eq=False)
class _Early:
    """*words* of a pane that *find* knows once it is listed, by the first of two *ways*; and since when they wait."""

    find: Callable[[], str | None]
    words: Sequence[Word]
    ways: tuple[str, str]
    since: float = 0.0


@attrs.define
class Hearing:
    """
    Takes the words of all panes that are *held*. `hear` and `hand` may be called on any thread.

    *post* makes a call on the host's loop. *clock* tells monotonic seconds. *refresh* looks who is in the foreground of
    a pane, *touched* has it published.
    """

    post: Callable[[Callable[[], None]], None]
    held: Mapping[str, PolledPane]
    clock: Callable[[], float]
    refresh: Callable[[PolledPane, float], None]
    touched: Callable[[str], None]
    _early: deque[_Early] = attrs.field(factory=lambda: deque(maxlen=MAX_EARLY))

    def hear(self, id_: str, words: Sequence[Word]) -> None:
        """Take *words* that the program in the pane *id_* says in its output."""
        self.post(lambda: self._take(_Early(lambda: id_ if id_ in self.held else None, words, (STREAM, SOCKET))))

    def hand(self, line: Sequence[int], reports: Sequence[str]) -> None:
        """Take *reports* that the first process of *line* hands over; its pane is that of the others."""

        def find() -> str | None:
            leaders = {polled.source_pane.leader: id_ for id_, polled in self.held.items()}
            return next((leaders[pid] for pid in line if pid in leaders), None)

        self.post(lambda: self._take(_Early(find, [*map(Word.of_payload, reports)], (SOCKET, STREAM))))

    def listed(self) -> None:
        """Take what waits for panes that are listed by now. On the loop."""
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
