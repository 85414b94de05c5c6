"""
Branch, changes and pull request of each visible agent, read on threads of a program that shows a list.

    watch = Watch(home, settings)
    watch.poll(panes, now)      the panes that can be seen, at monotonic now; True: something is new
    watch.known                 what is known, by the process of the agent
    watch.due()                 when to poll again

One reading is made at a time, of one repository: soon after an agent shows another status, every few seconds while it
works, and else seldom; and beside it one that asks the network for a pull request, every few minutes, where a person
wants that. A repository with a slow git is read less and less often. `read_all` reads once, for a
list that is printed.

Only a directory that a host has seen itself is looked into: no output of a program leads there.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping

import attrs

from tallylight.actions import pull_request, repository
from tallylight.actions.repository import PATIENCE_S
from tallylight.config.settings import Listed
from tallylight.files.program import StuckError
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
#: Seconds until a repository with a slow git is read again; doubled each time, up to the last.
PAUSE_S, PAUSE_MAX_S = 60.0, 900.0
#: How often, in seconds, to look whether a thread is done.
WAIT_S = 0.05
#: Directories that are known at once, and threads of `read_all`.
MAX_KNOWN, THREADS = 256, 4

_BUSY = (Status.WORKING, Status.BACKGROUND)
#: Seconds between two questions for the pull request of one branch, and after its agent showed another status.
ASK_S, ASK_SOON_S = 300.0, 60.0
#: Before a directory: the pull request of its branch.
_PULL = "#"

_Shown = frozenset[tuple[int | None, Status, float]]


def read_one(directory: str, home: str, seconds: float = PATIENCE_S) -> tuple[Beside, bool]:
    """What to show beside an agent that works in *directory*, and whether git was too slow to list the changes."""
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


def read_pull_request(directory: str, home: str) -> tuple[Beside, bool]:
    """The pull request of the branch that an agent in *directory* works on, and whether it took too long to ask."""
    try:
        head = repository.head_of(directory, home)
        if head is None or head[1].is_detached:
            return NOTHING, False
        return Beside(pull_request=pull_request.pull_request_of(head[0], head[1].branch)), False
    except StuckError:
        return NOTHING, True
    except (OSError, TallyError, ValueError):
        return NOTHING, False


def read(key: str, home: str) -> tuple[Beside, bool]:
    """The value of *key*, a directory or the pull request of its branch, and whether that took too long."""
    if key.startswith(_PULL):
        return read_pull_request(key.removeprefix(_PULL), home)
    return read_one(key, home)


#: What reads, on a thread, as `read` does.
Read = Callable[[str, str], tuple[Beside, bool]]


@attrs.define
class _Schedule:
    """When one directory was read."""

    #: When it was read last, and before when it must not be again.
    read_at: float = float("-inf")
    rests_until: float = float("-inf")
    slow: int = 0
    #: What its agents showed when it was read.
    shown: _Shown = frozenset()


def _wanted(panes: Iterable[Pane], settings: Listed) -> dict[str, _Shown]:
    """What to read for *panes*, those with an agent, each with what their agents show."""
    wanted: dict[str, set[tuple[int | None, Status, float]]] = {}
    for pane in panes:
        directories = [("", settings.branches), (_PULL, settings.pull_requests)] if pane.works_in else []
        for key in [before + pane.works_in for before, is_wanted in directories if is_wanted]:
            wanted.setdefault(key, set()).add((pane.agent_pid, pane.status, pane.since))
    return {key: frozenset(shown) for key, shown in wanted.items()}


def _together(panes: Iterable[Pane], known: Mapping[str, Beside]) -> dict[int, Beside]:
    """What to show beside *panes*, those with an agent, by its process, as far as it is *known*."""
    return {
        pane.agent_pid: attrs.evolve(
            known.get(pane.works_in, NOTHING),
            pull_request=known.get(_PULL + pane.works_in, NOTHING).pull_request,
        )
        for pane in panes
        if pane.agent_pid is not None
    }


class Watch:
    """Follows panes. *home* is the person's; *settings* say what is read, *reads* does it."""

    def __init__(self, home: str, settings: Listed, reads: Read = read) -> None:
        self._home = home
        self._settings = settings
        self._reads = reads
        self._places: dict[str, _Schedule] = {}
        self._found: dict[str, Beside] = {}
        #: Takes in what a thread has found, when it is given the time.
        self._read: queue.Queue[Callable[[float], None]] = queue.Queue()
        #: Whether something of this machine is being read, and whether the network is being asked.
        self._is_reading = {False: False, True: False}
        self._due = float("inf")
        self.known: dict[int, Beside] = {}

    def due(self) -> float:
        """When to call `poll` again, on its clock; infinity if there is nothing to read."""
        return self._due

    def poll(self, panes: Iterable[Pane], now: float) -> bool:
        """Take what was read, and begin to read what is due of *panes*; whether anything is new."""
        while not self._read.empty():
            self._read.get()(now)
        panes = [pane for pane in panes if pane.agent_pid is not None]
        shown = _wanted(panes, self._settings)
        if len(self._places) > MAX_KNOWN:
            self._places = {key: place for key, place in self._places.items() if key in shown}
            self._found = {key: found for key, found in self._found.items() if key in shown}
        dues = {key: self._due_of(key, status) for key, status in shown.items()}
        self._due = min(self._begin_first(dues, shown, now, is_remote) for is_remote in (False, True))
        known = _together(panes, self._found)
        is_new, self.known = known != self.known, known
        return is_new

    def _begin_first(
        self, dues: Mapping[str, float], shown: Mapping[str, _Shown], now: float, is_remote: bool
    ) -> float:
        """Begin what is due first, of this machine or of the network; when to look again."""
        keys = [key for key in dues if key.startswith(_PULL) is is_remote]
        first = min(keys, key=lambda key: dues[key], default=None)
        if self._is_reading[is_remote]:
            return now + WAIT_S
        if first is None or dues[first] > now:
            return dues[first] if first is not None else float("inf")
        place = self._places.setdefault(first, _Schedule())
        place.read_at, place.shown = now, shown[first]
        self._is_reading[is_remote] = True
        threading.Thread(target=self._look, args=(first,), name="beside", daemon=True).start()
        return now + WAIT_S

    def _due_of(self, key: str, shown: _Shown) -> float:
        place = self._places.get(key)
        if place is None:
            return float("-inf")
        is_busy, is_new = any(status in _BUSY for _, status, _ in shown), shown != place.shown
        if key.startswith(_PULL):
            every = ASK_SOON_S if is_new else ASK_S
        else:
            every = SOON_S if is_new else BUSY_S if is_busy else CALM_S
        return max(place.read_at + every, place.rests_until)

    def _look(self, key: str) -> None:
        began = time.monotonic()
        found = NOTHING
        was_slow = False
        with contextlib.suppress(Exception):  # the next one may well succeed, and a list has no place for a traceback
            found, was_slow = self._reads(key, self._home)
        took = time.monotonic() - began

        def take(now: float) -> None:
            self._is_reading[key.startswith(_PULL)] = False
            place = self._places.setdefault(key, _Schedule())
            place.slow = place.slow + 1 if was_slow else 0
            rest = min(PAUSE_MAX_S, PAUSE_S * 2.0 ** (place.slow - 1)) if was_slow else SHARE * took
            place.rests_until = now + rest
            self._found[key] = found

        self._read.put(take)


def read_all(
    panes: Iterable[Pane], home: str, settings: Listed, seconds: float, reads: Read = read
) -> dict[int, Beside]:
    """What to show beside *panes*, by the process of each agent, as far as it can be read within *seconds*."""
    panes = [pane for pane in panes if pane.agent_pid is not None]
    # The network last: it is the slowest.
    wanted = sorted(_wanted(panes, settings), key=lambda key: key.startswith(_PULL))
    keys = iter(wanted)
    done: queue.Queue[tuple[str, Beside]] = queue.Queue()

    def work() -> None:
        for key in keys:
            done.put((key, reads(key, home)[0]))

    for _ in wanted[:THREADS]:
        threading.Thread(target=work, name="beside", daemon=True).start()
    end = time.monotonic() + seconds
    found: dict[str, Beside] = {}
    with contextlib.suppress(queue.Empty):
        for _ in wanted:
            key, one = done.get(timeout=max(0.0, end - time.monotonic()))
            found[key] = one
    return _together(panes, found)
