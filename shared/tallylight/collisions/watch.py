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
from tallylight.actions.beside import PAUSE_MAX_S
from tallylight.collisions.hunks import asked
from tallylight.collisions.looks import PATIENCE_S, Found, Looks, Party
from tallylight.evidence.records.reading import Edit
from tallylight.files.by_directory import ByDirectory
from tallylight.files.mounts import Mounts
from tallylight.files.program import StuckError
from tallylight.model.errors import TallyError
from tallylight.model.status import Status
from tallylight.pane.pane import Pane
from tallylight.snapshot import writer
from tallylight.snapshot.entries import CollisionEntry
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import Pane as PaneEntry

#: Seconds between two looks at the panes, and at the agents of other hosts.
EVERY_S, OTHERS_S = 0.5, 2.0
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
    """The agents of one repository, as they were when it was last looked at, and what was found."""

    looks: Looks = attrs.field(factory=Looks)
    parties: Mapping[str, Party] = attrs.field(factory=dict)
    found: Found = attrs.field(factory=lambda: Found({}, {}))
    looked_at: float = float("-inf")
    #: The processor time that it took, and until when a look that is in no hurry waits.
    cost: float = 0.0
    rests_until: float = float("-inf")
    is_asked: bool = False
    #: The work trees that may have changed since git was asked of them, in the order in which that is to be done.
    stale: dict[str, None] = attrs.field(factory=dict)
    #: Whether a look in a hurry is to be made once more: what a record tells may be written a moment later.
    is_due_again: bool = False

    @property
    def is_marked(self) -> bool:
        """Whether two agents have changed the same lines."""
        return any(entry.same for entries in self.found.entries.values() for entry in entries)

    def due(self, *, is_urgent: bool) -> float:
        """When to look again."""
        least, times = SOON if is_urgent else MARKED if self.is_marked else CALM
        until = self.looked_at + max(least, times * self.cost)
        return until if is_urgent or self.is_marked else max(until, self.rests_until)

    def note(self, parties: Sequence[Party]) -> None:
        """Note which work trees may have changed: whoever ends a collision, that it is over is to be seen."""
        known, is_marked = self.parties.get, self.is_marked
        changed = (one.top for one in parties if is_marked or one.is_busy or known(one.address) != one)
        self.stale |= dict.fromkeys(changed)

    def wanted(self, *, is_urgent: bool) -> frozenset[str]:
        """The work trees that git is to be asked of now: none in a hurry, for the records tell what was written."""
        count = 0 if is_urgent else len(self.stale) if self.is_marked else 1
        return frozenset(itertools.islice(self.stale, count if self.parties else None))

    def concerns_others(self, party: Party, parties: Iterable[Party]) -> bool:
        """Whether *party* has just written, or asks to write, a file that others have changed, by its name."""
        before = self.parties.get(party.address)
        if before is party or before == party:
            return False
        told = {posixpath.basename(entry.file) for entry in self.found.entries.get(party.address, ())}
        last = before.edits[-1:] if before is not None else ()
        new = list(itertools.takewhile(lambda edit: (edit,) != last, reversed(party.edits)))
        names = _names(new) | (_names(party.edits[-_LAST:]) - told) | set(map(posixpath.basename, party.asks))
        if not names:
            return False
        others = [one for one in parties if one is not party]
        trees = {one.top for one in others} - {party.top}
        theirs = (*(one.written for one in others), *(self.found.names.get(top, frozenset()) for top in trees))
        return any(not names.isdisjoint(found) for found in theirs)


def _names(edits: Iterable[Edit]) -> set[str]:
    return {posixpath.basename(edit.path) for edit in edits}


@attrs.define
class Collisions(Generic[Id]):
    """
    Those of the panes of the host *name*; *told* is told of each pane that has others than before.

    *submit* does one job of a key at a time; *environ* names the person's home and where the other hosts are.
    """

    name: str
    environ: Mapping[str, str]
    submit: Callable[[Hashable, Callable[[], object], Callable[[object], None]], bool]
    mounts: Mounts
    told: Callable[[Id], None]
    _looked_at: float = float("-inf")
    _places: ByDirectory[Place] = attrs.field(init=False)
    _groups: dict[str, _Group] = attrs.field(factory=dict)
    #: Our own agents, each with what it was made of.
    _made: dict[str, tuple[tuple[object, ...], Party]] = attrs.field(factory=dict)
    _feed: Feed | None = None
    #: The agents of other hosts, by address, and when they were last read.
    _others: dict[str, PaneEntry] = attrs.field(factory=dict)
    _read_at: float = float("-inf")
    #: What a look has raised that is no fault of git or of a disk.
    _fault: object = None

    @_places.default
    def _no_places(self) -> ByDirectory[Place]:
        read = functools.partial(_read_places, home=self.environ.get("HOME", ""))
        return ByDirectory("repositories", read, self.submit, self.mounts)

    def look(self, panes: Mapping[Id, Pane], now: float, is_wanted: bool) -> None:
        """Look, if it is time for that, whom of *panes* others collide with."""
        if now - self._looked_at < EVERY_S:
            return
        self._looked_at = now
        if isinstance(self._fault, Exception):
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

    def _grouped(self, panes: Mapping[Id, Pane], now: float) -> dict[str, list[Party]]:
        """The agents that work in one repository with others, by what its work trees share."""
        own = {f"{self.name}:{id_}": pane for id_, pane in panes.items() if pane.agent_pid is not None}
        self._made = {address: made for address, made in self._made.items() if address in own}
        if not own:
            return {}
        self._follow_others(now)
        cwds = {address: pane.conversation.entry.cwd for address, pane in own.items()}
        if self._others:
            pids = {pane.agent_pid for pane in own.values()}
            cwds |= {at: pane.works_in for at, pane in self._others.items() if pane.agent_pid not in pids}
        self._places.ask(set(cwds.values()) - {""})
        groups: dict[str, list[Party]] = {}
        for address, cwd in cwds.items():
            common, top = self._places.get(cwd) or ("", "")
            pane = own.get(address)
            party = (
                self._own(address, pane, top, cwd) if pane is not None else _party(address, self._others[address], top)
            )
            groups.setdefault(common, []).append(party)
        groups.pop("", None)
        return {common: here for common, here in groups.items() if here[0].is_own and len(here) > 1}

    def _own(self, address: str, pane: Pane, top: str, cwd: str) -> Party:
        """One of our own agents: the same object until anything of it is new."""
        transcript = pane.transcript
        stamp = pane.tracker.revision, transcript.found if transcript is not None else None, top, cwd
        before = self._made.get(address)
        if before is None or any(one is not two for one, two in zip(before[0], stamp, strict=True)):
            before = self._made[address] = stamp, _own_party(address, pane, top, cwd)
        return before[1]

    def _consider(self, common: str, parties: Sequence[Party], now: float) -> None:
        """Have a repository looked at, if anything in it may be another thing by now, and it is time for that."""
        group = self._groups[common]
        is_new = any(group.concerns_others(party, parties) for party in parties)
        is_urgent = is_new or group.is_due_again
        group.note(parties)
        is_worth_it = group.stale or is_urgent or len(parties) != len(group.parties)
        if not is_worth_it or group.is_asked or now < group.due(is_urgent=is_urgent):
            return
        stale = group.wanted(is_urgent=is_urgent)
        job = functools.partial(_look, group.looks, tuple(parties), stale)
        here = {party.address: party for party in parties}
        done = functools.partial(self._was_looked, group, here, now, is_new)
        if sum(map(attrgetter("is_asked"), self._groups.values())) < MAX_ASKED:
            group.is_asked = True
            group.stale = {top: None for top in group.stale if top not in stale}
            if not self.submit(("collisions", common), job, done):
                group.is_asked = False

    def _was_looked(
        self, group: _Group, parties: Mapping[str, Party], now: float, is_new: bool, result: object
    ) -> None:
        group.is_asked, group.parties, group.looked_at = False, parties, now
        if isinstance(result, StuckError | OSError | TallyError):
            group.looked_at = now + PAUSE_MAX_S
            return
        if not isinstance(result, tuple):
            self._fault = result
            return
        group.found, group.cost = result
        group.is_due_again = is_new
        group.rests_until = min(max(group.rests_until, now) + CALM[1] * group.cost, now + PAUSE_MAX_S)
        self._looked_at = float("-inf")

    def _shown(self, address: str, groups: Mapping[str, Sequence[Party]]) -> tuple[CollisionEntry, ...]:
        """What is known of the collisions of a pane with agents that are still there."""
        for common, group in self._groups.items():
            if found := group.found.entries.get(address):
                here = {party.address for party in groups[common]}
                return tuple(entry for entry in found if entry.pane in here) if address in here else ()
        return ()

    def _follow_others(self, now: float) -> None:
        """Have read, now and then, which agents other hosts of this machine have."""
        if now - self._read_at >= OTHERS_S and self.submit("collisions with others", self._read, self._were_read):
            self._read_at = now

    def _read(self) -> dict[str, PaneEntry]:
        if self._feed is None:
            self._feed = Feed(writer.directory(self.environ))
        self._feed.poll(time.monotonic())
        return {
            f"{host.name}:{pane.id}": pane
            for host in self._feed.snapshots
            if host.name != self.name
            for pane in host.panes
            if pane.works_in
        }

    def _were_read(self, result: object) -> None:
        if isinstance(result, dict):
            self._others = result


def _own_party(address: str, pane: Pane, top: str, cwd: str) -> Party:
    decision, transcript = pane.decision, pane.transcript
    edits = transcript.edits if transcript is not None else ()
    is_asking = decision.status is Status.WAITING
    return Party(
        address=address,
        name=pane.project or pane.clean_title,
        top=top,
        cwd=cwd,
        edits=edits,
        written=frozenset(_names(edits)),
        asks=asked(decision.report.what) if is_asking else (),
        is_busy=decision.status in _BUSY,
        since=decision.since,
    )


def _party(address: str, pane: PaneEntry, top: str) -> Party:
    """An agent of another host: what it has written is for git to tell."""
    return Party(
        address=address,
        name=pane.project or pane.title,
        top=top,
        cwd=pane.works_in,
        is_own=False,
        is_busy=pane.status in _BUSY,
        since=pane.since,
    )


def _look(looks: Looks, parties: Sequence[Party], stale: frozenset[str]) -> tuple[Found, float]:
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
