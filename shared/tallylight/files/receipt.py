"""
The receipts: the files of the user that were changed, their state before, and their backups.

`state/tallylight/receipt.json` has the changes of `tally setup`, `state/tallylight/hooks.json` those for hooks of
agents. The original copies are in `backup/` next to them. An unreadable receipt is a reported error, never a reason to
forget the changes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from tallylight.files import read_write
from tallylight.model.errors import DataFileError, TallyError
from tallylight.wire import values

VERSION = 1
#: The most bytes of a receipt. That of hooks has all inserted texts.
_MAX_RECEIPT_BYTES = 16 << 20


class Kind(NamedTuple):
    """A kind of receipt: its file, and the *texts* and *lists* of texts that its entries have in addition."""

    name: str
    texts: tuple[str, ...]
    lists: tuple[str, ...]
    #: The words for using another version, and the remedy for a damaged file.
    use: str
    remedy: str


SETUP = Kind("receipt.json", (), (), "undo it", "remove Tallylight's block from kitty.conf, then this file")
HOOKS = Kind(
    "hooks.json",
    ("agent", "written"),
    ("pieces",),
    "remove it",
    "remove it; `tally hooks remove` works without it",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """One file of the user that has, or had, a text of ours."""

    #: The path as the user names it; it may be a link.
    path: Path
    #: The checksum of the file without our texts.
    pristine: str
    #: The path of a copy from before our first change; empty if there was no file.
    backup: str
    #: The directories made for the file, outermost first.
    made: tuple[str, ...]
    #: The time of the change, in seconds since the epoch.
    at: float
    #: Of hooks: the agent, the inserted pieces (none if the whole file is ours), and the checksum after our change.
    agent: str = ""
    pieces: tuple[str, ...] = ()
    written: str = ""

    @property
    def created(self) -> bool:
        return not self.backup


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclasses.dataclass(frozen=True)
class Receipt:
    """
    The changes to files of the user by setup, or by hooks, with their backups, for taking them back. Only `save`
    changes it.
    """

    folder: Path
    kind: Kind
    entries: tuple[Entry, ...]

    @property
    def path(self) -> Path:
        return self.folder / self.kind.name

    def find(self, path: Path, agent: str = "") -> Entry | None:
        return next((entry for entry in self.entries if (entry.agent, entry.path) == (agent, path)), None)

    def backup_of(self, path: Path) -> Path:
        """Return the path of the original copy of *path*."""
        return self.folder / "backup" / f"{path.name}-{checksum(str(path).encode('utf-8', 'surrogateescape'))[:8]}"

    def with_entry(self, entry: Entry) -> Receipt:
        return dataclasses.replace(self, entries=(*self.without(entry.path, entry.agent).entries, entry))

    def without(self, path: Path, agent: str = "") -> Receipt:
        rest = tuple(entry for entry in self.entries if (entry.agent, entry.path) != (agent, path))
        return dataclasses.replace(self, entries=rest)

    def save(self) -> None:
        """Write the receipt; remove an empty one with its directories, if they are empty then."""
        if not self.entries:
            self.path.unlink(missing_ok=True)
            for folder in (self.folder / "hooks", self.folder / "backup", self.folder):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            return
        left_out = {"agent", "written", "pieces"} - {*self.kind.texts, *self.kind.lists}
        rows = [dataclasses.asdict(entry) | {"path": str(entry.path)} for entry in self.entries]
        kept = [{key: value for key, value in row.items() if key not in left_out} for row in rows]
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"version": VERSION, "files": kept}, indent=2)
        read_write.atomic_write(self.path, text.encode() + b"\n", 0o600)


def load(folder: Path, kind: Kind = SETUP) -> Receipt:
    """Return the receipt in *folder*; an empty one if there is none. Raises `TallyError` for an unusable one."""
    path = folder / kind.name
    try:
        data = read_write.read_limited(path, _MAX_RECEIPT_BYTES)
    except FileNotFoundError:
        return Receipt(folder, kind, ())
    except OSError as error:
        raise DataFileError(str(path), error.strerror or str(error)) from None
    try:
        found: Any = values.load(data)
        if found["version"] != VERSION:
            raise TallyError(f"{path}: was written by another version of tallylight; use that one to {kind.use}")
        return Receipt(folder, kind, tuple(_entry(row, kind) for row in found["files"]))
    except (ValueError, KeyError, TypeError):
        raise DataFileError(str(path), f"is damaged; {kind.remedy}") from None


def _entry(row: Any, kind: Kind) -> Entry:
    """Return the entry in *row*; raise an error that `load` catches if it is damaged."""
    words = {key: row[key] for key in ("path", "pristine", "backup", *kind.texts)}
    series = {key: tuple(row[key]) for key in ("made", *kind.lists) if isinstance(row[key], list)}
    every = [*words.values(), *(word for one in series.values() for word in one)]
    if len(series) <= len(kind.lists) or any(values.exact(word, _MAX_RECEIPT_BYTES) is None for word in every):
        raise TypeError
    path, at = Path(words["path"]), values.number(row["at"], 0, values.LATEST)
    if not path.is_absolute() or at is None:
        raise ValueError
    return Entry(**(words | series | {"path": path, "at": at}))
