"""
What stands beside the status of each agent that a person can see, read on threads of a program that shows a list.

    watch = Watch(os.environ.get("HOME", ""))
    watch.poll(panes, now)      the panes that can be seen, at monotonic now; True: something is new
    watch.known                 what is known, by `Pane.works_in`
    watch.due()                 when to poll again

One repository is read at a time: soon after its agent shows another status, every few seconds while it works, and else
seldom. One in which git is slow is left alone for longer and longer times. `read_all` reads once, for a list that is
printed.

Only a directory that a host has seen itself is looked into: no output of a program leads there.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping

import attrs

from tallylight.actions import repository
from tallylight.actions.repository import PATIENCE_S, SlowError
from tallylight.model.beside import NOTHING, Beside
from tallylight.model.errors import TallyError
from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane

#: Seconds between two readings of one repository: while an agent works in it, and while none does.
BUSY_S, CALM_S = 5.0, 60.0
#: Seconds between two readings of it after its agent showed another status.
SOON_S = 1.0
#: A reading that took so long, in seconds, is repeated no sooner than after so many times as long.
SHARE = 20
#: Seconds for which a repository is left alone in which git was slow; doubled each time, up to the last.
PAUSE_S, PAUSE_MAX_S = 60.0, 900.0
#: How often, in seconds, to look whether a thread is done.
WAIT_S = 0.05
#: Directories that are known at once, and threads of `read_all`.
MAX_KNOWN, THREADS = 256, 4

_BUSY = (Status.WORKING, Status.BACKGROUND)


@attrs.define
class _Place:
    """What is known of one directory."""

    beside: Beside = NOTHING
    #: When it was read last, and before when it must not be again.
    read_at: float = float("-inf")
    rests_until: float = float("-inf")
    slow: int = 0
    #: What its agents showed when it was read.
    shown: frozenset[tuple[str, Status, float]] = frozenset()


@attrs.frozen
class _Read:
    """What a thread has found: *took* seconds; *was_slow*: it gave up."""

    directory: str
    beside: Beside
    took: float
    was_slow: bool


class Watch:
    """Follows the directories of panes. *home* is the person's; *read* reads one, on a thread, as `read_one` does."""

    def __init__(self, home: str, read: Callable[[str, str], tuple[Beside, bool]] | None = None) -> None:
        self._home = home
        self._read_one = read or read_one
        self._places: dict[str, _Place] = {}
        self._read: queue.SimpleQueue[_Read] = queue.SimpleQueue()
        self._is_reading = False
        self._due = float("inf")

    @property
    def known(self) -> dict[str, Beside]:
        """What is known, by directory."""
        return {directory: place.beside for directory, place in self._places.items()}

    def due(self) -> float:
        """When to call `poll` again, on its clock; infinity if there is nothing to read."""
        return self._due

    def poll(self, panes: Iterable[Pane], now: float) -> bool:
        """Take what was read, and begin to read what is due of *panes*; whether anything is new."""
        is_new = self._take(now)
        shown: dict[str, set[tuple[str, Status, float]]] = {}
        for pane in panes:
            if directory := pane.works_in:
                shown.setdefault(directory, set()).add((pane.id, pane.status, pane.since))
        for directory in self._places.keys() - shown.keys() if len(self._places) > MAX_KNOWN else ():
            del self._places[directory]
        dues = {directory: self._due_of(directory, frozenset(now_shown)) for directory, now_shown in shown.items()}
        first = min(dues, key=lambda directory: dues[directory], default=None)
        if self._is_reading:
            self._due = now + WAIT_S
        elif first is not None and dues[first] <= now:
            self._begin(first, frozenset(shown[first]), now)
            self._due = now + WAIT_S
        else:
            self._due = dues[first] if first is not None else float("inf")
        return is_new

    def _due_of(self, directory: str, shown: frozenset[tuple[str, Status, float]]) -> float:
        place = self._places.get(directory)
        if place is None:
            return float("-inf")
        every = BUSY_S if any(status in _BUSY for _, status, _ in shown) else CALM_S
        if shown != place.shown:
            every = SOON_S
        return max(place.read_at + every, place.rests_until)

    def _begin(self, directory: str, shown: frozenset[tuple[str, Status, float]], now: float) -> None:
        place = self._places.setdefault(directory, _Place())
        place.read_at, place.shown = now, shown
        self._is_reading = True
        threading.Thread(target=self._look, args=(directory,), name="beside", daemon=True).start()

    def _look(self, directory: str) -> None:
        began = time.monotonic()
        try:
            beside, was_slow = self._read_one(directory, self._home)
        except Exception:  # the next one may well succeed, and a list has no place for a traceback
            beside, was_slow = NOTHING, False
        self._read.put(_Read(directory, beside, time.monotonic() - began, was_slow))

    def _take(self, now: float) -> bool:
        """Take what a thread has found; whether it is new."""
        try:
            found = self._read.get_nowait()
        except queue.Empty:
            return False
        self._is_reading = False
        place = self._places.setdefault(found.directory, _Place())
        place.slow = place.slow + 1 if found.was_slow else 0
        rest = min(PAUSE_MAX_S, PAUSE_S * 2.0 ** (place.slow - 1)) if found.was_slow else SHARE * found.took
        place.rests_until = now + rest
        before, place.beside = place.beside, found.beside
        return before != found.beside


def read_one(directory: str, home: str, seconds: float = PATIENCE_S) -> tuple[Beside, bool]:
    """What stands beside an agent that works in *directory*, and whether git was too slow to tell what has changed."""
    try:
        head = repository.head_of(directory, home)
    except (OSError, TallyError, ValueError):
        return NOTHING, False
    if head is None:
        return NOTHING, False
    found = Beside(branch=head.branch, is_detached=head.is_detached, worktree=head.worktree)
    try:
        told = repository.changes_of(head.top, seconds)
    except SlowError:
        return found, True
    except (OSError, TallyError):
        return found, False
    if told is None:
        return found, False
    branch, changes = told
    return attrs.evolve(found, branch=found.branch or branch, changes=changes), False


def read_all(panes: Iterable[Pane], home: str, seconds: float) -> Mapping[str, Beside]:
    """What stands beside *panes*, by directory, as far as it can be read within *seconds*."""
    wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
    directories = list(dict.fromkeys(directory for pane in panes if (directory := pane.works_in)))[:MAX_KNOWN]
    for directory in directories:
        wanted.put(directory)
    read: queue.SimpleQueue[tuple[str, Beside]] = queue.SimpleQueue()

    def work() -> None:
        while True:
            try:
                directory = wanted.get_nowait()
            except queue.Empty:
                return
            beside, _ = read_one(directory, home, min(seconds, PATIENCE_S))
            read.put((directory, beside))

    for _ in range(min(THREADS, len(directories))):
        threading.Thread(target=work, name="beside", daemon=True).start()
    end = time.monotonic() + seconds
    found: dict[str, Beside] = {}
    while len(found) < len(directories):
        try:
            directory, beside = read.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            break
        found[directory] = beside
    return found
