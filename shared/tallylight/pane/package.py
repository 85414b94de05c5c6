"""
The package that installed a program: a worker reads it once, for signs that the program is an agent.

For a program in `node_modules` that is the nearest `package.json` above with a name, and the `README.md` beside it. For
a Python script it is the distribution with that entry point. If neither has a sign, the bytes of the program itself are
searched: most packages do not say how a native agent is installed. All reads are bounded.
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

#: The most folders above a program, and distributions of an environment, that are looked at.
_MAX_FOLDERS, _MAX_DISTRIBUTIONS = 6, 600
#: The most bytes that are read of a package's metadata, its README, and its entry points.
_METADATA_BYTES, _README_BYTES, _ENTRIES_BYTES = 131_072, 8_192, 16_384
#: The bytes of a program that are searched at its begin, where compilers put texts, and at its end, for bundles.
_BEGIN_BYTES, _END_BYTES = 16 << 20, 112 << 20
#: The bytes of one step, so that no other thread waits for the search, and the overlap of two steps.
_STEP_BYTES, _OVERLAP_BYTES = 1 << 20, 32
#: The most seconds of a search.
_SEARCH_S = 3.0


@attrs.frozen
class PackageRequest:
    """Asks what the *run* of a program was built with. *program* is the absolute path of its file."""

    program: Path
    run: tuple[int, int]

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.program,)

    def read(self) -> str:
        """Return the sign that it is an agent, in words; empty if its package is not found or has none."""
        folder, text = _npm(self.program)
        found = (
            made_with.of_npm(text) or made_with.of_itself(_text(folder / "README.md", _README_BYTES)) if text else ""
        )
        return found or made_with.of_python(_metadata(self.program)) or _sign_in_bytes(self.program)


def version_of(process: Process) -> str:
    """
    Return the version of the program that *process* runs, from its package or the names of its folders.

    Without one it is the day on which the file was written; empty if the file is not known.
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
    """
    Return the folder of the npm package around *program* and the text of its `package.json`; without one, the real path
    and "".
    """
    place = Path(os.path.realpath(program))
    found = list(itertools.takewhile(lambda folder: folder.name != "node_modules", place.parents))
    for folder in found[:_MAX_FOLDERS] if len(found) < len(place.parents) else ():
        if (text := _text(folder / "package.json", _METADATA_BYTES)) and '"name"' in text:
            return folder, text
    return place, ""


def _metadata(program: Path) -> str:
    """Return the `METADATA` of the Python distribution with the entry point *program*; empty if there is none."""
    for folder in _distributions(program):
        entries = _text(folder / "entry_points.txt", _ENTRIES_BYTES).splitlines()
        if any(entry.partition("=")[0].strip() == program.name for entry in entries):
            return _text(folder / "METADATA", _METADATA_BYTES)
    return ""


def _distributions(program: Path) -> Iterator[Path]:
    """Yield the distributions of the Python environment that has *program*, or its target, in its `bin`."""
    for script in dict.fromkeys((program, Path(os.path.realpath(program)))):
        found = script.parent.parent.glob("lib/python3*/site-packages/*.dist-info")
        yield from itertools.islice(found, _MAX_DISTRIBUTIONS)


def _sign_in_bytes(program: Path) -> str:
    """Return the sign of a language model in the bytes of *program* itself; empty for none."""
    try:
        found = program.stat()
    except (OSError, ValueError):
        return ""
    return _cached_sign_in_bytes(program, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))


@functools.lru_cache(256)
def _cached_sign_in_bytes(program: Path, stamp: tuple[int, ...]) -> str:
    """Return the same; *stamp* identifies the content of the file, so that it is searched once."""
    size, until = stamp[2], time.monotonic() + _SEARCH_S
    begin = range(0, min(size, _BEGIN_BYTES), _STEP_BYTES)
    end = range(size - _STEP_BYTES, max(_BEGIN_BYTES, size - _END_BYTES) - _STEP_BYTES, -_STEP_BYTES)
    for at in (*begin, *end):
        if time.monotonic() > until:
            break  # other agents' files wait to be read
        if sign := made_with.of_program(read_part(program, max(0, at), _STEP_BYTES + _OVERLAP_BYTES) or b""):
            return sign
    return ""


def _text(path: Path, most: int) -> str:
    return (read_part(path, 0, most) or b"").decode("utf-8", "replace")


def package_of(program: UnknownProgram | None) -> PackageRequest | None:
    """Return the request for the package of an unknown *program*; None if it was read or its file is not known."""
    if program is None or program.made_with is not None:
        return None
    file = file_of(program.process, program.name)
    if not file:
        program.note_package("", program.process.run)
    return PackageRequest(Path(file), program.process.run) if file else None
