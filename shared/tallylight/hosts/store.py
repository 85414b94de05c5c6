"""
What one host keeps in the runtime directory: its snapshot, the requests to it, and the sum of what agents waited today.

Until it is open nothing is published and nothing asked for. kitty's is opened, read and written by a worker: a disk
that does not answer costs this and no light.
"""

from __future__ import annotations

import functools
import select
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from tallylight.model.jobs import Submit
from tallylight.snapshot import waiting_time_file
from tallylight.snapshot.changes import Changes
from tallylight.snapshot.former import Known, read_former
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import OWN, Pane
from tallylight.snapshot.waiting_time import Ledger
from tallylight.snapshot.writer import Epoch, SnapshotWriter
from tallylight.tracker.attention import Attention

#: How often, in seconds, requests are looked for where a descriptor reports new ones.
LOOK_S = 2.0


@attrs.frozen
class _Opened:
    snapshot: SnapshotWriter
    spool: Spool
    #: Tells of what is put there.
    changes: Changes
    waited_file: waiting_time_file.WaitingTimeFile
    ledger: Ledger
    former: Known

    def close(self) -> None:
        self.snapshot.leave()
        self.spool.close()
        self.changes.close()

    def take(self) -> tuple[list[Request], list[int] | None]:
        """All that waits, and a descriptor that reports the next one, if there is one."""
        self.changes.look()
        return self.spool.take(), self.changes.descriptors(())


def _open(host: str, environ: Mapping[str, str], day: str) -> _Opened:
    snapshot = SnapshotWriter.for_host(host, environ, time.time)
    spool = Spool(host, environ=environ)
    waited_file = waiting_time_file.WaitingTimeFile(host, environ)
    former = read_former(host, environ, time.time())
    return _Opened(snapshot, spool, Changes(spool.path), waited_file, waited_file.open(day), former)


@attrs.define
class Store:
    """
    That of the host *host*; *submit* does one job of a name at a time. *now* is monotonic seconds.

    *told* is called with each new problem, once as long as it stays the same.
    """

    host: str
    environ: Mapping[str, str]
    submit: Submit
    told: Callable[[str], None] = lambda _: None
    epoch: Epoch = attrs.field(factory=lambda: Epoch(time.time))
    _opened: _Opened | None = None
    #: What was waited today.
    ledger: Ledger = attrs.field(factory=Ledger)
    #: Whether that has what an earlier run left behind; after `leave` the file has our own.
    _is_added: bool = False
    _saved_at: float = float("-inf")
    #: The descriptor that reports a waiting request, if there is one, and when they were last looked for.
    _request_fd: int | None = None
    _looked_at: float = 0.0
    #: As of when the snapshot is that is on its way to the disk, in seconds since the epoch; 0 if none is.
    pending: float = 0.0
    #: As in `Snapshot`; what is written next says it.
    allow: str = OWN
    withheld: tuple[str, ...] = ()
    #: What an earlier run showed, once it was read.
    former: Known = attrs.field(init=False, factory=dict)
    _error: str = ""

    def open(self) -> None:
        """Begin to open it."""
        day = waiting_time_file.today(time.time())
        self.submit("runtime directory", lambda: _open(self.host, self.environ, day), self._was_opened, self._failed)

    def _failed(self, error: Exception) -> None:
        self.told(f"runtime directory: {error}; no snapshot is written, and no request is taken")

    def _was_opened(self, result: _Opened) -> None:
        if result.spool.error and not result.snapshot.error:
            self.told(f"requests: {result.spool.error}")
        if not self._is_added and self.ledger.day in ("", result.ledger.day):
            self.ledger.day = result.ledger.day
            self.ledger.waited_s += result.ledger.waited_s
        self._is_added = True
        self.former.update(result.former)
        self._opened = result

    def close(self) -> None:
        """The host ends: take back what it showed, and take no more requests."""
        if self._opened is not None:
            self._opened.close()

    def leave(self) -> None:
        """The same in a job, once no snapshot is being written; to be called again and again, until `open` is."""
        if self._opened is not None and self.submit("snapshot", self._opened.close):
            self._opened = None

    # The snapshot --------------------------------------------------------------------------------------------

    @property
    def next_at(self) -> float:
        """When, in monotonic seconds, it is no longer too soon to `publish`."""
        return self._saved_at + self._opened.snapshot.min_interval if self._opened is not None else float("inf")

    def publish(self, panes: Sequence[Pane], now: float) -> bool:
        """Write *panes*; False: too soon, ask again."""
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
        """Write what could not be written before, if it is time for that, and report problems."""
        if self._opened is None:
            return
        snapshot = self._opened.snapshot
        if (due := snapshot.due(now)) is not None and due <= now:
            self.submit("snapshot", lambda: snapshot.flush(now), self._was_saved, self._was_saved)
        if snapshot.error and snapshot.error != self._error:
            self.told(f"snapshot: {snapshot.error}")
        self._error = snapshot.error

    def _was_saved(self, _result: object) -> None:
        if self._opened is not None and self._opened.snapshot.due(0.0) is None:
            self.pending = 0.0

    # Requests ------------------------------------------------------------------------------------------------

    def take(self, taken: Callable[[Sequence[Request]], None], now: float) -> None:
        """Have requests looked for; *taken* is called with what there is."""
        if self._opened is None:
            return
        is_due = self._request_fd is None or not 0 <= now - self._looked_at < LOOK_S
        if not is_due and self._request_fd is not None:
            door = select.poll()
            door.register(self._request_fd, select.POLLIN)
            is_due = bool(door.poll(0))
        if is_due and self.submit("requests", self._opened.take, functools.partial(self._taken, taken)):
            self._looked_at = now

    def _taken(
        self, taken: Callable[[Sequence[Request]], None], result: tuple[list[Request], list[int] | None]
    ) -> None:
        found, descriptors = result
        self._request_fd = descriptors[0] if descriptors else None
        if found:
            taken(found)

    # The ledger ----------------------------------------------------------------------------------------------

    def keep(self, ledgers: Iterable[Attention], now: float) -> None:
        """Add up what agents wait today."""
        clock = time.time()
        found = self.ledger.sum(waiting_time_file.today(clock), list(ledgers), now, clock)
        if self._opened is not None and self._opened.waited_file.is_due(found):
            waited_file = self._opened.waited_file
            self.submit("ledger", lambda: waited_file.save(found))
