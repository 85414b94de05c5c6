"""
The open conversations of one kitty on disk, for `tally restore`, and word of those that earlier kittys left.

They lie in the state directory, which may be on another disk than the snapshot: they have a job of their own with the
worker, so that a home that does not answer costs these and nothing else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import attrs

from tallylight.hosts.worker import Worker
from tallylight.model.errors import TallyError
from tallylight.snapshot import open_conversations
from tallylight.snapshot.open_conversations import OpenConversations
from tallylight.snapshot.schema import Pane

_JOB = "open conversations"


def _open() -> tuple[OpenConversations, int]:
    """The file of this kitty, and how many conversations can be resumed that were not offered before."""
    file = OpenConversations.for_host("kitty", os.environ, time.time)
    try:
        return file, open_conversations.offer(os.environ, time.time())
    except (OSError, TallyError) as error:
        file.error = str(error)
        return file, 0


@attrs.define
class KeptConversations:
    """
    *told* is told what is wrong, once as long as it stays the same; *resumable* how many conversations of earlier
    kittys can be resumed. *now* is monotonic seconds.
    """

    worker: Worker
    told: Callable[[str], None]
    resumable: Callable[[int], None]
    _file: OpenConversations | None = None
    _panes: tuple[Pane, ...] | None = None
    _error: str = ""

    def open(self) -> None:
        """Begin to open it."""
        self.worker.submit(_JOB, _open, self._was_opened)

    def _was_opened(self, result: object) -> None:
        if not isinstance(result, tuple):
            self.told(f"{_JOB}: {result}; `tally restore` will not know of this kitty")
            return
        self._file, number = result
        if number:
            self.resumable(number)

    def publish(self, panes: Sequence[Pane]) -> None:
        """Take what is shown now. It is kept with the next `tick`."""
        self._panes = tuple(panes)

    def tick(self, now: float) -> None:
        """Write what is due, and tell what is wrong."""
        file, panes = self._file, self._panes
        if file is None:
            return
        due = file.due(now)
        if panes is not None:
            if self.worker.submit(_JOB, lambda: file.publish(panes, now)):
                self._panes = None
        elif due is not None and due <= now:
            self.worker.submit(_JOB, lambda: file.flush(now))
        if file.error and file.error != self._error:
            self.told(f"{_JOB}: {file.error}")
        self._error = file.error
