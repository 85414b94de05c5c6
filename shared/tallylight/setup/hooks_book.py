"""
The receipt of hooks: which files of which agents hold hooks of ours, what was put in, and what they were before.

`state/tallylight/hooks.json`, with the pristine copies in `backup/` beside it. One that cannot be read is an error that
is told, never a reason to forget what was done. `hooks/` beside it holds the tables of a user's own agents.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path
from typing import Any

from tallylight import files
from tallylight.errors import DataFileError, TallyError
from tallylight.setup.receipt import backup_in

VERSION = 1


@dataclasses.dataclass(frozen=True)
class Entry:
    """One file that holds hooks of ours."""

    agent: str
    #: As the agent names it; it may be a link.
    path: Path
    #: A copy of the file as it was before we first came; empty if there was none.
    backup: str
    #: Directories made for the file, outermost first.
    made: tuple[str, ...]
    #: The exact pieces put in; empty for a file that is ours as a whole.
    pieces: tuple[str, ...]
    #: Checksum of the file as we left it, and of the file before us.
    written: str
    pristine: str
    at: float

    @property
    def created(self) -> bool:
        return not self.backup


@dataclasses.dataclass(frozen=True)
class Book:
    folder: Path
    entries: tuple[Entry, ...]

    @property
    def path(self) -> Path:
        return self.folder / "hooks.json"

    def find(self, agent: str, path: Path) -> Entry | None:
        return next((entry for entry in self.entries if (entry.agent, entry.path) == (agent, path)), None)

    def backup_of(self, path: Path) -> Path:
        return backup_in(self.folder, path)

    def with_entry(self, entry: Entry) -> Book:
        return Book(self.folder, (*self.without(entry.agent, entry.path).entries, entry))

    def without(self, agent: str, path: Path) -> Book:
        return Book(self.folder, tuple(one for one in self.entries if (one.agent, one.path) != (agent, path)))

    def save(self) -> None:
        """Write the book; an empty one is removed, and with it the directories it alone was in."""
        if self.entries:
            self.folder.mkdir(parents=True, exist_ok=True)
            rows = [dataclasses.asdict(entry) | {"path": str(entry.path)} for entry in self.entries]
            text = json.dumps({"version": VERSION, "files": rows}, indent=2)
            files.atomic_write(self.path, text.encode() + b"\n", 0o600)
            return
        self.path.unlink(missing_ok=True)
        for folder in (self.folder / "hooks", self.folder / "backup", self.folder):
            with contextlib.suppress(OSError):
                folder.rmdir()


def load(folder: Path) -> Book:
    """The book in *folder*; an empty one if there is none."""
    empty = Book(folder, ())
    try:
        data = files.read_limited(empty.path, 16 << 20)
    except FileNotFoundError:
        return empty
    except OSError as error:
        raise DataFileError(str(empty.path), error.strerror or str(error)) from None
    try:
        found: Any = json.loads(data)
        if found["version"] != VERSION:
            raise TallyError(f"{empty.path}: was written by another version of tallylight; use that one to remove it")
        return Book(folder, tuple(_entry(row) for row in found["files"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataFileError(
            str(empty.path), "is damaged; remove it, and `tally hooks remove` goes without it"
        ) from None


def _entry(row: Any) -> Entry:
    texts = {key: row[key] for key in ("agent", "path", "backup", "written", "pristine")}
    lists = {key: tuple(row[key]) for key in ("made", "pieces")}
    if not all(isinstance(value, str) for value in (*texts.values(), *lists["made"], *lists["pieces"])):
        raise TypeError
    return Entry(
        agent=texts["agent"],
        path=Path(texts["path"]),
        backup=texts["backup"],
        written=texts["written"],
        pristine=texts["pristine"],
        at=float(row["at"]),
        **lists,
    )
