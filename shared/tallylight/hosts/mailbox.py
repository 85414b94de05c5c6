"""
A mailbox: what threads and signal handlers hand to one loop, which waits for it.

It is `queue.SimpleQueue` with a `get` that ends: that of Python 3.11 and 3.12 waits for ever if its timeout is over
before it begins to wait, as a short one may be on a busy machine, and a terminal would hang for good. (In
CPython's `_queuemodule.c` the time that is left is then negative, which means no limit.) `queue.Queue` will not do:
its `put` may not be called in a signal handler.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Items, oldest first. Any thread may put, one at a time may get."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        #: Locked while nothing was put since the last look.
        self._bell = threading.Lock()
        self._bell.acquire()

    def put(self, item: T) -> None:
        """Hand over *item*; never waits."""
        self._items.append(item)
        with contextlib.suppress(RuntimeError):  # it has rung already
            self._bell.release()

    def get(self, timeout: float = 0.0) -> T:
        """The next item, waited for until *timeout* seconds are over; `queue.Empty` if there is none."""
        end = time.monotonic() + timeout
        while not self._items:
            left = end - time.monotonic()
            if left <= 0 or not self._bell.acquire(timeout=left):
                break
        try:
            return self._items.popleft()
        except IndexError:
            raise queue.Empty from None

    def is_empty(self) -> bool:
        """Whether there is nothing to get at this moment."""
        return not self._items
