"""
Texts that wait for the end of a limit, on the disk: a host that is started again goes on with them.

`<state directory>/shifts-<host>.json`, of this user alone. A limit may last a night, and a host may end meanwhile: its
panes, in tmux or another terminal, do not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from tallylight.actions.say import MAX_TEXT
from tallylight.files import directories, read_write
from tallylight.model import attributes
from tallylight.model.errors import TallyError
from tallylight.model.limits import MAX_EXACT, MAX_PANES
from tallylight.model.queued import Queued
from tallylight.snapshot.values import ID, Form, declared, key, read, write
from tallylight.wire import values

_WHOLE = Form(lambda value: values.integer(value, 1, MAX_EXACT), {"type": "integer"})
_WORDS = Form(lambda value: values.exact(value, MAX_TEXT) or None, {"type": "string"})


@attributes.frozen(kw_only=True)
class Shift:
    """A text for the agent in *pane* whose process is *pid*, begun at *start*, as of `model.queued.Queued`."""

    pane: str = attributes.field(metadata=declared("", ID))
    pid: int = attributes.field(metadata=declared("", _WHOLE))
    start: int = attributes.field(metadata=declared("", _WHOLE))
    text: str = attributes.field(metadata=declared("", _WORDS))
    at: int = attributes.field(metadata=declared("", _WHOLE))
    typed: int = key(0)

    @property
    def queued(self) -> Queued:
        """The same as it waits in its pane."""
        return Queued(pid=self.pid, start=self.start, text=self.text, at=self.at, typed=self.typed)


def path(host: str, environ: Mapping[str, str]) -> Path:
    """The file of *host*."""
    return directories.state_dir(environ) / f"shifts-{host}.json"


def load(file: Path) -> dict[str, Queued]:
    """What waits, by pane; nothing where that cannot be read."""
    try:
        found = values.load(read_write.read_own(file, read_write.READ_LIMIT))
    except (OSError, TallyError):
        return {}
    shifts = (read(Shift, one) for one in found[:MAX_PANES]) if isinstance(found, list) else ()
    return {one.pane: one.queued for one in shifts if one is not None}


def save(file: Path, waiting: Iterable[tuple[str, Queued]]) -> None:
    """Keep what waits for the end of a limit; `OSError` where that cannot be written."""
    kept = [
        write(Shift(pane=pane, pid=one.pid, start=one.start, text=one.text, at=one.at, typed=one.typed))
        for pane, one in waiting
        if one.at and not one.problem
    ]
    if kept:
        file.parent.mkdir(parents=True, exist_ok=True)
        read_write.atomic_write(file, json.dumps(kept).encode(), 0o600)
    else:
        file.unlink(missing_ok=True)
