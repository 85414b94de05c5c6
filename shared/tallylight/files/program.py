"""
Another program, run to its end with limits on its time and output. It blocks, so it is for threads only.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.files import directories

#: The most seconds of a program, and the most bytes of its output.
RUN_S = 3.0
MAX_OUTPUT_BYTES = 4 * 1024 * 1024
#: The most bytes of its input: they fit into a pipe without waiting. https://man7.org/linux/man-pages/man7/pipe.7.html
MAX_INPUT_BYTES = 16 * 1024


class StuckError(Exception):
    """Raised for a program that was killed: it did not end in time, or wrote too much."""


@attrs.frozen
class Ran:
    """The exit code of a program, and its standard output."""

    code: int
    output: bytes


def find_program(name: str, path: str) -> str:
    """
    Return the file that *name* would run with the PATH *path*; empty if there is none. Only absolute directories count.

    A *name* that is an absolute path is that file itself.
    """
    if name.startswith("/"):
        return name if is_program(Path(name)) else ""
    candidates = (Path(directory, name) for directory in path.split(os.pathsep) if directory.startswith("/"))
    return next((str(found) for found in candidates if is_program(found)), "")


def is_program(path: Path) -> bool:
    """Return whether *path* is a file that this user can run."""
    return path.is_file() and os.access(path, os.X_OK)


def own_command(path: str = "") -> str:
    """Return the file of our own command: found in *path*, else where it is installed; empty if there is none."""
    installed = (directories.data_dir() / "bin/tally", directories.home() / ".local/bin/tally")
    return find_program("tally", path) or next((str(found) for found in installed if is_program(found)), "")


def run(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    given: bytes | None = None,
    patience: float = RUN_S,
    limit: int = MAX_OUTPUT_BYTES,
    cwd: str | None = None,
) -> Ran | None:
    """
    Run a program to its end; return None if there is no such program. Its standard error is discarded.

    *given* is its standard input, at most `MAX_INPUT_BYTES`. Raises `StuckError` after *patience* seconds, or *limit*
    bytes of output.
    """
    assert given is None or len(given) <= MAX_INPUT_BYTES
    try:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            cwd=cwd,
            # Python's descriptors are not inherited, and a host may have hundreds of them to close.
            close_fds=False,
        )
    except (OSError, ValueError):
        return None
    assert child.stdout is not None
    if child.stdin is not None:
        # It fits into the pipe. A program that does not read it will fail.
        with contextlib.suppress(OSError):
            os.write(child.stdin.fileno(), given or b"")
        child.stdin.close()
    end = time.monotonic() + patience
    output = bytearray()
    try:
        poller = select.poll()
        poller.register(child.stdout, select.POLLIN | select.POLLHUP)
        while True:
            left = end - time.monotonic()
            if left <= 0 or not poller.poll(left * 1000):
                raise StuckError(argv[0])
            chunk = os.read(child.stdout.fileno(), 65_536)
            if not chunk:
                break
            output += chunk
            if len(output) > limit:
                raise StuckError(argv[0])
        return Ran(child.wait(max(0.01, end - time.monotonic())), bytes(output))
    except (StuckError, subprocess.TimeoutExpired):
        child.kill()
        child.wait()
        raise StuckError(argv[0]) from None
    finally:
        child.stdout.close()
