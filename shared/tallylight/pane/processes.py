"""
Who holds the foreground, as a pane asks for it. A host answers from the process table, a replay from what was recorded.
"""

from __future__ import annotations

from typing import Protocol

from tallylight.evidence.foreground import Identity


class Foregrounds(Protocol):
    """Who holds the foreground, by its process group: `evidence.process_table.ForegroundReader`."""

    def look(self, pgid: int) -> Identity:
        """Who holds the foreground of process group *pgid*; the same object as long as nothing changed."""

    def look_uncached(self, pgid: int) -> Identity:
        """The same, without remembering anything."""

    def forget(self, pgid: int) -> None:
        """The pane that asked for *pgid* has another foreground now, or is gone."""
