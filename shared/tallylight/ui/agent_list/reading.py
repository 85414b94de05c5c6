"""
Reading: what takes its time is read on a thread, so that a disk or a multiplexer that does not answer leaves the list
alive.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from tallylight.model.errors import TallyError
from tallylight.snapshot import history_file
from tallylight.snapshot.history import History
from tallylight.ui.agent_list.week import DAYS

#: Seconds between two looks whether it has been read.
WAIT_S = 0.05

Found = TypeVar("Found")


class Reading(Generic[Found]):
    """One thing that is read now and then, once at a time."""

    def __init__(self) -> None:
        self.is_going = False
        self._read: queue.SimpleQueue[Found] = queue.SimpleQueue()

    def begin(self, read: Callable[[], Found], *, at_once: bool = False) -> None:
        """Begin to read, unless that is going on; *at_once*: here, and not on a thread. *read* tells of its faults."""
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


def week() -> History | str:
    """What the agents did in the last days, or words that say why that cannot be read."""
    try:
        return history_file.recent(os.environ, time.time(), DAYS)
    except (OSError, TallyError) as error:
        return str(error)
    except Exception:  # the list stays, whatever is wrong with the file
        return "it could not be read"
