"""
A mailbox: passes items from threads and signal handlers to one loop, which waits for them.

It is like `queue.SimpleQueue`, but `get` always ends. In Python 3.11 and 3.12 the `get` of `SimpleQueue` waits for ever
if its timeout has passed before it begins to wait. A terminal would then hang for good. (The remaining time is negative
in CPython's `_queuemodule.c`, which means no limit there.) `queue.Queue` does not serve: a signal handler may not call
its `put`.
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
    """A queue, oldest item first. Any thread may put; one at a time may get."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        #: Locked while nothing was put since the last look.
        self._bell = threading.Lock()
        self._bell.acquire()

    def put(self, item: T) -> None:
        """Add *item*; never waits."""
        self._items.append(item)
        with contextlib.suppress(RuntimeError):  # it has rung already
            self._bell.release()

    def get(self, timeout: float = 0.0) -> T:
        """Return the next item, after waiting for at most *timeout* seconds; raise `queue.Empty` if there is none."""
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
        return not self._items
