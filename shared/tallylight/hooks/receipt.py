"""
The receipt of hooks: which files of which agents hold hooks of ours, what was put in, and what they were before.

`state/tallylight/hooks.json`, with the pristine copies in `backup/` beside it. One that cannot be read is an error that
is told, never a reason to forget what was done. `hooks/` beside it holds the tables of a user's own agents.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from tallylight.files import receipt


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry(receipt.Entry):
    """One file that holds hooks of ours."""

    agent: str
    #: The exact pieces put in; empty for a file that is ours as a whole.
    pieces: tuple[str, ...]
    #: Checksum of the file as we left it.
    written: str


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
        return receipt.backup_in(self.folder, path)

    def with_entry(self, entry: Entry) -> Book:
        return Book(self.folder, (*self.without(entry.agent, entry.path).entries, entry))

    def without(self, agent: str, path: Path) -> Book:
        return Book(self.folder, tuple(one for one in self.entries if (one.agent, one.path) != (agent, path)))

    def save(self) -> None:
        """Write the book; an empty one is removed, and with it the directories it alone was in."""
        receipt.save_rows(self.path, self.entries, (self.folder / "hooks", self.folder / "backup", self.folder))


def load(folder: Path) -> Book:
    """The book in *folder*; an empty one if there is none."""
    found = receipt.load_rows(
        folder / "hooks.json",
        lambda row: Entry(**receipt.fields(row, ("agent", "written"), ("pieces",))),
        use="remove it",
        remedy="remove it; `tally hooks remove` works without it",
    )
    return Book(folder, tuple(found))
