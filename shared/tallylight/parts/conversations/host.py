"""
Records the open conversations of one host on disk, for `tally restore`, and offers those of earlier terminals.

They are in the state directory, which may be on another disk than the snapshot, so they have a job of their own. If
that disk does not respond, only they wait; the loop of no host waits for a disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.config.settings import Config
from tallylight.hosts.part import Context, HostPart
from tallylight.model.errors import TallyError
from tallylight.model.jobs import Submit
from tallylight.parts.conversations import open_conversations
from tallylight.parts.conversations.open_conversations import OpenConversations
from tallylight.snapshot.schema import Pane, Tab

_JOB = "open conversations"


@attrs.define
class ConversationsRecorder:
    """
    Records the open conversations of the host *host*.

    *submit* runs one job per key on a thread. *now* is monotonic seconds. *report* gets each problem once, until it
    changes; *resumable* gets the number of resumable conversations of earlier terminals that were not offered before.
    """

    host: str
    environ: Mapping[str, str]
    submit: Submit
    report: Callable[[str], None] = lambda _: None
    resumable: Callable[[int], None] | None = None
    _file: OpenConversations | None = None
    #: The panes and tabs that are still to be written.
    _shown: tuple[tuple[Pane, ...], Mapping[str, Tab] | None] | None = None
    _is_decided: bool = False
    _error: str = ""

    def use(self, *, keep: bool) -> None:
        """Start recording if *keep*; only the first call counts."""
        if keep and not self._is_decided:
            self.submit(_JOB, self._open, self._was_opened, self._failed)
        self._is_decided = True

    def _open(self) -> tuple[OpenConversations, int]:
        """Return the file of this host, and how many conversations can be resumed."""
        file = OpenConversations.for_host(self.host, self.environ, time.time)
        try:
            return file, open_conversations.offer(self.environ, time.time()) if self.resumable is not None else 0
        except (OSError, TallyError) as error:
            file.error = str(error)
            return file, 0

    def _failed(self, error: Exception) -> None:
        self.report(f"{_JOB}: {error}; `tally restore` will miss this terminal")

    def _was_opened(self, result: tuple[OpenConversations, int]) -> None:
        self._file, number = result
        if number and self.resumable is not None:
            self.resumable(number)

    def close(self) -> None:
        """Delete the file: the host ends, and the programs in its panes go on without it."""
        if self._file is not None:
            self._file.close()

    def tick(self, now: float, panes: Sequence[Pane] | None = None, tabs: Mapping[str, Tab] | None = None) -> None:
        """
        Write *panes* and *tabs*, by their ids, if they are new; and report problems.

        A host that does not know its tabs passes None.
        """
        if panes is not None:
            self._shown = tuple(panes), tabs
        file, shown = self._file, self._shown
        if file is None:
            return
        due = file.due(now)
        if shown is not None:
            if self.submit(_JOB, lambda: file.publish(shown[0], now, shown[1])):
                self._shown = None
        elif due is not None and due <= now:
            self.submit(_JOB, lambda: file.flush(now))
        if file.error and file.error != self._error:
            self.report(f"{_JOB}: {file.error}")
        self._error = file.error


class Restore(HostPart):
    """The open conversations of one host, kept for `tally restore`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._kept = ConversationsRecorder(
            context.name, context.environ, context.submit, context.report, context.resumable
        )

    def use(self, config: Config) -> None:
        self._kept.use(keep=config.keep_conversations)

    def published(self, panes: Sequence[Pane] | None, now: float) -> None:
        self._kept.tick(now, panes, self.context.tabs() if panes is not None else None)

    def close(self, now: float, is_lost: bool) -> None:  # noqa: ARG002
        if not is_lost:
            self._kept.close()
