"""
A polling host: a process beside the terminal programs, which owns panes it can only ask about from outside.

What a multiplexer or a terminal is asked, and how, is a `Source`'s; it answers with a `SourcePane` a pane (`source`).
Everything else is done here: the foreground of each pane from the process table, titles, screens, the agents' own
files, the snapshot, and the requests of other processes.

    host = PollingHost("sessions", [TmuxSource(os.environ), ScreenSource(os.environ)])
    host.run(until=lambda: parent_is_gone())     # or host.step(now) from a loop of one's own

Threads: `run` and `step` belong to one thread, the loop. A source's `look` and a pane's `read` are called on
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

from tallylight.agents import agent_files
from tallylight.config.powers import ALLOW
from tallylight.evidence import process_table
from tallylight.hosts.jobs import Jobs, backoff
from tallylight.hosts.kept import Kept
from tallylight.hosts.mailbox import Mailbox
from tallylight.hosts.polling.lively import Lively
from tallylight.hosts.polling.own_files import AgentFiles
from tallylight.hosts.polling.polled_pane import PolledPane
from tallylight.hosts.polling.run_times import Runtimes
from tallylight.hosts.polling.screens import Screens
from tallylight.hosts.polling.sleepers import SETTLED, Sleepers
from tallylight.hosts.polling.source import Asked
from tallylight.hosts.polling.source import Source as Source
from tallylight.hosts.polling.source import SourcePane as SourcePane
from tallylight.hosts.powers import Powers
from tallylight.hosts.projects import Projects
from tallylight.pane import marks as requested
from tallylight.pane.former import Former
from tallylight.pane.pane import Pane
from tallylight.snapshot import waiting_time_file
from tallylight.snapshot.former import read_former
from tallylight.snapshot.requests import Spool
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import MAX_PANES, SnapshotWriter
from tallylight.tracker.mutes import Mutes

#: How soon, in seconds, to look again where a transcript is about to tell how a turn ended.
SOON_S = 0.05
#: How many ticks come to one look at a pane with an agent whose screen is no evidence, and at one without an agent.
#: Whether an agent that sleeps still does is asked in each.
OFTEN, SELDOM = 2, 4
#: Of a foreground that holds no agent so many looks ask who it is; then, while it is the same group, every so many do:
#: it could have become another program.
EAGER, RARELY = 8, 4
#: How many ticks come to one search for processes that are of no interest any more; to one in which the time is kept
#: that agents wait, and the names of projects are asked for; to a look at what programs may do by the configuration.
SWEEP, KEPT_EVERY, POWERS_EVERY = 64, 4, 4
#: A step this late, in seconds, means that the process was stopped or the machine suspended.
SUSPENDED_S = 3.0
#: The longest sleep between two steps.
_IDLE_S = 1.0


class PollingHost:
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
        self._powers = Powers(environ)
        self.config = self._powers.config
        agents, more = agent_files.load_agents(environ)
        #: What is wrong at the moment, by what it is about.
        self.problems: dict[str, str] = {str(n): str(e) for n, e in enumerate((*self._powers.problems, *more))}
        self._clock = clock
        self._table = table or process_table.table()
        self._reader = process_table.ForegroundReader(agents, self._table)
        self._groups = process_table.Groups(self._table)
        self._asked = [Asked(source) for source in sources]
        self._held: dict[str, PolledPane] = {}
        self._posted: Mailbox[Callable[[], None]] = Mailbox()
        self._jobs = Jobs(self._posted.put)
        self._sleepers = Sleepers(Runtimes("/proc" if isinstance(self._table, process_table.ProcTable) else None))
        self._screens = Screens(self._jobs, clock, self._touch)
        self._agent_files = AgentFiles(self._jobs, clock, self._touch)
        self._projects = Projects(self._jobs.submit, environ.get("HOME", ""))
        self._snapshot = SnapshotWriter.for_host(host, environ, time.time)
        self._snapshot.allow = self.config.scripting
        self._former = read_former(host, environ, time.time())
        self._kept = Kept(host, self._jobs.submit, environ)
        self._kept.use(self.config)
        self._spool = Spool(host, environ=environ)
        self._mutes = Mutes()
        self._waited_file = waiting_time_file.WaitingTimeFile(host, environ)
        self._ledger = self._waited_file.open(waiting_time_file.today(time.time()))
        #: The panes that may show something else than was last told.
        self._touched: dict[str, PolledPane] = {}
        self._lively = Lively()
        #: Called when the host ends.
        self.at_end: list[Callable[[], None]] = []
        self._tick_due = 0.0
        self._ticks = 0
        self._is_changed = True
        self._is_over = False

    # For a host that has more to tell -------------------------------------------------------------------------

    def pane(self, id_: str) -> Pane | None:
        """The pane *id_*, to tell it what a `SourcePane` cannot. On the loop only, which `post` leads to."""
        polled = self._held.get(id_)
        if polled is None:
            return None
        self._touch(polled)
        return polled.pane

    def peek(self, id_: str) -> Pane | None:
        """The pane *id_*, to look at; nothing that it is told this way is published. On the loop only."""
        return polled.pane if (polled := self._held.get(id_)) is not None else None

    def entry(self, id_: str) -> PaneEntry | None:
        """What was last told of the pane *id_*. On the loop only."""
        return polled.entry if (polled := self._held.get(id_)) is not None else None

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

    @property
    def is_written(self) -> bool:
        """Whether the snapshot says all that was decided. May be asked on any thread."""
        return self._snapshot.due(0.0) is None

    def heard(self, number: int) -> None:
        """What a terminal wrote for us was read up to *number*: the next snapshot says so."""
        self._snapshot.heard = number

    def stop(self) -> None:
        """End `run`."""
        self._is_over = True
        self.post(lambda: None)

    def _touch(self, polled: PolledPane) -> None:
        """The pane may show something else."""
        self._touched[polled.source_pane.id] = polled

    # The loop -------------------------------------------------------------------------------------------------

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Step until *until* is true or `stop` was called, then leave nothing behind."""
        try:
            while not self._is_over and not until():
                wait = self.step(self._clock())
                try:
                    call = self._posted.get(wait)
                except queue.Empty:
                    continue
                self._guard("call", call)
        finally:
            self.close()

    def close(self) -> None:
        """The host ends: take back the snapshot and the spool."""
        for polled in self._held.values():
            polled.pane.close()
        self._held.clear()
        for asked in self._asked:
            asked.source.close()
        for call in self.at_end:
            call()
        self._sleepers.close()
        self._snapshot.leave()
        self._kept.close(self._clock())
        self._spool.close()

    def step(self, now: float) -> float:
        """Do what is due at monotonic *now*; the seconds until something is again."""
        while not self._posted.is_empty():
            self._guard("call", self._posted.get())
        for asked in self._asked:
            if now >= asked.due and self._jobs.submit(asked, asked.source.look, functools.partial(self._looked, asked)):
                asked.due = now + asked.source.every
        if is_tick := now >= self._tick_due:
            self._tick(now)
        if is_tick or self._touched:
            self._lively.survey(self._touched.values())
        self._lively.let_pass(now, self._touch)
        if self._lively.is_undecided:
            self._agent_files.ask(self._lively)
        self._publish(now)
        return self._wait(now)

    def _tick(self, now: float) -> None:
        """Look at every pane."""
        late = now - self._tick_due if self._ticks else 0.0
        self._tick_due = now + self.config.poll_s
        self._ticks += 1
        for polled in self._held.values() if late > SUSPENDED_S else ():
            polled.pane.tracker.pause(late)
            self._touch(polled)
        for polled in self._touched.values():
            polled.weigh()
        self._lively.tick(self._held.values())
        for number, polled in enumerate(self._held.values()):
            is_close = polled.is_armed or polled.entry is None or (polled.is_of_interest and polled.slept >= SETTLED)
            every = 1 if is_close else OFTEN if polled.is_of_interest else SELDOM
            if (number + self._ticks) % every == 0 and not self._sleepers.passes(polled, now):
                look = functools.partial(self._look_at, polled, now, is_plain=not polled.is_of_interest)
                self._guard(f"pane {polled.source_pane.id}", look)
        self._screens.flush(now)
        self._agent_files.ask(self._lively, self._ticks)
        if self._ticks % SWEEP == 0:
            self._sleepers.keep(
                {pid for polled in self._held.values() for pid in (polled.source_pane.leader, polled.group)}
            )
        self._guard("requests", lambda: self._take_requests(now))
        if self._ticks % POWERS_EVERY == 0:
            self._jobs.submit("settings", self._powers.look, self._looked_at_powers)
        if self._ticks % KEPT_EVERY == 1:
            self._projects.tell(polled.pane for polled in self._lively)
            self._guard("ledger", lambda: self._keep_ledger(now))

    def _looked_at_powers(self, is_new: object) -> None:
        """Of the configuration, which is read at the start, what gives programs less power is taken over."""
        if is_new is True:
            self.problems.pop(ALLOW, None)
            self._snapshot.allow = self._powers.config.scripting
            self._snapshot.withheld = tuple(one.key for one in self._powers.withheld)
            self.problems |= {one.key: f"{one} until this starts again" for one in self._powers.withheld}

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
        ledgers = [polled.pane.attention for polled in self._held.values()]
        self._ledger.tick(waiting_time_file.today(clock), ledgers, now)
        found = self._ledger.sum(ledgers, now, clock)
        if self._waited_file.is_due(found):
            self._jobs.submit("waited", lambda: self._waited_file.save(found), lambda _: None)

    def _wait(self, now: float) -> float:
        dues = [asked.due for asked in self._asked if not self._jobs.is_busy(asked)]
        if self._lively.deadline is not None:
            dues.append(self._lively.deadline)
        if self._lively.is_undecided:
            dues.append(now + SOON_S)
        dues.append(self._tick_due)
        if (due := self._snapshot.due(now)) is not None:
            dues.append(due)
        return min(max(min(dues, default=now + _IDLE_S) - now, 0.01), _IDLE_S)

    # Panes ----------------------------------------------------------------------------------------------------

    def _looked(self, asked: Asked, result: object) -> None:
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
        source_panes = {source_pane.id: source_pane for source_pane in found if isinstance(source_pane, SourcePane)}
        for id_ in [i for i, polled in self._held.items() if polled.source is asked.source and i not in source_panes]:
            gone = self._held.pop(id_)
            self.problems.pop(f"evidence of pane {id_}", None)
            self._screens.gone(gone)
            self._ledger.closed(gone.pane.attention, now)
            gone.pane.close()
            self._is_changed = True
        for id_, source_pane in source_panes.items():
            polled = self._held.get(id_)
            if polled is None and len(self._held) < MAX_PANES:
                tell = functools.partial(self.problems.__setitem__, f"evidence of pane {id_}")
                pane = Pane(self.config.timing, self._reader, self._table, tell)
                origin = self._snapshot.epoch(0.0, now)
                pane.former = Former(id_, self._former, pane.attention, self._table, origin, now)
                polled = self._held[id_] = PolledPane(pane, asked.source, source_pane)
                self._title(polled, now)
            elif polled is not None:
                if source_pane is polled.source_pane:
                    continue
                before, polled.source_pane = polled.source_pane, source_pane
                if source_pane != before:
                    self._touch(polled)
                if source_pane.title != before.title:
                    self._title(polled, now)

    def _title(self, polled: PolledPane, now: float) -> None:
        if polled.source_pane.title is not None:
            self._foreground(polled, now)
            polled.pane.title(polled.source_pane.title, now)

    def _foreground(self, polled: PolledPane, now: float) -> None:
        polled.group = self._group(polled, now)
        polled.pane.foreground(polled.group, now)

    def _group(self, polled: PolledPane, now: float) -> int:
        source_pane = polled.source_pane
        return self._groups.look(source_pane.leader, now) if source_pane.leader else source_pane.group

    def _look_at(self, polled: PolledPane, now: float, *, is_plain: bool = False) -> None:
        """Look at one pane; *is_plain*: it held no agent, so nothing is new while its group is the same."""
        if polled.is_doubted:
            group = self._group(polled, now)
            if is_plain and group == polled.group and polled.looks > EAGER and polled.looks % RARELY:
                return
            polled.group = group
            polled.pane.foreground(group, now, has_slept=bool(polled.slept))
        self._screens.look(polled, now)
        polled.pane.look(polled.source_pane.visible, now)
        polled.pane.attention.muted_until = self._mutes.until(polled.source_pane.tab, polled.pane.project, now)
        self._touch(polled)

    # Requests -------------------------------------------------------------------------------------------------

    def _take_requests(self, now: float) -> None:
        if self._spool.is_empty():
            return
        for request in self._spool.take():
            polled = self._held.get(request.pane)
            if request.verb == "mute":
                self._mutes.ask(request.args, polled.source_pane.tab if polled is not None else "", now)
                self._sleepers.wake(self._held.values())
            elif polled is None:
                continue
            elif request.verb == "focus":
                source = polled.source
                self._jobs.submit(("act", id(request)), lambda r=request, s=source: s.act(r), lambda _: None)  # type: ignore[misc]
            else:
                requested.carry_out(request, polled.pane, self.config.notify.snooze_min, now)
                self._touch(polled)

    # What is shown --------------------------------------------------------------------------------------------

    def _publish(self, now: float) -> None:
        """Write what has changed, and tell the sources."""
        touched, self._touched = self._touched, {}
        for id_, polled in touched.items():
            if self._held.get(id_) is not polled:
                continue
            polled.pane.attention.shown(polled.pane.decision, now)
            told = (polled.words, polled.source_pane)
            if told != polled.told:
                polled.told = told
                entry = polled.as_entry(lambda at: self._snapshot.epoch(at, now))
                if entry != polled.entry:
                    polled.entry, self._is_changed = entry, True
            polled.weigh()
        if self._is_changed:
            self._is_changed = False
            entries = [polled.entry for polled in self._held.values() if polled.entry is not None]
            self._snapshot.publish(entries, now)
            self._kept.publish(entries)
            for asked in self._asked:
                asked.is_told = False
        else:
            self._snapshot.flush(now)
        self._kept.tick(now)
        for asked in self._asked:
            if not asked.is_told:
                held = [polled for polled in self._held.values() if polled.source is asked.source]
                asked.tell({h.source_pane.id: h.entry for h in held if h.entry is not None}, self._jobs)
