"""A rate limit. Pure; the time is an argument."""

from __future__ import annotations

import math

from tallylight.model import attributes


@attributes.define
class Bucket:
    """A token bucket: *burst* tokens at once, then *rate* tokens a second."""

    rate: float
    burst: float
    #: The tokens left at the time *at*.
    left: float = 0.0
    at: float = -math.inf

    def fill(self, now: float) -> float:
        """Add the tokens since the last call; return how many there are at monotonic *now*."""
        self.left = min(self.burst, self.left + max(0.0, now - self.at) * self.rate)
        self.at = now
        return self.left

    def take(self, now: float) -> bool:
        """Take one token at monotonic *now*; return False if there is none."""
        if self.fill(now) < 1:
            return False
        self.left -= 1
        return True
