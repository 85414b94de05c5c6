"""
The runtime directory of one host: its snapshot, the requests to it, and how long agents waited today.

Nothing is published or taken before it is open. kitty's is opened, read and written on threads: a disk that does not
respond delays these, but no light.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from tallylight.model.jobs import Submit
from tallylight.snapshot import waiting_time_file
from tallylight.snapshot.former import FormerPanes, read_former
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import OWN, Pane
from tallylight.snapshot.waiting_time import Ledger
from tallylight.snapshot.writer import Epoch, SnapshotWriter
from tallylight.tracker.attention import Attention


@attrs.frozen
class _Opened:
    """The files of an open runtime directory: the snapshot, the requests and the waiting times."""

    snapshot: SnapshotWriter
    spool: Spool
    waited_file: waiting_time_file.WaitingTimeFile
    ledger: Ledger
    former: FormerPanes

    def close(self) -> None:
        self.snapshot.leave()
        self.spool.close()


def _open(host: str, environ: Mapping[str, str], day: str) -> _Opened:
    snapshot = SnapshotWriter.for_host(host, environ, time.time)
    snapshot.is_shared = True
    spool = Spool(host, environ=environ)
    waited_file = waiting_time_file.WaitingTimeFile(host, environ)
    former = read_former(host, environ, time.time())
    return _Opened(snapshot, spool, waited_file, waited_file.open(day), former)


@attrs.define
class Store:
    """
    A host's runtime directory.

    *submit* runs one job per key on a thread. *now* is monotonic seconds. *report* gets each new problem, once as long
    as it stays the same.
    """

    host: str
    environ: Mapping[str, str]
    submit: Submit
    report: Callable[[str], None] = lambda _: None
    epoch: Epoch = attrs.field(factory=lambda: Epoch(time.time))
    _opened: _Opened | None = None
    #: How long agents waited today.
    ledger: Ledger = attrs.field(factory=Ledger)
    #: Whether `ledger` includes what an earlier run saved; after `leave`, the file has our own sum.
    _is_added: bool = False
    _saved_at: float = float("-inf")
    #: The time, since the epoch, of the snapshot that is being written; 0 if none is.
    pending: float = 0.0
    #: As in `Snapshot`; part of the next one.
    allow: str = OWN
    withheld: tuple[str, ...] = ()
    #: The panes that an earlier run showed, once read.
    former: FormerPanes = attrs.field(init=False, factory=dict)
    _error: str = ""

    def open(self) -> None:
        """Start opening the directory; it takes effect once that is done."""
        day = waiting_time_file.today(time.time())
        self.submit("runtime directory", lambda: _open(self.host, self.environ, day), self._was_opened, self._failed)

    def _failed(self, error: Exception) -> None:
        self.report(f"runtime directory: {error}; no snapshot is written, and no request is taken")

    def _was_opened(self, result: _Opened) -> None:
        if result.spool.error and not result.snapshot.error:
            self.report(f"requests: {result.spool.error}")
        if not self._is_added and self.ledger.day in ("", result.ledger.day):
            self.ledger.day = result.ledger.day
            self.ledger.waited_s += result.ledger.waited_s
        self._is_added = True
        self.former.update(result.former)
        self._opened = result

    def close(self) -> None:
        """Remove the snapshot and take no more requests: the host ends."""
        if self._opened is not None:
            self._opened.close()

    def leave(self) -> None:
        """Close in a job, once no snapshot is being written. Call it repeatedly, until the next `open`."""
        if self._opened is not None and self.submit("snapshot", self._opened.close):
            self._opened = None

    # The snapshot --------------------------------------------------------------------------------------------

    @property
    def next_at(self) -> float:
        """The monotonic time of the next possible `publish`."""
        return self._saved_at + self._opened.snapshot.min_interval if self._opened is not None else float("inf")

    def publish(self, panes: Sequence[Pane], now: float) -> bool:
        """Write a snapshot of *panes*; return False if it is too soon, and the caller is to ask again."""
        if self._opened is None or now < self.next_at:
            return False
        snapshot, as_of = self._opened.snapshot, time.time()
        snapshot.allow, snapshot.withheld = self.allow, self.withheld
        self._saved_at, self.pending, before = now, as_of, self.pending
        if not self.submit("snapshot", lambda: snapshot.publish(panes, now, as_of), self._was_saved, self._was_saved):
            self.pending = before
            return False
        return True

    def flush(self, now: float) -> None:
        """Retry a write that failed, if it is due, and report problems."""
        if self._opened is None:
            return
        snapshot = self._opened.snapshot
        if (due := snapshot.due(now)) is not None and due <= now:
            self.submit("snapshot", lambda: snapshot.flush(now), self._was_saved, self._was_saved)
        if snapshot.error and snapshot.error != self._error:
            self.report(f"snapshot: {snapshot.error}")
        self._error = snapshot.error

    def _was_saved(self, _result: object) -> None:
        if self._opened is not None and self._opened.snapshot.due(0.0) is None:
            self.pending = 0.0

    # Requests ------------------------------------------------------------------------------------------------

    def take(self, taken: Callable[[Sequence[Request]], None]) -> None:
        """Pass the waiting requests to *taken*, if there are some."""
        if self._opened is not None and (found := self._opened.spool.take()):
            taken(found)

    # The ledger ----------------------------------------------------------------------------------------------

    def add_waiting_time(self, ledgers: Iterable[Attention], now: float) -> None:
        """Add up how long agents waited today, and save the sum if it is due."""
        clock = time.time()
        found = self.ledger.sum(waiting_time_file.today(clock), list(ledgers), now, clock)
        if self._opened is not None and self._opened.waited_file.is_due(found):
            waited_file = self._opened.waited_file
            self.submit("ledger", lambda: waited_file.save(found))
