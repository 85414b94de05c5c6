"""A queue of bytes for a descriptor that does not block."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
else:
    from _collections import deque  # the one of `collections`, which loads much else


class Queue:
    """Bytes that wait to be written to *fd*; *size* is their number."""

    def __init__(self, fd: int) -> None:
        self.size = 0
        self._fd = fd
        self._pieces: deque[bytes] = deque()
        self._done = 0

    def put(self, data: bytes) -> None:
        """Write *data*, and keep the part that *fd* does not take yet."""
        if not self._pieces:
            try:
                taken = os.write(self._fd, data)
            except BlockingIOError:
                taken = 0
            except OSError:
                return
            if taken == len(data):
                return
            self._done = taken
            self.size = -taken
        self._pieces.append(data)
        self.size += len(data)

    def write(self) -> None:
        """Write as much as *fd* takes now. For a terminal that is gone everything is dropped."""
        while self._pieces:
            piece = self._pieces[0]
            try:
                taken = os.write(self._fd, memoryview(piece)[self._done :] if self._done else piece)
            except BlockingIOError:
                return None
            except OSError:
                return self.clear()
            self.size -= taken
            self._done += taken
            if self._done < len(piece):
                return None
            self._pieces.popleft()
            self._done = 0
        return None

    def clear(self) -> None:
        """Drop all waiting bytes."""
        self._pieces.clear()
        self.size = self._done = 0
