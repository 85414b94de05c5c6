"""
The start of an agent: for some seconds its output is not taken for work, because it will soon report by itself.
"""

from __future__ import annotations

import attrs

#: The seconds that an agent may take to start once it has drawn and reported. Claude Code takes 0.4 to 2.
STARTUP_S = 3.0
#: The same for an agent that has drawn nothing, since its arrival or since its screen was last seen without text.
#: On a busy machine that takes up to 36.
SLOW_STARTUP_S = 30.0
#: The same from its first output, for an agent that has reported nothing: some draw a line and go on to load.
#: In the corpus that takes up to 14.3.
LOADING_S = 20.0
#: An agent that has drawn for longer, in seconds, is at work. In the corpus no agent draws for longer at its start.
STARTUP_DRAWING_S = 1.75
#: One output counts for at most so many seconds of drawing: hosts look four times a second.
_OUTPUT_S = 0.25


def is_starting(start: Startup | None, now: float) -> bool:
    """Return whether the agent in the foreground, with this *start*, may still report its own status."""
    return start is not None and now < start.ends


@attrs.define
class Startup:
    """
    The start of one agent, which came to the foreground at monotonic *arrived*.

    An agent that *speaks* reports its status by itself. Any other is starting only while its screen is blank.
    """

    arrived: float
    speaks: bool
    #: Whether any source has reported about it.
    has_spoken: bool
    #: When it first drew something.
    drew: float | None = None
    #: When its screen was last seen without text, before it drew any.
    _blank: float | None = None
    _last: float = 0.0
    #: The seconds for which it has drawn.
    _busy_s: float = 0.0

    @property
    def ends(self) -> float:
        """When the start ends if the agent reports and draws nothing more; 0.0 if it is over."""
        is_blank = self.drew is None and self._blank is not None
        if not (self.speaks or is_blank) or self._busy_s > STARTUP_DRAWING_S:
            return 0.0
        if self.drew is None:
            return max(self.arrived, self._blank or 0.0) + SLOW_STARTUP_S
        return self.drew + (STARTUP_S if self.has_spoken else LOADING_S)

    def output(self, now: float) -> None:
        """Take in that it drew something at *now*."""
        if self.drew is None:
            self.drew = now
        else:
            self._busy_s += min(now - self._last, _OUTPUT_S)
        self._last = now

    def blank(self, now: float) -> None:
        """Take in that its screen has no text at *now*."""
        self._blank = now

    def pause(self, seconds: float) -> None:
        """Shift all times by *seconds* in which it could not run."""
        self.arrived += seconds
        self._blank = self._blank + seconds if self._blank is not None else None
        self._last += seconds
        if self.drew is not None:
            self.drew += seconds
