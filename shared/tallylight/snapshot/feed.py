"""
A feed: the snapshots of all living hosts, kept up to date at little cost.

`poll` lists one directory and reads only changed files; without a change it costs one `stat` for each host. The death
of a host that left its file is noticed within `LIVENESS_S`. An unreadable file is in `problems` and its panes go: every
shown state has a living host. A caller without other work waits for `descriptors` between two polls, if there are any.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tallylight.snapshot import writer
from tallylight.snapshot.changes import Changes
from tallylight.snapshot.schema import Snapshot
from tallylight.snapshot.writer import SnapshotError, StaleError

#: The seconds between two checks that the writers of unchanged files still live.
LIVENESS_S = 1.0


class Hosts(Protocol):
    """A source of snapshots: the hosts of this machine, or of a fleet."""

    @property
    def snapshots(self) -> tuple[Snapshot, ...]: ...

    def poll(self, now: float) -> bool: ...

    def descriptors(self) -> list[int] | None:
        """Return descriptors that become readable when `poll` may find a change; None if only polling helps."""


class Feed:
    """Follows the snapshots in the directory *folder* of hosts with names that begin with *hosts*."""

    def __init__(self, folder: Path, hosts: str = "") -> None:
        #: The snapshot of every living host, ordered by name.
        self.snapshots: tuple[Snapshot, ...] = ()
        self.problems: tuple[SnapshotError, ...] = ()
        self._folder = folder
        self._hosts = hosts
        #: The content of each file with its stamp; None if its writer is dead.
        self._files: dict[str, tuple[tuple[int, int, int], Snapshot | SnapshotError | None]] = {}
        self._looked_at: float | None = None
        self._changes: Changes | None = None

    def poll(self, now: float) -> bool:
        """Look for changes at monotonic *now*; return whether there are any."""
        before = self.snapshots, list(map(str, self.problems))
        has_ended = self._changes is not None and self._changes.look()
        problems: list[SnapshotError] = []
        try:
            stamps = writer.stamps(self._folder)
        except SnapshotError as error:
            stamps, problems = {}, [error]
        is_look_due = has_ended or self._looked_at is None or not 0 <= now - self._looked_at < LIVENESS_S
        if is_look_due:
            self._looked_at = now
        files = {}
        for name in (name for name in stamps if name.startswith(self._hosts)):
            stamp, found = self._files.get(name, (None, None))
            is_new = stamp != stamps[name]
            if is_new:
                found = writer.newest(self._folder / name)
            elif is_look_due and isinstance(found, Snapshot) and not writer.is_alive(found.pid, found.birth):
                found = None
            files[name] = stamps[name], found
        self._files, results = files, [found for _, found in files.values()]
        self.snapshots = tuple(found for found in results if isinstance(found, Snapshot))
        unread = (found for found in results if isinstance(found, SnapshotError))
        self.problems = (*problems, *unread, *writer.stale(self._folder, self.snapshots))
        # Errors are compared as texts: each is a new object.
        return before != (self.snapshots, list(map(str, self.problems)))

    @property
    def stale(self) -> str:
        """The reason why the state may be out of date, in words; empty if it is not."""
        found = next((problem for problem in self.problems if isinstance(problem, StaleError)), None)
        return f"{found.path.stem}: {found.problem}" if found is not None else ""

    def descriptors(self) -> list[int] | None:
        """Return descriptors that become readable when a host writes or ends; None if only polling helps."""
        if self._changes is None:
            # A change before this moment is found only by another poll.
            self._changes = Changes(self._folder)
            return None
        return self._changes.descriptors(snapshot.pid for snapshot in self.snapshots)
