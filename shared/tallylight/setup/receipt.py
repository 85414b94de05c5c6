"""
The receipt: which files of the user's were changed, what they were, and where their backup is.

`state/tallylight/receipt.json`, with the pristine copies in `backup/` beside it. A receipt that cannot be read is
an error that is told, never a reason to forget what was done.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallylight import files
from tallylight.errors import DataFileError, TallyError

VERSION = 1


@dataclasses.dataclass(frozen=True)
class Entry:
    """One file of the user's that holds, or held, a block of ours."""

    #: As the user names it; it may be a link.
    path: Path
    #: Checksum of the file without our block.
    pristine: str
    #: A copy of the file as it was before we first came; empty if there was none.
    backup: str
    #: Directories made for the file, outermost first.
    made: tuple[str, ...]
    at: float

    @property
    def created(self) -> bool:
        return not self.backup


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def backup_in(folder: Path, path: Path) -> Path:
    """Where the pristine copy of *path* is kept, beside the receipt in *folder*."""
    return folder / "backup" / f"{path.name}-{checksum(str(path).encode('utf-8', 'surrogateescape'))[:8]}"


@dataclasses.dataclass(frozen=True)
class Receipt:
    folder: Path
    entries: Mapping[Path, Entry]

    @property
    def path(self) -> Path:
        return self.folder / "receipt.json"

    def backup_of(self, path: Path) -> Path:
        return backup_in(self.folder, path)

    def with_entry(self, entry: Entry) -> Receipt:
        return Receipt(self.folder, {**self.entries, entry.path: entry})

    def without(self, path: Path) -> Receipt:
        return Receipt(self.folder, {key: entry for key, entry in self.entries.items() if key != path})

    def save(self) -> None:
        """Write the receipt; an empty one is removed, and with it the directories it alone was in."""
        if self.entries:
            self.folder.mkdir(parents=True, exist_ok=True)
            rows = [
                dataclasses.asdict(entry) | {"path": str(entry.path), "made": list(entry.made)}
                for entry in self.entries.values()
            ]
            text = json.dumps({"version": VERSION, "files": rows}, indent=2)
            files.atomic_write(self.path, text.encode() + b"\n", 0o600)
            return
        self.path.unlink(missing_ok=True)
        for folder in (self.folder / "backup", self.folder):
            with contextlib.suppress(OSError):
                folder.rmdir()


def load(folder: Path) -> Receipt:
    empty = Receipt(folder, {})
    try:
        data = files.read_limited(empty.path)
    except FileNotFoundError:
        return empty
    except OSError as error:
        raise DataFileError(str(empty.path), error.strerror or str(error)) from None
    try:
        found: Any = json.loads(data)
        if found["version"] != VERSION:
            raise TallyError(f"{empty.path}: was written by another version of tallylight; use that one to undo it")
        entries = [_entry(row) for row in found["files"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataFileError(str(empty.path), "is damaged; remove our block from kitty.conf, then this file") from None
    return Receipt(folder, {entry.path: entry for entry in entries})


def _entry(row: Any) -> Entry:
    texts = {key: row[key] for key in ("path", "pristine", "backup")}
    made = row["made"]
    if not all(isinstance(value, str) for value in [*texts.values(), *made]):
        raise TypeError
    return Entry(
        path=Path(texts["path"]),
        pristine=texts["pristine"],
        backup=texts["backup"],
        made=tuple(made),
        at=float(row["at"]),
    )
