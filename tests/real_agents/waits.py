"""How long processes waited for a processor: what is late by that, on a machine with others to serve, is not theirs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path


class Waits:
    """The processes *pids*, with all their threads; times are seconds of the monotonic clock."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._tasks = {pid: Path(f"/proc/{pid}/task") for pid in pids}
        self._noted: list[tuple[float, dict[int, float]]] = []

    def note(self) -> None:
        """Keep how long each of them has waited so far."""
        self._noted.append((time.monotonic(), {pid: _waited(tasks) for pid, tasks in self._tasks.items()}))

    def between(self, start: float, end: float) -> float:
        """
        How long they waited between two times, one after the other, as what goes on between them does.

        A process of which several threads waited at a time has waited once. Not at all if the *end* is not later.
        """
        if not self._noted or end <= start:
            return 0.0
        began, first = max((one for one in self._noted if one[0] <= start), key=_at, default=self._noted[0])
        ended, last = min((one for one in self._noted if one[0] >= end), key=_at, default=self._noted[-1])
        return sum(min(max(0.0, last[pid] - first[pid]), ended - began) for pid in self._tasks)


def _at(noted: tuple[float, dict[int, float]]) -> float:
    return noted[0]


def _waited(tasks: Path) -> float:
    nanoseconds = 0
    try:
        for task in tasks.iterdir():
            nanoseconds += int((task / "schedstat").read_bytes().split()[1])
    except OSError:
        pass  # it has ended, or one of its threads
    return nanoseconds / 1e9


def waited_for_processors() -> float:
    """
    For how many seconds, since the machine started, at least one process waited for a processor; 0 if nobody knows.

    https://docs.kernel.org/accounting/psi.html
    """
    try:
        some = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    except OSError:
        return 0.0
    return int(some.rpartition("total=")[2]) / 1e6
