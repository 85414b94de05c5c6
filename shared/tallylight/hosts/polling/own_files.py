"""
The agents' own files of a polling host: read in a job, and only what may hold something else than it did.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tallylight.hosts.jobs import Jobs
from tallylight.hosts.polling.polled_pane import PolledPane
from tallylight.hosts.polling.sleepers import SETTLED
from tallylight.pane.file_request import FileRequest, Request

#: A file that was written so short a time ago, in nanoseconds, may be written once more without another time: clocks of
#: file systems tick 100 to 1000 times a second.
FRESH_NS = 100_000_000
#: The files of an agent that has slept for a while are looked at in every so many ticks.
ASLEEP_EVERY = 4

_Stamp = tuple[int, int, int, int]


class AgentFiles:
    """*read* is told of every pane of which something was read, on the loop, where `ask` is called."""

    def __init__(self, jobs: Jobs, clock: Callable[[], float], read: Callable[[PolledPane], None]) -> None:
        self._jobs = jobs
        self._clock = clock
        self._read = read
        #: Of the status files, by pane: which, and what tells that it was not changed read. The job's alone.
        self._stamps: dict[str, tuple[Path, _Stamp]] = {}

    def ask(self, panes: Iterable[PolledPane], tick: int = 0) -> None:
        """Have the files read that *panes* want at this *tick*, unless the last ones still are."""
        if self._jobs.is_busy("files"):
            return
        wanted = [
            (polled, want)
            for polled in panes
            # What sleeps writes nothing.
            if not tick % ASLEEP_EVERY or polled.slept < SETTLED or not polled.is_settled
            for want in polled.pane.requests(tick)
        ]
        if wanted:
            asked = [(polled.source_pane.id, want) for polled, want in wanted]
            self._jobs.submit("files", lambda: self._changed(asked), lambda result: self._were_read(wanted, result))

    def _changed(self, asked: list[tuple[str, Request]]) -> list[object]:
        """The content of what is not as it was read, None for what is, in the order that was asked in."""
        found: list[object] = []
        stamps: dict[str, tuple[Path, _Stamp]] = {}
        for id_, want in asked:
            if not isinstance(want, FileRequest):
                found.append(want.read())  # which looks at the time of writing itself
                continue
            # Before the reading: what is written in between is then seen the next time.
            stamp = _stamp(want.status_file)
            if stamp is not None:
                stamps[id_] = want.status_file, stamp
                if self._stamps.get(id_) == stamps[id_] and want.known is not None and not want.is_undecided:
                    news = want.news()
                    found.append((want.known, news) if news else None)
                    continue
            found.append(want.read())
        self._stamps = stamps
        return found

    def _were_read(self, wanted: list[tuple[PolledPane, Request]], result: object) -> None:
        if isinstance(result, list):
            now = self._clock()
            for (polled, want), found in zip(wanted, result, strict=True):
                if found is not None:
                    polled.pane.answered(want, found, now)
                    self._read(polled)


def _stamp(path: Path) -> _Stamp | None:
    """What tells one content of the file from the next; None if nothing does."""
    try:
        found = os.stat(path)  # noqa: PTH116 - a third of the time
    except OSError:
        return None
    is_old = abs(time.time_ns() - found.st_mtime_ns) > FRESH_NS
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) if is_old else None
