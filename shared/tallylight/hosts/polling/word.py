"""
Words: what programs in the panes of a polling host say, and how each counts once.

A report may come in two ways: in the output of its pane, and over the host's socket. Whichever is first counts, and the
same report by the other way is dropped for some seconds.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.pane.pane import Pane

#: How long, in seconds, a report waits for itself to come by the other way, and how many of one pane do.
TWICE_S, MAX_WAITING = 5.0, 64


@attrs.frozen
class Word:
    """
    One thing that a program said: *take* hands it to its pane. It is a *report*, if it is one in the `tally` variable.
    """

    take: Callable[[Pane, float], object]
    report: str | None = None

    @classmethod
    def of_payload(cls, payload: str | None) -> Word:
        """The `tally` variable was set to *payload*, or deleted."""
        return cls(lambda pane, now: pane.user_variable(payload, now), payload)


@attrs.define
class Ways:
    """The reports of one pane that came one way, and may yet come the other. *way* is a name of either."""

    _waiting: dict[tuple[str, str], float] = attrs.Factory(dict)

    def admits(self, report: str, way: str, other: str, now: float) -> bool:
        """Return whether *report* counts, which came by *way* at *now*: it has not come by the *other* way before."""
        came = self._waiting.pop((report, other), None)
        if came is not None and now - came < TWICE_S:
            return False
        self._waiting.pop((report, way), None)
        self._waiting[report, way] = now
        if len(self._waiting) > MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]
        return True
