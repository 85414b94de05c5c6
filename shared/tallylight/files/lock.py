"""
A lock on a directory that several processes write into. The kernel releases it when its process ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tallylight.model.errors import TallyError

#: The seconds between two attempts to take the lock.
RETRY_LOCK_S = 0.02


class BusyError(TallyError):
    """Raised while another process holds the lock."""


@contextlib.contextmanager
def locked(folder: Path, other: str, patience_s: float = 0.0) -> Iterator[None]:
    """Lock *folder*; raise `BusyError` with the text *other* if another process holds it for *patience_s* seconds."""
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
                time.sleep(RETRY_LOCK_S)
        yield
    finally:
        os.close(fd)
