"""
Another program, run to its end: bounded in time and in what it writes. It blocks: for a thread that nobody waits for.
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

#: A program is given so long, in seconds, and so many bytes of output.
PATIENCE_S = 3.0
MAX_OUTPUT = 4 * 1024 * 1024
#: What a pipe holds, so that giving it never waits. https://man7.org/linux/man-pages/man7/pipe.7.html
MAX_GIVEN = 16 * 1024


class StuckError(Exception):
    """A program that did not end in its time, or wrote more than it may. It was killed."""


@attrs.frozen
class Ran:
    """How a program ended, and what it wrote on standard output."""

    code: int
    output: bytes


def find_program(name: str, path: str) -> str:
    """
    The file that *name* would run by *path*, nothing if there is none. Only absolute directories count.

    An absolute path is that file itself.
    """
    if name.startswith("/"):
        return name if is_program(Path(name)) else ""
    candidates = (Path(directory, name) for directory in path.split(os.pathsep) if directory.startswith("/"))
    return next((str(found) for found in candidates if is_program(found)), "")


def is_program(path: Path) -> bool:
    """Whether there is a file that this user can run."""
    return path.is_file() and os.access(path, os.X_OK)


def own_command(path: str = "") -> str:
    """Our own command: as *path* has it, else where it was installed; nothing if it is nowhere."""
    installed = (directories.data_dir() / "bin/tally", directories.home() / ".local/bin/tally")
    return find_program("tally", path) or next((str(found) for found in installed if is_program(found)), "")


def run(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    given: bytes | None = None,
    patience: float = PATIENCE_S,
    limit: int = MAX_OUTPUT,
    cwd: str | None = None,
) -> Ran | None:
    """
    Run a program to its end; None if there is no such program. What it says on standard error goes nowhere.

    *given* is what it reads on standard input, at most `MAX_GIVEN` bytes. `StuckError` after *patience* seconds, or
    *limit* bytes.
    """
    assert given is None or len(given) <= MAX_GIVEN
    try:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            cwd=cwd,
            # Python opens none that a child would inherit, and a host may hold hundreds of files open.
            close_fds=False,
        )
    except (OSError, ValueError):
        return None
    assert child.stdout is not None
    if child.stdin is not None:
        # It fits into the pipe, and a program that does not read it is noticed by its code.
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
