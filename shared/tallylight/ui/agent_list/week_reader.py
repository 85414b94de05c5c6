"""
The reader of the week: the file of turns, read on a thread, so that a disk that does not answer leaves the list alive.
"""

from __future__ import annotations

import os
import queue
import threading
import time

from tallylight.model.errors import TallyError
from tallylight.snapshot import history_file
from tallylight.snapshot.history import History
from tallylight.ui.agent_list.week import DAYS

#: Seconds between two looks whether it has been read.
WAIT_S = 0.05


class WeekReader:
    """Reads when it is asked to, once at a time."""

    def __init__(self) -> None:
        self._is_reading = False
        self._read: queue.SimpleQueue[History | str] = queue.SimpleQueue()

    def ask(self) -> None:
        """Begin to read, unless that is going on."""
        if not self._is_reading:
            self._is_reading = True
            threading.Thread(target=self._look, name="week", daemon=True).start()

    def poll(self) -> History | str | None:
        """What was read since the last call: the history, or words that say why not; None if nothing was."""
        try:
            found = self._read.get_nowait()
        except queue.Empty:
            return None
        self._is_reading = False
        return found

    @property
    def patience(self) -> float:
        """For how long, in seconds, `poll` can be left alone."""
        return WAIT_S if self._is_reading else float("inf")

    def _look(self) -> None:
        found: History | str = "it could not be read"
        try:
            found = history_file.recent(os.environ, time.time(), DAYS)
        except (OSError, TallyError) as error:
            found = str(error)
        finally:
            self._read.put(found)
