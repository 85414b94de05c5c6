"""
Records the turns of one host on disk, for `tally log`: sums on the host's loop, writing in a job.

A home directory that is full, read-only or does not respond affects only this.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.config.settings import Config
from tallylight.hosts.jobs import backoff
from tallylight.hosts.part import Context, HostPart
from tallylight.model.errors import TallyError
from tallylight.model.jobs import Submit
from tallylight.parts.diary import history_file
from tallylight.parts.diary.turns import Turn, Turns
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.waiting_time_file import today

_JOB = "history"
#: The most turns that wait for the disk; beyond that the oldest are lost.
MAX_UNSAVED_DIARY_TURNS = 512
#: Seconds between two looks at the clock.
TICK_S = 1.0


@attrs.define
class HistoryRecorder:
    """
    Records the turns of the host *host*; *submit* runs one job per key on a thread. *now* is monotonic seconds.

    *report* gets each new problem, once as long as it stays the same.
    """

    host: str
    environ: Mapping[str, str]
    submit: Submit
    report: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = attrs.field(factory=lambda: time.time)
    _turns: Turns | None = None
    _waiting: deque[Turn] = attrs.field(factory=lambda: deque(maxlen=MAX_UNSAVED_DIARY_TURNS))
    #: The turns that are being written.
    _in_work: tuple[Turn, ...] | None = None
    #: The day of the last trimming of the file.
    _day: str = ""
    _tick_due: float = 0.0
    _write_due: float = 0.0
    _failures: int = 0
    _error: str = ""
    _is_broken: bool = False

    def use(self, *, keep: bool) -> None:
        """Start or stop recording."""
        if not keep:
            self._turns = None
            self._waiting.clear()
        elif self._turns is None and not self._is_broken:
            self._turns = Turns(f"{self.host}-{os.getpid()}")

    def tick(self, now: float, panes: Sequence[Pane] | None = None) -> None:
        """
        Sum up new *panes*, and write turns that are due.

        A fault ends the history of this host, and nothing else.
        """
        if self._turns is None or (panes is None and now < self._tick_due):
            return
        clock = self.clock()
        try:
            if panes is not None:
                self._waiting.extend(self._turns.take(panes, now, clock))
            if now >= self._tick_due:
                self._tick_due = now + TICK_S
                self._waiting.extend(self._turns.tick(today(clock), now, clock))
            self._write(now, clock)
        except Exception as error:  # the lights must not suffer
            self.use(keep=False)
            self._is_broken = True
            self.report(f"{_JOB} switched off: {type(error).__name__}: {error}")

    def close(self, now: float) -> None:
        """Write all turns at once: the host ends."""
        if self._turns is None:
            return
        waiting = (*(self._in_work or ()), *self._waiting)
        with contextlib.suppress(OSError, TallyError):  # there is no reader any more
            history_file.append(history_file.path(self.environ), [*waiting, *self._turns.close(now, self.clock())])

    def _write(self, now: float, clock: float) -> None:
        """Start writing the waiting turns; on a new day, also remove old ones."""
        day = today(clock)
        is_new_day = day != self._day
        if self._in_work is not None or now < self._write_due or not (self._waiting or is_new_day):
            return
        turns = tuple(self._waiting)

        def job() -> None:
            # In here: without HOME, this reads the disk.
            file = history_file.path(self.environ)
            if is_new_day:
                history_file.trim(file, clock)
            history_file.append(file, turns)

        if self.submit(_JOB, job, lambda _: self._was_written(day), lambda error: self._failed(error, now)):
            self._in_work = turns
            self._waiting.clear()

    def _was_written(self, day: str) -> None:
        """Note that the turns were written; old ones were removed on *day*."""
        self._in_work, self._day, self._failures, self._error = None, day, 0, ""

    def _failed(self, error: Exception, now: float) -> None:
        """Keep the turns for a later attempt, and report a new problem."""
        turns, self._in_work = self._in_work, None
        if self._turns is not None and turns:
            later = tuple(self._waiting)
            self._waiting.clear()
            self._waiting.extend((*turns, *later))
        if isinstance(error, history_file.BusyError):
            return  # another host writes: retry at the next tick
        self._failures += 1
        self._write_due = now + backoff(self._failures)
        if (text := str(error)) != self._error:
            self._error = text
            self.report(f"{_JOB}: {text}")


class Diary(HostPart):
    """The turns of one host, kept for `tally log`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._kept = HistoryRecorder(context.name, context.environ, context.submit, context.report)

    def use(self, config: Config) -> None:
        self._kept.use(keep=config.history.keep)

    def published(self, panes: Sequence[Pane] | None, now: float) -> None:
        self._kept.tick(now, panes)

    def close(self, now: float, is_lost: bool) -> None:  # noqa: ARG002
        self._kept.close(now)
