"""
What earlier runs of a host last showed, for the next one, which keeps the age of a question that still waits.

A host that is killed leaves its snapshot, and one that ends puts it aside (`SnapshotWriter.leave`); `sweep` puts aside
what dead ones left. The files are read once, when a host starts. Nothing in them is believed that cannot be so: one of
another boot, or from the future, says nothing. Whether a pane is still what it was, `pane.former` decides.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

import attrs

from tallylight.snapshot.lives import birth_of
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.snapshot.waiting_time_file import today
from tallylight.snapshot.writer import SnapshotError, aside, checked_directory, directory, read

#: Files of one kind of host that are kept, for there may be several of a kind at once; and for how many seconds.
MAX_FILES, KEEP_S = 8, 86400.0
#: By how many seconds a time may lie in the future: the clock is set now and then.
SLACK_S = 2.0

#: The panes of earlier runs by their id: one of each process, the newest first.
Known = dict[str, list[Pane]]


def read_former(host: str, environ: Mapping[str, str], clock: float) -> Known:
    """What earlier runs of the host *host* showed; it is *clock* by the wall. A fault in a file costs that file."""
    found: list[Snapshot] = []
    with contextlib.suppress(OSError, SnapshotError):
        folder = checked_directory(directory(environ))
        times = {path: path.lstat().st_mtime for path in aside(folder, host)}
        paths = sorted(times, key=lambda path: -times[path])
        kept = [path for path in paths[:MAX_FILES] if clock - times[path] < KEEP_S]
        for path in paths[len(kept) :]:
            path.unlink()
        # One in this process is replaced by what is written next.
        for path in [folder / f"{host}-{os.getpid()}.json", *kept]:
            with contextlib.suppress(OSError, SnapshotError):
                found.append(read(path))
    known: Known = {}
    boot, _, _ = birth_of(os.getpid()).rpartition("/")
    for snapshot in sorted(found, key=lambda one: -one.written):
        if snapshot.birth.rpartition("/")[0] != boot or snapshot.written > clock + SLACK_S:
            continue
        is_today = today(snapshot.written) == today(clock)
        for pane in snapshot.panes:
            others = known.setdefault(pane.id, [])
            if 0 < pane.since <= snapshot.written + SLACK_S and pane.pid not in [other.pid for other in others]:
                others.append(pane if is_today else attrs.evolve(pane, waited_s=0.0))
    return known
