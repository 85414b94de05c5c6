"""
Words: what a program in a pane of a polling host outputs, each counted once.

A report may arrive in two ways: in the output of its pane, and over the host's socket. The first one counts, and the
same report by the other way is dropped for some seconds.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.pane.pane import Pane

#: For how long, in seconds, a report is remembered to recognise its copy, and how many for each pane.
TWICE_S, MAX_REMEMBERED_REPORTS = 5.0, 64


@attrs.frozen
class Word:
    """
    One output of a program; *take* passes it to the pane. *report* is the text of a report in the `tally` variable.
    """

    take: Callable[[Pane, float], object]
    report: str | None = None

    @classmethod
    def of_payload(cls, payload: str | None) -> Word:
        """Return the word for a `tally` variable that was set to *payload*, or deleted (None)."""
        return cls(lambda pane, now: pane.user_variable(payload, now), payload)


@attrs.define
class Ways:
    """Reports of one pane that arrived one way and may arrive again by the other. *way* names either."""

    _waiting: dict[tuple[str, str], float] = attrs.Factory(dict)

    def admits(self, report: str, way: str, other: str, now: float) -> bool:
        """
        Return whether *report*, which arrived by *way* at *now*, counts: it has not arrived by the *other* way before.
        """
        came = self._waiting.pop((report, other), None)
        if came is not None and now - came < TWICE_S:
            return False
        self._waiting.pop((report, way), None)
        self._waiting[report, way] = now
        if len(self._waiting) > MAX_REMEMBERED_REPORTS:
            del self._waiting[next(iter(self._waiting))]
        return True
