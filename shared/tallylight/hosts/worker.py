"""
A worker: slow work done away from a terminal's main thread.

kitty's main loop keeps Python's global lock while it idles, so a plain thread stands still in there: it runs only
while the main thread gives the lock away. `lend` does that on purpose, for a bounded time: a file that is read
from memory is done within it, and one on a network that hangs costs the terminal no more than that.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

#: How long, in seconds, one `lend` may keep the main thread: an eighth of a frame at 60 Hz.
LEND_S = 0.002
#: Jobs waiting at once; a disk that hangs must not collect them.
MAX_JOBS = 64


class Worker:
    """One daemon thread and the results it has ready. Jobs run in the order they came."""

    def __init__(self) -> None:
        self._jobs: queue.Queue[tuple[Callable[[], object], Callable[[object], None] | None]] = queue.Queue(MAX_JOBS)
        self._results: queue.SimpleQueue[tuple[Callable[[object], None], object]] = queue.SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None

    def submit(self, job: Callable[[], object], done: Callable[[object], None] | None = None) -> bool:
        """
        Do *job* away from here; *done* gets its result, or the exception it raised, from a later `lend`.

        False where too many jobs wait already: this one is dropped.
        """
        try:
            self._jobs.put_nowait((job, done))
        except queue.Full:
            return False
        self._idle.clear()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="tallylight", daemon=True)
            self._thread.start()
        return True

    def lend(self, seconds: float = LEND_S) -> None:
        """Let the thread run for at most *seconds*, then hand the results that are ready to their callers."""
        if not self._idle.is_set():
            self._idle.wait(seconds)
        while not self._results.empty():
            done, result = self._results.get_nowait()
            done(result)

    def _run(self) -> None:
        while True:
            job, done = self._jobs.get()
            try:
                result: object = job()
            except Exception as error:  # whatever it is, it is the caller's to judge
                result = error
            if done is not None:
                self._results.put((done, result))
            if self._jobs.empty():
                self._idle.set()
