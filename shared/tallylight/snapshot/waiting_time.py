"""
The ledger of a host: the seconds of today in which an agent waited for a person, in any pane, present or closed.

Time in which several agents wait counts once, for it is the person's. The day is an argument, from the host's wall
clock (`2026-11-21`); `now` is monotonic seconds. At midnight the sum starts again at zero, and present waits count from
there.
"""

from __future__ import annotations

from collections.abc import Collection

from tallylight.model import attributes
from tallylight.snapshot.values import Json, key, read, write
from tallylight.tracker.attention import Attention

VERSION = 1


@attributes.frozen(kw_only=True)
class Waited:
    """
    A host's sum for a day: *waited_s* seconds as of *written* (since the epoch), when *waiting* agents still waited.

    A reader adds the time since then, so that a wait costs no writing while it lasts.
    """

    day: str = key("")
    waited_s: float = key(0.0)
    waiting: int = key(0)
    written: float = key(0.0)

    def at(self, clock: float) -> float:
        """Return the seconds as of *clock*, if the host still lives."""
        return self.waited_s + (max(0.0, clock - self.written) if self.waiting else 0.0)

    @classmethod
    def from_json(cls, value: object) -> Waited | None:
        """Return the sum that `to_json` wrote; None if *value* is anything else."""
        if not isinstance(value, dict) or value.get("version") != VERSION:
            return None
        found: Waited | None = read(cls, value)
        return found

    def to_json(self) -> Json:
        return {"version": VERSION, **write(self)}


@attributes.define
class Ledger:
    """
    Sums the seconds that agents of one host waited today.

    *day* and *waited_s* begin with the values that an earlier run left, if there are any.
    """

    day: str = ""
    waited_s: float = 0.0

    def sum(self, day: str, panes: Collection[Attention], now: float, clock: float) -> Waited:
        """
        Return the sum of today at *now*, which is *clock* by the wall; a new *day* begins at 0.

        Call it every few moments, with the attention of all *panes*.
        """
        if self.day not in ("", day):
            for attention in panes:
                attention.new_day(now)
            self.waited_s = 0.0
        self.day = day
        # Between two calls, which are close to each other, all waits are taken as simultaneous.
        self.waited_s += max((attention.newly_waited(now) for attention in panes), default=0.0)
        waiting = sum(attention.waiting for attention in panes)
        return Waited(day=day, waited_s=round(self.waited_s, 1), waiting=waiting, written=round(clock, 3))
