"""
Jobs: what a host does away from its loop, on a few threads, limited in number and in time.

Each key has one job at a time. A job that hangs keeps its thread, which cannot be ended; another thread takes its
place. Jobs run other programs only through `files.program.run`.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections.abc import Callable, Hashable

from tallylight.model.jobs import Done, Failed, Result, ignored

#: Threads, threads that may be lost to jobs that hang, and jobs that wait for a thread. Up to eight of the threads may
#: read agents' files that hang, before this is noticed.
MAX_JOB_THREADS = 12
MAX_HUNG = 24
MAX_WAITING_JOBS = 2048
#: A job that takes longer, in seconds, hangs: its disk or network does not respond.
JOB_HANGS_S = 6.0
#: The pause after a failure in seconds, doubled with each further one up to the maximum.
RETRY_JOB_S, RETRY_JOB_MAX_S = 1.0, 60.0


class Jobs:
    """
    Runs jobs on threads; *deliver* gets a call for each result, and must run it on the loop.

    *deliver* is called on the threads, and must be safe there. A job hangs after *patience* seconds of *clock*.
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
        #: Each job returns the call that the loop is to make.
        self._queue: queue.Queue[tuple[Hashable, Callable[[], Callable[[], object]]]] = queue.Queue(MAX_WAITING_JOBS)
        self._busy: set[Hashable] = set()
        #: When each running job began. Written by the threads.
        self._began: dict[Hashable, float] = {}
        self._threads = 0

    def is_busy(self, key: Hashable) -> bool:
        """Return whether a job of *key* waits or runs."""
        return key in self._busy

    def hung(self) -> list[Hashable]:
        """Return the keys of the jobs that hang now."""
        now = self._clock()
        return [key for key, at in list(self._began.items()) if now - at >= self._patience]

    @property
    def is_waiting(self) -> bool:
        """Return whether a result may arrive at any moment: some job does not hang, and a thread is free for it."""
        hung = len(self.hung())
        return hung < min(len(self._busy), MAX_JOB_THREADS + MAX_HUNG)

    def submit(
        self, key: Hashable, job: Callable[[], Result], done: Done[Result] = ignored, failed: Failed = ignored
    ) -> bool:
        """
        Run *job* on a thread, then *done* with its result, or *failed* with its exception, on the loop.

        Return False, and do nothing, if a job of the same *key* is not delivered yet, or too many jobs wait.
        """
        is_taken = key not in self._busy
        if is_taken:
            try:
                self._queue.put_nowait((key, functools.partial(run_job, job, done, failed)))
            except queue.Full:
                is_taken = False
            else:
                self._busy.add(key)
        self.replace_hung()
        return is_taken

    def replace_hung(self) -> None:
        """Start a thread if a job waits and there are too few, or one was lost to a job that hangs."""
        hung = min(len(self.hung()), MAX_HUNG)
        if self._threads < min(len(self._busy), MAX_JOB_THREADS + hung):
            self._threads += 1
            threading.Thread(target=self._work, name=f"tallylight-{self._threads}", daemon=True).start()

    def _work(self) -> None:
        """Run jobs without end; each thread does."""
        while True:
            key, job = self._queue.get()
            self._began[key] = self._clock()
            call = job()
            del self._began[key]
            self._deliver(functools.partial(self._delivered, key, call))

    def _delivered(self, key: Hashable, call: Callable[[], object]) -> None:
        self._busy.discard(key)
        call()


def run_job(job: Callable[[], Result], done: Done[Result], failed: Failed) -> Callable[[], object]:
    """Run *job* and return a call that passes its result to *done*, or its exception to *failed*."""
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
    """Run *job* and pass on its result before returning. It has the signature of `Submit`, for a loop that may wait."""
    run_job(job, done, failed)()
    return True


def backoff(failures: int) -> float:
    """Return how many seconds to wait after so many *failures* in a row."""
    return min(RETRY_JOB_MAX_S, RETRY_JOB_S * 2.0 ** min(failures - 1, 10))
