"""
The receipt: which files of the user's were changed, what they were, and where their backup is.

`state/tallylight/receipt.json`, with the pristine copies in `backup/` beside it. A receipt that cannot be read is
an error that is told, never a reason to forget what was done. `hooks_book` keeps another one of the same make.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tallylight.files import read_write
from tallylight.model.errors import DataFileError, TallyError
from tallylight.wire import values

VERSION = 1
#: Of one receipt, in bytes. That of hooks holds what was put into each file.
_LIMIT = 16 << 20

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """One file of the user's that holds, or held, something of ours."""

    #: As the user names it; it may be a link.
    path: Path
    #: Checksum of the file without what is ours.
    pristine: str
    #: A copy of the file as it was before we first came; empty if there was none.
    backup: str
    #: Directories made for the file, outermost first.
    made: tuple[str, ...]
    #: When, in seconds since the epoch.
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
        save_rows(self.path, self.entries.values(), (self.folder / "backup", self.folder))


def load(folder: Path) -> Receipt:
    """The receipt in *folder*; an empty one if there is none."""
    found = load_rows(
        folder / "receipt.json",
        lambda row: Entry(**fields(row)),
        use="undo it",
        remedy="remove Tallylight's block from kitty.conf, then this file",
    )
    return Receipt(folder, {entry.path: entry for entry in found})


def save_rows(path: Path, entries: Iterable[Entry], folders: Sequence[Path]) -> None:
    """Write *entries* to *path*. Where there are none it goes, and so do those of *folders* that are empty then."""
    rows = [dataclasses.asdict(entry) | {"path": str(entry.path)} for entry in entries]
    if rows:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"version": VERSION, "files": rows}, indent=2)
        read_write.atomic_write(path, text.encode() + b"\n", 0o600)
        return
    path.unlink(missing_ok=True)
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def load_rows(path: Path, read: Callable[[Any], T], *, use: str, remedy: str) -> list[T]:
    """
    What *read* makes of each row of *path*; nothing if there is no such file.

    A `TallyError` says what another version is to be used for (*use*), and what to do about a damaged file (*remedy*).
    """
    try:
        data = read_write.read_limited(path, _LIMIT)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataFileError(str(path), error.strerror or str(error)) from None
    try:
        found: Any = values.load(data)
        if found["version"] != VERSION:
            raise TallyError(f"{path}: was written by another version of tallylight; use that one to {use}")
        return [read(row) for row in found["files"]]
    except (ValueError, KeyError, TypeError):
        raise DataFileError(str(path), f"is damaged; {remedy}") from None


def fields(row: Any, texts: Sequence[str] = (), lists: Sequence[str] = ()) -> dict[str, Any]:
    """The fields of an entry in *row*, *texts* and *lists* of texts among them, or an error that `load_rows` knows."""
    words = {key: row[key] for key in ("path", "pristine", "backup", *texts)}
    series = {key: tuple(row[key]) for key in ("made", *lists) if isinstance(row[key], list)}
    every = [*words.values(), *(word for one in series.values() for word in one)]
    if len(series) <= len(lists) or any(values.exact(word, _LIMIT) is None for word in every):
        raise TypeError
    path, at = Path(words["path"]), values.number(row["at"], 0, values.LATEST)
    if not path.is_absolute() or at is None:
        raise ValueError
    return words | series | {"path": path, "at": at}
