"""
`tally prompt`: how many agents wait, have failed, are done or work, as one short line for a shell's prompt.

A shell runs this before each prompt. So it takes about the time of an empty Python program, as `tally emit` does. The
snapshots are read with the scanner that hooks use, and nothing is imported that would load `re`, `enum`, `attrs` or
`json`. It never complains: a snapshot that cannot be read, or that another program may have written, is left out.
"""

from __future__ import annotations

import os
import stat
import sys
import time

from tallylight.hooks import payload
from tallylight.snapshot import lives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from tallylight.cli.parser import Parser

#: Each status in the line, most urgent first, and its mark. `model.lights` has them with an enum, which costs more to
#: import than the rest of the command; a test compares them. An agent at its prompt is not shown.
MARKS = {
    "waiting": "!", "error": "×", "down": "▼", "done": "✓", "limited": "◷", "quiet": "◇", "background": "○",
    "working": "●",
}  # fmt: skip
#: As in `snapshot.schema` and `snapshot.writer`, which a test compares too.
VERSION = 1
MAX_SNAPSHOT_BYTES = 4 * 1024 * 1024
MAX_HOST_FILES = 256
#: As in `wire.values`.
LATEST = float(1 << 37)


def make_parser() -> Parser:
    """Return the parser, which takes no arguments; for the help and for mistakes alone."""
    from tallylight.cli.parser import Parser

    return Parser(
        prog="tally prompt",
        description="Print one short line for a shell's prompt, most urgent first. !2 says that two wait for you. "
        "× has failed, ▼ vanished, ✓ is done, ◷ is at a limit, ◇ is quiet, ○ has background tasks, ● works. "
        "It prints nothing if there are none. If the state is old, its time follows: as of 12:03:10.",
        examples={"tally prompt": "!2 ●3", "PS1='$(tally prompt) '$PS1": "in ~/.bashrc"},
        codes={0: "always", 1: ""},
    )


def main(argv: list[str]) -> int:
    """Print the line, if there is one."""
    if argv:
        make_parser().parse_args(argv)
    folder = directory(os.environ)
    hosts = [*snapshots(folder)]
    shown = line(statuses(hosts), as_of(hosts, folder))
    if shown:
        sys.stdout.write(f"{shown}\n")
    return 0


def line(found: Mapping[str, int], written: float = 0.0) -> str:
    """
    Return the counts *found* of each status as one line; with the time where they were *written* and are out of date.
    """
    counts = [f"{mark}{found[status]}" for status, mark in MARKS.items() if status in found]
    return " ".join([*counts, *([time.strftime("as of %H:%M:%S", time.localtime(written))] if written else ())])


def as_of(hosts: Sequence[Mapping[str, Any]], folder: str) -> float:
    """Return when the snapshots of *hosts* were written into *folder*, if some cannot be written now; else 0."""
    is_all = lives.unwritable(folder) != ""
    times = [host.get("written") for host in hosts if is_all or host.get("stale") is True]
    return max([at for at in times if isinstance(at, int | float) and 0 < at < LATEST], default=0.0)


def statuses(hosts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many panes have each status, of all *hosts*."""
    found: dict[str, int] = {}
    for host in hosts:
        panes = host.get("panes")
        for pane in panes if isinstance(panes, list) else ():
            status = pane.get("status") if isinstance(pane, dict) else None
            if isinstance(status, str):
                found[status] = found.get(status, 0) + 1
    return found


def directory(environ: Mapping[str, str]) -> str:
    """Return the directory of the snapshots, as `snapshot.writer.directory` does."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and os.path.isdir(runtime):  # noqa: PTH112 - see above
        return f"{runtime}/tallylight"
    for folder in (environ.get("TMPDIR"), environ.get("TEMP"), environ.get("TMP"), "/tmp"):  # noqa: S108 - where it is
        if folder and os.access(folder, os.W_OK | os.X_OK):
            return f"{folder}/tallylight-{os.getuid()}"
    return ""


def snapshots(folder: str) -> Iterator[dict[str, Any]]:
    """Yield the snapshots of the living hosts in *folder*."""
    try:
        parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        mode = os.fstat(parent).st_mode
        if os.fstat(parent).st_uid != os.getuid() or mode & 0o022:
            return  # another user can change it
        names = sorted(name for name in os.listdir(parent) if _process(name))  # noqa: PTH208
        for name in names[:MAX_HOST_FILES]:
            for _ in range(lives.LIFE_TRIES):
                data = _read(parent, name, mode)
                found = payload.members(data, MAX_SNAPSHOT_BYTES)
                pid, birth = _process(name), found.get("birth")
                is_one = found.get("version") == VERSION and found.get("pid") == pid
                if not (is_one and isinstance(birth, str) and lives.is_alive(pid, birth)):
                    break
                if lives.has_written(pid, birth, found.get("sealed"), data):
                    yield found
                    break
    except OSError:
        return
    finally:
        os.close(parent)


def _process(name: str) -> int:
    """Return the process of a snapshot by its *name*, `kitty-4711.json`; 0 for another file."""
    host, dash, pid = name.removesuffix(".json").rpartition("-")
    is_one = dash and name.endswith(".json") and host.isascii() and host.isalpha() and pid.isascii() and pid.isdigit()
    return int(pid[:10]) if is_one else 0


def _read(parent: int, name: str, mode: int) -> bytes:
    """
    Return the bytes of one file in the directory *parent*, with the mode *mode*; none if it may be another user's.
    """
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    except OSError:
        return b""
    try:
        found = os.fstat(fd)
        # Where others cannot enter they cannot write either.
        is_own = found.st_uid == os.getuid() and not (found.st_mode & 0o022 and mode & 0o011)
        if not is_own or not stat.S_ISREG(found.st_mode):
            return b""
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read(MAX_SNAPSHOT_BYTES)
    finally:
        os.close(fd)
