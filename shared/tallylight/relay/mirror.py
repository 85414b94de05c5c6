"""
Mirror: the terminal's own progress bar, OSC 9;4, for an agent that reports through OSC 26.
https://docs.otty.sh/vt/osc/osc-26

The last report wins; `take` returns the sequence that updates the bar. `waiting` leaves the bar as it is.
"""

from __future__ import annotations

from tallylight.model.report import Report
from tallylight.model.status import Status
from tallylight.wire import envelope

CLEAR = "0"
#: The bar is sent again after so many seconds: kitty removes one without news for a minute.
REPEAT_BAR_S = 30.0


class Mirror:
    """The progress bar of one terminal."""

    def __init__(self) -> None:
        self._wanted = self._shown = CLEAR
        self._shown_at = 0.0

    @property
    def is_changed(self) -> bool:
        """Return whether the terminal's progress bar has to be sent again."""
        return self._wanted != self._shown

    def report(self, report: Report, now: float) -> None:
        """Take in a report of the agent."""
        if report.status is Status.WORKING:
            self._wanted = f"1;{report.progress.percent}" if report.progress else "3"
        elif report.status is Status.ERROR:
            self._wanted = "2"
        elif report.status is not Status.WAITING:
            self._wanted = CLEAR
        if now - self._shown_at >= REPEAT_BAR_S:
            self.renew()

    def clear(self) -> None:
        """Have the bar removed."""
        self._wanted = CLEAR

    def renew(self) -> None:
        """Have the bar sent again, for the terminal may have forgotten it."""
        if self._shown != CLEAR:
            self._shown = ""

    def take(self, now: float) -> bytes:
        """Return the sequence that updates the bar; nothing if it is up to date."""
        if not self.is_changed:
            return b""
        self._shown, self._shown_at = self._wanted, now
        return envelope.osc(9, f"4;{self._shown}")
