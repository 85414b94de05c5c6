"""
The file of a ledger: the time that agents waited today in one host, next to its snapshot.

`<runtime directory>/tallylight/<host>-<pid>.waited` has one writer, and is written when a wait begins or ends. It stays
when the host ends, for the day is not over, and is removed when a host starts on another day.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path

from tallylight.files import read_write
from tallylight.model.limits import MAX_HOST_FILES
from tallylight.snapshot.waiting_time import Ledger, Waited
from tallylight.snapshot.writer import Snapshot, SnapshotError, checked_directory, directory, read_living
from tallylight.wire import values

#: The most bytes of a file.
MAX_WAITING_TIME_BYTES = 1024
#: The file is written again once a reader's own sum would be wrong by so many seconds.
WRONG_SUM_S = 2.0

_NAME = re.compile(r"\A[a-z]{1,16}-[0-9]{1,10}\.waited\Z")


def today(clock: float) -> str:
    """Return the local date at *clock*: `2026-11-21`."""
    # `strftime` would check each time whether /etc/localtime has changed.
    local = time.localtime(clock)
    return f"{local.tm_year:04}-{local.tm_mon:02}-{local.tm_mday:02}"


class WaitingTimeFile:
    """The file of this process. Faults of the disk cost the sum, and nothing else."""

    def __init__(self, host: str, environ: Mapping[str, str] = os.environ) -> None:
        self.path = directory(environ) / f"{host}-{os.getpid()}.waited"
        self._saved: Waited | None = None

    def open(self, day: str) -> Ledger:
        """Return today's ledger of an earlier run with this process id, or a new one. Removes files of other days."""
        found = None
        for path in _paths(self.path.parent):
            waited = _read(path)
            if path == self.path and waited is not None and waited.day == day:
                found = waited
            elif waited is None or waited.day < day:
                with contextlib.suppress(OSError):
                    path.unlink()
        return Ledger(day, found.waited_s if found is not None else 0.0)

    def is_due(self, waited: Waited) -> bool:
        """Return whether *waited* has to be written: a reader could not derive it from the file."""
        saved = self._saved
        if saved is None:
            return bool(waited.waited_s or waited.waiting)
        if (saved.day, saved.waiting) != (waited.day, waited.waiting):
            return True
        return abs(saved.at(waited.written) - waited.waited_s) > WRONG_SUM_S

    def save(self, waited: Waited) -> None:
        """Write *waited*. Raises `OSError` and `SnapshotError` if that fails."""
        self._saved = waited
        checked_directory(self.path.parent, create=True)
        data = json.dumps(waited.to_json(), separators=(",", ":")).encode("ascii")
        read_write.atomic_write(self.path, data, 0o600, durable=False)


def waited_today(environ: Mapping[str, str], clock: float) -> float:
    """Return the seconds of today in which an agent waited, of all present and former hosts."""
    seconds = 0.0
    for path in _paths(directory(environ)):
        waited = _read(path)
        if waited is not None and waited.day == today(clock):
            host = read_living(path.with_suffix(".json")) if waited.waiting else None
            seconds += waited.at(clock if isinstance(host, Snapshot) else waited.written)
    return seconds


def _paths(folder: Path) -> list[Path]:
    """Return the files of all hosts; none if other users could write to the directory."""
    try:
        return sorted(path for path in checked_directory(folder).iterdir() if _NAME.match(path.name))[:MAX_HOST_FILES]
    except (OSError, SnapshotError):
        return []


def _read(path: Path) -> Waited | None:
    """Return the sum in the file; None if it cannot be read, or is none."""
    return Waited.from_json(values.members(read_write.own_or_nothing(path, MAX_WAITING_TIME_BYTES)))
