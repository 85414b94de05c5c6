"""
A note of the directories that had to be made around a file of ours, so that they are removed with it.

Only an empty directory is removed: with other files in it, it stays.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

from tallylight.files import read_write
from tallylight.model.errors import TallyError
from tallylight.wire import values


def missing(*folders: Path) -> list[str]:
    """Return the directories that have to be made for *folders*, innermost first."""
    every = {path for folder in folders for path in (folder, *folder.parents) if not path.exists()}
    return [str(path) for path in sorted(every, key=lambda path: len(path.parts), reverse=True)]


def write(note: Path, made: list[str]) -> None:
    """Note that *made* were made; without any, write nothing."""
    if made:
        note.parent.mkdir(parents=True, exist_ok=True)
        read_write.atomic_write(note, json.dumps({"version": 1, "made": made}).encode())


def read(note: Path) -> list[Path]:
    """Return the directories of *note*, innermost first; none where it cannot be read."""
    try:
        made = values.members(read_write.read_limited(note)).get("made")
    except (OSError, TallyError):
        return []
    return [Path(path) for path in made[:64] if values.exact(path, 4096)] if isinstance(made, list) else []


def remove(folders: Iterable[Path]) -> list[Path]:
    """Remove those of *folders* that are empty, and return these."""
    removed = []
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
            removed.append(folder)
    return removed
