"""A rate limit. Pure; the time is an argument."""

from __future__ import annotations

import math

from tallylight.model import attributes


@attributes.define
class Bucket:
    """So much at once, *burst*, then *rate* a second."""

    rate: float
    burst: float
    #: What may still be taken, as of the time *at*.
    left: float = 0.0
    at: float = -math.inf

    def fill(self, now: float) -> float:
        """What may be taken at monotonic *now*."""
        self.left = min(self.burst, self.left + max(0.0, now - self.at) * self.rate)
        self.at = now
        return self.left

    def take(self, now: float) -> bool:
        """Take one, if that is allowed at monotonic *now*."""
        if self.fill(now) < 1:
            return False
        self.left -= 1
        return True
