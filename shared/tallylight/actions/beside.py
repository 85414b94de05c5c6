"""
What stands beside the status of each agent that a person can see, read on threads of a program that shows a list.

    watch = Watch(home, settings)
    watch.poll(panes, now)      the panes that can be seen, at monotonic now; True: something is new
    watch.known                 what is known, by the process of the agent
    watch.due()                 when to poll again

One reading is made at a time, of one repository, or of the ports of all: soon after an agent shows another status,
every few seconds while it works, and else seldom. A repository in which git is slow is left alone for longer and longer
times. `read_all` reads once, for a list that is printed.

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
from tallylight.config.settings import Listed
from tallylight.evidence.ports import listening
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
#: In the place of a directory: the ports of all agents.
_PORTS = ""

_Shown = frozenset[tuple[int | None, Status, float]]
Ports = Mapping[int, tuple[int, ...]]


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


@attrs.frozen
class Readers:
    """What reads a directory and the person's home, as `read_one` does, and the ports of processes. On a thread."""

    directory: Callable[[str, str], tuple[Beside, bool]] = read_one
    ports: Callable[[Iterable[int]], Ports] = listening


@attrs.define
class _Place:
    """What is known of one directory, or when the ports were read."""

    beside: Beside = NOTHING
    #: When it was read last, and before when it must not be again.
    read_at: float = float("-inf")
    rests_until: float = float("-inf")
    slow: int = 0
    #: What its agents showed when it was read.
    shown: _Shown = frozenset()


class Watch:
    """Follows panes. *home* is the person's; *settings* say what is read, *readers* do it."""

    def __init__(self, home: str, settings: Listed, readers: Readers | None = None) -> None:
        self._home = home
        self._settings = settings
        self._readers = readers or Readers()
        self._places: dict[str, _Place] = {}
        self._ports: Ports = {}
        #: Takes in what a thread has found, when it is given the time.
        self._read: queue.SimpleQueue[Callable[[float], None]] = queue.SimpleQueue()
        self._is_reading = False
        self._due = float("inf")
        self.known: dict[int, Beside] = {}

    def due(self) -> float:
        """When to call `poll` again, on its clock; infinity if there is nothing to read."""
        return self._due

    def poll(self, panes: Iterable[Pane], now: float) -> bool:
        """Take what was read, and begin to read what is due of *panes*; whether anything is new."""
        while not self._read.empty():
            self._is_reading = False
            self._read.get()(now)
        panes = [pane for pane in panes if pane.agent_pid is not None]
        agents = {pane.agent_pid: pane.works_in for pane in panes if pane.agent_pid is not None}
        self._begin_what_is_due(self._shown(panes), now)
        known = {pid: self._of(pid, directory) for pid, directory in agents.items()}
        is_new, self.known = known != self.known, known
        return is_new

    def _of(self, pid: int, directory: str) -> Beside:
        place = self._places.get(directory) if directory else None
        return attrs.evolve(place.beside if place is not None else NOTHING, ports=self._ports.get(pid, ()))

    def _shown(self, panes: Iterable[Pane]) -> dict[str, _Shown]:
        """What agents show, by what is to be read because of it."""
        shown: dict[str, set[tuple[int | None, Status, float]]] = {}
        for pane in panes:
            told = (pane.agent_pid, pane.status, pane.since)
            if self._settings.branches and pane.works_in:
                shown.setdefault(pane.works_in, set()).add(told)
            if self._settings.ports:
                shown.setdefault(_PORTS, set()).add(told)
        return {key: frozenset(found) for key, found in shown.items()}

    def _begin_what_is_due(self, shown: Mapping[str, _Shown], now: float) -> None:
        if len(self._places) > MAX_KNOWN:
            self._places = {key: place for key, place in self._places.items() if key in shown}
        dues = {key: self._due_of(key, told) for key, told in shown.items()}
        first = min(dues, key=lambda key: dues[key], default=None)
        if self._is_reading:
            self._due = now + WAIT_S
        elif first is not None and dues[first] <= now:
            place = self._places.setdefault(first, _Place())
            place.read_at, place.shown = now, shown[first]
            self._is_reading = True
            self._due = now + WAIT_S
            agents = [pid for pid, _, _ in shown[first] if pid is not None]
            threading.Thread(target=self._look, args=(first, agents), name="beside", daemon=True).start()
        else:
            self._due = dues[first] if first is not None else float("inf")

    def _due_of(self, key: str, shown: _Shown) -> float:
        place = self._places.get(key)
        if place is None:
            return float("-inf")
        every = BUSY_S if any(status in _BUSY for _, status, _ in shown) else CALM_S
        if shown != place.shown:
            every = SOON_S
        return max(place.read_at + every, place.rests_until)

    def _look(self, key: str, agents: list[int]) -> None:
        began = time.monotonic()
        beside, ports, was_slow = NOTHING, self._ports, False
        try:
            if key == _PORTS:
                ports = self._readers.ports(agents)
            else:
                beside, was_slow = self._readers.directory(key, self._home)
        except Exception:  # the next one may well succeed, and a list has no place for a traceback
            beside = NOTHING
        took = time.monotonic() - began

        def take(now: float) -> None:
            place = self._places.setdefault(key, _Place())
            place.slow = place.slow + 1 if was_slow else 0
            place.rests_until = now + (
                min(PAUSE_MAX_S, PAUSE_S * 2.0 ** (place.slow - 1)) if was_slow else SHARE * took
            )
            place.beside, self._ports = beside, ports

        self._read.put(take)


def read_all(
    panes: Iterable[Pane], home: str, settings: Listed, seconds: float, readers: Readers | None = None
) -> dict[int, Beside]:
    """What stands beside *panes*, by the process of each agent, as far as it can be read within *seconds*."""
    readers = readers or Readers()
    agents = {pane.agent_pid: pane.works_in for pane in panes if pane.agent_pid is not None}
    directories = list(dict.fromkeys(filter(None, agents.values())))[:MAX_KNOWN] if settings.branches else []
    wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
    for key in [*([_PORTS] if settings.ports and agents else []), *directories]:
        wanted.put(key)
    number = wanted.qsize()
    read: queue.SimpleQueue[tuple[str, Beside | Ports]] = queue.SimpleQueue()

    def work() -> None:
        while True:
            try:
                key = wanted.get_nowait()
            except queue.Empty:
                return
            read.put((key, readers.ports(agents) if key == _PORTS else readers.directory(key, home)[0]))

    for _ in range(min(THREADS, number)):
        threading.Thread(target=work, name="beside", daemon=True).start()
    end = time.monotonic() + seconds
    places: dict[str, Beside] = {}
    ports: Ports = {}
    for _ in range(number):
        try:
            key, told = read.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            break
        if isinstance(told, Beside):
            places[key] = told
        else:
            ports = told
    return {
        pid: attrs.evolve(places.get(directory, NOTHING), ports=ports.get(pid, ())) for pid, directory in agents.items()
    }
