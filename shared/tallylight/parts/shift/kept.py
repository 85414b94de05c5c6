"""
Texts that wait for the end of a limit, on the disk: the next host tells the person which ones were not typed.

`<state directory>/shifts/<pid>-<start>.json`, of this user alone, each named for the process of its agent. A limit may
last a night, and a host may end meanwhile: its panes, in tmux or another terminal, do not. Any program of this user can
write such a file, and nothing proves who did, so a host types only what was queued with itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tallylight.actions.say import MAX_TEXT
from tallylight.files import directories, read_write
from tallylight.model.errors import TallyError
from tallylight.model.limits import MAX_EXACT, MAX_PANES
from tallylight.model.queued import Queued
from tallylight.parts.shift.steps import of
from tallylight.wire import values

#: Why nothing of it is typed any more.
LEFT = "its host has ended; if you still want it, queue it again"
_NAME = re.compile(r"([1-9]\d{0,9})-(\d{1,18})\.json", re.ASCII)


class QueuedRecorder:
    """What one host keeps. `OSError` where that cannot be written."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._folder = directories.state_dir(environ) / "shifts"
        #: What it has written.
        self._written: dict[Path, dict[str, object]] = {}

    def left(self, start_of: Callable[[int], int | None]) -> list[Queued]:
        """
        What hosts have left for agents that still run, by when a process began; what is for no agent goes.

        Each has a problem: it is shown, and never typed.
        """
        found: list[Queued] = []
        for path in list(self._folder.iterdir())[:MAX_PANES] if self._folder.is_dir() else ():
            named = _NAME.fullmatch(path.name)
            if named is None:
                continue
            one = _read(path, int(named[1]), int(named[2]))
            if one is not None and start_of(one.pid) == one.start:
                found.append(one)
            else:
                path.unlink(missing_ok=True)
        return found

    def drop(self, one: Queued) -> None:
        """A pane shows what was left: it is told once."""
        if (path := self._path(one)) not in self._written:
            path.unlink(missing_ok=True)

    def keep(self, waiting: Iterable[Queued]) -> None:
        """Keep what of *waiting* waits to be typed, and nothing that this host has kept before."""
        now = {self._path(one): {"text": one.text, "at": one.at} for one in waiting if one.at and not of(one).typed_at}
        for path in self._written.keys() - now.keys():
            path.unlink(missing_ok=True)
        for path, fields in now.items():
            if self._written.get(path) != fields:
                self._folder.mkdir(parents=True, exist_ok=True)
                read_write.atomic_write(path, json.dumps(fields).encode(), 0o600)
        self._written = now

    def _path(self, one: Queued) -> Path:
        return self._folder / f"{one.pid}-{one.start}.json"


def _read(path: Path, pid: int, start: int) -> Queued | None:
    """Return what `keep` wrote; None where it cannot be read, or is something else."""
    try:
        fields = values.members(read_write.read_own(path, read_write.READ_LIMIT))
    except (OSError, TallyError):
        return None
    text, at = values.exact(fields.get("text"), MAX_TEXT), values.integer(fields.get("at"), 1, MAX_EXACT)
    return Queued(pid=pid, start=start, text=text, at=at, problem=LEFT) if text and at is not None else None
