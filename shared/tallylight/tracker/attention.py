"""
Attention: one pane's ledger of what its agent needs of a person, and what the person did about it.

Four facts that are not each other: *seen*, the person has looked; *answered*, the agent has gone on since it asked;
*snoozed*, the person wants to hear of it later; *unread*, the person wants to come back to it. Looking makes `done`
old news; it never answers a question. A glance counts only after the pane was visible for `DWELL_S` without a break,
so that flipping through tabs does not put every green light out.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.decision import Decision
from tallylight.model.status import Kind, Status

#: How long a pane has to be in front of a person, in seconds, before it counts as looked at.
DWELL_S = 1.0


@attributes.define
class Attention:
    """The ledger of one pane. Times are monotonic seconds."""

    #: Since when the pane has been in front of a person; None while it is not.
    visible_since: float | None = None
    #: When the person last looked at what is shown now; None if never.
    seen_at: float | None = None
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
    _decision: Decision | None = None
    _since: float = 0.0
    #: Since when the agent has been waiting today; None while it is not.
    _waiting_since: float | None = None
    #: A mark made while the pane was visible stands until it was not: the person is leaving it for later.
    _is_leaving: bool = False

    @property
    def seen(self) -> bool:
        """Whether a person has looked since the present status began."""
        return self.seen_at is not None

    @property
    def visible(self) -> bool:
        """Whether the pane is in front of a person."""
        return self.visible_since is not None

    @property
    def snoozed(self) -> bool:
        """Whether a person wants to hear nothing of the present status for now."""
        return self.snoozed_until is not None

    @property
    def waiting(self) -> bool:
        """Whether the agent waits."""
        return self._waiting_since is not None

    @property
    def facts(self) -> tuple[object, ...]:
        """All that others are told: equal as long as nothing of it changes."""
        return (
            self.seen_at is not None,
            self.visible_since is not None,
            self.unread,
            self.answered,
            self.snoozed_until,
            self.muted_until,
            self.notified,
            self.waited_s + self.earlier_s,
        )

    def shown(self, decision: Decision, now: float) -> None:
        """Take note that *decision* is what the pane shows from *now* on. A new status ends a snooze and a mark."""
        before = self._decision
        if before is not None and before.status is decision.status and before.since == decision.since:
            return
        # A limit waits for its end, and for nobody.
        if decision.status is Status.WAITING and decision.kind is not Kind.LIMIT:
            self.answered = False
            self._waiting_since = now if self._waiting_since is None else self._waiting_since
        elif self._waiting_since is not None:
            self.answered = True
            self.waited_s += max(0.0, now - self._waiting_since)
            self.earlier_s, self._already_s = self.earlier_s + self._already_s, 0.0
            self._waiting_since = None
        self._decision = decision
        self._since = now
        self.seen_at = self.snoozed_until = None
        self.unread = self.notified = self._is_leaving = False

    def look(self, visible: bool, now: float) -> bool:
        """
        Take note that the pane is, or is not, in front of a person at *now*.

        True exactly once for each status, and once more after each `ended`, when it has been looked at for long enough.
        """
        if self.snoozed_until is not None and now >= self.snoozed_until:
            self.snoozed_until = None
        if not visible:
            self.visible_since = None
            self._is_leaving = False
            return False
        if self.visible_since is None or self.visible_since > now:
            self.visible_since = now
        if self._decision is None or self.seen or self._is_leaving:
            return False
        if now - max(self.visible_since, self._since) < DWELL_S:
            return False
        self.see(now)
        return True

    def ended(self, now: float) -> None:
        """What is shown is left of an agent that ended at *now*: that is news, also for who had looked at it before."""
        self.seen_at = None
        self._since = now

    def see(self, now: float) -> None:
        """The person has looked, or says so."""
        self.seen_at = now
        self.unread = self._is_leaving = False

    def mark_unread(self) -> None:
        """The person wants to come back to this: it is as if it had not been looked at, until it is looked at again."""
        self.seen_at = None
        self.unread = True
        self._is_leaving = self.visible

    def snooze(self, seconds: float, now: float) -> None:
        """Let the present status rest for *seconds*, or until it changes; 0 ends the rest."""
        self.snoozed_until = now + seconds if seconds > 0 else None

    def took_over(self, waited_s: float, already_s: float) -> None:
        """An earlier run of the host saw it wait today, *waited_s* seconds, and *already_s* of the present wait."""
        self.earlier_s, self._already_s = waited_s, already_s

    def new_day(self, now: float) -> None:
        """Midnight: count the waiting from *now*."""
        self.waited_s = self.earlier_s = self._already_s = 0.0
        if self._waiting_since is not None:
            self._waiting_since = now

    def waited(self, now: float) -> float:
        """The seconds that the agent has waited for a person today, the present wait among them."""
        return self.waited_s + (max(0.0, now - self._waiting_since) if self._waiting_since is not None else 0.0)

    def deadline(self) -> float | None:
        """When `look` would next return True if the pane stays visible."""
        if self.visible_since is None or self.seen_at is not None or self._decision is None or self._is_leaving:
            return None
        return max(self.visible_since, self._since) + DWELL_S
