"""
Saves texts that wait for the end of a limit, so that the next host can report those that were not typed.

`<state directory>/shifts/<pid>-<start>.json`, for this user alone, each named after the process of its agent. A limit
may last a night, and a host may end meanwhile: its panes, in tmux or another terminal, do not. Any program of this user
can write such a file, and nothing proves the author. So a host types only texts that were queued with itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tallylight.actions.say import MAX_TYPED
from tallylight.files import directories, read_write
from tallylight.model.limits import MAX_EXACT, MAX_PANES
from tallylight.model.queued import Queued
from tallylight.parts.shift.steps import of
from tallylight.wire import values

#: Why its text is not typed any more.
LEFT = "its host has ended; if you still want it, queue it again"
_NAME = re.compile(r"([1-9]\d{0,9})-(\d{1,18})\.json", re.ASCII)


class QueuedRecorder:
    """Saves the texts of one host. `OSError` if they cannot be written."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._folder = directories.state_dir(environ) / "shifts"
        #: The files that this host has written.
        self._written: dict[Path, dict[str, object]] = {}

    def left(self, start_of: Callable[[int], int | None]) -> list[Queued]:
        """
        Return the texts that earlier hosts left for agents that still run; delete all others.

        *start_of* returns when a process began. Each text has a problem: it is shown, and never typed.
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
        """Delete a text that a pane shows: it is reported once."""
        if (path := self._path(one)) not in self._written:
            path.unlink(missing_ok=True)

    def keep(self, waiting: Iterable[Queued]) -> None:
        """Save those of *waiting* that are still to be typed, and delete this host's other files."""
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
    """Return the text that `keep` wrote; None if it is unreadable, or something else."""
    fields = values.members(read_write.own_or_nothing(path, read_write.MAX_CONFIG_BYTES))
    text, at = values.exact(fields.get("text"), MAX_TYPED), values.integer(fields.get("at"), 1, MAX_EXACT)
    return Queued(pid=pid, start=start, text=text, at=at, problem=LEFT) if text and at is not None else None
