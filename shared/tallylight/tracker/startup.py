"""
The start of an agent: for how long what it draws is not taken for work, because it is about to speak for itself.
"""

from __future__ import annotations

import attrs

#: How long, in seconds, an agent that speaks for itself may take to start. Claude Code takes 0.4 to 2.
START_S = 3.0
#: Until it has drawn anything it is starting, but no longer than this, in seconds, from its arrival or from when its
#: screen was last seen without text: nobody is asked anything there. On a busy machine that takes up to 36.
SLOW_START_S = 30.0
#: And so long from its first output, in seconds, if it has said nothing yet: some draw a line and go on to load. In the
#: corpus that takes up to 14.3.
LOADING_S = 20.0
#: But one that draws for longer in all, in seconds, is at work, whatever it has said. In the corpus none does that
#: while it starts, and two draw for just so long.
BUSY_S = 1.75
#: What one output counts for, in seconds: hosts look four times a second.
_OUTPUT_S = 0.25


def is_starting(start: Startup | None, now: float) -> bool:
    """Return whether the agent in the foreground, with this *start*, may still report its own status."""
    return start is not None and now < start.ends


@attrs.define
class Startup:
    """
    One agent's, which *arrived* in the foreground then, in monotonic seconds.

    One that does not *speak* is starting only while its screen is blank.
    """

    arrived: float
    speaks: bool
    #: Whether it has said anything, in whatever way.
    has_spoken: bool
    #: When it first drew something.
    drew: float | None = None
    #: When its screen was last seen without text, before it drew any.
    _blank: float | None = None
    _last: float = 0.0
    #: For how long it has drawn in all.
    _busy_s: float = 0.0

    @property
    def ends(self) -> float:
        """Until when it may still report, if it does and draws nothing more."""
        is_blank = self.drew is None and self._blank is not None
        if not (self.speaks or is_blank) or self._busy_s > BUSY_S:
            return 0.0
        if self.drew is None:
            return max(self.arrived, self._blank or 0.0) + SLOW_START_S
        return self.drew + (START_S if self.has_spoken else LOADING_S)

    def output(self, now: float) -> None:
        """It drew something at *now*."""
        if self.drew is None:
            self.drew = now
        else:
            self._busy_s += min(now - self._last, _OUTPUT_S)
        self._last = now

    def blank(self, now: float) -> None:
        """Its screen has no text at *now*."""
        self._blank = now

    def pause(self, seconds: float) -> None:
        """*seconds* passed in which it could not run: they do not count."""
        self.arrived += seconds
        self._blank = self._blank + seconds if self._blank is not None else None
        self._last += seconds
        if self.drew is not None:
            self.drew += seconds
