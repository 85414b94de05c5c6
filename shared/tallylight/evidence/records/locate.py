"""
Where the record of one process is: the facts of the process, and the choice among several records.

The newest is never taken by luck. These decide, in this order:

* a file that the process itself has open, or that names it;
* the session that it was seen to hold;
* a session that began in its directory while no other process of that agent could have begun it there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from tallylight.evidence.records.places import Place, Places
from tallylight.evidence.records.reading import entry_of

#: Seconds that a session may seem to begin before its process: clocks are read one after the other.
SESSION_SLACK_S = 1.5
#: Sessions among which one is chosen.
MAX_CANDIDATES = 256


@attrs.frozen(kw_only=True)
class Facts:
    """
    The known facts of one process of an agent. Times are seconds since the epoch; *started* is 0 if unknown.

    *open_files* are those of the process and of its children in its own group. *others* are the start times of other
    processes of the same agent in the same directory. *session* is the one it was seen to hold, *title* the title of
    its window; either may be empty.
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
    """A record that may be of the process: its place, its session, and when that began."""

    place: Place
    session: str
    began: float


def written(
    folder: str, name: re.Pattern[str], facts: Facts, places: Places, below: str = ""
) -> Iterator[tuple[str, re.Match[str], dict[str, Any]]]:
    """
    Yield the records in *folder* called *name* that were written since the process began: path, name, and first entry.

    *below* is the path of the record in a folder of that name.
    """
    for called in places.names(folder):
        path = posixpath.join(folder, called + below)
        if (match := name.fullmatch(called)) is not None and places.changed(path) >= facts.started:
            yield path, match, entry_of(places.head(path).partition(b"\n")[0])


def own_record(facts: Facts, candidates: Sequence[Candidate], places: Places) -> Place | None:
    """
    Return the one of *candidates*, all of the directory of the process, that is its own; None if uncertain.

    A process has one session at a time. A session that only one of the processes could have begun is that one's, which
    leaves the others with the rest. Of several that a process alone in its directory may have begun, the one that was
    seen to grow meanwhile is the present one.
    """
    if facts.session:
        return next((found.place for found in candidates if found.session == facts.session), None)
    if not facts.started:
        return None
    if not facts.others:
        own = [found for found in candidates if found.began >= facts.started - SESSION_SLACK_S]
        grown = max(own, key=lambda found: places.grew(found.place), default=None)
        is_sure = grown is not None and (len(own) == 1 or places.grew(grown.place))
        return grown.place if grown is not None and is_sure else None
    # Every other candidate with a single possible owner is given to it, until one is left for the process, or none.
    starts = [facts.started, *facts.others]
    free = set(range(len(starts)))
    left = sorted(candidates, key=lambda found: found.began)[-MAX_CANDIDATES:]
    while True:
        for found in left:
            able = [number for number in free if found.began >= starts[number] - SESSION_SLACK_S]
            if len(able) == 1:
                if able == [0]:
                    return found.place
                free.discard(able[0])
                left.remove(found)
                break
        else:
            return None
