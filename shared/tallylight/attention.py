"""
Attention: has a person looked at a pane. Whether the agent has been answered is another fact, and the tracker's.

Looking makes `done` old news; it never answers a question. A glance counts only after the pane was visible for
`DWELL_S` without a break, so that flipping through tabs does not put every green light out.
"""

from __future__ import annotations

import attrs

from tallylight.decision import Decision

#: How long a pane has to be in front of a person, in seconds, before it counts as looked at.
DWELL_S = 1.0


@attrs.define
class Attention:
    """The ledger of one pane. Times are monotonic seconds."""

    #: Since when the pane has been in front of a person; None while it is not.
    visible_since: float | None = None
    #: When the person last had looked at what is shown now; None if never.
    seen_at: float | None = None
    _decision: Decision | None = None
    _since: float = 0.0

    @property
    def seen(self) -> bool:
        """Whether a person has looked since the present status began."""
        return self.seen_at is not None

    def shown(self, decision: Decision, now: float) -> None:
        """Take note that *decision* is what the pane shows from *now* on."""
        before = self._decision
        if before is not None and before.status is decision.status and before.since == decision.since:
            return
        self._decision = decision
        self._since = now
        self.seen_at = None

    def look(self, visible: bool, now: float) -> bool:
        """
        Take note that the pane is, or is not, in front of a person at *now*.

        True exactly once for each status, when it has been looked at for long enough.
        """
        if not visible:
            self.visible_since = None
            return False
        if self.visible_since is None or self.visible_since > now:
            self.visible_since = now
        if self._decision is None or self.seen:
            return False
        if now - max(self.visible_since, self._since) < DWELL_S:
            return False
        self.seen_at = now
        return True

    def deadline(self) -> float | None:
        """When `look` would next return True if the pane stays visible."""
        if self.visible_since is None or self._decision is None or self.seen:
            return None
        return max(self.visible_since, self._since) + DWELL_S
