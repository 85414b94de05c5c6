"""
The start of an agent: for how long what it draws is not taken for work, because it is about to speak for itself.
"""

from __future__ import annotations

import attrs

#: How long, in seconds, an agent that speaks for itself may take to start. Claude Code takes 0.4 to 2.
START_S = 3.0
#: Until it has drawn anything it is starting, but no longer than this, in seconds. On a busy machine, or where it asks
#: a network that is not there, that was seen to take 30.
SLOW_START_S = 60.0
#: And so long from its first output, in seconds, if it has said nothing yet: some draw a line and go on to load.
LOADING_S = 20.0


@attrs.define
class Startup:
    """One agent's, which *arrived* in the foreground then, in monotonic seconds; one that does not *speak* has none."""

    arrived: float
    speaks: bool
    #: Whether it has said anything, in whatever way.
    has_spoken: bool
    #: When it first drew something.
    drew: float | None = None

    @property
    def ends(self) -> float:
        """Until when it may yet speak, if it does and draws nothing more."""
        if not self.speaks:
            return 0.0
        if self.drew is None:
            return self.arrived + SLOW_START_S
        return self.drew + (START_S if self.has_spoken else LOADING_S)

    def pause(self, seconds: float) -> None:
        """*seconds* passed in which it could not run: they do not count."""
        self.arrived += seconds
        if self.drew is not None:
            self.drew += seconds
