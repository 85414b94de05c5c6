"""
Attention: for one pane, how long its agent has waited, and what the person has done about it.

Four facts are kept apart. *seen*: the person has looked. *answered*: the agent has continued since it asked. *snoozed*:
the person wants to hear of it later. *unread*: the person wants to come back to it. Looking makes `done` old news; it
never answers a question. A look counts once the pane was visible for `DWELL_S` without a break, so that flipping
through tabs does not put every green light out.
"""

from __future__ import annotations

import math

from tallylight.model import attributes
from tallylight.model.decision import Decision
from tallylight.model.status import Status

#: How long a pane has to be in front of a person, in seconds, before it counts as looked at.
DWELL_S = 1.0


@attributes.define
class Attention:
    """Records the looks, marks, snoozes and waits of one pane. Times are monotonic seconds."""

    #: Whether the pane is in front of a person.
    visible: bool = False
    #: Whether a person has looked since the present status began.
    seen: bool = False
    #: Whether a person marked the pane, and has not come back to it since.
    unread: bool = False
    #: Whether the agent has continued since it last asked. False while it waits, and if it never asked.
    answered: bool = False
    #: Until when the present status is snoozed; None if it is not.
    snoozed_until: float | None = None
    #: Whether a person was notified of the present status. The host sets it.
    notified: bool = False
    #: Until when the pane sends no notification, whatever it shows; None if it is not muted. The host sets it.
    muted_until: float | None = None
    #: The seconds of all ended waits since `new_day`.
    waited_s: float = 0.0
    #: The seconds of waits that an earlier run of the host saw, without and with the present one.
    earlier_s: float = 0.0
    _already_s: float = 0.0
    #: The seconds that `newly_waited` has already returned.
    _counted_s: float = 0.0
    #: The status that is shown, and since when; None before the first one.
    _shown: tuple[Status, float] | None = None
    #: While the pane is visible: since when a person has had the present status before them.
    _since: float = 0.0
    #: Since when the agent has been waiting today; infinite while it is not.
    _waiting_since: float = math.inf
    #: The person marked the pane while it was visible: until it is hidden, no look counts.
    _is_leaving: bool = False

    @property
    def snoozed(self) -> bool:
        """Return whether the present status is snoozed."""
        return self.snoozed_until is not None

    @property
    def waiting(self) -> bool:
        """Return whether the agent waits for a person now."""
        return self._waiting_since < math.inf

    @property
    def facts(self) -> tuple[object, ...]:
        """All published values. Two results are equal as long as none of them changed."""
        flags = self.seen, self.visible, self.unread, self.answered, self.notified
        return *flags, self.snoozed_until, self.muted_until, self.waited_s + self.earlier_s

    def shown(self, decision: Decision, now: float) -> None:
        """Take note that the pane shows *decision* from *now* on. A new status ends a snooze and a mark."""
        before, self._shown = self._shown, (decision.status, decision.since)
        if self._shown == before:
            return
        if decision.status is Status.WAITING:
            self.answered, self._waiting_since = False, min(self._waiting_since, now)
        elif self.waiting:
            self.answered, self.waited_s, self._waiting_since = True, self.waited(now), math.inf
            self.earlier_s, self._already_s = self.earlier_s + self._already_s, 0.0
        self._since, self.snoozed_until = now, None
        self.seen = self.unread = self.notified = self._is_leaving = False

    def look(self, visible: bool, now: float) -> bool:
        """
        Take note that the pane is, or is not, in front of a person at *now*.

        Return True once for each status, when a person has looked at it for long enough, and once after each `ended`.
        """
        if self.snoozed_until is not None and now >= self.snoozed_until:
            self.snoozed_until = None
        if not self.visible or self._since > now:
            self._since = now
        self.visible, self._is_leaving = visible, self._is_leaving and visible
        deadline = self.deadline()
        if deadline is None or now < deadline:
            return False
        self.see()
        return True

    def ended(self, now: float) -> None:
        """Note that the agent ended at *now*: a person who had looked before must look again."""
        self.seen, self._since = False, now

    def see(self) -> None:
        """Take note that the person has looked, or says so."""
        self.seen, self.unread, self._is_leaving = True, False, False

    def mark_unread(self) -> None:
        """Take note that the person wants to come back to this: it counts as not seen until the next look."""
        self.seen, self.unread, self._is_leaving = False, True, self.visible

    def snooze(self, seconds: float, now: float) -> None:
        """Snooze the present status for *seconds*, or until it changes; 0 ends the snooze."""
        self.snoozed_until = now + seconds if seconds > 0 else None

    def add_former(self, waited_s: float, already_s: float) -> None:
        """Add what an earlier run of the host saw: *waited_s* of ended waits today, *already_s* of the present one."""
        self.earlier_s, self._already_s = waited_s, already_s

    def new_day(self, now: float) -> None:
        """Start a new day at *now*: the sum of waits is 0 again."""
        self.waited_s = self.earlier_s = self._already_s = self._counted_s = 0.0
        self._waiting_since = max(self._waiting_since, now)

    def pause(self, seconds: float) -> None:
        """Shift all times by *seconds* in which neither agent nor host ran: no look counts in them, and no wait."""
        self._since += seconds
        self._waiting_since += seconds

    def waited(self, now: float) -> float:
        """Return the seconds that the agent has waited today, with the present wait."""
        return self.waited_s + max(0.0, now - self._waiting_since)

    def newly_waited(self, now: float) -> float:
        """Return the seconds that were added to `waited` since the last call."""
        before, self._counted_s = self._counted_s, self.waited(now)
        return self._counted_s - before

    def deadline(self) -> float | None:
        """Return when `look` will return True if the pane stays visible; None if it will not."""
        is_looking = self.visible and not self.seen and not self._is_leaving and self._shown is not None
        return self._since + DWELL_S if is_looking else None
