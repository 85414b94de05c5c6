"""
Work: how many uncommitted lines a repository has, read once at each end of a turn of an agent in it.

git runs on a thread, by the rules of `actions.git`: no program of the repository runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, TypeVar

import attrs

from tallylight.files.mounts import Mounts
from tallylight.model.jobs import Submit
from tallylight.model.repository_status import RepositoryStatus
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.parts.work.repository_watch import SLOW_GIT_PAUSE_MAX_S, read_one
from tallylight.parts.work.row_fields import DIFFSTAT

#: Disks where git may run at a time, and slow directories that are remembered.
MAX_GIT_DISKS, MAX_SLOW = 2, 64

Id = TypeVar("Id", bound=Hashable)


@attrs.define
class Work(Generic[Id]):
    """
    Reads the changes of finished turns. *submit* runs one job per key on a thread; *touched* gets each changed pane.

    *home* is the user's home directory.
    """

    submit: Submit
    home: str
    mounts: Mounts
    touched: Callable[[Id], None]
    #: Disks where git runs; and directories with a slow git, each with the time of its next reading.
    _asked: set[str] = attrs.field(factory=set)
    _slow: dict[str, float] = attrs.field(factory=dict)

    def look(self, id_: Id, pane: Pane, now: float, *, is_wanted: bool) -> None:
        """Start reading the changes of a turn of *pane* that is over, unless they were read."""
        decision = pane.decision
        if decision.status is not Status.DONE:
            pane.more.pop(DIFFSTAT, None)
        elif pane.counted_at != decision.since:
            cwd = pane.conversation.entry.cwd if pane.agent_pid is not None else ""
            if not is_wanted or not cwd or self._slow.get(cwd, now) > now:
                pane.counted_at = decision.since
                return
            mount = self.mounts.of(Path(cwd))
            job = functools.partial(read_one, cwd, self.home)
            done = functools.partial(self._was_read, mount, cwd, id_, pane, decision.since, now)
            if mount in self._asked or len(self._asked) >= MAX_GIT_DISKS:
                return
            if self.submit(f"work on {mount}", job, done, lambda _: done((None, False))):
                self._asked.add(mount)

    def _was_read(
        self,
        mount: str,
        cwd: str,
        id_: Id,
        pane: Pane,
        since: float,
        now: float,
        found: tuple[RepositoryStatus | None, bool],
    ) -> None:
        self._asked.discard(mount)
        beside, was_slow = found
        if was_slow:
            while len(self._slow) >= MAX_SLOW:
                del self._slow[next(iter(self._slow))]
            self._slow[cwd] = now + SLOW_GIT_PAUSE_MAX_S
        pane.counted_at, changes = since, beside.changes if beside is not None else None
        if changes is not None and pane.decision.status is Status.DONE:
            pane.more[DIFFSTAT] = changes.added, changes.removed
        pane.tracker.touch()
        self.touched(id_)
