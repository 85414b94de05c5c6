"""
A feed: the snapshots of all living hosts, kept up to date cheaply.

`poll` lists one directory and reads only the files that have changed since; a second without a change costs a `stat` a
host. That a host died without removing its file is noticed within `LIVENESS_S`. What could not be read is in
`problems`, and what it held goes: every state that is shown has a living host. Who has nothing else to do waits
for `descriptors` between two polls, where there are any, and costs nothing until something happens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tallylight.snapshot import writer
from tallylight.snapshot.changes import Changes
from tallylight.snapshot.schema import Snapshot
from tallylight.snapshot.writer import SnapshotError, StaleError

#: How often, in seconds, the writers of unchanged files are looked for.
LIVENESS_S = 1.0


class Hosts(Protocol):
    """Where the present state of hosts comes from: of this machine, or of a fleet."""

    @property
    def snapshots(self) -> tuple[Snapshot, ...]: ...

    def poll(self, now: float) -> bool: ...

    def descriptors(self) -> list[int] | None:
        """What is readable when the next `poll` may find a change; None if only a poll can find out."""


class Feed:
    """The hosts of this machine, from the directory *folder*: those with names that begin with *hosts*."""

    def __init__(self, folder: Path, hosts: str = "") -> None:
        #: What every living host shows, by name.
        self.snapshots: tuple[Snapshot, ...] = ()
        self.problems: tuple[SnapshotError, ...] = ()
        self._folder = folder
        self._hosts = hosts
        #: What each file had when it was as its stamp says; nothing if its writer is dead.
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
                found = writer.read_living(self._folder / name)
            elif is_look_due and isinstance(found, Snapshot) and not writer.is_alive(found.pid, found.birth):
                found = None
            files[name] = stamps[name], found
        self._files, results = files, [found for _, found in files.values()]
        self.snapshots = tuple(found for found in results if isinstance(found, Snapshot))
        unread = (found for found in results if isinstance(found, SnapshotError))
        self.problems = (*problems, *unread, *writer.stale(self._folder, self.snapshots))
        # An error is a new object each time it happens.
        return before != (self.snapshots, list(map(str, self.problems)))

    @property
    def stale(self) -> str:
        """Why what is shown may be out of date, in words; nothing if it is not."""
        found = next((problem for problem in self.problems if isinstance(problem, StaleError)), None)
        return f"{found.path.stem}: {found.problem}" if found is not None else ""

    def descriptors(self) -> list[int] | None:
        """What is readable when a host has written or ended since the last `poll`; None if only a poll can find out."""
        if self._changes is None:
            # What changed before this moment is found by a poll that comes after it.
            self._changes = Changes(self._folder)
            return None
        return self._changes.descriptors(snapshot.pid for snapshot in self.snapshots)
