"""
What a polling host holds of one pane: the pane itself, how its source saw it, what was asked of it when, and what is
told of it to others.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.hosts.polling.source import Source, SourcePane
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Look, Pane
from tallylight.snapshot.schema import Pane as PaneEntry


@attrs.define(eq=False)
class PolledPane:
    """One pane and what is known of it. Times are monotonic."""

    pane: Pane
    source: Source
    source_pane: SourcePane
    #: The foreground group at the last look, and how many looks there were.
    group: int = 0
    looks: int = 0
    #: In how many looks, up to the last, it slept; and whether it is asked all the same who holds the foreground.
    slept: int = 0
    is_doubted: bool = True
    #: What told at the last look how long its leader and the leader of its foreground had run; None if nothing did.
    runtimes: tuple[bytes | None, bytes | None] | None = None
    #: When its screen may be read again, and how often that has failed.
    read_at: float = 0.0
    failures: int = 0
    #: Whether its screen was evidence, and had to be read, when it was last looked at.
    is_armed: bool = False
    #: What was last read, and until when it may stand for another reading.
    look: Look | None = None
    good_until: float = 0.0
    #: What was last reported of it, and the entry that was.
    told: tuple[object, ...] | None = None
    entry: PaneEntry | None = None
    #: Whether it is looked at often, and whether time alone may change what it shows; both as of the last `weigh`.
    is_of_interest: bool = True
    is_lively: bool = True
    #: Whether the leader of its foreground tells who holds it, whether its screen would be evidence, and whether no
    #: look would change what it shows while its processes sleep; as of the last `weigh`.
    is_by_leader: bool = True
    wants_look: bool = True
    is_settled: bool = False
    #: When time alone changes what it shows, and whether a file has yet to tell how its turn ended; as of `appoint`.
    due: float | None = None
    is_undecided: bool = False

    def weigh(self) -> None:
        """Something was told to the pane, or of it."""
        pane = self.pane
        self.is_of_interest = pane.agent is not None or pane.is_undecided or pane.decision.is_lit or self.entry is None
        # What is held back for a moment, or queued, has a time as well, whatever the pane shows until then.
        self.is_lively = self.is_of_interest or pane.deadline() is not None
        self.is_by_leader = pane.is_by_leader
        self.wants_look = pane.wants_look
        attention = pane.attention
        # What stands on the screen weighs more the later it was seen; and a look is what a person's rests end with.
        self.is_settled = (
            pane.is_settled
            and pane.dialog is None
            and self.entry is not None
            and not (self.source_pane.visible or attention.visible)
            and attention.snoozed_until is None
            and attention.muted_until is None
        )

    def appoint(self) -> None:
        """Something was told to the pane, or time has passed in it."""
        self.due, self.is_undecided = self.pane.deadline(), self.pane.is_undecided

    @property
    def words(self) -> tuple[object, ...]:
        """What of the pane is told to others. When a source last repeated itself is not."""
        pane, decision = self.pane, self.pane.decision
        reason = decision.reason
        return (
            decision.status,
            decision.kind,
            reason.source,
            reason.rule,
            decision.report,
            decision.since,
            pane.attention.facts,
            pane.tracker.revision,
            pane.clean_title,
            pane.pace,
            pane.dialog,
            pane.pid,
            pane.record.told if pane.record is not None else None,
        )

    def as_entry(self, epoch: Callable[[float], float]) -> PaneEntry:
        """The pane as the snapshot has it; *epoch* makes seconds since the epoch of monotonic ones."""
        source_pane = self.source_pane
        entry = pane_entry(
            self.pane,
            epoch,
            id_=source_pane.id,
            tab=source_pane.tab,
            os_window=source_pane.os_window,
            title=self.pane.clean_title or source_pane.host_title,
        )
        return attrs.evolve(
            entry,
            host_title=source_pane.host_title,
            attach=source_pane.attach,
            terminals=source_pane.terminals,
            visible=source_pane.visible,
        )
