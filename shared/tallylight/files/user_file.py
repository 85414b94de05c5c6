"""
A file of the user's: how it is read, and how it is changed and taken back, with a backup and an entry in the receipt.

What is done is in the receipt before it is done, so that a crash leaves nothing that could not be taken back.
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
    """One file that is to change. *before* and *after* are None where there is no such file."""

    path: Path
    before: bytes | None
    after: bytes | None
    #: Of hooks: their agent, and what was put in; empty for a file that is ours as a whole, and for taking out.
    agent: str = ""
    pieces: tuple[str, ...] = ()
    #: The file without anything of ours.
    pristine: bytes = b""
    #: What is to be put aside, if the receipt knows of no earlier change.
    backup: bytes | None = None
    #: What the receipt has of it, for taking out.
    entry: Entry | None = None

    @property
    def goes(self) -> bool:
        """Whether there is a file, and there is to be none."""
        return self.before is not None and self.after is None

    @property
    def restores(self) -> bool:
        """Whether the file becomes to the byte what it was before us."""
        return self.entry is not None and self.after is not None and checksum(self.after) == self.entry.pristine

    def diff(self, name: str) -> str:
        """What would change, for a person who knows the file as *name*."""
        before, after = (managed_block.decode(data or b"") for data in (self.before, self.after))
        return managed_block.diff(name, before, after)


def read(path: Path) -> bytes | None:
    """A user's file, or None if there is none. A file that cannot be used is a `DataFileError`."""
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
    Put aside what is to be kept, enter the change into *book* as of the time *at*, and make it.

    After an `OSError` all is as it was.
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
        # Each by itself: the receipt is taken back, whatever else cannot be.
        for undo in reversed(undoing):
            with contextlib.suppress(OSError):
                undo()
        raise


def take_back(edit: Edit) -> None:
    """Do an *edit* that takes out what is ours. A file that goes does so with what was made for it."""
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
    """Return what to print about *edit*, which takes *ours* out of a file."""
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
