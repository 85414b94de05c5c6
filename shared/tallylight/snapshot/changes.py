"""
Changes: descriptors that become readable when a host writes its snapshot or ends, so that readers need not poll.

Only Linux reports both, by inotify(7) and pidfd_open(2). Python has no inotify of its own; it is called in the C
library. Where either is missing there are no descriptors, and a reader looks every now and then, as it did before.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
from collections.abc import Iterable
from pathlib import Path

#: The events of a directory: a file was renamed into it, or is gone; it is itself gone. From <sys/inotify.h>.
_MOVED_TO, _DELETE, _DELETE_SELF, _MOVE_SELF, _IGNORED = 0x80, 0x200, 0x400, 0x800, 0x8000
_LOST = _DELETE_SELF | _MOVE_SELF | _IGNORED
#: An event: watch, mask, cookie, length of the name that follows.
_EVENT = struct.Struct("iIII")
#: Of one read, in bytes.
_CHUNK = 64 * 1024


class Changes:
    """
    Changes of the snapshots in *folder*.

    `look` before the folder is read, then wait for one of `descriptors`: what is written between the two is not missed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._watch: int | None = None
        #: Descriptors of writers, by process; and those that have ended, which may take a moment to be gone.
        self._writers: dict[int, int] = {}
        self._ended: set[int] = set()

    def look(self) -> bool:
        """Take note that somebody looks now; whether a writer has ended since the last time."""
        readable = select.select(list(self._writers.values()), [], [], 0)[0] if self._writers else []
        for pid in [pid for pid, descriptor in self._writers.items() if descriptor in readable]:
            os.close(self._writers.pop(pid))
            self._ended.add(pid)
        if self._watch is not None and self._was_lost(self._watch):
            os.close(self._watch)
            self._watch = None
        if self._watch is None:
            self._watch = _watched(self._folder)
        return bool(readable)

    @staticmethod
    def _was_lost(watch: int) -> bool:
        """Read all events; return whether the folder itself has gone."""
        was_lost = False
        while True:
            try:
                data = os.read(watch, _CHUNK)
            except OSError:  # that was all
                return was_lost
            while len(data) >= _EVENT.size:
                _, mask, _, length = _EVENT.unpack_from(data)
                data = data[_EVENT.size + length :]
                was_lost = was_lost or bool(mask & _LOST)

    def descriptors(self, writers: Iterable[int]) -> list[int] | None:
        """What to wait for, where the processes *writers* wrote what was read; None if it must be looked at."""
        wanted = set(writers)
        for pid in self._writers.keys() - wanted:
            os.close(self._writers.pop(pid))
        self._ended &= wanted
        if self._watch is None or self._ended or not hasattr(os, "pidfd_open"):
            return None
        for pid in wanted - self._writers.keys():
            try:
                self._writers[pid] = os.pidfd_open(pid)
            except OSError:  # it has ended this very moment, or is another container's
                return None
        return [self._watch, *self._writers.values()]

    def close(self) -> None:
        """Wait for nothing any more."""
        for descriptor in (*self._writers.values(), *([self._watch] if self._watch is not None else ())):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._writers, self._watch = {}, None


def _watched(folder: Path) -> int | None:
    """A descriptor for the changes of *folder*; None where there is no such folder or no inotify."""
    try:
        import ctypes  # not every Python has it

        library = ctypes.CDLL(None)
        watch = int(library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    except (ImportError, OSError, AttributeError):
        return None
    if watch < 0:
        return None
    events = _MOVED_TO | _DELETE | _DELETE_SELF | _MOVE_SELF
    if library.inotify_add_watch(watch, os.fsencode(folder), ctypes.c_uint32(events)) < 0:
        os.close(watch)
        return None
    return watch
