"""
The files of an agent's own that a pane wants read: its status file, and the end of a transcript.

They are read away from a host's main thread, and nothing but the bytes comes back: what they say is `evidence`'s.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Protocol

import attrs

from tallylight.evidence.records.claude_ending import LAST_BYTES
from tallylight.evidence.records.places import read_part
from tallylight.evidence.records.reading import TAIL_BYTES

#: A status file has some 400 bytes.
_STATUS_FILE_BYTES = 65_536


class Request(Protocol):
    """Something of an agent's own that a pane wants read: `read` is a worker's, and its result is the pane's."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """What is read lies where these do, mostly where the first does: there it hangs, if it does."""

    def read(self) -> object:
        """What there is; None if nothing is new."""


@attrs.define
class Growth:
    """How large a transcript was, and when it was changed, when it was last read because it had grown."""

    stamp: tuple[int, int] | None = None


@attrs.frozen
class FileRequest:
    """
    A status file, and a transcript, None where there is no name for it.

    The transcript is read only where it can have news: *known* is what the status file held last time. With
    *growth*, its very end is read also whenever it has changed. *is_last*: its agent has ended.
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
        """Their bytes: None for a status file that is not there, nothing for an unneeded transcript."""
        status_file, path = read_part(self.status_file, -_STATUS_FILE_BYTES, _STATUS_FILE_BYTES), self.transcript
        if self.is_undecided or status_file != self.known:
            found = read_part(path, -TAIL_BYTES, TAIL_BYTES) if path is not None else b""
            if path is not None and found is None:
                # One of a session that has moved to another directory lies where it began.
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
        news = read_part(path, -LAST_BYTES, LAST_BYTES)
        return (status_file, news) if news else None
