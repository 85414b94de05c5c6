"""
Work: how many lines a repository has that are not committed, read once at each end of a turn of an agent in it.

git is asked on a worker, by the rules of `actions.git`: no program runs that a repository names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, TypeVar

import attrs

from tallylight.files.mounts import Mounts
from tallylight.model.beside import RepositoryStatus
from tallylight.model.jobs import Submit
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.parts.work.beside import PAUSE_MAX_S, read_one
from tallylight.snapshot import values
from tallylight.ui.beside import signed

#: Disks where git is asked at a time, and slow directories that are remembered.
MAX_ASKED, MAX_SLOW = 2, 64
#: The field of a pane that has the lines, added and removed.
FIELD = "diffstat"

Id = TypeVar("Id", bound=Hashable)


def _read(value: object) -> tuple[int, int] | None:
    added, removed = map(values.count, value) if isinstance(value, list | tuple) and len(value) == 2 else (None, None)
    return (added, removed) if added is not None and removed is not None else None


FORM = values.Form(_read, {"type": "array", "items": values.COUNT.schema, "minItems": 2, "maxItems": 2}, list)


def shown(value: tuple[int, int]) -> str:
    """Return *value* in words: `+12 −3`; nothing for none."""
    added, removed = value
    return signed(("+", added), ("−", removed))


@attrs.define
class Work(Generic[Id]):
    """*submit* does one job of a name at a time; *home* is the person's; *told* is called with each changed pane."""

    submit: Submit
    home: str
    mounts: Mounts
    told: Callable[[Id], None]
    #: The disks that are being asked; and the directories with a slow git, with the time until they are read again.
    _asked: set[str] = attrs.field(factory=set)
    _slow: dict[str, float] = attrs.field(factory=dict)

    def look(self, id_: Id, pane: Pane, now: float, *, is_wanted: bool) -> None:
        """Have read what the turn of *pane* came to, if it is over and that was not read."""
        decision = pane.decision
        if decision.status is not Status.DONE:
            pane.more.pop(FIELD, None)
        elif pane.counted_at != decision.since:
            cwd = pane.conversation.entry.cwd if pane.agent_pid is not None else ""
            if not is_wanted or not cwd or self._slow.get(cwd, now) > now:
                pane.counted_at = decision.since
                return
            mount = self.mounts.of(Path(cwd))
            job = functools.partial(read_one, cwd, self.home)
            done = functools.partial(self._was_read, mount, cwd, id_, pane, decision.since, now)
            if mount in self._asked or len(self._asked) >= MAX_ASKED:
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
            self._slow[cwd] = now + PAUSE_MAX_S
        pane.counted_at, changes = since, beside.changes if beside is not None else None
        if changes is not None and pane.decision.status is Status.DONE:
            pane.more[FIELD] = changes.added, changes.removed
        pane.tracker.touch()
        self.told(id_)
