"""
Reading: what takes its time is read on a thread, so that a disk or a multiplexer that does not answer leaves the list
alive.

A screen is read at most four times a second, one at a time, and none while nobody asks for one. What the terminal that
opened the list sends at once is read at once. A pane that draws without end is read no more often than one at rest.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from tallylight.parts import index
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.actions import Direct
from tallylight.wire.styled import StyledScreen
from tallylight.wire.text import sanitise

#: Seconds between two looks whether it has been read, and from the beginning of one look at a screen to the next.
WAIT_S, PACE_S = 0.05, 0.25
#: Cells of what a part says to somebody who comes back.
MAX_NEWS = 200

Found = TypeVar("Found")


class Reading(Generic[Found]):
    """One thing that is read now and then, once at a time."""

    def __init__(self) -> None:
        self.is_going = False
        self._read: queue.SimpleQueue[Found] = queue.SimpleQueue()

    def begin(self, read: Callable[[], Found], *, at_once: bool = False) -> None:
        """Begin to read, unless that is going on; *at_once*: here, and not on a thread. *read* reports its faults."""
        if self.is_going:
            return
        self.is_going = True
        if at_once:
            self._read.put(read())
        else:
            threading.Thread(target=lambda: self._read.put(read()), name="reading", daemon=True).start()

    def poll(self) -> Found | None:
        """What was read since the last call; None if nothing was."""
        try:
            found = self._read.get_nowait()
        except queue.Empty:
            return None
        self.is_going = False
        return found


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


def away(panes: Iterable[Row], seconds: float) -> str:
    """Return what happened in the last *seconds*, in one line of the first part that knows; nothing if none does."""
    shown = list(panes)
    for found in index.used():
        if found.part.news:
            with contextlib.suppress(Exception):  # the list stays, whatever is wrong with a part
                if said := sanitise(index.load(found.part.news)(shown, seconds), cells=MAX_NEWS):
                    return said
    return ""
