"""
The ledger of a host: for how long of today an agent has waited for a person, in any pane that is or was.

Time in which several wait counts once: it is the person's. The day is an argument, as the host's wall clock has it
(`2026-11-21`); `now` is monotonic seconds. A person who works through midnight finds the sum at zero and every wait
that goes on counted from there.
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
    What a host says of a day: *waited_s* seconds at *written* (since the epoch), when *waiting* agents still waited.

    Their sum since then is left to the reader, so that a wait costs no writing while it lasts.
    """

    day: str = key("")
    waited_s: float = key(0.0)
    waiting: int = key(0)
    written: float = key(0.0)

    def at(self, clock: float) -> float:
        """The seconds at *clock*, if the host still lives."""
        return self.waited_s + (max(0.0, clock - self.written) if self.waiting else 0.0)

    @classmethod
    def from_json(cls, value: object) -> Waited | None:
        """Read what `to_json` made; None if it is something else."""
        if not isinstance(value, dict) or value.get("version") != VERSION:
            return None
        found: Waited | None = read(cls, value)
        return found

    def to_json(self) -> Json:
        return {"version": VERSION, **write(self)}


@attributes.define
class Ledger:
    """The sum of one host. *day* and *waited_s* are what an earlier run of it left behind, if it did."""

    day: str = ""
    waited_s: float = 0.0

    def sum(self, day: str, panes: Collection[Attention], now: float, clock: float) -> Waited:
        """The sum of today at *now*, which is *clock* by the wall, asked for now and then; a new *day* begins at 0."""
        if self.day not in ("", day):
            for attention in panes:
                attention.new_day(now)
            self.waited_s = 0.0
        self.day = day
        # Between two calls, which are close to each other, what waits waits at the same time.
        self.waited_s += max((attention.newly_waited(now) for attention in panes), default=0.0)
        waiting = sum(attention.waiting for attention in panes)
        return Waited(day=day, waited_s=round(self.waited_s, 1), waiting=waiting, written=round(clock, 3))
