"""
The agents' own files in kitty: read by the worker, and told to their panes once that is done. Nothing here waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import attrs

from tallylight.hosts.pane import Pane
from tallylight.hosts.wanted import Wanted
from tallylight.hosts.worker import Worker


@attrs.define
class FileReader:
    """*panes* are the host's, by window id; *guarded* makes a call whose faults cost the feature that it names."""

    panes: Mapping[int, Pane]
    worker: Worker
    guarded: Callable[[str, Callable[..., None]], Callable[..., None]]
    #: Whether something is being read: an answer may come any moment.
    is_reading: bool = False

    def ask(self, panes: Mapping[int, Pane]) -> None:
        """Have read what *panes* want, unless the reading before still goes on; tell what was read by now."""
        wanted = {id_: want for id_, pane in panes.items() if (want := pane.wanted_files()) is not None}
        if wanted and not self.is_reading:
            self.is_reading = self.worker.submit(
                lambda: {id_: want.read() for id_, want in wanted.items()},
                lambda result: self._were_read(wanted, result),
            )
        self.worker.lend()

    def _were_read(self, wanted: dict[int, Wanted], result: object) -> None:
        self.is_reading = False
        if isinstance(result, dict):
            self.guarded("agents' files", self._tell)(wanted, result)

    def _tell(self, wanted: dict[int, Wanted], found: dict[int, tuple[bytes | None, bytes]]) -> None:
        now = time.monotonic()
        for id_, (status_file, tail) in found.items():
            if (pane := self.panes.get(id_)) is not None:
                pane.files(wanted[id_].status_file, status_file, tail, now)
