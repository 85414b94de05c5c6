"""
Changes to a file of the user: each has a backup and an entry in the receipt, and can be undone.

The entry is written before the change, so that every change can be undone after a crash.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
from collections.abc import Callable
from pathlib import Path

from tallylight.files import managed_block, read_write
from tallylight.files.receipt import Entry, Receipt, checksum
from tallylight.files.system import System
from tallylight.model.errors import DataFileError


@dataclasses.dataclass(frozen=True)
class Edit:
    """A change of one file. *before* and *after* are None for no such file."""

    path: Path
    before: bytes | None
    after: bytes | None
    #: Of hooks: their agent, and the inserted pieces; empty if the whole file is ours, and for a removal.
    agent: str = ""
    pieces: tuple[str, ...] = ()
    #: The file without our texts.
    pristine: bytes = b""
    #: The bytes of the backup, if the receipt has no earlier change.
    backup: bytes | None = None
    #: The entry of the receipt, for a removal.
    entry: Entry | None = None

    @property
    def goes(self) -> bool:
        """Return whether the change removes the file."""
        return self.before is not None and self.after is None

    @property
    def restores(self) -> bool:
        """Return whether the change restores the file to the byte."""
        return self.entry is not None and self.after is not None and checksum(self.after) == self.entry.pristine

    def diff(self, name: str) -> str:
        """Return the change as a diff, with the file named *name*."""
        before, after = (managed_block.decode(data or b"") for data in (self.before, self.after))
        return managed_block.diff(name, before, after)


def read(path: Path) -> bytes | None:
    """Return the bytes of a user's file; None if there is none. Raises `DataFileError` if it cannot be used."""
    try:
        return read_write.read_limited(path, 16 << 20)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise DataFileError(str(path.parent), "is not a directory") from None
    except OSError as error:
        raise DataFileError(str(path), f"cannot be read: {error.strerror}") from None


def change(edit: Edit, book: Receipt, at: float) -> None:
    """
    Write the backup, enter the change into *book* with the time *at*, and make it.

    After an `OSError` everything is undone.
    """
    assert edit.after is not None
    old = book.find(edit.path, edit.agent)
    backup = old.backup if old is not None else ""
    made: list[str] = []
    undoing: list[Callable[[], object]] = [book.save]
    try:
        if old is None and edit.backup is not None:
            copy = book.backup_of(edit.path)
            backup = str(copy)
            undoing.append(copy.unlink)
            copy.parent.mkdir(parents=True, exist_ok=True)
            read_write.atomic_write(copy, edit.backup, 0o600)
        for folder in reversed([one for one in Path(os.path.realpath(edit.path)).parents if not one.exists()]):
            folder.mkdir()
            made.append(str(folder))
            undoing.append(folder.rmdir)
        entry = Entry(
            path=edit.path,
            pristine=checksum(edit.pristine),
            backup=backup,
            made=old.made if old is not None and old.made else tuple(made),
            at=at,
            agent=edit.agent,
            pieces=edit.pieces,
            written=checksum(edit.after),
        )
        book.with_entry(entry).save()
        read_write.rewrite(edit.path, edit.after)
    except OSError:
        # Each step by itself: the receipt is restored even if another step fails.
        for undo in reversed(undoing):
            with contextlib.suppress(OSError):
                undo()
        raise


def take_back(edit: Edit) -> None:
    """Do an *edit* that removes our texts. If the file goes, the directories made for it go, too."""
    entry = edit.entry
    if edit.goes:
        Path(os.path.realpath(edit.path)).unlink()
        for folder in reversed(entry.made if entry is not None else ()):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
    elif edit.after is not None and edit.after != edit.before:
        read_write.rewrite(edit.path, edit.after)
    if entry is not None and entry.backup and edit.restores:
        Path(entry.backup).unlink(missing_ok=True)


def taken_back(system: System, edit: Edit, ours: str) -> str:
    """Return the message to print about *edit*, which removed *ours* from a file."""
    name, entry = system.short(edit.path), edit.entry
    if edit.goes:
        return f"{name} removed: Tallylight had made it."
    if edit.restores:
        return f"{name} is restored, byte for byte."
    kept = ""
    if entry is not None and entry.backup:
        when = datetime.datetime.fromtimestamp(entry.at).astimezone().strftime("%Y-%m-%d")
        kept = f" The file as it was before {when}: {entry.backup}"
    if not edit.before:
        return f"{name} no longer exists; there is nothing to undo.{kept}"
    since = " was edited since" if entry is not None else ""
    return f"{name}{since}: Tallylight's {ours} were removed, everything else was kept.{kept}"
