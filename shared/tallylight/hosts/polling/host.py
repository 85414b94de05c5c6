"""
A polling host: a process beside the terminal programs, which owns panes it can only ask about from outside.

What a multiplexer or a terminal is asked, and how, is a `Source`'s; it answers with a `Sight` a pane (`hosts.sights`).
Everything else is done here: the foreground of each pane from the process table, titles, screens, the agents' own
files, the snapshot, and the requests of other processes.

    poller = Poller("sessions", [TmuxSource(os.environ), ScreenSource(os.environ)])
    poller.run(until=lambda: parent_is_gone())     # or poller.step(now) from a loop of one's own

Threads: `run` and `step` belong to one thread, the loop. A source's `look` and a sight's `read` are called on
others, and may take as long as `jobs.run` lets a program take: one that hangs holds up nobody else, and is asked again
after longer and longer times. `post`, `refresh` and `stop` may be called from anywhere, also from a signal handler.

Errors cost what they are in: a look that raises leaves the panes as they were until it works again; what was wrong
stands in `problems`, and nothing is written to standard error.
"""

from __future__ import annotations

import functools
import os
import queue
import time
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.agents import agent_files
from tallylight.config import config_file
from tallylight.evidence import process_table
from tallylight.hosts.jobs import Jobs, backoff
from tallylight.hosts.polling.own_files import AgentFiles
from tallylight.hosts.polling.polled_pane import Held
from tallylight.hosts.polling.run_times import Runtimes
from tallylight.hosts.polling.screens import Screens
from tallylight.hosts.polling.source import Sight as Sight
from tallylight.hosts.polling.source import Source as Source
from tallylight.model.decision import Decision
from tallylight.pane import marks as requested
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.snapshot import waiting_time_file
from tallylight.snapshot.requests import Spool
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import MAX_PANES, SnapshotWriter

#: How soon, in seconds, to look again where a transcript is about to tell how a turn ended.
SOON_S = 0.05
#: How many ticks come to one look at a pane with an agent whose screen is no evidence, and at one without an agent.
OFTEN, SELDOM = 2, 4
#: Of a foreground that holds no agent so many looks ask who it is; then, while it is the same group, every so many do:
#: it could have become another program.
EAGER, RARELY = 8, 4
#: Of a foreground that has not run since the last look, every so many looks ask all the same.
DOUBTFUL = 16
#: How many ticks come to one search for processes that are of no interest any more.
SWEEP = 64
#: A step this late, in seconds, means that the process was stopped or the machine suspended.
SUSPENDED_S = 3.0
#: The longest sleep between two steps.
_IDLE_S = 1.0


@attrs.define(eq=False)
class _Asked:
    """One source and when it was asked."""

    source: Source
    due: float = 0.0
    failures: int = 0
    #: What it was last told, by the ids of its panes.
    shown: dict[str, PaneEntry] = attrs.field(factory=dict)
    is_told: bool = True


class Poller:
    """All panes of one polling host, whose snapshot is `<host>-<pid>.json`."""

    def __init__(
        self,
        host: str,
        sources: Sequence[Source],
        environ: Mapping[str, str] = os.environ,
        *,
        table: process_table.Table | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config, problems = config_file.load_config(environ)
        agents, more = agent_files.load_agents(environ)
        #: What is wrong at the moment, by what it is about.
        self.problems: dict[str, str] = {str(n): str(error) for n, error in enumerate((*problems, *more))}
        self._clock = clock
        self._table = table or process_table.table()
        self._reader = process_table.ForegroundReader(agents, self._table)
        self._groups = process_table.Groups(self._table)
        self._asked = [_Asked(source) for source in sources]
        self._held: dict[str, Held] = {}
        self._posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._jobs = Jobs(self._posted.put)
        self._runtimes = Runtimes("/proc" if isinstance(self._table, process_table.ProcTable) else None)
        self._screens = Screens(self._jobs, clock, self._touch)
        self._agent_files = AgentFiles(self._jobs, clock, self._touch)
        self._snapshot = SnapshotWriter.for_host(host, environ, time.time)
        self._spool = Spool(host, environ=environ)
        self._waited_file = waiting_time_file.WaitedFile(host, environ)
        self._ledger = self._waited_file.open(waiting_time_file.today(time.time()))
        #: The panes that may show something else than was last told.
        self._touched: dict[str, Held] = {}
        #: The panes of which time alone may change what they show, as of the last tick.
        self._lively: list[Held] = []
        self._tick_due = 0.0
        self._ticks = 0
        self._is_changed = True
        self._is_over = False

    # For a host that has more to tell -------------------------------------------------------------------------

    def pane(self, id_: str) -> Pane | None:
        """The pane *id_*, to tell it what a `Sight` cannot. On the loop only, which `post` leads to."""
        held = self._held.get(id_)
        if held is None:
            return None
        self._touch(held)
        return held.pane

    def post(self, call: Callable[[], None]) -> None:
        """Have *call* made on the loop, soon; what it told the panes of `pane` is published at once."""
        self._posted.put(call)

    def refresh(self, source: Source) -> None:
        """Something has changed at *source*: look at it at once."""

        def hurry() -> None:
            for asked in self._asked:
                if asked.source is source:
                    asked.due = 0.0

        self.post(hurry)

    def stop(self) -> None:
        """End `run`."""
        self._is_over = True
        self.post(lambda: None)

    def _touch(self, held: Held) -> None:
        """The pane may show something else."""
        self._touched[held.sight.id] = held

    # The loop -------------------------------------------------------------------------------------------------

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Step until *until* is true or `stop` was called, then leave nothing behind."""
        try:
            while not self._is_over and not until():
                wait = self.step(self._clock())
                try:
                    call = self._posted.get(timeout=wait)
                except queue.Empty:
                    continue
                self._guard("call", call)
        finally:
            self.close()

    def close(self) -> None:
        """The host ends: take back the snapshot and the spool."""
        for held in self._held.values():
            held.pane.close()
        self._held.clear()
        for asked in self._asked:
            asked.source.close()
        self._runtimes.close()
        self._snapshot.close()
        self._spool.close()

    def step(self, now: float) -> float:
        """Do what is due at monotonic *now*; the seconds until something is again."""
        while True:
            try:
                call = self._posted.get_nowait()
            except queue.Empty:
                break
            self._guard("call", call)
        for asked in self._asked:
            if now >= asked.due and self._jobs.submit(asked, asked.source.look, functools.partial(self._looked, asked)):
                asked.due = now + asked.source.every
        if now >= self._tick_due:
            self._tick(now)
        for held in self._lively:
            deadline = held.pane.deadline()
            if deadline is not None and now >= deadline:
                held.pane.tick(now)
                self._touch(held)
        if any(held.pane.is_undecided for held in self._lively):
            self._agent_files.ask(self._lively)
        self._publish(now)
        return self._wait(now)

    def _tick(self, now: float) -> None:
        """Look at every pane."""
        late = now - self._tick_due if self._ticks else 0.0
        self._tick_due = now + self.config.poll_s
        self._ticks += 1
        self._lively = []
        for number, held in enumerate(self._held.values()):
            if late > SUSPENDED_S:
                held.pane.tracker.pause(late)
            pane = held.pane
            is_of_interest = pane.agent is not None or pane.is_undecided or pane.decision.is_lit or held.entry is None
            if is_of_interest:
                self._lively.append(held)
            every = 1 if held.is_armed or held.entry is None else OFTEN if is_of_interest else SELDOM
            if (number + self._ticks) % every == 0:
                look = functools.partial(self._look_at, held, now, is_plain=not is_of_interest)
                self._guard(f"pane {held.sight.id}", look)
        self._screens.flush(now)
        self._agent_files.ask(self._lively)
        if self._ticks % SWEEP == 0:
            self._runtimes.keep({pid for held in self._held.values() for pid in (held.sight.leader, held.group)})
        self._guard("requests", lambda: self._take_requests(now))
        self._guard("ledger", lambda: self._keep_ledger(now))

    def _guard(self, what: str, call: Callable[[], None]) -> None:
        """Make *call*; a fault in it costs this pane, or this part, this tick."""
        try:
            call()
        except Exception as error:  # one pane's fault is no reason to lose the others
            self.problems[what] = f"{type(error).__name__}: {error}"
        else:
            if self.problems:
                self.problems.pop(what, None)

    def _keep_ledger(self, now: float) -> None:
        """Add up what agents wait today."""
        clock = time.time()
        ledgers = [held.pane.attention for held in self._held.values()]
        self._ledger.tick(waiting_time_file.today(clock), ledgers, now)
        found = self._ledger.sum(ledgers, now, clock)
        if self._waited_file.is_due(found):
            self._jobs.submit("waited", lambda: self._waited_file.save(found), lambda _: None)

    def _wait(self, now: float) -> float:
        dues = [asked.due for asked in self._asked if not self._jobs.is_busy(asked)]
        dues += [d for held in self._lively if (d := held.pane.deadline()) is not None]
        if any(held.pane.is_undecided for held in self._lively):
            dues.append(now + SOON_S)
        dues.append(self._tick_due)
        if (due := self._snapshot.due(now)) is not None:
            dues.append(due)
        return min(max(min(dues, default=now + _IDLE_S) - now, 0.01), _IDLE_S)

    # Panes ----------------------------------------------------------------------------------------------------

    def _looked(self, asked: _Asked, result: object) -> None:
        """A source has told which panes there are, or why it could not."""
        name = type(asked.source).__name__
        if isinstance(result, Exception):
            asked.failures += 1
            asked.due = self._clock() + backoff(asked.failures)
            self.problems[name] = f"{type(result).__name__}: {result}"
            return
        asked.failures = 0
        self.problems.pop(name, None)
        if result is None:
            return
        now = self._clock()
        found = result if isinstance(result, Sequence) else ()
        sights = {sight.id: sight for sight in found if isinstance(sight, Sight)}
        for id_ in [i for i, held in self._held.items() if held.source is asked.source and i not in sights]:
            gone = self._held.pop(id_)
            self.problems.pop(f"evidence of pane {id_}", None)
            self._screens.gone(gone)
            self._ledger.closed(gone.pane.attention, now)
            gone.pane.close()
            self._is_changed = True
        for id_, sight in sights.items():
            held = self._held.get(id_)
            if held is None and len(self._held) < MAX_PANES:
                tell = functools.partial(self.problems.__setitem__, f"evidence of pane {id_}")
                pane = Pane(self.config.timing, self._reader, self._table, tell)
                held = self._held[id_] = Held(pane, asked.source, sight)
                self._title(held, now)
            elif held is not None:
                if sight is held.sight:
                    continue
                before, held.sight = held.sight, sight
                if sight != before:
                    self._touch(held)
                if sight.title != before.title:
                    self._title(held, now)

    def _title(self, held: Held, now: float) -> None:
        if held.sight.title is not None:
            self._foreground(held, now)
            held.pane.title(held.sight.title, now)

    def _foreground(self, held: Held, now: float) -> None:
        held.group = self._group(held, now)
        held.pane.foreground(held.group, now)

    def _group(self, held: Held, now: float) -> int:
        sight = held.sight
        return self._groups.look(sight.leader, now) if sight.leader else sight.group

    def _look_at(self, held: Held, now: float, *, is_plain: bool = False) -> None:
        """Look at one pane; *is_plain*: it held no agent, so nothing is new while its group is the same."""
        held.looks += 1
        if not self._has_slept(held):
            group = self._group(held, now)
            if is_plain and group == held.group and held.looks > EAGER and held.looks % RARELY:
                return
            held.group = group
            held.pane.foreground(group, now)
        elif is_plain:
            return
        self._screens.look(held, now)
        held.pane.look(held.sight.visible, now)
        self._touch(held)

    def _has_slept(self, held: Held) -> bool:
        """Whether neither the pane's leader nor that of its foreground has run since the last look at them."""
        if not held.sight.leader or not held.pane.is_by_leader:
            return False
        leader = self._runtimes.read(held.sight.leader)
        before, held.runtimes = (
            held.runtimes,
            (leader, leader if held.group == held.sight.leader else self._runtimes.read(held.group)),
        )
        return held.runtimes == before and None not in held.runtimes and held.looks % DOUBTFUL != 0

    # Requests -------------------------------------------------------------------------------------------------

    def _take_requests(self, now: float) -> None:
        if self._spool.is_empty():
            return
        for request in self._spool.take():
            held = self._held.get(request.pane)
            if held is None:
                continue
            if request.verb == "focus":
                source = held.source
                self._jobs.submit(("act", id(request)), lambda r=request, s=source: s.act(r), lambda _: None)  # type: ignore[misc]
            else:
                requested.carry_out(request, held.pane, self.config.notify.snooze_min, now)
                self._touch(held)

    # What is shown --------------------------------------------------------------------------------------------

    def _publish(self, now: float) -> None:
        """Write what has changed, and tell the sources."""
        touched, self._touched = self._touched, {}
        for id_, held in touched.items():
            if self._held.get(id_) is not held:
                continue
            held.pane.attention.shown(held.pane.decision, now)
            told = (_words(held.pane), held.sight)
            if told != held.told:
                held.told = told
                entry = self._entry(held, now)
                if entry != held.entry:
                    held.entry, self._is_changed = entry, True
        if self._is_changed:
            self._is_changed = False
            self._snapshot.publish([held.entry for held in self._held.values() if held.entry is not None], now)
            for asked in self._asked:
                asked.is_told = False
        else:
            self._snapshot.flush(now)
        for asked in self._asked:
            if not asked.is_told:
                self._tell(asked)

    def _tell(self, asked: _Asked) -> None:
        entries = {i: h.entry for i, h in self._held.items() if h.source is asked.source and h.entry is not None}
        if entries == asked.shown:
            asked.is_told = True
        elif self._jobs.submit(("shown", id(asked)), lambda: asked.source.shown(entries), lambda _: None):
            asked.is_told, asked.shown = True, entries

    def _entry(self, held: Held, now: float) -> PaneEntry:
        sight = held.sight
        entry = pane_entry(
            held.pane,
            lambda at: self._snapshot.epoch(at, now),
            id_=sight.id,
            tab=sight.tab,
            os_window=sight.os_window,
            title=held.pane.clean_title or sight.host_title,
        )
        return attrs.evolve(entry, host_title=sight.host_title, attach=sight.attach, visible=sight.visible)


def _words(pane: Pane) -> tuple[object, ...]:
    """What of a pane is told to others. When a source last repeated itself is not."""
    decision: Decision = pane.decision
    reason = decision.reason
    return (
        decision.status,
        decision.kind,
        reason.source,
        reason.rule,
        decision.report,
        decision.since,
        pane.attention.facts,
        pane.tracker.revision,
        pane.clean_title,
        pane.pace,
        pane.prompt,
        pane.pid,
    )
