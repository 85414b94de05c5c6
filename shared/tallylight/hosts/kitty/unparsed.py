"""
Output that kitty has not parsed yet: it may draw another dialog, and the screen does not show it.

kitty's own thread reads output. Its main thread parses it some milliseconds later (`input_delay`), or when it has time.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import time
from pathlib import Path
from typing import Any

#: Within so many seconds kitty has parsed what it read: ten times its usual `input_delay`.
PARSES_S = 0.03
#: A repeated call within so many seconds belongs to the same undecided answer.
FORGETS_S = 0.1
#: Since when a caller waits, by window, in a kitty without a function to parse now.
_asked: dict[int, float] = {}
#: The name of kitty's thread that reads.
_READER = "KittyChildMon"


def parse(boss: Any, window: Any) -> bool:
    """
    Parse all output of the program in *window*; return False if kitty has not read all of it yet.

    kitty's parser itself must not be the caller.
    """
    fd = window.child.child_fd
    if fd is None:
        return False
    # Linux waits in `poll` for output that is on its way through the terminal; FIONREAD does not count it.
    unread = select.poll()
    unread.register(fd, select.POLLIN)
    # The thread may not have passed on its last reading.
    if unread.poll(0) or _is_reading():
        return False
    # kitty has it for its own tests, up to 0.48 at least.
    parse_now = getattr(window.screen, "test_parse_written_data", None)
    if parse_now is None:
        return _has_waited(window.id)
    parse_now()
    # Output after a full buffer is read only then.
    boss.child_monitor.wakeup()
    return True


def _has_waited(window: int) -> bool:
    """
    Return whether kitty has had `PARSES_S` seconds to parse since the first call for *window*.

    A call more than `FORGETS_S` seconds ago was for another answer.
    """
    now = time.monotonic()
    if now - _asked.get(window, -FORGETS_S) > FORGETS_S:
        _asked[window] = now
    return now - _asked[window] >= PARSES_S


def _is_reading() -> bool:
    """Return whether the thread that reads does anything but wait."""
    path = _reader(os.getpid())
    return path is not None and path.read_bytes().rpartition(b") ")[2][:1] != b"S"


@functools.cache
def _reader(pid: int) -> Path | None:
    """Return the path with the state of the thread that reads; None where the system does not show it."""
    for folder in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # another thread that has ended meanwhile
            if (folder / "comm").read_text().strip() == _READER:
                return folder / "stat"
    return None
