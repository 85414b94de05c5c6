"""
A worker: slow work done away from a terminal's main thread.

kitty's main loop keeps Python's global lock while it idles, so plain threads do not run in there: they run only while
the main thread gives the lock away. `lend` does that on purpose, for a bounded time: a file that is read from memory is
done within it, and one on a network that hangs costs the terminal no more than that.
"""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Callable

from tallylight.hosts.jobs import Jobs
from tallylight.hosts.mailbox import Mailbox
from tallylight.model.bucket import Bucket

#: How long, in seconds, the main thread may be kept in one go: an eighth of a frame at 60 Hz; and in how long a time it
#: is kept no longer than that.
LEND_S = 0.002
LEND_EVERY_S = 0.02
#: The same while there is nothing but jobs that hang: enough for one of them to end, once its disk has answered.
HUNG_LEND_S = 0.0002
#: How long, in seconds, a thread that computes may go on when the main thread wants to: Python's own is 5 ms.
SWITCH_S = 0.0005
#: A job hangs if it is not done when its threads were lent so much time, in seconds. Time when they were lent none
#: does not count: a process that was stopped, or a machine that has much to do, is no disk that hangs.
#:
#: Of those of kitty's that can hang (settings, opening the runtime directory, snapshot, requests, scripts, ledger, open
#: conversations, history, accuracy, projects, work, sessions, 8 readings of agents' files, 4 commands, 9 looks for
#: collisions, list, fork) each loses a thread at most, and some are left for the others.
LENT_HANGS_S = 1.0


class Worker:
    """
    Threads, and the results they have ready. One job of a key at a time.

    *told* is called once for every key that is a name and has a hanging job; the owner of other keys reports itself.
    """

    def __init__(
        self, told: Callable[[str], None] = lambda _: None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._report = told
        self._clock = clock
        self._results: Mailbox[Callable[[], None]] = Mailbox()
        #: All the time that was lent.
        self._lent = 0.0
        self._jobs = Jobs(self._results.put, lambda: self._lent, LENT_HANGS_S)
        #: As `Jobs.submit`; the result comes from a later `lend`.
        self.submit = self._jobs.submit
        self._reported: set[str] = set()
        self._is_lending = False
        #: What is left of the time that may be lent.
        self._left = Bucket(LEND_S / LEND_EVERY_S, LEND_S)

    @property
    def is_waiting(self) -> bool:
        """Whether a result may come any moment, if the threads are lent time."""
        return self._jobs.is_waiting

    def lend(self, seconds: float = 0.0) -> None:
        """
        Let the threads run, then hand the results that are ready to their callers.

        The time is what is left of `LEND_S` in every `LEND_EVERY_S`, or *seconds* where that is more. It ends as soon
        as there is nothing more to wait for; what hangs is not waited for.
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
