"""
A lock on a directory that several processes write into. It ends with the process that holds it, whatever happens.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tallylight.model.errors import TallyError

#: Seconds between two looks whether another process has ended.
LOOK_S = 0.02


class BusyError(TallyError):
    """Another process writes at this moment."""


@contextlib.contextmanager
def locked(folder: Path, other: str, patience_s: float = 0.0) -> Iterator[None]:
    """Hold *folder*; `BusyError`, in the words of *other*, if another process still does after so many seconds."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        end = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise BusyError(f"{folder}: {other}") from None
                time.sleep(LOOK_S)
        yield
    finally:
        os.close(fd)
