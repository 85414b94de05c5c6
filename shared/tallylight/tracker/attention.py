"""
Attention: one pane's ledger of what its agent needs of a person, and what the person did about it.

Four facts that are not each other: *seen*, the person has looked; *answered*, the agent has gone on since it asked;
*snoozed*, the person wants to hear of it later; *unread*, the person wants to come back to it. Looking makes `done`
old news; it never answers a question. A glance counts only after the pane was visible for `DWELL_S` without a break,
so that flipping through tabs does not put every green light out.
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
    """The ledger of one pane. Times are monotonic seconds."""

    #: Whether the pane is in front of a person.
    visible: bool = False
    #: Whether a person has looked since the present status began.
    seen: bool = False
    #: Whether a person marked the pane, and has not come back to it since.
    unread: bool = False
    #: Whether the agent has gone on since it last asked. False while it waits, and where it never asked.
    answered: bool = False
    #: Until when a person wants to hear nothing of the present status; None if there is no such wish.
    snoozed_until: float | None = None
    #: Whether a person was notified of the present status; the host's to set.
    notified: bool = False
    #: Until when nothing is told of the pane, whatever it shows; None if it is told of. The host's to set.
    muted_until: float | None = None
    #: Of waits that are over, in seconds, since `new_day`.
    waited_s: float = 0.0
    #: The same of waits that an earlier run of the host saw; and for how long it saw the present one.
    earlier_s: float = 0.0
    _already_s: float = 0.0
    #: How much of it `newly_waited` has told.
    _told_s: float = 0.0
    #: What is shown, and since when; None before anything is.
    _shown: tuple[Status, float] | None = None
    #: When the look began, while the pane is visible: since then it has been in front of a person with what is shown.
    _since: float = 0.0
    #: Since when the agent has been waiting today; infinite while it is not.
    _waiting_since: float = math.inf
    #: A mark made while the pane was visible stands until it was not: the person is leaving it for later.
    _is_leaving: bool = False

    @property
    def snoozed(self) -> bool:
        """Whether a person wants to hear nothing of the present status for now."""
        return self.snoozed_until is not None

    @property
    def waiting(self) -> bool:
        """Whether the agent waits."""
        return self._waiting_since < math.inf

    @property
    def facts(self) -> tuple[object, ...]:
        """All that others are told: equal as long as nothing of it changes."""
        flags = self.seen, self.visible, self.unread, self.answered, self.notified
        return *flags, self.snoozed_until, self.muted_until, self.waited_s + self.earlier_s

    def shown(self, decision: Decision, now: float) -> None:
        """Take note that *decision* is what the pane shows from *now* on. A new status ends a snooze and a mark."""
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

        True exactly once for each status, and once more after each `ended`, when it has been looked at for long enough.
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
        """What is shown is left of an agent that ended at *now*: that is news, also for who had looked at it before."""
        self.seen, self._since = False, now

    def see(self) -> None:
        """The person has looked, or says so."""
        self.seen, self.unread, self._is_leaving = True, False, False

    def mark_unread(self) -> None:
        """The person wants to come back to this: it is as if it had not been looked at, until it is looked at again."""
        self.seen, self.unread, self._is_leaving = False, True, self.visible

    def snooze(self, seconds: float, now: float) -> None:
        """Let the present status rest for *seconds*, or until it changes; 0 ends the rest."""
        self.snoozed_until = now + seconds if seconds > 0 else None

    def took_over(self, waited_s: float, already_s: float) -> None:
        """An earlier run of the host saw it wait today, *waited_s* seconds, and *already_s* of the present wait."""
        self.earlier_s, self._already_s = waited_s, already_s

    def new_day(self, now: float) -> None:
        """Midnight: count the waiting from *now*."""
        self.waited_s = self.earlier_s = self._already_s = self._told_s = 0.0
        self._waiting_since = max(self._waiting_since, now)

    def pause(self, seconds: float) -> None:
        """*seconds* passed in which neither the agent nor the host could run: no look counts in them, and no wait."""
        self._since += seconds
        self._waiting_since += seconds

    def waited(self, now: float) -> float:
        """The seconds that the agent has waited for a person today, the present wait among them."""
        return self.waited_s + max(0.0, now - self._waiting_since)

    def newly_waited(self, now: float) -> float:
        """The seconds of `waited` since the last call."""
        before, self._told_s = self._told_s, self.waited(now)
        return self._told_s - before

    def deadline(self) -> float | None:
        """When `look` would next return True if the pane stays visible."""
        is_looking = self.visible and not self.seen and not self._is_leaving and self._shown is not None
        return self._since + DWELL_S if is_looking else None
