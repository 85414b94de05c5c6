"""
Mirror: the native progress bar of a terminal, OSC 9;4, for what an agent says through OSC 26.
https://docs.otty.sh/vt/osc/osc-26

Reports in, the last one wins; `take` gives the sequence that brings the bar up to date. A wait has no mirror: the bar
stays as it was.
"""

from __future__ import annotations

from tallylight.model.report import Report
from tallylight.model.status import Status
from tallylight.wire import envelope

CLEAR = "0"
#: kitty takes a bar away that has not been heard of for a minute.
REFRESH_S = 30.0


class Mirror:
    """The bar of one terminal."""

    def __init__(self) -> None:
        self._wanted = self._shown = CLEAR
        self._shown_at = 0.0

    @property
    def is_changed(self) -> bool:
        """Whether the bar shows something else than it should."""
        return self._wanted != self._shown

    def report(self, report: Report, now: float) -> None:
        """Take in what the agent said."""
        if report.status is Status.WORKING:
            self._wanted = f"1;{report.progress.percent}" if report.progress else "3"
        elif report.status is Status.ERROR:
            self._wanted = "2"
        elif report.status is not Status.WAITING:
            self._wanted = CLEAR
        if now - self._shown_at >= REFRESH_S:
            self.renew()

    def clear(self) -> None:
        """Nothing is to be shown any more."""
        self._wanted = CLEAR

    def renew(self) -> None:
        """The terminal may have forgotten."""
        if self._shown != CLEAR:
            self._shown = ""

    def take(self, now: float) -> bytes:
        """Give out what has changed."""
        if not self.is_changed:
            return b""
        self._shown, self._shown_at = self._wanted, now
        return envelope.osc(9, f"4;{self._shown}")
