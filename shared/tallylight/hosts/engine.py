"""
The engine of a host: it chooses which pane to look at, knows when something is due, and publishes the panes.

A host adds how it finds its panes, how it looks at one, and where it draws. Every tick looks at every pane; where there
are many, quiet ones (`Pane.is_quiet`) are looked at less often. Panes that do not fit into the time of one call come
first in the next. Only panes that were looked at, or that got a report, are decided again.
"""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

import attrs

from tallylight.agents.agent import Agents
from tallylight.config.settings import Config
from tallylight.evidence.process_table import ForegroundReader, Table
from tallylight.evidence.traffic import Sample
from tallylight.hosts.own_files import JOB, FileReader
from tallylight.hosts.part import Context, HostParts, made
from tallylight.hosts.processes import Processes
from tallylight.hosts.projects import Projects
from tallylight.hosts.sessions_process import SessionsProcess
from tallylight.hosts.store import Store
from tallylight.model.decision import Decision
from tallylight.model.jobs import Submit, ignored, raised
from tallylight.pane.file_request import Request
from tallylight.pane.former import Former
from tallylight.pane.pane import Pane
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.schema import Tab
from tallylight.tracker.mutes import Mutes

#: Up to FEW_PANES panes are all looked at in every tick. Above that, a quiet pane is looked at every VISIBLE_EVERY
#: ticks if it is visible, else every HIDDEN_EVERY ticks.
FEW_PANES, VISIBLE_EVERY, HIDDEN_EVERY = 16, 2, 8
#: The clock is checked after every LOOKS_A_CHECK looks. If the time was too short, the next call comes REST_OF_TICK_S
#: seconds later.
LOOKS_A_CHECK, REST_OF_TICK_S = 4, 0.02
#: Every so many ticks the files of all agents are read, and the waiting time of agents is saved.
FILES_EVERY, KEPT_EVERY = 2, 4
#: Every so many ticks the agents' registries are searched for a session without a pane, if no process watches them yet.
REGISTRY_EVERY = 16
#: How soon, in seconds, to read an agent's file again when the end of a turn is expected there.
REREAD_FILE_S = 0.05
#: A tick this late, in seconds, means that the process was stopped or the machine suspended.
SUSPENDED_S = 3.0

Id = TypeVar("Id", int, str)


@attrs.define
class _Published:
    """
    The values of a pane at its last publication: those that are drawn, all others, and its entry (made on demand).
    """

    shown: tuple[object, ...] | None = None
    more: tuple[object, ...] = ()
    entry: PaneEntry | None = None
    is_stale: bool = False
    #: When its light changes by time alone, and whether a file may still report how a turn or an agent ended.
    due: float | None = None
    is_undecided: bool = False
    is_quiet: bool = False
    #: Whether its agent, or a program that may be one, has files to read.
    has_files: bool = True


class Engine(ABC, Generic[Id]):
    """The panes of one host. *submit* runs one job per key on a thread. *now* is monotonic seconds."""

    #: The thread time that looks may use in one call, in seconds.
    SLICE_S: ClassVar[float]

    def __init__(
        self,
        host: str,
        environ: Mapping[str, str],
        *,
        config: Config,
        agents: Agents,
        table: Table,
        submit: Submit,
        store: Store,
        clock: Callable[[], float],
        report: Callable[[str], None] = lambda _: None,
        resumable: Callable[[int], None] | None = None,
        tabs: Callable[[], Mapping[str, Tab] | None] = lambda: None,
    ) -> None:
        self.config = config
        self.reader = ForegroundReader(agents, table)
        self._clock, self._table = clock, table
        self._panes: dict[Id, Pane] = {}
        self._published: dict[Id, _Published] = {}
        #: Panes that may have changed since the last publication, and panes that are due for a look.
        self._touched: set[Id] = set()
        self._left: dict[Id, None] = {}
        #: Panes with agents' files that are still to be read.
        self._unasked: set[Id] = set()
        #: Whether something has changed since the last snapshot.
        self._is_unsaved = False
        #: The ticks so far, and the last one that the parts know.
        self._ticks = self._told_tick = 0
        self._last_tick: float | None = None
        self._origin = 0.0
        self.mutes = Mutes()
        self._store = store
        self._files: FileReader[Id] = FileReader(submit, self.guarded(JOB, self._files_were_read), report, clock)
        self._context = Context(
            name=host, environ=environ, submit=submit, mounts=self._files.mounts, reader=self.reader,
            touched=self._touched.add, report=report, resumable=resumable, tabs=tabs,
        )  # fmt: skip
        self.parts = HostParts(made(self._context, is_early=True), report)
        self._is_awake = False
        self._processes: Processes[Id] = Processes(
            submit, table, self.guarded("processes", self._processes_were_sampled), self.guarded("processes", raised)
        )
        self._sample = self.guarded("processes", self._processes.look)
        self._submit = submit
        #: Starts a host of sessions if these panes show some; None where this host never does.
        self.sessions_process: SessionsProcess | None = None
        self._projects = Projects(submit, environ.get("HOME", ""), self._files.mounts)

    # The work of a host -------------------------------------------------------------------------------------

    @abstractmethod
    def guarded(self, feature: str, call: Callable[..., None]) -> Callable[..., None]:
        """Return *call*, wrapped so that an exception switches off its *feature* only."""

    @abstractmethod
    def _report_fault(self, id_: Id, fault: str) -> None:
        """Report that the content of a pane could not be processed."""

    @abstractmethod
    def _look(self, id_: Id, pane: Pane, now: float) -> None:
        """Look at one pane, and pass the findings to it."""

    @abstractmethod
    def _host_values(self, id_: Id) -> object:
        """
        Return the values of a pane that only the host knows and that its entry contains. A change of them is noticed.
        """

    @abstractmethod
    def _entry(self, id_: Id, pane: Pane, epoch: Callable[[float], float]) -> PaneEntry:
        """Return the pane's entry for the snapshot; *epoch* converts monotonic seconds to seconds since the epoch."""

    def _rests(self, id_: Id) -> bool:  # noqa: ARG002
        """Return whether a quiet pane need not be looked at although it is its turn."""
        return False

    def wake(self) -> None:
        """Start all that only a host with agents needs, unless it runs."""
        if not self._is_awake:
            self._is_awake = True
            self._awake()

    def _wake_for_agents(self) -> None:
        """Wake the host if a pane has an agent or a light."""
        if not self._is_awake and any(pane.agent or pane.decision.is_lit for pane in self._panes.values()):
            self.wake()

    def _awake(self) -> None:
        """Start the parts that are not early, and pass them what is known."""
        self.parts.add(made(self._context, is_early=False))
        for id_, pane in self._panes.items():
            self.parts.changed(id_, pane, self._clock())
        self._is_unsaved = True

    # Panes ---------------------------------------------------------------------------------------------------

    @property
    def panes(self) -> Mapping[Id, Pane]:
        return self._panes

    def _add(self, id_: Id, now: float) -> Pane:
        """Create and register a pane."""
        tell = functools.partial(self._report_fault, id_)
        pane = self._panes[id_] = Pane(self.config.timing, self.reader, self._table, tell)
        origin = self._store.epoch(0.0, now)
        pane.former = Former(str(id_), self._store.former, pane.attention, self._table, origin, now)
        self._published[id_] = _Published()
        self._touched.add(id_)
        return pane

    def _remove(self, id_: Id) -> None:
        """Forget a pane that is gone."""
        pane = self._panes.pop(id_)
        pane.close()
        del self._published[id_]
        self._left.pop(id_, None)
        self.parts.forget(id_)
        self._files.forget(id_)
        self._processes.forget(id_)
        self._is_unsaved = True

    # Turns ---------------------------------------------------------------------------------------------------

    def _begin_tick(self, now: float, in_front: Collection[Id] = ()) -> None:
        """Begin a tick: choose the panes to look at. Panes that are *in_front* (visible) come more often."""
        late = now - self._last_tick - self.config.poll_s if self._last_tick is not None else 0.0
        self._last_tick = now
        self._ticks += 1
        if late > SUSPENDED_S:
            self._skip_pause(late)
            self._touched.update(self._panes)
        self._wake_for_agents()
        if self._ticks % KEPT_EVERY == 0:
            self._start_sessions_process(now)
        if self._ticks % FILES_EVERY == 0:
            self._unasked.update(id_ for id_, published in self._published.items() if published.has_files)
        self._choose(in_front)

    def _choose(self, in_front: Collection[Id]) -> None:
        """Choose the panes to look at in this tick."""
        are_few = len(self._panes) <= FEW_PANES
        for number, (id_, published) in enumerate(self._published.items(), self._ticks):
            is_due = are_few or number % (VISIBLE_EVERY if id_ in in_front else HIDDEN_EVERY) == 0
            if not published.is_quiet or (is_due and (are_few or not self._rests(id_))):
                self._left[id_] = None

    def _skip_pause(self, seconds: float) -> None:
        """Move all times by *seconds* in which neither the agents nor this process could run."""
        for pane in self._panes.values():
            pane.tracker.pause(seconds)
            pane.attention.pause(seconds)

    def _start_sessions_process(self, now: float) -> None:
        """Every so many ticks, make sure that a process watches tmux, GNU Screen and sessions without a pane."""
        if self.sessions_process is not None:
            is_shown = any(pane.shows_sessions for pane in self._panes.values())
            is_due = not is_shown and self._ticks % REGISTRY_EVERY == 0
            agents = tuple(agent for agent in self.reader.agents if agent.registry) if is_due else ()
            if is_shown or agents:
                job = functools.partial(self.sessions_process.keep, now, agents=agents)
                self._submit("sessions", job, self.guarded("sessions", ignored), self.guarded("sessions", raised))

    def _look_at_due(self, now: float) -> list[Id]:
        """Look at the panes that are due until the time of this call is used up; return the ids of those looked at."""
        looked: list[Id] = []
        end = time.thread_time() + self.SLICE_S
        while self._left and (len(looked) % LOOKS_A_CHECK or time.thread_time() < end):
            id_ = next(iter(self._left))
            del self._left[id_]
            pane = self._panes[id_]
            self._look(id_, pane, now)
            pane.tick(now)
            looked.append(id_)
        self._touched.update(looked)
        self._unasked.update(looked)
        self._unasked &= self._panes.keys()
        self._unasked -= self._files.ask({id_: self._panes[id_] for id_ in self._unasked})
        self._sample({id_: self._panes[id_] for id_ in looked}, now)
        self._projects.name_panes(self._panes[id_] for id_ in looked)
        if self._touched or self._told_tick != self._ticks:  # else a source has answered, with nothing new
            self._told_tick = self._ticks
            self.parts.tick(now, self._panes, looked)
        return looked

    def _files_were_read(self, found: Sequence[tuple[Id, Request, object]]) -> None:
        now = self._clock()
        for id_, request, what in found:
            if (pane := self._panes.get(id_)) is not None:
                pane.take_result(request, what, now)
                self._touched.add(id_)

    def _processes_were_sampled(self, found: Mapping[Id, tuple[tuple[int, int], Sample]]) -> None:
        now = self._clock()
        for id_, (run, sample) in found.items():
            if (pane := self._panes.get(id_)) is not None:
                pane.sampled(run, sample, now)
                self._touched.add(id_)

    def _add_waiting_time(self, now: float) -> None:
        """Every so many ticks, add up how long agents waited today."""
        if self._ticks % KEPT_EVERY == 0:
            self._store.add_waiting_time([pane.attention for pane in self._panes.values()], now)

    def _pass_time(self, now: float) -> None:
        """Pass *now* to the panes that change by time alone, and request files again that are still missing."""
        late = [id_ for id_, published in self._published.items() if published.due is not None and published.due <= now]
        for id_ in late:
            self._panes[id_].tick(now)
        undecided = {id_: self._panes[id_] for id_, published in self._published.items() if published.is_undecided}
        if undecided:
            # The pane counts how often a file was not found, and then stops waiting for it.
            self._files.ask(undecided)
        self._touched.update(late, undecided)

    # Publication --------------------------------------------------------------------------------------------

    def _decide_touched(self, now: float) -> dict[Id, bool]:
        """Decide all touched panes again. Return those that changed, each with whether the change is drawn."""
        # Read the clock again: the tick may have taken long.
        if (origin := self._store.epoch(0.0, self._clock())) != self._origin:  # the clock was set
            self._origin = origin
            self._touched.update(self._panes)
        touched = self._touched & self._panes.keys()
        self._touched.clear()
        changed: dict[Id, bool] = {}
        for id_ in touched:
            pane: Pane = self._panes[id_]
            published = self._published[id_]
            decision = pane.decision
            pane.attention.shown(decision, now)
            published.due, published.is_undecided = pane.deadline(), pane.is_undecided
            published.is_quiet, published.has_files = pane.is_quiet, pane.has_files
            shown, more = _compared(pane, decision, self._host_values(id_), origin, self._files.hangs(id_))
            is_drawn = shown != published.shown
            if not is_drawn and more == published.more:
                continue
            changed[id_] = is_drawn
            self.parts.changed(id_, pane, now)
            published.shown, published.more = shown, more
            published.is_stale = self._is_unsaved = True
        return changed

    def _entries(self, ids: Iterable[Id]) -> dict[Id, PaneEntry]:
        """Return the entries of these panes; a pane without an entry yet is left out."""
        entries: dict[Id, PaneEntry] = {}
        for id_ in ids:
            published = self._published[id_]
            if published.is_stale:
                epoch = functools.partial(self._store.epoch, now=self._clock())
                entry = self._entry(id_, self._panes[id_], epoch)
                if hangs := self._files.hangs(id_):
                    entry = attrs.evolve(entry, evidence=attrs.evolve(entry.evidence, hangs=hangs))
                published.entry, published.is_stale = entry, False
            if published.entry is not None:
                entries[id_] = published.entry
        return entries

    def _publish(self, now: float) -> bool:
        """Write the snapshot if something changed and the last one is old enough; return whether it was written."""
        entries = None
        if self._is_unsaved and now >= self._store.next_at:
            made = tuple(self._entries(self._panes).values())
            if self._store.publish(made, now):
                self._is_unsaved, entries = False, made
        self._store.flush(now)
        self.parts.published(entries, now)
        return entries is not None

    def _due(self, now: float) -> float:
        """Return the monotonic time of the next thing to do before the next tick; infinity if there is none."""
        dues = [published.due for published in self._published.values() if published.due is not None]
        if any(published.is_undecided for published in self._published.values()):
            dues.append(now + REREAD_FILE_S)
        if self._left:
            dues.append(now + REST_OF_TICK_S)
        if self._is_unsaved:
            dues.append(self._store.next_at)
        return min(dues, default=float("inf"))


def _compared(pane: Pane, decision: Decision, *known: object) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """
    Return the values of a pane that are drawn, and all others that its entry is made of, for a comparison.

    *known* are further values of the second kind. The time of a repeated report is left out: it is no change.
    """
    reason, report, facts = decision.reason, decision.report, pane.attention.facts
    unknown, transcript, conversation = pane.unknown.program, pane.transcript, pane.conversation
    because = reason.source, reason.rule, report, facts
    drawn = decision.status, decision.kind, decision.limited_until, *because, pane.clean_title, pane.collides
    more = (
        *known,
        pane.collisions,
        dict(pane.more),
        decision.since,
        pane.tracker.claims.revision,
        pane.pace,
        pane.dialog,
        pane.pid,
        pane.agent_pid,
        (unknown.name, unknown.signs) if unknown is not None else None,
        transcript.published if transcript is not None else None,
        conversation.entry,
        conversation.resume,
        conversation.resume_cwd,
        conversation.fork,
        pane.queued,
    )
    return drawn, more
