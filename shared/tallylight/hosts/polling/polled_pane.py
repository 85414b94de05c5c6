"""
What a polling host holds of one pane: the pane itself, how its source saw it, and what was asked of it when.
"""

from __future__ import annotations

import attrs

from tallylight.hosts.polling.source import Source, SourcePane
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
    #: What was last told of it, and the entry that was.
    told: tuple[object, ...] | None = None
    entry: PaneEntry | None = None
