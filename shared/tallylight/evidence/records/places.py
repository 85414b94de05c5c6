"""
The disk, asked where records may be and for their contents: in a host's worker, never on its main thread.

Everything is bounded, opened without waiting, and read only. A database is opened read only as well, with a busy
timeout of zero: one that is being written is retried later, and never held up.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import attrs

from tallylight.evidence.records.reading import TAIL_BYTES

#: Names of one folder, and bytes of the first line of a file.
MAX_NAMES, FIRST_LINE_BYTES = 4_096, 65_536
#: Rows of one answer of a database, and bytes of all.
MAX_DATABASE_ROWS, MAX_QUERY_CHARS = 256, 262_144
#: Files with a remembered size.
MAX_KNOWN_SIZES = 256
#: Thousands of steps after which a query is dropped: some 0.1 s.
_MAX_STEPS = 2_000

Stamp = tuple[int, int, int]
#: When a file was last written as of the last look, and when it was last seen to grow; 0 if never.
Growth = tuple[float, float]


@attrs.frozen
class Place:
    """
    A record: a file, or the *session* in a database file.

    *beside* is a small file that is read with one that is rewritten each time. Its time of writing, in seconds since
    the epoch, a line's end, its text and a NUL are given to the reader before the record.
    """

    path: str
    session: str = ""
    beside: str = ""


class StrangeError(Exception):
    """A database has not the expected tables or columns: it is of another version."""


@attrs.define(kw_only=True)
class Places:
    """
    The disk, for one search.

    *before* is `seen` of the last search. *is_alone*: no rival process lives now nor did then. A missing or unreadable
    file is empty.
    """

    before: Mapping[str, Growth] = attrs.Factory(dict)
    is_alone: bool = False
    seen: dict[str, Growth] = attrs.Factory(dict)
    #: Whether a database lacks the expected tables.
    is_strange: bool = False

    def names(self, folder: str) -> Sequence[str]:
        """Return the sorted names in *folder*; of more than `MAX_NAMES`, an arbitrary choice."""
        found: list[str] = []
        with contextlib.suppress(OSError, ValueError), os.scandir(folder) as entries:
            for entry in entries:
                found.append(entry.name)
                if len(found) >= MAX_NAMES:
                    break
        return sorted(found)

    def head(self, path: str) -> bytes:
        """Return the first bytes of a file, as many as a first line has."""
        return read_part(path, 0, FIRST_LINE_BYTES) or b""

    def changed(self, path: str) -> float:
        """Return when a file was last written; 0 if there is none."""
        try:
            return os.stat(path).st_mtime  # noqa: PTH116 - a third of the time
        except (OSError, ValueError):
            return 0.0

    def grew(self, place: Place) -> float:
        """
        Return when it last grew while no other process of the agent was in the directory; 0 if never.

        Always 0 for a session in a database.
        """
        if place.session:
            return 0.0
        written = self.changed(place.path)
        before, grew = self.before.get(place.path, (-math.inf, 0.0))
        if self.is_alone and written > before:
            grew = written
        if len(self.seen) < MAX_KNOWN_SIZES:
            self.seen[place.path] = written, grew
        return grew

    def rows(self, path: str, query: str, arguments: tuple[object, ...]) -> Sequence[tuple[object, ...]]:
        """Return a database's answer to *query*, read only; nothing if it is busy."""
        try:
            return ask(path, (query,), arguments)
        except StrangeError:
            self.is_strange = True
            return ()


def read_part(path: str | Path, start: int, size: int) -> bytes | None:
    """
    Return at most *size* bytes of a regular file from *start* on, which counts from the end if it is negative.

    None if there is no such file, b"" if it cannot be read or is no regular one.
    """
    try:
        # O_NONBLOCK: nobody may ever write to a FIFO.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return b""
    try:
        found = os.fstat(fd)
        first = start if start >= 0 else max(0, found.st_size + start)
        return os.pread(fd, size, first) if stat.S_ISREG(found.st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(fd)


def stamp(place: Place) -> Stamp | None:
    """Return the identity of a record's content: file number, size and time of writing; None if it is gone."""
    paths = [place.path, *([place.path + "-wal"] if place.session else []), *([place.beside] if place.beside else [])]
    written = [found for path in paths if (found := _stat(path))]
    if not written or (found := _stat(place.path)) is None:
        return None
    return found.st_ino, sum(one.st_size for one in written), max(one.st_mtime_ns for one in written)


def _stat(path: str) -> os.stat_result | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def whole(place: Place) -> bytes:
    """Return the end of a file that is rewritten each time, at most `TAIL_BYTES`, after the file beside it."""
    data = read_part(place.path, -TAIL_BYTES, TAIL_BYTES) or b""
    beside = _stat(place.beside) if place.beside else None
    if beside is None:
        return data
    text = (read_part(place.beside, 0, FIRST_LINE_BYTES) or b"").replace(b"\0", b"")
    return b"%.6f\n%b\0%b" % (beside.st_mtime, text, data)


def added(path: str, offset: int, size: int) -> tuple[bytes, int]:
    """
    Return the whole lines of a file of *size* bytes from *offset* on, and where they end; at most the last
    `TAIL_BYTES`.

    A line that is cut at the front is left in: it is no entry of a record. One without its end comes the next time,
    unless it is longer than that.
    """
    start = max(offset, size - TAIL_BYTES)
    data = read_part(path, start, TAIL_BYTES) or b""
    end = data.rfind(b"\n") + 1
    if not end and len(data) == TAIL_BYTES:
        return b"", start + len(data)
    return data[:end], start + end


def ask(path: str, queries: Sequence[str], arguments: tuple[object, ...]) -> list[tuple[object, ...]]:
    """
    Return a database's answers to *queries*, at most `MAX_QUERY_CHARS` characters; nothing if it is busy or is none.

    Raises `StrangeError` if it lacks the tables.
    """
    if _stat(path) is None:
        return []
    found: list[tuple[object, ...]] = []
    try:
        database = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=0, isolation_level=None)
    except (sqlite3.Error, ValueError):
        return []
    try:
        steps = iter(range(_MAX_STEPS))
        database.set_progress_handler(lambda: next(steps, None) is None, 1000)
        database.execute("pragma query_only = on")
        size = 0
        for query in queries:
            for row in database.execute(query, arguments).fetchmany(MAX_DATABASE_ROWS):
                size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
                if size > MAX_QUERY_CHARS:
                    return found
                found.append(row)
    except sqlite3.OperationalError as error:
        if str(error).startswith("no such"):
            raise StrangeError(str(error)) from error
        return []
    except (sqlite3.Error, OverflowError, ValueError):
        return []
    finally:
        database.close()
    return found


def home_of(environ: Mapping[str, str]) -> str:
    """Return the home directory of a process with *environ*; ours where it names none."""
    home = environ.get("HOME", "")
    return home if home.startswith("/") else str(Path(os.environ.get("HOME", "/")))
