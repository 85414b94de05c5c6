"""
Turns: which panes are looked at in one call on kitty's main thread, so that no call takes long, however many there are.

A pane of which nothing is expected soon is at rest: its screen is calm, nobody has it in front of them, and no time
runs out. Of these only some are looked at in each tick; all others are in every one, and so is one that says something.
What does not fit into the time of one call is looked at in the next ones, before anything is looked at twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable

import attrs

#: Of the panes at rest, so many are looked at in one tick; more where one would wait for more than so many ticks.
REST_A_TICK = 8
REST_TICKS = 12
#: What looking at panes may take of the thread's own time in one call, in seconds; asked after so many panes.
SLICE_S = 0.0008
A_CHECK = 4
#: How soon, in seconds, the next call comes where one was too short.
AGAIN_S = 0.02


@attrs.define
class Turns:
    """The turns of the panes of one host, by the ids of their windows. *clock* is the time that this thread has run."""

    clock: Callable[[], float] = time.thread_time
    #: At rest, the one that was looked at longest ago first.
    _resting: dict[int, None] = attrs.field(factory=dict)
    #: To be looked at in this tick, and not yet.
    _left: dict[int, None] = attrs.field(factory=dict)

    @property
    def is_short(self) -> bool:
        """Whether the time was too short for all of this tick."""
        return bool(self._left)

    @property
    def looks_often(self) -> bool:
        """Whether the panes at rest are so few that all of them are looked at in every tick."""
        return len(self._resting) <= REST_A_TICK

    def begin(self, ids: Iterable[int], visible: Collection[int]) -> None:
        """A tick begins: those of *ids* that are not at rest are to be looked at, and some that are."""
        share = max(REST_A_TICK, -(-len(self._resting) // REST_TICKS))
        for id_ in [*visible, *list(self._resting)[:share]]:
            self._resting.pop(id_, None)
        self._left |= dict.fromkeys(id_ for id_ in ids if id_ not in self._resting)

    def look(self, at: Callable[[int], bool]) -> list[int]:
        """Call *at*, which tells whether its pane is at rest now, for all that there is time for; which these were."""
        looked: list[int] = []
        end = self.clock() + SLICE_S
        while self._left and (len(looked) % A_CHECK or self.clock() < end):
            id_ = next(iter(self._left))
            del self._left[id_]
            looked.append(id_)
            if at(id_):
                self._resting[id_] = None
        return looked

    def wake(self, id_: int) -> None:
        """Something is known of this one: it is looked at in the next tick."""
        self._resting.pop(id_, None)

    def forget(self, id_: int) -> None:
        """It is gone."""
        self._resting.pop(id_, None)
        self._left.pop(id_, None)

    def awake(self, ids: Iterable[int]) -> list[int]:
        """Those of *ids* that are not at rest."""
        return [id_ for id_ in ids if id_ not in self._resting]
