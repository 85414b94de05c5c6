"""
A process that connects to another machine: started, read, written and ended without ever waiting for it.

Of its error output the last `MAX_COMPLAINT` bytes are kept. Its output is read at `LINK_BYTES_A_SECOND` bytes a second
at most, so that a machine that floods the line costs little. The rest waits there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

import attrs

from tallylight.model.bucket import Bucket

#: Bytes of one read; a second, on average; and at once, after a rest.
CHUNK_BYTES = 64 * 1024
LINK_BYTES_A_SECOND, LINK_BURST_BYTES = 512 * 1024, 2 * 1024 * 1024
MAX_COMPLAINT = 4096
#: Seconds that a process has to end after it was asked to.
END_S = 2.0


@attrs.define
class Link:
    """The process *child*. Its pipes do not block. Times are monotonic."""

    child: subprocess.Popen[bytes]
    complaint: bytes = b""
    #: Whether it has closed its output: it ends, or has ended.
    is_closed: bool = False
    #: Whether it has closed its error output.
    is_mute: bool = False
    _room: Bucket = attrs.field(init=False, factory=lambda: Bucket(LINK_BYTES_A_SECOND, LINK_BURST_BYTES))

    @classmethod
    def start(cls, argv: Sequence[str], env: Mapping[str, str]) -> Link | None:
        """
        Start *argv* in a session without a terminal, where it can ask no person; None if there is no such program.
        """
        try:
            child = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(env),
                start_new_session=True,
            )
        except (OSError, ValueError):
            return None
        for pipe in (child.stdin, child.stdout, child.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        return cls(child)

    @property
    def fds(self) -> tuple[int, int, int]:
        """Its input, output and error output."""
        pipes = (self.child.stdin, self.child.stdout, self.child.stderr)
        stdin, stdout, stderr = (pipe.fileno() if pipe is not None else -1 for pipe in pipes)
        return stdin, stdout, stderr

    def may_read(self, now: float) -> bool:
        """Return whether it has not sent too much lately."""
        return self._room.fill(now) > 0

    def read(self) -> bytes:
        """Return a piece of its output; empty if there is none."""
        data = _read(self.fds[1])
        if data == b"":
            self.is_closed = True
        self._room.left -= len(data or b"")
        return data or b""

    def read_complaint(self) -> None:
        """Read its error output."""
        data = _read(self.fds[2])
        self.complaint = (self.complaint + (data or b""))[-MAX_COMPLAINT:]
        self.is_mute = data == b""

    def write(self, data: bytearray) -> None:
        """Send as much of *data* as it takes, and remove that from *data*."""
        try:
            del data[: os.write(self.fds[0], data[:CHUNK_BYTES])]
        except BlockingIOError:
            pass
        except OSError:
            self.is_closed = True

    def end(self, *, is_asked: bool) -> None:
        """End the process and its children: ask if *is_asked*, else kill."""
        with contextlib.suppress(OSError):
            os.killpg(self.child.pid, signal.SIGTERM if is_asked else signal.SIGKILL)

    def close(self) -> None:
        for pipe in (self.child.stdin, self.child.stdout, self.child.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _read(fd: int) -> bytes | None:
    """Return the available bytes; empty at the end; None if there are none yet."""
    try:
        return os.read(fd, CHUNK_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""
