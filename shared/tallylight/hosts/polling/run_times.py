"""
How long processes have run so far: the same as long as one sleeps, so the cheapest sign that nothing of it is new.
https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat

A process that has not run has neither become another program, nor given its terminal to another group, nor started or
buried a child. The numbers are those of `/proc/PID/schedstat`, whose files are held open: to read
an open one costs a quarter. One that cannot be told, because its process is gone or the system has no such file, is
None, and None is never a sign of anything.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Container

#: Files held open, at most, and at most this part of what this process may have open; beyond, each is opened each time.
MAX_OPEN, PART = 1024, 2


class Runtimes:
    """Of processes in the table under *root*; None for a table that does not say. For one thread."""

    def __init__(self, root: str | None = "/proc", limit: int | None = None) -> None:
        self._root = root
        self._files: dict[int, int] = {}
        may_open = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._limit = limit if limit is not None else min(MAX_OPEN, may_open // PART if may_open > 0 else MAX_OPEN)

    def read(self, pid: int) -> bytes | None:
        """What tells how long the process *pid* has run; None if it is gone, or nobody can tell."""
        fd = self._files.get(pid)
        if fd is None:
            return self._open(pid)
        try:
            return os.pread(fd, 64, 0)
        except OSError:
            # It is gone; the number may be another process's by now, which is told at the next time.
            self._close(pid)
            return None

    def _open(self, pid: int) -> bytes | None:
        if pid <= 0 or self._root is None:
            return None
        try:
            fd = os.open(f"{self._root}/{pid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            found = os.pread(fd, 64, 0)
        except OSError:
            found = b""
        if not found.split(b" ", 1)[0].isdigit():
            os.close(fd)
            return None
        if len(self._files) < self._limit:
            self._files[pid] = fd
        else:
            os.close(fd)
        return found

    def _close(self, pid: int) -> None:
        fd = self._files.pop(pid, None)
        if fd is not None:
            os.close(fd)

    def keep(self, pids: Container[int]) -> None:
        """Close the files of all processes but *pids*."""
        for pid in [pid for pid in self._files if pid not in pids]:
            self._close(pid)

    def close(self) -> None:
        """Close all of them."""
        self.keep(())
