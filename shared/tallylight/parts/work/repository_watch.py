"""
Branch and changes of each visible agent, read on threads of a program that shows a list.

    watch = Watch(home)
    watch.poll(panes, now)      the visible panes, at monotonic now; True: something is new
    watch.known                 the repositories, by the process of the agent
    watch.due()                 when to poll again

One repository is read at a time: soon after an agent's status changed, every few seconds while it works, and else
seldom. A repository with a slow git is read less and less often. `read_all` reads all of them once, for a printed list.

Only a directory that a host has seen itself is read: no output of a program leads there.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping

import attrs

from tallylight.files.program import StuckError
from tallylight.model.errors import TallyError
from tallylight.model.repository_status import NOTHING, RepositoryStatus
from tallylight.model.status import Status
from tallylight.parts.work import repository
from tallylight.parts.work.repository import GIT_S
from tallylight.snapshot.schema import Pane

#: Seconds between two readings of one repository: while an agent works in it, and while none does.
READ_BUSY_S, READ_CALM_S = 5.0, 60.0
#: Seconds between two readings after a status change of its agent.
READ_SOON_S = 1.0
#: A reading is repeated no sooner than after so many times its duration.
REST_FACTOR = 20
#: Seconds until a repository with a slow git is read again; doubled each time, up to the last.
SLOW_GIT_PAUSE_S, SLOW_GIT_PAUSE_MAX_S = 60.0, 900.0
#: How often, in seconds, to look whether a thread is done.
CHECK_THREAD_S = 0.05
#: Directories that are remembered, and threads of `read_all`.
MAX_DIRECTORIES, THREADS = 256, 4

_BUSY = (Status.WORKING, Status.BACKGROUND)

_Shown = frozenset[tuple[int | None, Status, float]]


def read_one(directory: str, home: str, seconds: float = GIT_S) -> tuple[RepositoryStatus, bool]:
    """Return the repository around *directory*, and whether git was too slow to list the changes."""
    found = NOTHING
    try:
        if (head := repository.head_of(directory, home)) is not None:
            top, found = head
            if (status := repository.changes_of(top, seconds)) is not None:
                found = attrs.evolve(found, branch=found.branch or status[0], changes=status[1])
    except StuckError:
        return found, True
    except (OSError, TallyError, ValueError):
        pass
    return found, False


#: Reads a directory on a thread; see `read_one`.
Read = Callable[[str, str], tuple[RepositoryStatus, bool]]


@attrs.define
class _Schedule:
    """The last reading of one directory, and when the next one is allowed."""

    #: When it was last read, and until when it must not be read again.
    read_at: float = float("-inf")
    rests_until: float = float("-inf")
    slow: int = 0
    #: The statuses of its agents when it was read.
    shown: _Shown = frozenset()


def _wanted(panes: Iterable[Pane]) -> dict[str, _Shown]:
    """Return the directories of *panes* with agents, each with the statuses of its agents."""
    wanted: dict[str, set[tuple[int | None, Status, float]]] = {}
    for pane in panes:
        if pane.works_in:
            wanted.setdefault(pane.works_in, set()).add((pane.agent_pid, pane.status, pane.since))
    return {directory: frozenset(shown) for directory, shown in wanted.items()}


def _together(panes: Iterable[Pane], known: Mapping[str, RepositoryStatus]) -> dict[int, RepositoryStatus]:
    """Return the *known* repositories of *panes*, by the process of each agent."""
    return {pane.agent_pid: known.get(pane.works_in, NOTHING) for pane in panes if pane.agent_pid is not None}


class Watch:
    """Follows panes and reads their repositories. *home* is the user's home directory; *reads* reads one repository."""

    def __init__(self, home: str, reads: Read = read_one) -> None:
        self._home = home
        self._reads = reads
        self._places: dict[str, _Schedule] = {}
        self._found: dict[str, RepositoryStatus] = {}
        #: Calls that apply the result of a thread, with the time.
        self._read: queue.Queue[Callable[[float], None]] = queue.Queue()
        self._is_reading = False
        self._due = float("inf")
        self.known: dict[int, RepositoryStatus] = {}

    def due(self) -> float:
        """Return when to call `poll` again, on its clock; infinity if there is nothing to read."""
        return self._due

    def poll(self, panes: Iterable[Pane], now: float) -> bool:
        """Apply finished readings, and start one that is due for *panes*; return whether anything is new."""
        while not self._read.empty():
            self._read.get()(now)
        panes = [pane for pane in panes if pane.agent_pid is not None]
        shown = _wanted(panes)
        if len(self._places) > MAX_DIRECTORIES:
            self._places = {directory: place for directory, place in self._places.items() if directory in shown}
            self._found = {directory: found for directory, found in self._found.items() if directory in shown}
        self._due = self._begin_first(shown, now)
        known = _together(panes, self._found)
        is_new, self.known = known != self.known, known
        return is_new

    def _begin_first(self, shown: Mapping[str, _Shown], now: float) -> float:
        """Start reading the directory that is due first; return when to look again."""
        dues = {directory: self._due_of(directory, status) for directory, status in shown.items()}
        first = min(dues, key=lambda directory: dues[directory], default=None)
        if self._is_reading:
            return now + CHECK_THREAD_S
        if first is None or dues[first] > now:
            return dues[first] if first is not None else float("inf")
        place = self._places.setdefault(first, _Schedule())
        place.read_at, place.shown = now, shown[first]
        self._is_reading = True
        threading.Thread(target=self._look, args=(first,), name="beside", daemon=True).start()
        return now + CHECK_THREAD_S

    def _due_of(self, directory: str, shown: _Shown) -> float:
        place = self._places.get(directory)
        if place is None:
            return float("-inf")
        is_busy, is_new = any(status in _BUSY for _, status, _ in shown), shown != place.shown
        return max(
            place.read_at + (READ_SOON_S if is_new else READ_BUSY_S if is_busy else READ_CALM_S), place.rests_until
        )

    def _look(self, directory: str) -> None:
        began = time.monotonic()
        found = NOTHING
        was_slow = False
        with contextlib.suppress(Exception):  # the next one can succeed, and a list has no place for a traceback
            found, was_slow = self._reads(directory, self._home)
        took = time.monotonic() - began

        def take(now: float) -> None:
            self._is_reading = False
            place = self._places.setdefault(directory, _Schedule())
            place.slow = place.slow + 1 if was_slow else 0
            rest = (
                min(SLOW_GIT_PAUSE_MAX_S, SLOW_GIT_PAUSE_S * 2.0 ** (place.slow - 1))
                if was_slow
                else REST_FACTOR * took
            )
            place.rests_until = now + rest
            self._found[directory] = found

        self._read.put(take)


def read_all(panes: Iterable[Pane], home: str, seconds: float, reads: Read = read_one) -> dict[int, RepositoryStatus]:
    """Return the repositories of *panes*, by the process of each agent, as far as they can be read within *seconds*."""
    panes = [pane for pane in panes if pane.agent_pid is not None]
    wanted = sorted(_wanted(panes))
    directories = iter(wanted)
    done: queue.Queue[tuple[str, RepositoryStatus]] = queue.Queue()

    def work() -> None:
        for directory in directories:
            done.put((directory, reads(directory, home)[0]))

    for _ in wanted[:THREADS]:
        threading.Thread(target=work, name="beside", daemon=True).start()
    end = time.monotonic() + seconds
    found: dict[str, RepositoryStatus] = {}
    with contextlib.suppress(queue.Empty):
        for _ in wanted:
            directory, one = done.get(timeout=max(0.0, end - time.monotonic()))
            found[directory] = one
    return _together(panes, found)
