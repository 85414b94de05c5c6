"""
A feed: the snapshots of all living hosts, kept up to date cheaply.

`poll` lists one directory and reads only the files that have changed since; a second without a change costs a `stat` a
host. That a host died without removing its file is noticed within `LIVENESS_S`. What could not be read stands in
`problems`, and what it held goes: no state is shown that no living host stands behind. Who has nothing else to do waits
for `descriptors` between two polls, where there are any, and costs nothing until something happens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tallylight.snapshot import writer
from tallylight.snapshot.changes import Changes
from tallylight.snapshot.schema import Snapshot
from tallylight.snapshot.writer import SnapshotError

#: How often, in seconds, the writers of unchanged files are looked for.
LIVENESS_S = 1.0


class Hosts(Protocol):
    """Where the present state of hosts comes from: of this machine, or of a fleet."""

    @property
    def snapshots(self) -> tuple[Snapshot, ...]: ...

    def poll(self, now: float) -> bool: ...

    def descriptors(self) -> list[int] | None:
        """What is readable when the next `poll` may find a change; None if only a poll can tell."""


class Feed:
    """The hosts of this machine, from the directory *folder*: those whose names begin with *hosts*."""

    def __init__(self, folder: Path, hosts: str = "") -> None:
        self.problems: tuple[SnapshotError, ...] = ()
        self._folder = folder
        self._hosts = hosts
        self._stamps: dict[str, tuple[int, int, int]] = {}
        self._snapshots: dict[str, Snapshot] = {}
        self._looked_at: float | None = None
        self._changes: Changes | None = None

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """What every living host shows, by name."""
        return tuple(self._snapshots[name] for name in sorted(self._snapshots))

    def poll(self, now: float) -> bool:
        """Look for changes at monotonic *now*; tell whether there are any."""
        before, problems = dict(self._snapshots), []
        has_ended = self._changes is not None and self._changes.look()
        try:
            stamps = {n: stamp for n, stamp in writer.stamps(self._folder).items() if n.startswith(self._hosts)}
        except SnapshotError as error:
            stamps, problems = {}, [error]
        is_look_due = has_ended or self._looked_at is None or not 0 <= now - self._looked_at < LIVENESS_S
        if is_look_due:
            self._looked_at = now
        for name in self._snapshots.keys() - stamps.keys():
            del self._snapshots[name]
        failed = {error.path.name: error for error in self.problems}
        for name, stamp in stamps.items():
            if self._stamps.get(name) != stamp:
                self._snapshots.pop(name, None)
                try:
                    self._snapshots[name] = writer.read(self._folder / name)
                except FileNotFoundError:
                    continue
                except SnapshotError as error:
                    problems.append(error)
                    continue
            elif name in failed:
                problems.append(failed[name])
            found = self._snapshots.get(name)
            is_checked = found is not None and not is_look_due and before.get(name) is found
            if found is not None and not is_checked and not writer.is_alive(found.pid, found.birth):
                del self._snapshots[name]
        self._stamps = stamps
        # An error is a new object each time it happens.
        changed = self._snapshots != before or list(map(str, problems)) != list(map(str, self.problems))
        self.problems = tuple(problems)
        return changed

    def descriptors(self) -> list[int] | None:
        """What is readable when a host has written or ended since the last `poll`; None if only a poll can tell."""
        if self._changes is None:
            # What changed before this moment is found by a poll that comes after it.
            self._changes = Changes(self._folder)
            return None
        return self._changes.descriptors(snapshot.pid for snapshot in self._snapshots.values())
