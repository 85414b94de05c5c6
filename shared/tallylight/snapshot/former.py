"""
The last snapshots of earlier runs of a host: the next run keeps the age of a question that still waits.

A killed host leaves its snapshot, and a host that ends puts it aside (`SnapshotWriter.leave`); `sweep` puts aside the
files of dead hosts. They are read once, when a host starts. A file of another boot, or from the future, is ignored.
`pane.former` decides whether a pane is still the same.
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

#: The most files kept for one kind of host, for several may run at once; and the seconds for which they are kept.
MAX_FORMER_FILES, KEEP_S = 8, 86400.0
#: A time may be in the future by so many seconds, for the clock may have been set.
CLOCK_SLACK_S = 2.0

#: The panes of earlier runs by their id: one of each process, the newest first.
FormerPanes = dict[str, list[Pane]]


def read_former(host: str, environ: Mapping[str, str], clock: float) -> FormerPanes:
    """
    Return the panes of earlier runs of *host*, and remove old files; *clock* is the wall clock now.

    A fault costs only its file.
    """
    found: list[Snapshot] = []
    with contextlib.suppress(OSError, SnapshotError):
        folder = checked_directory(directory(environ))
        times = {}
        for path in aside(folder, host):
            with contextlib.suppress(OSError):
                times[path] = path.lstat().st_mtime
        paths = sorted(times, key=lambda path: -times[path])
        kept = [path for path in paths[:MAX_FORMER_FILES] if clock - times[path] < KEEP_S]
        for path in paths[len(kept) :]:
            with contextlib.suppress(OSError):
                path.unlink()
        # A file of this very process is about to be replaced.
        for path in [folder / f"{host}-{os.getpid()}.json", *kept]:
            with contextlib.suppress(OSError, SnapshotError):
                found.append(read(path))
    known: FormerPanes = {}
    boot, _, _ = birth_of(os.getpid()).rpartition("/")
    for snapshot in sorted(found, key=lambda one: -one.written):
        if snapshot.birth.rpartition("/")[0] != boot or snapshot.written > clock + CLOCK_SLACK_S:
            continue
        is_today = today(snapshot.written) == today(clock)
        for pane in snapshot.panes:
            others = known.setdefault(pane.id, [])
            if 0 < pane.since <= snapshot.written + CLOCK_SLACK_S and pane.pid not in [other.pid for other in others]:
                attention = pane.attention if is_today else attrs.evolve(pane.attention, waited_s=0.0)
                others.append(attrs.evolve(pane, attention=attention))
    return known
