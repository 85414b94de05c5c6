"""
Watch: which agents work in one repository, and when to look at it.

A look comes at once when an agent has written, or asks to write, a file that another one has changed. All else comes
seldom. git looks at a work tree only after its agent has done something, and takes less than a thousandth of a core. If
no agent is active git does not run, unless there is a collision that may be over.
"""

from __future__ import annotations

import functools
import itertools
import os
import posixpath
import resource
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Generic, TypeVar

import attrs

from tallylight.actions import git
from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.records.reading import Edit
from tallylight.files.by_directory import ByDirectory
from tallylight.files.mounts import Mounts
from tallylight.files.program import StuckError
from tallylight.model.errors import TallyError
from tallylight.model.jobs import Submit
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.parts.work.hunks import asked
from tallylight.parts.work.looks import COLLISIONS_S, AgentChanges, Looks, Overlaps
from tallylight.parts.work.others import Others
from tallylight.parts.work.repository_watch import SLOW_GIT_PAUSE_MAX_S
from tallylight.snapshot.entries import CollisionEntry
from tallylight.snapshot.schema import Pane as PaneEntry

#: Seconds between two looks at the panes.
LOOK_AT_PANES_S = 0.5
#: Seconds between two looks at a repository, and the least multiple of the last one's duration: after an agent has
#: written a file of another one, during a collision, and else.
SOON, MARKED, CALM = (0.5, 10), (10.0, 200), (10.0, 1500)
#: Repositories that are looked at at a time.
MAX_REPOSITORIES = 4
#: The last edits of an agent may not have been on the disk at the last look.
_LAST_EDITS = 4
_BUSY = (Status.WORKING, Status.BACKGROUND)

Id = TypeVar("Id", bound=Hashable)
#: The shared part of a repository's worktrees, and the work tree; empty outside of a repository.
Place = tuple[str, str]


@attrs.define
class _Group:
    """The agents of one repository at the last tick, and their collisions."""

    looks: Looks = attrs.field(factory=Looks)
    parties: Mapping[str, AgentChanges] = attrs.field(factory=dict)
    found: Overlaps = attrs.field(factory=lambda: Overlaps({}, {}))
    looked_at: float = float("-inf")
    #: The last look's processor time, and until when a look without hurry waits.
    cost: float = 0.0
    rests_until: float = float("-inf")
    is_asked: bool = False
    #: The work trees that may have changed since git looked, in the order in which it will look.
    stale: dict[str, None] = attrs.field(factory=dict)
    #: Hurried looks still to be made: two, because a recorded edit may be written a moment later.
    hurries: int = 0

    @property
    def is_marked(self) -> bool:
        """Whether two agents have changed the same lines."""
        return any(entry.same for entries in self.found.entries.values() for entry in entries)

    @property
    def due(self) -> float:
        """When to look again."""
        least, times = SOON if self.hurries else MARKED if self.is_marked else CALM
        until = self.looked_at + max(least, times * self.cost)
        return until if self.hurries or self.is_marked else max(until, self.rests_until)

    def note(self, parties: Sequence[AgentChanges]) -> None:
        """Note the work trees that may have changed: during a collision all of them, to see when it is over."""
        here, known = {party.address: party for party in parties}, self.parties
        new = [one for one in parties if (before := known.get(one.address)) is not one and before != one]
        if any(self._concerns_others(one, parties) for one in new):
            self.hurries = 2
        self.stale |= dict.fromkeys(one.top for one in parties if self.is_marked or one.is_busy)
        self.stale |= dict.fromkeys(one.top for one in (*new, *(known[at] for at in known.keys() - here.keys())))
        self.parties = here

    def take(self) -> frozenset[str]:
        """Return the work trees for git to read now: none in a hurry, when the records have the edits."""
        is_first = not self.found.entries
        count = len(self.stale) if is_first or (self.is_marked and not self.hurries) else 0 if self.hurries else 1
        found = frozenset(itertools.islice(self.stale, count))
        self.stale = {top: None for top in self.stale if top not in found}
        self.hurries = max(0, self.hurries - 1)
        return found

    def _concerns_others(self, party: AgentChanges, parties: Iterable[AgentChanges]) -> bool:
        """
        Return whether the changed *party* has just written, or asks to write, a file that others have changed or ask
        for.
        """
        before = self.parties.get(party.address)
        listed = {posixpath.basename(entry.file) for entry in self.found.entries.get(party.address, ())}
        last = before.edits[-1:] if before is not None else ()
        new = list(itertools.takewhile(lambda edit: (edit,) != last, reversed(party.edits)))
        names = _names(new) | (_names(party.edits[-_LAST_EDITS:]) - listed) | set(map(posixpath.basename, party.asks))
        if not names:
            return False
        others = [one for one in parties if one is not party]
        trees = {one.top for one in others} - {party.top}
        theirs = (*(one.names for one in others), *(self.found.names.get(top, frozenset()) for top in trees))
        return any(not names.isdisjoint(found) for found in theirs)


def _names(edits: Iterable[Edit]) -> set[str]:
    return {posixpath.basename(edit.path) for edit in edits}


@attrs.define
class Collisions(Generic[Id]):
    """
    Finds collisions for the panes of the host *name*; *touched* gets each pane with a change of them.

    *submit* runs one job per key on a thread; *environ* has the user's home and the place of the other hosts; *reader*
    knows the agents.
    """

    name: str
    environ: Mapping[str, str]
    submit: Submit
    mounts: Mounts
    touched: Callable[[Id], None]
    reader: ForegroundReader
    _looked_at: float = float("-inf")
    _places: ByDirectory[Place] = attrs.field(init=False)
    _groups: dict[str, _Group] = attrs.field(factory=dict)
    #: Our own agents, each with the values it was made from.
    _made: dict[str, tuple[tuple[object, ...], AgentChanges]] = attrs.field(factory=dict)
    _others: Others = attrs.field(init=False)
    #: An exception of a look that is no fault of git or of a disk.
    _fault: Exception | None = None

    @_places.default
    def _default_places(self) -> ByDirectory[Place]:
        read = functools.partial(_read_places, home=self.environ.get("HOME", ""))
        return ByDirectory("repositories", read, self.submit, self.mounts)

    @_others.default
    def _default_others(self) -> Others:
        return Others(self.name, self.environ, self.submit, self.reader)

    def look(self, panes: Mapping[Id, Pane], now: float, is_wanted: bool) -> None:
        """Look, if it is time, for collisions of *panes* with others."""
        if now - self._looked_at < LOOK_AT_PANES_S:
            return
        self._looked_at = now
        if self._fault is not None:
            raise self._fault
        groups = self._grouped(panes, now) if is_wanted else {}
        self._groups = {common: self._groups.get(common) or _Group() for common in groups}
        for common, parties in groups.items():
            self._consider(common, parties, now)
        for id_, pane in panes.items():
            shown = self._shown(f"{self.name}:{id_}", groups)
            if shown != pane.collisions:
                pane.collisions = shown
                pane.tracker.touch()
                self.touched(id_)

    def _grouped(self, panes: Mapping[Id, Pane], now: float) -> dict[str, list[AgentChanges]]:
        """Return the agents that share a repository with others, by its shared folder."""
        own = {f"{self.name}:{id_}": pane for id_, pane in panes.items() if pane.agent_pid is not None}
        self._made = {address: made for address, made in self._made.items() if address in own}
        if not own:
            return {}
        cwds, others = {address: pane.conversation.entry.cwd for address, pane in own.items()}, self._others.panes
        if others:
            pids = {pane.agent_pid for pane in own.values()}
            cwds |= {at: pane.works_in for at, pane in others.items() if pane.agent_pid not in pids}
        self._places.ask(set(cwds.values()) - {""})
        found: dict[str, list[AgentChanges]] = {}
        for common, here in self._places_by_repository(cwds).items():
            if len(here) > 1 and next(iter(here)) in own:
                found[common] = [
                    self._own(address, own[address], top, cwds[address])
                    if address in own
                    else _party(address, others[address], top, self._others.edits.get(address, ()))
                    for address, top in here.items()
                ]
        self._others.follow([one.address for here in found.values() for one in here if not one.is_own], now)
        return found

    def _places_by_repository(self, cwds: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Return the top directory of each agent's work tree, by the shared folder of its repository."""
        found: dict[str, dict[str, str]] = {}
        for address, cwd in cwds.items():
            common, top = self._places.get(cwd) or ("", "")
            if common:
                found.setdefault(common, {})[address] = top
        return found

    def _own(self, address: str, pane: Pane, top: str, cwd: str) -> AgentChanges:
        """Return one of our own agents: the same object until it changes."""
        transcript = pane.transcript
        stamp = pane.tracker.claims.revision, transcript.found if transcript is not None else None, top, cwd
        before = self._made.get(address)
        if before is None or any(one is not two for one, two in zip(before[0], stamp, strict=True)):
            before = self._made[address] = stamp, _own_party(address, pane, top, cwd)
        return before[1]

    def _consider(self, common: str, parties: Sequence[AgentChanges], now: float) -> None:
        """Start a look at a repository if it may have changed and is due."""
        group = self._groups[common]
        group.note(parties)
        is_worth_it = (group.stale or group.hurries) and not group.is_asked and now >= group.due
        if is_worth_it and sum(map(attrgetter("is_asked"), self._groups.values())) < MAX_REPOSITORIES:
            before = group.stale, group.hurries
            job = functools.partial(_look, group.looks, tuple(parties), group.take())
            group.is_asked = True
            done, failed = (functools.partial(call, group, now) for call in (self._was_looked, self._failed))
            if not self.submit(("collisions", common), job, done, failed):
                group.is_asked, (group.stale, group.hurries) = False, before

    def _failed(self, group: _Group, now: float, error: Exception) -> None:
        group.is_asked, group.looked_at = False, now + SLOW_GIT_PAUSE_MAX_S
        if not isinstance(error, StuckError | OSError | TallyError):
            self._fault = error

    def _was_looked(self, group: _Group, now: float, result: tuple[Overlaps, float]) -> None:
        group.is_asked, group.looked_at = False, now
        group.found, group.cost = result
        group.rests_until = min(max(group.rests_until, now) + CALM[1] * group.cost, now + SLOW_GIT_PAUSE_MAX_S)
        self._looked_at = float("-inf")

    def _shown(self, address: str, groups: Mapping[str, Sequence[AgentChanges]]) -> tuple[CollisionEntry, ...]:
        """Return the collisions of a pane with agents that are still there."""
        for common, group in self._groups.items():
            if found := group.found.entries.get(address):
                here = {party.address for party in groups[common]}
                return tuple(entry for entry in found if entry.pane in here) if address in here else ()
        return ()


def _own_party(address: str, pane: Pane, top: str, cwd: str) -> AgentChanges:
    decision, transcript = pane.decision, pane.transcript
    edits = transcript.edits if transcript is not None else ()
    asks = asked(decision.report.what) if decision.status is Status.WAITING else ()
    return AgentChanges(
        address=address,
        name=pane.project or pane.clean_title,
        top=top,
        cwd=cwd,
        edits=edits,
        names=frozenset(_names(edits).union(map(posixpath.basename, asks))),
        asks=asks,
        is_busy=decision.status in _BUSY,
        since=decision.since,
    )


def _party(address: str, pane: PaneEntry, top: str, edits: tuple[Edit, ...]) -> AgentChanges:
    """Return an agent of another host."""
    return AgentChanges(
        address=address,
        name=pane.project or pane.title,
        top=top,
        cwd=pane.works_in,
        edits=edits,
        names=frozenset(_names(edits)),
        is_own=False,
        is_busy=pane.status in _BUSY,
        since=pane.since,
    )


def _look(looks: Looks, parties: Sequence[AgentChanges], stale: frozenset[str]) -> tuple[Overlaps, float]:
    """Return the result of a look, and the processor time that it took, with that of git."""
    began, used = time.monotonic(), _used()
    found = looks.look(parties, stale, began + COLLISIONS_S)
    # Other programs of this process may have ended meanwhile.
    return found, min(time.monotonic() - began, _used() - used)


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


def _read_places(cwds: Sequence[str], home: str) -> dict[str, Place]:
    found = {}
    for cwd in cwds:
        try:
            place = git.place_of(cwd, home)
            found[cwd] = (place.common, os.path.realpath(place.top)) if place is not None else ("", "")
        except (OSError, ValueError, TallyError):
            found[cwd] = ("", "")
    return found
