"""
Watch: which agents work in one repository, and when that is looked at.

A look comes at once where an agent has written, or asks to write, a file that another one has changed. All else comes
seldom: git is asked of a work tree once its agent has done something, and so seldom that it takes less than a
thousandth of a core. Where no agent does anything git is not asked, unless there is a collision that may be over.
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
from tallylight.parts.work.beside import PAUSE_MAX_S
from tallylight.parts.work.hunks import asked
from tallylight.parts.work.looks import PATIENCE_S, AgentChanges, Looks, Overlaps
from tallylight.parts.work.others import Others
from tallylight.snapshot.entries import CollisionEntry
from tallylight.snapshot.schema import Pane as PaneEntry

#: Seconds between two looks at the panes.
EVERY_S = 0.5
#: Seconds between two looks at a repository, and how many times as long as the last one took that is at least: where an
#: agent has just written a file of another one, where there is a collision, and else.
SOON, MARKED, CALM = (0.5, 10), (10.0, 200), (10.0, 1500)
#: Repositories that are looked at at a time.
MAX_ASKED = 4
#: Of what an agent has written, the last so many may not have been on the disk yet at the last look.
_LAST = 4
_BUSY = (Status.WORKING, Status.BACKGROUND)

Id = TypeVar("Id", bound=Hashable)
#: The part that worktrees share of a repository, and the work tree; nothing for what is in none.
Place = tuple[str, str]


@attrs.define
class _Group:
    """The agents of one repository, as they were at the last tick, and what was found."""

    looks: Looks = attrs.field(factory=Looks)
    parties: Mapping[str, AgentChanges] = attrs.field(factory=dict)
    found: Overlaps = attrs.field(factory=lambda: Overlaps({}, {}))
    looked_at: float = float("-inf")
    #: The processor time that it took, and until when a look that is in no hurry waits.
    cost: float = 0.0
    rests_until: float = float("-inf")
    is_asked: bool = False
    #: The work trees that may have changed since git was asked of them, in the order in which that is to be done.
    stale: dict[str, None] = attrs.field(factory=dict)
    #: Looks in a hurry that are to be made: two, for what a record tells may be written a moment later.
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
        """Note which work trees may have changed: whoever ends a collision, that it is over is to be seen."""
        here, known = {party.address: party for party in parties}, self.parties
        new = [one for one in parties if (before := known.get(one.address)) is not one and before != one]
        if any(self._concerns_others(one, parties) for one in new):
            self.hurries = 2
        self.stale |= dict.fromkeys(one.top for one in parties if self.is_marked or one.is_busy)
        self.stale |= dict.fromkeys(one.top for one in (*new, *(known[at] for at in known.keys() - here.keys())))
        self.parties = here

    def take(self) -> frozenset[str]:
        """The work trees that git is to be asked of now: none in a hurry, for the records tell what was written."""
        is_first = not self.found.entries
        count = len(self.stale) if is_first or (self.is_marked and not self.hurries) else 0 if self.hurries else 1
        found = frozenset(itertools.islice(self.stale, count))
        self.stale = {top: None for top in self.stale if top not in found}
        self.hurries = max(0, self.hurries - 1)
        return found

    def _concerns_others(self, party: AgentChanges, parties: Iterable[AgentChanges]) -> bool:
        """Whether *party*, which is new, has just written, or asks to write, a file that others have changed or ask."""
        before = self.parties.get(party.address)
        told = {posixpath.basename(entry.file) for entry in self.found.entries.get(party.address, ())}
        last = before.edits[-1:] if before is not None else ()
        new = list(itertools.takewhile(lambda edit: (edit,) != last, reversed(party.edits)))
        names = _names(new) | (_names(party.edits[-_LAST:]) - told) | set(map(posixpath.basename, party.asks))
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
    Those of the panes of the host *name*; *told* is told of each pane that has others than before.

    *submit* does one job of a key at a time; *environ* names the person's home and where the other hosts are; *reader*
    knows the agents.
    """

    name: str
    environ: Mapping[str, str]
    submit: Submit
    mounts: Mounts
    told: Callable[[Id], None]
    reader: ForegroundReader
    _looked_at: float = float("-inf")
    _places: ByDirectory[Place] = attrs.field(init=False)
    _groups: dict[str, _Group] = attrs.field(factory=dict)
    #: Our own agents, each with what it was made of.
    _made: dict[str, tuple[tuple[object, ...], AgentChanges]] = attrs.field(factory=dict)
    _others: Others = attrs.field(init=False)
    #: What a look has raised that is no fault of git or of a disk.
    _fault: Exception | None = None

    @_places.default
    def _default_places(self) -> ByDirectory[Place]:
        read = functools.partial(_read_places, home=self.environ.get("HOME", ""))
        return ByDirectory("repositories", read, self.submit, self.mounts)

    @_others.default
    def _default_others(self) -> Others:
        return Others(self.name, self.environ, self.submit, self.reader)

    def look(self, panes: Mapping[Id, Pane], now: float, is_wanted: bool) -> None:
        """Look, if it is time for that, whom of *panes* others collide with."""
        if now - self._looked_at < EVERY_S:
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
                self.told(id_)

    def _grouped(self, panes: Mapping[Id, Pane], now: float) -> dict[str, list[AgentChanges]]:
        """The agents that work in one repository with others, by what its work trees share."""
        own = {f"{self.name}:{id_}": pane for id_, pane in panes.items() if pane.agent_pid is not None}
        self._made = {address: made for address, made in self._made.items() if address in own}
        if not own:
            return {}
        cwds, others = {address: pane.conversation.entry.cwd for address, pane in own.items()}, self._others.panes
        if others:
            pids = {pane.agent_pid for pane in own.values()}
            cwds |= {at: pane.works_in for at, pane in others.items() if pane.agent_pid not in pids}
        self._places.ask(set(cwds.values()) - {""})
        groups: dict[str, list[AgentChanges]] = {}
        for address, cwd in cwds.items():
            common, top = self._places.get(cwd) or ("", "")
            pane, edits = own.get(address), self._others.edits.get(address, ())
            groups.setdefault(common, []).append(
                self._own(address, pane, top, cwd) if pane is not None else _party(address, others[address], top, edits)
            )
        groups.pop("", None)
        found = {common: here for common, here in groups.items() if here[0].is_own and len(here) > 1}
        self._others.follow([one.address for here in found.values() for one in here if not one.is_own], now)
        return found

    def _own(self, address: str, pane: Pane, top: str, cwd: str) -> AgentChanges:
        """One of our own agents: the same object until anything of it is new."""
        transcript = pane.transcript
        stamp = pane.tracker.said.revision, transcript.found if transcript is not None else None, top, cwd
        before = self._made.get(address)
        if before is None or any(one is not two for one, two in zip(before[0], stamp, strict=True)):
            before = self._made[address] = stamp, _own_party(address, pane, top, cwd)
        return before[1]

    def _consider(self, common: str, parties: Sequence[AgentChanges], now: float) -> None:
        """Have a repository looked at, if anything in it may be another thing by now, and it is time for that."""
        group = self._groups[common]
        group.note(parties)
        is_worth_it = (group.stale or group.hurries) and not group.is_asked and now >= group.due
        if is_worth_it and sum(map(attrgetter("is_asked"), self._groups.values())) < MAX_ASKED:
            before = group.stale, group.hurries
            job = functools.partial(_look, group.looks, tuple(parties), group.take())
            group.is_asked = True
            done, failed = (functools.partial(call, group, now) for call in (self._was_looked, self._failed))
            if not self.submit(("collisions", common), job, done, failed):
                group.is_asked, (group.stale, group.hurries) = False, before

    def _failed(self, group: _Group, now: float, error: Exception) -> None:
        group.is_asked, group.looked_at = False, now + PAUSE_MAX_S
        if not isinstance(error, StuckError | OSError | TallyError):
            self._fault = error

    def _was_looked(self, group: _Group, now: float, result: tuple[Overlaps, float]) -> None:
        group.is_asked, group.looked_at = False, now
        group.found, group.cost = result
        group.rests_until = min(max(group.rests_until, now) + CALM[1] * group.cost, now + PAUSE_MAX_S)
        self._looked_at = float("-inf")

    def _shown(self, address: str, groups: Mapping[str, Sequence[AgentChanges]]) -> tuple[CollisionEntry, ...]:
        """What is known of the collisions of a pane with agents that are still there."""
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
    """An agent of another host."""
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
    """What a look finds, and the processor time that it took, with that of git."""
    began, used = time.monotonic(), _used()
    found = looks.look(parties, stale, began + PATIENCE_S)
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
