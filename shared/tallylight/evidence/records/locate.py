"""
Where the record of one process is: what is known of the process, what may be asked of the disk, and how the record is
chosen among several.

The newest is never taken by luck. What decides, in this order: a file that the process itself has open or that names
it; the session that it was heard to hold; and else that a session began in the directory of the process while no other
process of that agent could have begun it there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.reading import entry_of

#: How much earlier, in seconds, than its process a session may seem to have begun: clocks are read one after the other.
SLACK_S = 1.5
#: Of the sessions among which one is chosen.
MAX_CANDIDATES = 256


@attrs.frozen(kw_only=True)
class Facts:
    """
    What is known of one process of an agent. Times are seconds since the epoch; *started* is 0 where it is unknown.

    *open_files* are those of the process and of what it started in its own group. *others* are the start times of other
    processes of the same agent in the same directory. *session* is the one it was heard to hold, *title* what it wrote
    as the title of its window; either may be empty.
    """

    pid: int
    pids: tuple[int, ...] = ()
    started: float = 0.0
    cwd: str = ""
    home: str = ""
    environ: Mapping[str, str] = attrs.Factory(dict)
    open_files: tuple[str, ...] = ()
    others: tuple[float, ...] = ()
    session: str = ""
    title: str = ""


@attrs.frozen
class Candidate:
    """A record that may be of the process: where it is, which session it is of, and when that began."""

    place: Place
    session: str
    began: float


def written(
    folder: str, name: re.Pattern[str], facts: Facts, places: Places, below: str = ""
) -> Iterator[tuple[str, re.Match[str], dict[str, Any]]]:
    """
    The records in *folder* called *name* that were written since the process began: path, name, and first entry.

    *below* is where in a folder of that name the record lies.
    """
    for called in places.names(folder):
        path = posixpath.join(folder, called + below)
        if (match := name.fullmatch(called)) is not None and places.changed(path) >= facts.started:
            yield path, match, entry_of(places.head(path).partition(b"\n")[0])


def mine(facts: Facts, candidates: Sequence[Candidate], places: Places) -> Place | None:
    """
    The one of *candidates*, all of the directory of the process, that is its own; None if that is not certain.

    A process has one session at a time. One that began when only one of the processes could have begun it is that
    one's, which leaves the others with the rest. Of several that a process alone in its directory may have begun, the
    one that was seen to grow meanwhile is the present one.
    """
    if facts.session:
        return next((found.place for found in candidates if found.session == facts.session), None)
    if not facts.started:
        return None
    if not facts.others:
        own = [found for found in candidates if found.began >= facts.started - SLACK_S]
        grown = max(own, key=lambda found: places.grew(found.place), default=None)
        is_sure = grown is not None and (len(own) == 1 or places.grew(grown.place))
        return grown.place if grown is not None and is_sure else None
    # Every other candidate of a single possible owner is given to it, until one is left for the process, or none is.
    starts = [facts.started, *facts.others]
    free = set(range(len(starts)))
    left = sorted(candidates, key=lambda found: found.began)[-MAX_CANDIDATES:]
    while True:
        for found in left:
            able = [number for number in free if found.began >= starts[number] - SLACK_S]
            if len(able) == 1:
                if able == [0]:
                    return found.place
                free.discard(able[0])
                left.remove(found)
                break
        else:
            return None
