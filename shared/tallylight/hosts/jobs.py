"""
Jobs: what a host does away from its loop, on a few threads, bounded in number and in time.

One job a key at a time: one that hangs keeps its thread, which cannot be ended, and another thread takes the place of
that one, so that the others go on. `files.program.run` is the only way to another program from there.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections.abc import Callable, Hashable

from tallylight.model.jobs import Done, Failed, Result, ignored

#: Threads, those that may be lost to jobs that hang, and jobs that wait for one. Of the first, eight may read agents'
#: files that hang, before anybody knows that they do.
MAX_THREADS = 12
MAX_HUNG = 24
MAX_WAITING = 2048
#: A job that takes longer, in seconds, hangs: on a disk or a network that does not answer.
JOB_HANGS_S = 6.0
#: What has failed is left alone for so long, in seconds, doubled each time up to the last.
RETRY_S, RETRY_MAX_S = 1.0, 60.0


class Jobs:
    """
    *deliver* takes what is to be done on the loop: it is called on the threads, and must be safe there.

    A job hangs when it has taken *patience* seconds of the monotonic *clock*.
    """

    def __init__(
        self,
        deliver: Callable[[Callable[[], None]], None],
        clock: Callable[[], float] = time.monotonic,
        patience: float = JOB_HANGS_S,
    ) -> None:
        self._deliver = deliver
        self._clock = clock
        self._patience = patience
        #: Each job returns what is to be done on the loop.
        self._queue: queue.Queue[tuple[Hashable, Callable[[], Callable[[], object]]]] = queue.Queue(MAX_WAITING)
        self._busy: set[Hashable] = set()
        #: When each job began that is being done. Written by the threads.
        self._began: dict[Hashable, float] = {}
        self._threads = 0

    def is_busy(self, key: Hashable) -> bool:
        """Whether a job of *key* waits or is being done."""
        return key in self._busy

    def hung(self) -> list[Hashable]:
        """The keys of the jobs that hang at this moment."""
        now = self._clock()
        return [key for key, at in list(self._began.items()) if now - at >= self._patience]

    @property
    def is_waiting(self) -> bool:
        """Whether a result may come any moment: there is a job that does not hang, and a thread for it."""
        hung = len(self.hung())
        return hung < min(len(self._busy), MAX_THREADS + MAX_HUNG)

    def submit(
        self, key: Hashable, job: Callable[[], Result], done: Done[Result] = ignored, failed: Failed = ignored
    ) -> bool:
        """
        Do *job* on a thread; *done* gets its result, or *failed* the exception it raised, on the loop.

        False, and nothing is done, while a job of the same *key* is not delivered, or too many wait.
        """
        is_taken = key not in self._busy
        if is_taken:
            try:
                self._queue.put_nowait((key, functools.partial(call_of, job, done, failed)))
            except queue.Full:
                is_taken = False
            else:
                self._busy.add(key)
        self.replace_hung()
        return is_taken

    def replace_hung(self) -> None:
        """Start a thread if a job waits for one: for the first ones, and in the place of one that is lost to a job."""
        hung = min(len(self.hung()), MAX_HUNG)
        if self._threads < min(len(self._busy), MAX_THREADS + hung):
            self._threads += 1
            threading.Thread(target=self._work, name=f"tallylight-{self._threads}", daemon=True).start()

    def _work(self) -> None:
        while True:
            key, job = self._queue.get()
            self._began[key] = self._clock()
            call = job()
            del self._began[key]
            self._deliver(functools.partial(self._delivered, key, call))

    def _delivered(self, key: Hashable, call: Callable[[], object]) -> None:
        self._busy.discard(key)
        call()


def call_of(job: Callable[[], Result], done: Done[Result], failed: Failed) -> Callable[[], object]:
    """Do *job*; the call that says how it ended."""
    try:
        return functools.partial(done, job())
    except Exception as error:  # whatever it is, it is the caller's to judge
        return functools.partial(failed, error)


def at_once(
    key: Hashable,  # noqa: ARG001
    job: Callable[[], Result],
    done: Done[Result] = ignored,
    failed: Failed = ignored,
) -> bool:
    """As `Submit`, for a loop that may wait for a disk."""
    call_of(job, done, failed)()
    return True


def backoff(failures: int) -> float:
    """For how long, in seconds, to leave alone what has failed so many times in a row."""
    return min(RETRY_MAX_S, RETRY_S * 2.0 ** min(failures - 1, 10))
