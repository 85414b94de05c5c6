"""
The screens that the preview shows: read at most four times a second, one at a time, and none while nobody asks for one.

What the terminal that opened the list tells at once is read at once; everything else on a thread, for a multiplexer may
take seconds. A pane that draws without end is read no more often than one that is at rest.
"""

from __future__ import annotations

from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.actions import Direct
from tallylight.ui.agent_list.reading import WAIT_S, Reading
from tallylight.wire.styled import StyledScreen

#: Seconds from the beginning of one look to that of the next.
PACE_S = 0.25


class Screens:
    """The screens of rows, as *actions* reads them."""

    def __init__(self, actions: Direct) -> None:
        self._actions = actions
        self._began = self._polled = float("-inf")
        self._reading: Reading[tuple[str, StyledScreen | str | None]] = Reading()

    def poll(self, row: Row | None, now: float) -> tuple[str, StyledScreen | str] | None:
        """
        Look at *row* if it is time for that; nothing is looked at for None. *now* is monotonic.

        Returns the address of a pane with its screen, or with words that say why there is none, if that has been found
        since the last call.
        """
        self._polled = now
        if row is not None and not self._reading.is_going and now - self._began >= PACE_S:
            self._began = now
            self._reading.begin(lambda: self._look(row), at_once=self._actions.has_channel and row.is_own)
        match self._reading.poll():
            case (address, found) if found is not None:
                return address, found
        return None

    def due(self, row: Row | None) -> float:
        """When to call `poll` for *row* again, on its clock; infinity if there is nothing to be found."""
        if self._reading.is_going:
            return self._polled + WAIT_S
        return self._began + PACE_S if row is not None else float("inf")

    def _look(self, row: Row) -> tuple[str, StyledScreen | str | None]:
        try:
            return row.address, self._actions.screen(row)
        except Exception as error:  # the next look may well succeed
            return row.address, f"its screen could not be read: {error or type(error).__name__}"
