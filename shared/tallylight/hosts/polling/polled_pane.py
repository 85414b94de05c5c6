"""
What a polling host holds of one pane: how its source saw it, and what was read of its screen.
"""

from __future__ import annotations

import attrs

from tallylight.hosts.polling.source import Source, SourcePane
from tallylight.pane.pane import Look, Pane


@attrs.define(eq=False)
class PolledPane:
    """One pane and what is known of it. Times are monotonic."""

    pane: Pane
    source: Source
    source_pane: SourcePane
    #: When its screen may be read again, and how often that has failed.
    read_at: float = 0.0
    failures: int = 0
    #: What was last read, and until when it may stand for another reading.
    look: Look | None = None
    good_until: float = 0.0
