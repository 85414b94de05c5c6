"""
The package that owns a program: what a worker reads of it, once a program.

Of what lies in a `node_modules` it is the nearest `package.json` above that has a name, with the `README.md` beside it;
of a script of Python the distribution of its environment that has it as an entry point. Where none of them tells, the
program itself is read: how a native agent is installed, most packages do not say. All that is read is bounded.
"""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

import attrs

from tallylight.evidence import made_with
from tallylight.evidence.process import Process, is_version
from tallylight.evidence.records.places import read_part
from tallylight.evidence.stranger import file_of
from tallylight.evidence.unknown import UnknownProgram
from tallylight.snapshot.waiting_time_file import today

#: Folders above a program, distributions of an environment, and bytes of a file that are read.
_UP, _DISTRIBUTIONS = 6, 600
_BYTES, _HEAD, _ENTRIES = 131_072, 8_192, 16_384
#: Bytes that are read of a program at its begin, where compilers put texts, and at its end, where bundles hang; how
#: many at a time, so that no other thread waits for the search; and by how many two parts overlap.
_BEGIN, _END, _STEP, _OVERLAP = 16 << 20, 112 << 20, 1 << 20, 32
#: Seconds that this may take.
_MOST_S = 3.0


@attrs.frozen
class PackageRequest:
    """What the *run* of a program is made with; its file is *program*, an absolute path."""

    program: Path
    run: tuple[int, int]

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.program,)

    def read(self) -> str:
        """The sign, in words; nothing if its package is not found or has none."""
        folder, text = _npm(self.program)
        found = made_with.of_npm(text) or made_with.of_itself(_text(folder / "README.md", _HEAD)) if text else ""
        return found or made_with.of_python(_metadata(self.program)) or _of_itself(self.program)


def version_of(process: Process) -> str:
    """
    The version of the program that *process* runs, as its package says, or the folders that it lies in.

    Else it is the day on which its file was written; nothing if its file is not known.
    """
    file = file_of(process)
    if not file:
        return ""
    program = Path(file)
    if found := made_with.version(_npm(program)[1], _metadata(program)):
        return found
    named = filter(is_version, reversed(Path(os.path.realpath(program)).parts))
    try:
        return next(named, "") or today(program.stat().st_mtime)
    except OSError:
        return ""


def _npm(program: Path) -> tuple[Path, str]:
    """The folder of the package of npm that *program* lies in, and its `package.json`; nothing if there is none."""
    place = Path(os.path.realpath(program))
    found = list(itertools.takewhile(lambda folder: folder.name != "node_modules", place.parents))
    for folder in found[:_UP] if len(found) < len(place.parents) else ():
        if (text := _text(folder / "package.json", _BYTES)) and '"name"' in text:
            return folder, text
    return place, ""


def _metadata(program: Path) -> str:
    """The `METADATA` of the distribution that has *program* as an entry point; nothing if there is none."""
    for folder in _distributions(program):
        entries = _text(folder / "entry_points.txt", _ENTRIES).splitlines()
        if any(entry.partition("=")[0].strip() == program.name for entry in entries):
            return _text(folder / "METADATA", _BYTES)
    return ""


def _distributions(program: Path) -> Iterator[Path]:
    """The distributions of the Python environment that has *program*, or its target, in its `bin`."""
    for script in dict.fromkeys((program, Path(os.path.realpath(program)))):
        found = script.parent.parent.glob("lib/python3*/site-packages/*.dist-info")
        yield from itertools.islice(found, _DISTRIBUTIONS)


def _of_itself(program: Path) -> str:
    try:
        found = program.stat()
    except (OSError, ValueError):
        return ""
    return _of_bytes(program, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))


@functools.lru_cache(256)
def _of_bytes(program: Path, stamp: tuple[int, ...]) -> str:
    """The sign in the program's own bytes, whose state *stamp* tells: each state of it is read once."""
    size, until = stamp[2], time.monotonic() + _MOST_S
    begin = range(0, min(size, _BEGIN), _STEP)
    for at in (*begin, *range(size - _STEP, max(_BEGIN, size - _END) - _STEP, -_STEP)):
        if time.monotonic() > until:
            break  # other agents' files wait
        if sign := made_with.of_program(read_part(program, max(0, at), _STEP + _OVERLAP) or b""):
            return sign
    return ""


def _text(path: Path, most: int) -> str:
    return (read_part(path, 0, most) or b"").decode("utf-8", "replace")


def package_of(program: UnknownProgram | None) -> PackageRequest | None:
    """What is to be read of an unknown *program*, until that was done once; None if its file is not known."""
    if program is None or program.made_with is not None:
        return None
    file = file_of(program.process, program.name)
    if not file:
        program.note_package("", program.process.run)
    return PackageRequest(Path(file), program.process.run) if file else None
