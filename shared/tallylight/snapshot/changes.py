"""
Changes: descriptors that become readable when a host writes its snapshot or ends, so that readers need not poll.

Only Linux reports both, by inotify(7) and pidfd_open(2). Python has no inotify; the C library's is called. If either is
missing there are no descriptors, and a reader polls.
"""

from __future__ import annotations

import contextlib
import os
import select
import struct
from collections.abc import Iterable
from pathlib import Path

#: Events of a directory: a file was renamed into it or removed, or it is itself gone. From <sys/inotify.h>.
_MOVED_TO, _DELETE, _DELETE_SELF, _MOVE_SELF, _IGNORED = 0x80, 0x200, 0x400, 0x800, 0x8000
_LOST = _DELETE_SELF | _MOVE_SELF | _IGNORED
#: An event: watch, mask, cookie, length of the name that follows.
_EVENT = struct.Struct("iIII")
#: The most bytes of one read.
_EVENT_CHUNK_BYTES = 64 * 1024


class Changes:
    """
    Reports changes of the snapshots in *folder*.

    Call `look` before the folder is read, then wait for one of `descriptors`: no write between the two is missed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._watch: int | None = None
        #: Descriptors of writers, by process id; and the ids of ended writers, which may be there for another moment.
        self._writers: dict[int, int] = {}
        self._ended: set[int] = set()

    def look(self) -> bool:
        """Begin to watch the folder before it is read; return whether a writer has ended since the last call."""
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
                data = os.read(watch, _EVENT_CHUNK_BYTES)
            except OSError:  # that was all
                return was_lost
            while len(data) >= _EVENT.size:
                _, mask, _, length = _EVENT.unpack_from(data)
                data = data[_EVENT.size + length :]
                was_lost = was_lost or bool(mask & _LOST)

    def descriptors(self, writers: Iterable[int]) -> list[int] | None:
        """Return the descriptors to wait for, given the *writers* of the present files; None if only polling helps."""
        wanted = set(writers)
        for pid in self._writers.keys() - wanted:
            os.close(self._writers.pop(pid))
        self._ended &= wanted
        if self._watch is None or self._ended or not hasattr(os, "pidfd_open"):
            return None
        for pid in wanted - self._writers.keys():
            try:
                self._writers[pid] = os.pidfd_open(pid)
            except OSError:  # it has just ended, or belongs to another container
                return None
        return [self._watch, *self._writers.values()]

    def close(self) -> None:
        for descriptor in (*self._writers.values(), *([self._watch] if self._watch is not None else ())):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._writers, self._watch = {}, None


def _watched(folder: Path) -> int | None:
    """Return a descriptor for the changes of *folder*; None if there is no such folder or no inotify."""
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
