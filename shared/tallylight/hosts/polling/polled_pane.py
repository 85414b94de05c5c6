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
    #: How long its leader and the leader of its foreground had run at the last look; None if that could not be told.
    runtimes: tuple[int | None, int | None] | None = None
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

    def weigh(self) -> None:
        """Something was told to the pane, or of it."""
        pane = self.pane
        self.is_of_interest = pane.agent is not None or pane.is_undecided or pane.decision.is_lit or self.entry is None
        # What is held back for a moment, or queued, has a time as well, whatever the pane shows until then.
        self.is_lively = self.is_of_interest or pane.deadline() is not None

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
