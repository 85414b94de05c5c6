"""
A worker: slow work done away from a terminal's main thread.

kitty's main loop holds Python's global lock while idle, so threads run only while the main thread releases it. `lend`
does so on purpose, for a limited time. Reading a cached file ends within it. A network that hangs costs the terminal no
more than that.
"""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Callable

from tallylight.hosts.jobs import Jobs
from tallylight.hosts.mailbox import Mailbox
from tallylight.model.bucket import Bucket

#: The main thread is kept for at most LEND_THREADS_S seconds, an eighth of a frame at 60 Hz, in every
#: LEND_THREADS_EVERY_S.
LEND_THREADS_S = 0.002
LEND_THREADS_EVERY_S = 0.02
#: The same while all jobs hang: enough for one of them to end, once its disk responds.
HUNG_LEND_S = 0.0002
#: How long, in seconds, a thread may compute when the main thread wants to run: Python's own is 5 ms.
SWITCH_S = 0.0005
#: A job hangs if it is not done after its threads were lent so many seconds. Other time does not count: a paused
#: process or a busy machine is no disk that hangs.
#: These of kitty's jobs can hang, and each then loses one thread: settings, opening the runtime directory, snapshot,
#: requests, scripts, ledger, open conversations, history, accuracy, projects, work, sessions, list, fork. So can 8
#: readings of agents' files, 4 commands and 9 looks for collisions. Some threads are left for the others.
LENT_HANGS_S = 1.0


class Worker:
    """
    Threads for jobs, and the results that are ready. Each key has one job at a time.

    *report* is called once for every text key with a job that hangs; owners of other keys report that themselves.
    """

    def __init__(
        self, report: Callable[[str], None] = lambda _: None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._report = report
        self._clock = clock
        self._results: Mailbox[Callable[[], None]] = Mailbox()
        #: All the time lent so far, in seconds.
        self._lent = 0.0
        self._jobs = Jobs(self._results.put, lambda: self._lent, LENT_HANGS_S)
        #: As `Jobs.submit`; the result is passed on by a later `lend`.
        self.submit = self._jobs.submit
        self._reported: set[str] = set()
        self._is_lending = False
        #: How much time may still be lent.
        self._left = Bucket(LEND_THREADS_S / LEND_THREADS_EVERY_S, LEND_THREADS_S)

    @property
    def is_waiting(self) -> bool:
        """Return whether a result may arrive at any moment if the threads are lent time."""
        return self._jobs.is_waiting

    def lend(self, seconds: float = 0.0) -> None:
        """
        Let the threads run, then pass the results that are ready to their callers.

        The time is the rest of `LEND_THREADS_S` in every `LEND_THREADS_EVERY_S`, or *seconds* where that is more. It
        ends as soon as no result is expected; jobs that hang are not waited for.
        """
        if self._is_lending:
            return  # called by one that was just handed its result
        self._is_lending = True
        switch = sys.getswitchinterval()
        sys.setswitchinterval(min(SWITCH_S, switch))
        try:
            self._jobs.replace_hung()
            start = self._clock()
            end = start + max(self._left.fill(start), seconds)
            now = start
            while self._jobs.is_waiting and now < end:
                try:
                    call = self._results.get(end - now)
                except queue.Empty:
                    break
                call()
                now = self._clock()
            if not self._jobs.is_waiting and self._jobs.hung():
                time.sleep(HUNG_LEND_S)
            self._left.at = self._clock()
            self._left.left = max(0.0, self._left.left - (self._left.at - start))
            self._lent += self._left.at - start
            while not self._results.is_empty():
                self._results.get()()
        finally:
            sys.setswitchinterval(switch)
            self._is_lending = False
        for key in self._jobs.hung():
            if isinstance(key, str) and key not in self._reported:
                self._reported.add(key)
                self._report(f"{key}: the disk does not respond; everything else continues")
