"""
The file of turns: the last 30 days of agents on this machine, one JSON object a line, oldest first.

`<state directory>/history/turns.jsonl`, readable by this user alone. Every host appends its lines; a lock on the
directory keeps two from writing at once. No host waits for the lock: it tries again later. Old lines are removed by
rename, so a reader sees one whole file or the other. A broken line affects only itself. Of several lines with the same
id the last one counts.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs

from tallylight.config.config_file import load_config
from tallylight.files import directories, read_write
from tallylight.files.lock import BusyError as BusyError
from tallylight.files.lock import locked
from tallylight.model.errors import DecodeError, TallyError
from tallylight.model.finding import Finding, Health
from tallylight.model.limits import KEPT_S
from tallylight.parts.diary.history import History, without_repeated
from tallylight.parts.diary.turns import Turn
from tallylight.snapshot.waiting_time_file import today
from tallylight.snapshot.writer import Snapshot, checked_directory, directory, held, read_living
from tallylight.wire import values

#: Bytes of the file, and of one line. To make room, the file is trimmed to the share TRIMMED_SHARE of it.
MAX_HISTORY_BYTES, MAX_HISTORY_LINE_BYTES = 5_000_000, 8192
TRIMMED_SHARE = 0.8


def path(environ: Mapping[str, str]) -> Path:
    return directories.state_dir(environ) / "history" / "turns.jsonl"


def append(file: Path, turns: Sequence[Turn]) -> None:
    """
    Append *turns*, whole or not at all.

    Raise `BusyError` if another host does so now; `OSError` and `TallyError` if the disk or the directory cannot be
    used.
    """
    data = b"".join(map(_line, turns))
    if not data:
        return
    with held(file.parent, "another host writes"):
        try:
            size = file.lstat().st_size
        except FileNotFoundError:
            size = 0
        if size + len(data) > MAX_HISTORY_BYTES:
            read_write.atomic_write(
                file, trimmed(read_write.read_own(file, 2 * MAX_HISTORY_BYTES), room=len(data)), 0o600
            )
        _append(file, data)


def trim(file: Path, now: float) -> None:
    """
    Remove turns older than `KEPT_S` at *now*, in seconds since the epoch, and lines that later ones replace.

    Without such lines the file is not written. Errors as of `append`.
    """
    try:
        checked_directory(file.parent)
    except FileNotFoundError:
        return
    with locked(file.parent, "another host writes"):
        try:
            data = read_write.read_own(file, 2 * MAX_HISTORY_BYTES)
        except FileNotFoundError:
            return
        kept = trimmed(data, before=now - KEPT_S)
        if kept != data:
            read_write.atomic_write(file, kept, 0o600)


def trimmed(data: bytes, *, before: float = 0.0, room: int | None = None) -> bytes:
    """
    Return *data* without turns that ended *before* then, without broken and replaced lines.

    With *room*, remove the oldest too, until the file and *room* bytes fit into `TRIMMED_SHARE` of the limit.
    """
    lines: dict[str, bytes] = {}
    for line, turn in _turns(data):
        # A turn that is written again moves to its last place: the file stays in the order of writing.
        lines.pop(turn.id, None)
        if turn.ended >= before:
            lines[turn.id] = line + b"\n"
    kept = list(lines.values())
    most = MAX_HISTORY_BYTES if room is None else TRIMMED_SHARE * MAX_HISTORY_BYTES - room
    size, start = sum(map(len, kept)), 0
    while start < len(kept) and size > most:
        size -= len(kept[start])
        start += 1
    return b"".join(kept[start:])


def read(file: Path, since: float = 0.0) -> list[Turn]:
    """
    Return the turns that began at *since* or later, in seconds since the epoch, each once, oldest first.

    Empty without a file. Raise `OSError` and `TallyError` if it cannot be read, or could be another user's.
    """
    try:
        data = read_write.read_own(file, 2 * MAX_HISTORY_BYTES)
    except FileNotFoundError:
        return []
    found = {turn.id: turn for _, turn in _turns(data)}
    return sorted((turn for turn in found.values() if turn.began >= since), key=lambda turn: (turn.began, turn.id))


def recent(environ: Mapping[str, str], clock: float, days: int) -> History:
    """Return the history of the last *days* days up to *clock*, in seconds since the epoch. Errors as of `read`."""
    local = time.localtime(clock)
    starts = [
        time.mktime((local.tm_year, local.tm_mon, local.tm_mday - back, 0, 0, 0, 0, 0, -1))
        for back in range(days - 1, -1, -1)
    ]
    lives = functools.cache(lambda host: isinstance(read_living(directory(environ) / f"{host}.json"), Snapshot))
    found = read(path(environ), starts[0])
    # A turn that was open continues if its host is alive.
    turns = without_repeated(
        [turn.at(clock) if turn.doing and lives(turn.id.partition(":")[0]) else turn for turn in found]
    )
    # Noon: an hour more or less, where the clocks are changed, is the same day.
    return History(tuple(today(start + 12 * 3600) for start in starts), tuple(turns), today)


def problem(environ: Mapping[str, str]) -> str:
    """Return why the file cannot be written; empty if it can."""
    file = path(environ)
    place = next((part for part in (file, *file.parents) if part.exists()), Path("/"))
    try:
        if place in (file, file.parent):
            checked_directory(file.parent)
        if not os.access(place, os.W_OK):
            return f"{place} cannot be written to"
        if os.statvfs(place).f_bavail == 0:
            return f"the disk of {place} is full"
    except (OSError, TallyError) as error:
        return str(error)
    return ""


def checks(environ: Mapping[str, str], _hosts: Sequence[Snapshot]) -> Iterator[Finding]:
    """Yield a finding if the file cannot be written and the user wants a history."""
    if load_config(environ)[0].history.keep and (found := problem(environ)):
        yield Finding("history", Health.BROKEN, found, "until it can be written, `tally log` lacks what happens")


def _turns(data: bytes) -> Iterator[tuple[bytes, Turn]]:
    """Yield the readable turns in *data*, each with its line."""
    for line in data.split(b"\n"):
        if not line or len(line) > MAX_HISTORY_LINE_BYTES:
            continue
        try:
            turn = Turn.from_json(values.load(line))
        except DecodeError:
            continue
        if turn is not None:
            yield line, turn


def _line(turn: Turn) -> bytes:
    line = json.dumps(turn.to_json(), separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    # Few cells may be many bytes: emoji of many parts.
    return line if len(line) <= MAX_HISTORY_LINE_BYTES else _line(attrs.evolve(turn, title="", project="", asked=()))


def _append(file: Path, data: bytes) -> None:
    """Append *data*; whole, or nothing of it."""
    fd = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise read_write.FileError(file, "is not a regular file")
        if found.st_size and os.pread(fd, 1, found.st_size - 1) != b"\n":
            data = b"\n" + data  # a line that a power cut truncated ends here
        try:
            if os.write(fd, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(fd, found.st_size)
            raise
    finally:
        os.close(fd)
