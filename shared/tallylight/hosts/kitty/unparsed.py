"""
What a program has written and kitty has not parsed yet: it may be another dialog, and nothing of it is on the screen.

kitty's own thread reads it. Its main thread parses it some milliseconds later (`input_delay`), or when it gets to that.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import time
from pathlib import Path
from typing import Any

#: Within so many seconds kitty parses what it has read, with ten times its usual `input_delay`.
PARSES_S = 0.03
#: And then it is asked again, within so many seconds: as an answer that is not decided is.
FORGETS_S = 0.1
#: Since when somebody wants all parsed in a window of a kitty that cannot be told to.
_asked: dict[int, float] = {}
#: What kitty calls its thread that reads.
_READER = "KittyChildMon"


def parse(boss: Any, window: Any) -> bool:
    """
    Have all parsed that the program in *window* has written; False if kitty has not read all of it yet.

    Only what kitty's parser does not call may call this.
    """
    fd = window.child.child_fd
    if fd is None:
        return False
    # Linux waits in `poll` for what is on its way through the terminal; FIONREAD does not count that.
    unread = select.poll()
    unread.register(fd, select.POLLIN)
    # What the thread has just read it may not have handed over.
    if unread.poll(0) or _is_reading():
        return False
    # kitty has it for its own tests, up to 0.48 at least.
    parse_now = getattr(window.screen, "test_parse_written_data", None)
    if parse_now is None:
        return _has_waited(window.id)
    parse_now()
    # Output that has filled the buffer is read on only after that.
    boss.child_monitor.wakeup()
    return True


def _has_waited(window: int) -> bool:
    """
    Return whether kitty has had `PARSES_S` to parse what *window* had written when this was asked first.

    What was asked longer ago than `FORGETS_S` was for another answer.
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
    """The state of the thread that reads; None where the system does not show it."""
    for folder in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # another thread that has ended meanwhile
            if (folder / "comm").read_text().strip() == _READER:
                return folder / "stat"
    return None
