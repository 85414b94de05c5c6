"""
The open conversations of one host on disk, for `tally restore`, and word of those that earlier terminals left.

They lie in the state directory, which may be on another disk than the snapshot: they have a job of their own, so that a
home that does not answer costs these and nothing else, and the loop of no host waits for a disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.hosts.jobs import Submit
from tallylight.model.errors import TallyError
from tallylight.snapshot import open_conversations
from tallylight.snapshot.open_conversations import OpenConversations, Tab
from tallylight.snapshot.schema import Pane

_JOB = "open conversations"


@attrs.define
class KeptConversations:
    """
    Those of the host *host*; *submit* does one job of a name at a time. *now* is monotonic seconds.

    *told* is told what is wrong, once as long as it stays the same; *resumable*, if given, how many conversations of
    earlier terminals can be resumed and were not offered before.
    """

    host: str
    environ: Mapping[str, str]
    submit: Submit
    told: Callable[[str], None] = lambda _: None
    resumable: Callable[[int], None] | None = None
    _file: OpenConversations | None = None
    _panes: tuple[Pane, ...] | None = None
    _tabs: Mapping[str, Tab] | None = None
    _error: str = ""

    def open(self) -> None:
        """Begin to open it."""
        self.submit(_JOB, self._open, self._was_opened)

    def _open(self) -> tuple[OpenConversations, int]:
        """The file of this host, and how many conversations can be resumed."""
        file = OpenConversations.for_host(self.host, self.environ, time.time)
        try:
            return file, open_conversations.offer(self.environ, time.time()) if self.resumable is not None else 0
        except (OSError, TallyError) as error:
            file.error = str(error)
            return file, 0

    def _was_opened(self, result: object) -> None:
        if not isinstance(result, tuple):
            self.told(f"{_JOB}: {result}; `tally restore` will not know of this terminal")
            return
        self._file, number = result
        if number and self.resumable is not None:
            self.resumable(number)

    def close(self) -> None:
        """The host ends, and what runs in its panes goes on without it."""
        if self._file is not None:
            self._file.close()

    def publish(self, panes: Sequence[Pane], tabs: Mapping[str, Tab] | None = None) -> None:
        """Take what is shown now, and the tabs by their ids if the host knows them. It is kept with the next `tick`."""
        self._panes, self._tabs = tuple(panes), tabs

    def tick(self, now: float) -> None:
        """Write what is due, and tell what is wrong."""
        file, panes, tabs = self._file, self._panes, self._tabs
        if file is None:
            return
        due = file.due(now)
        if panes is not None:
            if self.submit(_JOB, lambda: file.publish(panes, now, tabs), lambda _: None):
                self._panes = None
        elif due is not None and due <= now:
            self.submit(_JOB, lambda: file.flush(now), lambda _: None)
        if file.error and file.error != self._error:
            self.told(f"{_JOB}: {file.error}")
        self._error = file.error
