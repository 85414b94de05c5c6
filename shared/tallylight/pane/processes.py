"""
The program in the foreground, as a pane asks for it. A host looks into the process table, a replay into its recording.
"""

from __future__ import annotations

from typing import Protocol

from tallylight.evidence.foreground import Identity


class Foregrounds(Protocol):
    """Finds the program in the foreground by its process group: see `evidence.process_table.ForegroundReader`."""

    def look(self, pgid: int) -> Identity:
        """Return the program of process group *pgid*; the same object as long as nothing changed."""

    def look_uncached(self, pgid: int) -> Identity:
        """Return the program of process group *pgid*, read again and not kept."""

    def forget(self, pgid: int) -> None:
        """Drop what is kept for *pgid*: its pane has another foreground now, or is gone."""
