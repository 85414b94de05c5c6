"""
What a program has written and kitty has not parsed yet: it may be another dialog, and nothing of it is on the screen.

kitty's own thread reads it. Its main thread parses it some milliseconds later (`input_delay`), or when it gets to that.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
from pathlib import Path
from typing import Any

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
    # kitty has it for its own tests, up to 0.48 at least. Without it, what is drawn by now has to do.
    getattr(window.screen, "test_parse_written_data", lambda: None)()
    # Output that has filled the buffer is read on only after that.
    boss.child_monitor.wakeup()
    return True


def _is_reading() -> bool:
    """Whether the thread that reads does anything but wait."""
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
