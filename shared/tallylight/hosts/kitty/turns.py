"""
Turns: which panes are looked at in one call on kitty's main thread, so that no call takes long, however many there are.

A pane of which nothing is expected soon is at rest: its screen is calm, and no time runs out. Of these those that
somebody has in front of them are looked at in each tick, of the others only some; all that do not rest are in every
one, and so is one that says something. What does not fit into the time of one call is looked at in the next ones,
before anything is looked at twice.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterable, Set

import attrs

#: Of the panes at rest and out of sight, so many are looked at in one tick; more where one would wait for more than so
#: many ticks.
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
    #: Those that somebody has in front of them.
    _visible: Collection[int] = frozenset()
    #: How many rest out of sight, as of the last tick.
    _hidden: int = 0

    @property
    def is_short(self) -> bool:
        """Whether the time was too short for all of this tick."""
        return bool(self._left)

    @property
    def resting(self) -> Set[int]:
        """Those of which nothing is expected soon: what was seen of them has not changed for a while."""
        return self._resting.keys()

    @property
    def looks_often(self) -> bool:
        """Whether the panes that rest out of sight are so few that all of them are looked at in every tick."""
        return self._hidden <= REST_A_TICK

    def is_often(self, id_: int) -> bool:
        """Whether this one is looked at in every tick, also while it rests."""
        return id_ in self._visible or self.looks_often

    def rests(self, id_: int) -> bool:
        """Whether nothing is expected of this one soon."""
        return id_ in self._resting

    def begin(self, ids: Iterable[int], visible: Collection[int]) -> None:
        """A tick begins: those of *ids* that do not rest or are *visible* are to be looked at, and some that rest."""
        resting = self._resting
        self._visible = visible
        self._hidden = len(resting) - len(resting.keys() & visible)
        share = max(REST_A_TICK, -(-self._hidden // REST_TICKS))
        left = self._left
        left |= dict.fromkeys(sorted(set(ids).difference(resting)))
        left |= dict.fromkeys(visible)
        left |= dict.fromkeys(itertools.islice((id_ for id_ in resting if id_ not in visible), share))

    def look(self, at: Callable[[int], bool]) -> list[int]:
        """Call *at*, which tells whether its pane is at rest now, for all that there is time for; which these were."""
        looked: list[int] = []
        left, resting = self._left, self._resting
        end = self.clock() + SLICE_S
        while left and (len(looked) % A_CHECK or self.clock() < end):
            id_ = next(iter(left))
            del left[id_]
            looked.append(id_)
            is_at_rest = at(id_)
            resting.pop(id_, None)
            if is_at_rest:
                resting[id_] = None
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
