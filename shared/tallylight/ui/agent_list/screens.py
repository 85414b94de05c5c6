"""
The screens that the preview shows: read at most four times a second, one at a time, and none while nobody asks for one.

What the terminal that opened the list tells at once is read at once; everything else on a thread, for a multiplexer may
take seconds. A pane that draws without end is read no more often than one that is at rest.
"""

from __future__ import annotations

import queue
import threading

from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.actions import Actions
from tallylight.wire.styled import StyledScreen

#: Seconds from the beginning of one look to that of the next; and between two polls while another thread looks.
PACE_S, WAIT_S = 0.25, 0.05


class Screens:
    """The screens of rows, as *actions* reads them."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._began = self._polled = float("-inf")
        self._is_reading = False
        self._read: queue.SimpleQueue[tuple[str, StyledScreen | str | None]] = queue.SimpleQueue()

    def poll(self, row: Row | None, now: float) -> tuple[str, StyledScreen | str] | None:
        """
        Look at *row* if it is time for that; nothing is looked at for None. *now* is monotonic.

        Returns the address of a pane with its screen, or with words that say why there is none, if that has been found
        since the last call.
        """
        self._polled = now
        if row is not None and not self._is_reading and now - self._began >= PACE_S:
            self._began = now
            self._is_reading = True
            if self._actions.has_channel and row.is_own:
                self._look(row)
            else:
                threading.Thread(target=self._look, args=(row,), name="preview", daemon=True).start()
        try:
            address, found = self._read.get_nowait()
        except queue.Empty:
            return None
        self._is_reading = False
        return None if found is None else (address, found)

    def due(self, row: Row | None) -> float:
        """When to call `poll` for *row* again, on its clock; infinity if there is nothing to be found."""
        if self._is_reading:
            return self._polled + WAIT_S
        return self._began + PACE_S if row is not None else float("inf")

    def _look(self, row: Row) -> None:
        found: StyledScreen | str | None = "its screen could not be read"
        try:
            found = self._actions.screen(row)
        except Exception as error:  # the next look may well succeed
            found = f"its screen could not be read: {error or type(error).__name__}"
        finally:
            self._read.put((row.address, found))
