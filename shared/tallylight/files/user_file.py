"""
A file of the user's: how it is read, and how it is changed, with a backup and an entry in the receipt.

What is done is in the receipt before it is done, so that a crash leaves nothing that could not be taken back.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tallylight.files import read_write
from tallylight.model.errors import DataFileError


class Book(Protocol):
    """A receipt: `receipt.Receipt` or `hooks_book.Book`."""

    def backup_of(self, path: Path) -> Path: ...

    def save(self) -> None: ...


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


def change(
    path: Path, data: bytes, book: Book, *, backup: bytes | None, entered: Callable[[str, tuple[str, ...]], Book]
) -> None:
    """
    Put *data* into *path*, after *backup*, unless that is None, has been put aside, and the change entered into *book*.

    *entered* gives the book with the new entry, from where the backup is (empty for none) and the directories that were
    made for the file, outermost first. After an `OSError` all is as it was.
    """
    copy = book.backup_of(path) if backup is not None else None
    made: list[Path] = []
    try:
        if copy is not None and backup is not None:
            copy.parent.mkdir(parents=True, exist_ok=True)
            read_write.atomic_write(copy, backup, 0o600)
        _make_parents(Path(os.path.realpath(path)), made)
        entered(str(copy or ""), tuple(map(str, made))).save()
        read_write.rewrite(path, data)
    except OSError:
        undoing = [folder.rmdir for folder in reversed(made)] + ([copy.unlink] if copy is not None else [])
        # Each by itself: the receipt is taken back, whatever else cannot be.
        for undo in (*undoing, book.save):
            with contextlib.suppress(OSError):
                undo()
        raise


def _make_parents(path: Path, made: list[Path]) -> None:
    """Make the directories that *path* is to lie in, and note each in *made* as soon as it is there."""
    missing = []
    folder = path.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for folder in reversed(missing):
        folder.mkdir()
        made.append(folder)
