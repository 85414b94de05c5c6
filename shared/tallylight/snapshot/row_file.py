"""
Files of rows of one class as JSON, which several of our processes change; readable by this user alone.

Such a file is replaced by rename, by one process at a time: a reader sees either the old file or the new one, whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

import attrs

from tallylight.files import read_write
from tallylight.model.errors import TallyError
from tallylight.snapshot.values import many
from tallylight.snapshot.writer import held
from tallylight.wire import values

VERSION = 1

Row = TypeVar("Row")


class BrokenError(TallyError):
    """Raised for a file that cannot be read as one of ours."""


@attrs.frozen
class RowFile(Generic[Row]):
    """A kind of file: at most *most* rows of the class *cls* under the key *name*, in at most *max_bytes*."""

    cls: type[Row]
    name: str
    most: int
    max_bytes: int = 64 * 1024

    def read(self, file: Path, *, is_strict: bool = False) -> tuple[Row, ...]:
        """
        Return the rows of *file*, without broken ones; none if there is no file, or it is none of ours.

        With *is_strict* a file that is none of ours raises `BrokenError`. Raises `OSError` and `TallyError` if the disk
        or the directory cannot be used.
        """
        try:
            found = values.members(read_write.read_own(file, self.max_bytes))
        except FileNotFoundError:
            return ()
        rows = found.get(self.name) if found.get("version") == VERSION else None
        if is_strict and not isinstance(rows, list):
            raise BrokenError(f"{file} cannot be read; remove it")
        read: tuple[Row, ...] = many(self.cls, self.most).read(rows)
        return read

    def write(self, file: Path, rows: Iterable[Row]) -> None:
        """Replace all rows of *file* by *rows*."""
        kept = many(self.cls, self.most).write(tuple(rows))  # type: ignore[misc]
        read_write.atomic_write(file, json.dumps({"version": VERSION, self.name: kept}).encode("ascii"), 0o600)

    def change(
        self, file: Path, how: Callable[[tuple[Row, ...]], Iterable[Row]], busy: str, patience_s: float = 0.0
    ) -> tuple[Row, ...]:
        """Replace the rows by *how* of the rows, and return the new ones. Raises the errors of `held` and `read`."""
        with held(file.parent, busy, patience_s):
            before = self.read(file)
            after = tuple(how(before))
            if after != before:
                self.write(file, after)
        return after
