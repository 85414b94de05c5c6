"""
Reading on threads, so that a disk or a multiplexer that does not answer leaves the list alive.

A screen is read at most four times a second, one at a time, and none unless it is shown. A screen that the list's own
terminal sends at once is read at once. A pane that draws without end is read no more often than one at rest.
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

#: Seconds between two checks for a result, and between the beginnings of two looks at a screen.
CHECK_READING_S, PACE_S = 0.05, 0.25
#: Cells of a part's news for a person who comes back.
MAX_NEWS_CELLS = 200

Found = TypeVar("Found")


class Reading(Generic[Found]):
    """A value that is read again and again, by one reading at a time."""

    def __init__(self) -> None:
        self.is_going = False
        self._read: queue.SimpleQueue[Found] = queue.SimpleQueue()

    def begin(self, read: Callable[[], Found], *, at_once: bool = False) -> None:
        """
        Begin to read, unless a reading is under way; *at_once*: here, and not on a thread. *read* reports its faults.
        """
        if self.is_going:
            return
        self.is_going = True
        if at_once:
            self._read.put(read())
        else:
            threading.Thread(target=lambda: self._read.put(read()), name="reading", daemon=True).start()

    def poll(self) -> Found | None:
        """Return the value that was read since the last call; None if there is none."""
        try:
            found = self._read.get_nowait()
        except queue.Empty:
            return None
        self.is_going = False
        return found


class Screens:
    """Reads the screens of rows through *actions*."""

    def __init__(self, actions: Direct) -> None:
        self._actions = actions
        self._began = self._polled = float("-inf")
        self._reading: Reading[tuple[str, StyledScreen | str | None]] = Reading()

    def poll(self, row: Row | None, now: float) -> tuple[str, StyledScreen | str] | None:
        """
        Begin to read the screen of *row* if it is time; not for None. *now* is monotonic.

        Return the address of a pane with its screen, or with a message why there is none. None if no reading has ended
        since the last call.
        """
        self._polled = now
        if row is not None and not self._reading.is_going and now - self._began >= PACE_S:
            self._began = now
            self._reading.begin(lambda: self._read_screen(row), at_once=self._actions.has_channel and row.is_own)
        match self._reading.poll():
            case (address, found) if found is not None:
                return address, found
        return None

    def due(self, row: Row | None) -> float:
        """Return when to call `poll` for *row* again, on its clock; infinity if there is nothing to read."""
        if self._reading.is_going:
            return self._polled + CHECK_READING_S
        return self._began + PACE_S if row is not None else float("inf")

    def _read_screen(self, row: Row) -> tuple[str, StyledScreen | str | None]:
        """Return the address of *row* with its screen, or with a message if reading fails."""
        try:
            return row.address, self._actions.screen(row)
        except Exception as error:  # the next look may succeed
            return row.address, f"its screen could not be read: {error or type(error).__name__}"


def away(panes: Iterable[Row], seconds: float) -> str:
    """Return the news of the last *seconds*, in one line of the first part that has any; "" if none has."""
    shown = list(panes)
    for found in index.used():
        if found.part.news:
            with contextlib.suppress(Exception):  # the list stays, whatever is wrong with a part
                if said := sanitise(index.load(found.part.news)(shown, seconds), cells=MAX_NEWS_CELLS):
                    return said
    return ""
