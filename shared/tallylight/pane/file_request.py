"""
The files that an agent keeps and a pane wants read: its status file, and the end of a transcript.

A worker reads them, away from a host's main thread, and returns only bytes. `evidence` decodes them.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Protocol

import attrs

from tallylight.evidence.records.places import read_part
from tallylight.evidence.records.reading import TAIL_BYTES

#: A status file has some 400 bytes.
_STATUS_FILE_BYTES = 65_536


class Request(Protocol):
    """A request of a pane to read files. A worker calls `read`; the result goes back to the pane."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths on the mounts that are read from, the most important first: a hanging mount is recognised by them."""

    def read(self) -> object:
        """Return the content, or None if nothing is new. May block on a disk."""


@attrs.define
class Growth:
    """The size and time of change of a transcript when it was last read because it had grown."""

    stamp: tuple[int, int] | None = None


@attrs.frozen
class FileRequest:
    """
    A request for a status file, and for the end of a transcript, which may be None.

    The transcript is read only if the status file differs from *known*, its last content, or if *is_undecided*. With
    *growth*, it is read also whenever it has changed. *is_last*: the agent has ended.
    """

    status_file: Path
    transcript: Path | None
    known: bytes | None
    is_undecided: bool
    growth: Growth | None = None
    is_last: bool = False

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.status_file,) if self.transcript is None else (self.status_file, self.transcript)

    def read(self) -> tuple[bytes | None, bytes] | None:
        """
        Return the bytes of both files; None if nothing is new.

        The status file is None if it does not exist, the transcript empty if it was not needed.
        """
        status_file, path = read_part(self.status_file, -_STATUS_FILE_BYTES, _STATUS_FILE_BYTES), self.transcript
        if self.is_undecided or status_file != self.known:
            found = read_part(path, -TAIL_BYTES, TAIL_BYTES) if path is not None else b""
            if path is not None and found is None:
                # The transcript of a session that moved to another directory stays where it began.
                with contextlib.suppress(OSError):
                    path = next(path.parents[1].glob(f"*/{path.name}"), path)
                found = read_part(path, -TAIL_BYTES, TAIL_BYTES)
            return status_file, found or b""
        if path is None or self.growth is None:
            return None
        try:
            stat = path.stat()
        except (OSError, ValueError):
            return None
        stamp = stat.st_size, stat.st_mtime_ns
        if stamp == self.growth.stamp:
            return None
        self.growth.stamp = stamp
        news = read_part(path, -TAIL_BYTES, TAIL_BYTES)
        return (status_file, news) if news else None
