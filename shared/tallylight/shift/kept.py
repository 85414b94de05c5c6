"""
Texts that wait for the end of a limit, on the disk: a host that is started again goes on with them.

`<state directory>/shifts/<pid>-<start>.json`, of this user alone, each named for the process of its agent. A limit may
last a night, and a host may end meanwhile: its panes, in tmux or another terminal, do not.
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
from tallylight.shift.steps import MOST, Shift, of
from tallylight.wire import values

_NAME = re.compile(r"([1-9]\d{0,9})-(\d{1,18})\.json", re.ASCII)


class Kept:
    """What one host keeps. `OSError` where that cannot be written."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._folder = directories.state_dir(environ) / "shifts"
        #: What it has written.
        self._written: dict[Path, dict[str, object]] = {}

    def left(self, start_of: Callable[[int], int | None]) -> list[Shift]:
        """What hosts have left for agents that still run, by when a process began; what is for no agent goes."""
        found: list[Shift] = []
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

    def keep(self, waiting: Iterable[Queued]) -> None:
        """Keep what of *waiting* waits for the end of a limit, and nothing that this host has kept before."""
        now = {self._folder / f"{one.pid}-{one.start}.json": _fields(of(one)) for one in waiting if one.at}
        for path in self._written.keys() - now.keys():
            path.unlink(missing_ok=True)
        for path, fields in now.items():
            if self._written.get(path) != fields:
                self._folder.mkdir(parents=True, exist_ok=True)
                read_write.atomic_write(path, json.dumps(fields).encode(), 0o600)
        self._written = now


def _fields(shift: Shift) -> dict[str, object]:
    fields = "text", "at", "count", "typed_at", "offset"
    return {name: getattr(shift, name) for name in fields}


def _read(path: Path, pid: int, start: int) -> Shift | None:
    """What `_fields` wrote; None where it cannot be read, or is something else."""
    try:
        fields = values.members(read_write.read_own(path, read_write.READ_LIMIT))
    except (OSError, TallyError):
        return None
    text, at = values.exact(fields.get("text"), MAX_TEXT), values.integer(fields.get("at"), 1, MAX_EXACT)
    count, typed_at = values.integer(fields.get("count"), 1, MOST), values.integer(fields.get("typed_at"), 0, MAX_EXACT)
    if not text or at is None or count is None or typed_at is None:
        return None
    offset = values.integer(fields.get("offset"), -MAX_EXACT, MAX_EXACT)
    return Shift(
        pid=pid, start=start, text=text, at=at, count=count, typed_at=typed_at, is_typed=bool(typed_at), offset=offset
    )
