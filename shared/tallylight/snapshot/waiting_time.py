"""
The ledger of a host: how long agents have waited for a person today, over all panes that are and were.

The day is an argument, as the host's wall clock has it (`2026-11-21`); `now` is monotonic seconds. A person who works
through midnight finds the sum at zero and every wait that goes on counted from there.
"""

from __future__ import annotations

from collections.abc import Iterable

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
        return self.waited_s + self.waiting * max(0.0, clock - self.written)

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
    """The sum of one host. *day* and *gone_s* are what an earlier run of it left behind, if it did."""

    day: str = ""
    #: Of panes that are gone, today.
    gone_s: float = 0.0

    def tick(self, day: str, panes: Iterable[Attention], now: float) -> None:
        """Tell the date; a new one starts at zero."""
        if day != self.day:
            if self.day:
                for attention in panes:
                    attention.new_day(now)
                self.gone_s = 0.0
            self.day = day

    def closed(self, attention: Attention, now: float) -> None:
        """A pane is gone; what was waited in it stays."""
        self.gone_s += attention.waited(now)

    def sum(self, panes: Iterable[Attention], now: float, clock: float) -> Waited:
        """The sum of today, at *now*, which is *clock* by the wall."""
        every = list(panes)
        seconds = self.gone_s + sum(attention.waited(now) for attention in every)
        waiting = sum(attention.waiting for attention in every)
        return Waited(day=self.day, waited_s=round(seconds, 1), waiting=waiting, written=round(clock, 3))
