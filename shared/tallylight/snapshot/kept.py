"""
Files of ours that several processes change: rows of one kind as JSON, each declared by its fields, for this user alone.

Such a file is replaced by rename, by one process at a time: a reader sees one whole file or the other.
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
    """There is a file that cannot be read as one of ours."""


@attrs.frozen
class RowFile(Generic[Row]):
    """A file of *most* rows of the class *cls* in its list *name*, in *max_bytes* at most."""

    cls: type[Row]
    name: str
    most: int
    max_bytes: int = 64 * 1024

    def read(self, file: Path, *, is_strict: bool = False) -> tuple[Row, ...]:
        """
        The rows, without broken ones; none where there is no file, or it is none of ours.

        That is a `BrokenError` if *is_strict*; `OSError` and `TallyError` if the disk or the directory is of no use.
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
        """Keep *rows* and no others."""
        kept = many(self.cls, self.most).write(tuple(rows))  # type: ignore[misc]
        read_write.atomic_write(file, json.dumps({"version": VERSION, self.name: kept}).encode("ascii"), 0o600)

    def change(
        self, file: Path, how: Callable[[tuple[Row, ...]], Iterable[Row]], busy: str, patience_s: float = 0.0
    ) -> tuple[Row, ...]:
        """Keep what *how* makes of the rows; return that. Errors as of `held`, and of `read`."""
        with held(file.parent, busy, patience_s):
            before = self.read(file)
            after = tuple(how(before))
            if after != before:
                self.write(file, after)
        return after
