"""
Events of the program in a pane of a polling host: its reports, titles, progress bars and notifications.

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
class PaneEvent:
    """
    An event to pass to a pane by *take*. *report* is the text of a report in the `tally` variable, None for other
    events.
    """

    take: Callable[[Pane, float], object]
    report: str | None = None

    @classmethod
    def of_payload(cls, payload: str | None) -> PaneEvent:
        """Return the event of a `tally` variable that was set to *payload*, or deleted (None)."""
        return cls(lambda pane, now: pane.user_variable(payload, now), payload)


@attrs.define
class ReportCopies:
    """Recognises the copy of a report: each may arrive by two ways, named `stream` and `socket`."""

    _waiting: dict[tuple[str, str], float] = attrs.Factory(dict)

    def admits(self, report: str, way: str, other: str, now: float) -> bool:
        """
        Return whether *report*, which arrived by *way* at *now*, is no copy of one that arrived by the *other* way.
        """
        came = self._waiting.pop((report, other), None)
        if came is not None and now - came < TWICE_S:
            return False
        self._waiting.pop((report, way), None)
        self._waiting[report, way] = now
        if len(self._waiting) > MAX_REMEMBERED_REPORTS:
            del self._waiting[next(iter(self._waiting))]
        return True
