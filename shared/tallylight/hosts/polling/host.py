"""
A polling host: a process beside the terminal programs, which can only query its panes from outside.

A `Source` knows how to query one multiplexer or terminal, and returns a `SourcePane` for each pane (`source`). The host
does all else: foreground programs, titles, screens, agents' own files, the snapshot, and requests of other processes.

    host = PollingHost("sessions", [TmuxSource(os.environ), ScreenSource(os.environ)])
    host.run(until=lambda: parent_is_gone())     # or host.step(now) from a loop of one's own

Threads: `run` and `step` belong to one thread, the loop. A source's `look` and a pane's `read` run on others, and may
take as long as `files.program.run` allows. One that hangs delays nothing else, and is called again after longer and
longer pauses. `post`, `refresh` and `stop` may be called from anywhere, even from a signal handler.

An exception costs only its own part: after a failed look, the panes stay as they were until one works again. Current
problems are in `problems`, and each is reported once, as is a disk that cannot be read or written.
"""

from __future__ import annotations

import functools
import os
import queue
import time
from collections.abc import Callable, Mapping, Sequence

import attrs

from tallylight.agents import agent_files
from tallylight.config.powers import ALLOW
from tallylight.evidence import process_table
from tallylight.hosts.engine import Engine
from tallylight.hosts.jobs import Jobs, at_once, backoff
from tallylight.hosts.mailbox import Mailbox
from tallylight.hosts.polling.notices import Notices, NoticeScreen
from tallylight.hosts.polling.report_intake import ReportIntake
from tallylight.hosts.polling.screens import PolledPane, Screens
from tallylight.hosts.polling.source import Source as Source
from tallylight.hosts.polling.source import SourcePane as SourcePane
from tallylight.hosts.powers import Powers
from tallylight.hosts.sessions_inside import with_inside
from tallylight.hosts.store import Store
from tallylight.pane import marks as requested
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Pane
from tallylight.snapshot import labels_file
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import MAX_PANES

#: The configuration is checked for changes every so many ticks.
POWERS_EVERY = 4
#: Ticks come so many times more seldom while there is no agent and nothing is likely to happen.
IDLE_TIMES = 2
#: A plain pane that draws nothing is looked at each so many times that it is its turn.
RESTS = 4
#: Problems that are reported.
MAX_PROBLEMS_REPORTED = 50
#: The longest sleep between two steps, in seconds.
_LONGEST_SLEEP_S = 1.0


@attrs.define(eq=False)
class _SourceState:
    """One source: when it is asked next, and the entries of its panes that it got last."""

    source: Source
    due: float = 0.0
    failures: int = 0
    shown: dict[str, PaneEntry] = attrs.field(factory=dict)
    is_shown: bool = True


class PollingHost(Engine[str]):
    """All panes of one polling host, with the snapshot `<host>-<pid>.json`."""

    SLICE_S = 0.01

    def __init__(
        self,
        host: str,
        sources: Sequence[Source],
        environ: Mapping[str, str] = os.environ,
        *,
        table: process_table.Table | None = None,
        clock: Callable[[], float] = time.monotonic,
        report: Callable[[str], None] = lambda _: None,
        resumable: Callable[[int], None] | None = None,
    ) -> None:
        self._host, self._environ, self._report = host, environ, report
        self._reported: set[str] = set()
        self._powers = Powers(environ)
        agents, more = agent_files.load_agents(environ)
        #: The current problems, by their subject.
        self.problems: dict[str, str] = {str(n): str(e) for n, e in enumerate((*self._powers.problems, *more))}
        self._posted: Mailbox[Callable[[], None]] = Mailbox()
        self._jobs = Jobs(self._posted.put)
        table = table or process_table.table()
        super().__init__(
            host,
            environ,
            config=self._powers.config,
            agents=agents,
            table=table,
            submit=self._jobs.submit,
            store=Store(host, environ, at_once, self._report_once, allow=self._powers.config.scripting),
            clock=clock,
            report=self._report_once,
            resumable=resumable,
        )
        self._groups = process_table.Groups(table)
        #: Names that the user gave to conversations; the list reports problems with their file.
        self._labels = labels_file.LabelsFile(labels_file.path(environ))
        self._asked = [_SourceState(source) for source in sources]
        self._held: dict[str, PolledPane] = {}
        #: Takes reports from output and from the socket.
        self.reports = ReportIntake(self.post, self._held, clock, self._foreground, self._touched.add)
        self._screens = Screens(self._jobs, clock, self._touched.add)
        #: Sends notifications; None for a host with a terminal that sends them.
        self._notices: Notices | None = None
        #: Whether its terminal ended with all programs in it: their conversations stay open for `tally restore`.
        self.is_lost = False
        #: Called when the host ends.
        self.at_end: list[Callable[[], None]] = []
        self._tick_due = 0.0
        self._is_over = False
        # A snapshot without panes is published, too.
        self._is_unsaved = True
        self._store.open()
        self.parts.use(self.config)

    # For a host that knows more ------------------------------------------------------------------------------

    def pane(self, id_: str) -> Pane | None:
        """
        Return the pane *id_*, and publish it again: for changes that a `SourcePane` cannot carry. On the loop only; see
        `post`.
        """
        if id_ in self._panes:
            self._touched.add(id_)
        return self._panes.get(id_)

    def peek(self, id_: str) -> Pane | None:
        """Return the pane *id_* without publishing it again. On the loop only."""
        return self._panes.get(id_)

    def entry(self, id_: str) -> PaneEntry | None:
        """Return the current entry of the pane *id_*. On the loop only."""
        return self._entries({id_} & self._published.keys()).get(id_)

    def notify(self, screen: NoticeScreen | None = None) -> None:
        """Send notifications from now on, on *screen* if there is one."""
        name = f"{self._host}-{os.getpid()}"
        self._notices = Notices(
            name,
            self._panes,
            self.config.notify,
            self._environ,
            self.entry,
            lambda error: self._report_once(str(error)),
            self.parts.notify,
            screen,
        )

    def post(self, call: Callable[[], None]) -> None:
        """Make *call* on the loop soon; panes that it gets from `pane` are published at once."""
        self._posted.put(call)

    def later(self, name: str, job: Callable[[], None]) -> None:
        """Run *job* on another thread; one of each *name* at a time."""
        self._jobs.submit((name,), job, lambda _: None)

    def refresh(self, source: Source) -> None:
        """Ask *source* again at once, because something has changed there."""

        def hurry() -> None:
            for asked in self._asked:
                if asked.source is source:
                    asked.due = 0.0

        self.post(hurry)

    @property
    def _is_busy(self) -> bool:
        """Return whether something may happen soon: an agent is there, or a pane is not quiet."""
        is_quiet = all(published.is_quiet for published in self._published.values())
        return not is_quiet or any(pane.agent is not None for pane in self._panes.values())

    def stop(self) -> None:
        """End `run`."""
        self._is_over = True
        self.post(lambda: None)

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
                self.guarded("call", call)()
        finally:
            self.close()

    def close(self) -> None:
        """Remove the snapshot and the spool: the host ends."""
        for pane in self._panes.values():
            pane.close()
        for asked in self._asked:
            asked.source.close()
        for call in self.at_end:
            call()
        self._store.close()
        self.parts.close(self._clock(), is_lost=self.is_lost)

    def _skip_pause(self, seconds: float) -> None:
        super()._skip_pause(seconds)
        if self._notices is not None:
            self._notices.pause(seconds)

    def step(self, now: float) -> float:
        """Do everything that is due at monotonic *now*; return the seconds until the next step."""
        while not self._posted.is_empty():
            self.guarded("call", self._posted.get())()
        for asked in self._asked:
            looked, failed = functools.partial(self._were_listed, asked), functools.partial(self._failed, asked)
            if now >= asked.due and self._jobs.submit(asked, asked.source.look, looked, failed):
                asked.due = now + asked.source.every
        if is_tick := now >= self._tick_due:
            self._tick_due = now + self.config.poll_s * (1 if self._is_busy else IDLE_TIMES)
            self._begin_tick(now)
        self._look_at_due(now)
        self._screens.flush(now)
        if is_tick:
            self.guarded("requests", self._store.take)(self._carry_out)
            if self._ticks % POWERS_EVERY == 0:
                self._jobs.submit("settings", lambda: (self._powers.look(), self._labels.poll()), self._files_changed)
            self.guarded("ledger", self._add_waiting_time)(now)
            if self._notices is not None:
                self.guarded("notifications", self._notices.look)(now)
        self._pass_time(now)
        changed = self._decide_touched(now)
        if self._notices is not None:
            self._notices.changed(changed)
        is_new = self._is_unsaved
        self._publish(now)
        self._show(is_new=is_new)
        for problem in self.problems.values():
            self._report_once(problem)
        dues = [asked.due for asked in self._asked if not self._jobs.is_busy(asked)]
        return min(max(min(self._due(now), self._tick_due, *dues) - now, 0.01), _LONGEST_SLEEP_S)

    def _report_once(self, problem: str) -> None:
        """Report *problem*, once: a terminal that does not respond would else fill a log."""
        if problem not in self._reported and len(self._reported) < MAX_PROBLEMS_REPORTED:
            self._reported.add(problem)
            self._report(problem)

    def _show(self, *, is_new: bool) -> None:
        """Pass the entries of its panes to each source, if anything *is_new* and they have changed."""
        for asked in self._asked:
            asked.is_shown = asked.is_shown and not is_new
            if asked.is_shown:
                continue
            shown = self._entries(id_ for id_, polled in self._held.items() if polled.source is asked.source)
            job = functools.partial(asked.source.shown, shown)
            if shown == asked.shown or self._jobs.submit(("shown", id(asked)), job):
                asked.is_shown, asked.shown = True, shown

    @property
    def allow(self) -> str:
        """The permission for programs to act on its panes (`scripting`)."""
        return self._store.allow

    def _files_changed(self, are_new: tuple[bool, bool]) -> None:
        """Apply the changed files: from the configuration only changes that take permissions away, and all names."""
        is_config_new, are_names_new = are_new
        if are_names_new:
            self._touched.update(self._panes)
        if is_config_new:
            self.problems.pop(ALLOW, None)
            self._store.allow, self._is_unsaved = self._powers.config.scripting, True
            self._store.withheld = tuple(one.key for one in self._powers.withheld)
            self.problems |= {one.key: f"{one} until this host restarts" for one in self._powers.withheld}

    def guarded(self, feature: str, call: Callable[..., None]) -> Callable[..., None]:
        """Return *call*, wrapped so that an exception is reported and costs only this call."""

        def guarded(*args: object) -> None:
            try:
                call(*args)
            except Exception as error:  # one pane's fault is no reason to lose the others
                self.problems[feature] = f"{type(error).__name__}: {error}"
            else:
                self.problems.pop(feature, None)

        return guarded

    def _report_fault(self, id_: str, fault: str) -> None:
        self.problems[f"evidence of pane {id_}"] = fault

    # Panes ----------------------------------------------------------------------------------------------------

    def _failed(self, asked: _SourceState, error: Exception) -> None:
        """Ask a source later: it could not list its panes."""
        asked.failures += 1
        asked.due = self._clock() + backoff(asked.failures)
        self.problems[type(asked.source).__name__] = f"{type(error).__name__}: {error}"

    def _were_listed(self, asked: _SourceState, found: Sequence[SourcePane] | None) -> None:
        """Apply a source's list of panes; None means no change."""
        asked.failures = 0
        self.problems.pop(type(asked.source).__name__, None)
        if found is None:
            return
        now = self._clock()
        source_panes = {source_pane.id: source_pane for source_pane in found}
        for id_ in [i for i, polled in self._held.items() if polled.source is asked.source and i not in source_panes]:
            self.problems.pop(f"evidence of pane {id_}", None)
            self._screens.gone(self._held.pop(id_))
            self._remove(id_)
            if self._notices is not None:
                self._notices.gone(id_)
        for id_, source_pane in source_panes.items():
            polled = self._held.get(id_)
            if polled is None:
                if len(self._held) < MAX_PANES:
                    self._held[id_] = PolledPane(self._add(id_, now), asked.source, source_pane)
                    self._panes[id_].session_listed = source_pane.session
                    self._title(id_, now)
            elif source_pane != polled.source_pane:
                before, polled.source_pane = polled.source_pane, source_pane
                self._touched.add(id_)
                if source_pane.title != before.title:
                    self._title(id_, now)
            else:
                polled.source_pane = source_pane  # its calls are new
        self.reports.deliver_early()

    def _title(self, id_: str, now: float) -> None:
        """
        Pass the title from the source to the pane *id_*, after its foreground program: that decides how it is read.
        """
        polled = self._held[id_]
        if polled.source_pane.title is not None:
            self._foreground(polled, now)
            polled.pane.title(polled.source_pane.title, now)

    def _foreground(self, polled: PolledPane, now: float) -> None:
        """Update the foreground program of *polled*."""
        polled.group = _group(self._groups, polled.source_pane, now)
        polled.pane.foreground(polled.group, now)

    def _rests(self, id_: str) -> bool:
        """Return whether a plain pane has drawn nothing since its last look, with the same program in front."""
        polled, still_since = self._held[id_], self._held[id_].source_pane.still_since
        if still_since is None or self._published[id_].has_files or polled.pane.decision.is_lit or self.mutes.ends:
            return False
        polled.rests += 1
        is_still = polled.rests < RESTS and polled.looked_at >= still_since()
        return is_still and _group(self._groups, polled.source_pane, self._clock()) == polled.group

    def _look(self, id_: str, pane: Pane, now: float) -> None:
        self.guarded(f"pane {id_}", self._look_at)(self._held[id_], pane, now)

    def _look_at(self, polled: PolledPane, pane: Pane, now: float) -> None:
        polled.looked_at, polled.rests = time.time(), 0
        self._foreground(polled, now)
        self._screens.look(polled, now)
        pane.look(polled.source_pane.visible, now)
        mutes = self.mutes
        pane.attention.muted_until = mutes.until(polled.source_pane.tab, pane.project, now) if mutes.ends else None

    def _host_values(self, id_: str) -> object:
        # Without the title: the pane compares that itself, and ignores spinners.
        seen = self._held[id_].source_pane
        inside = seen.visible, seen.inside, self._labels.labels
        return seen.tab, seen.os_window, seen.host_title, seen.attach, seen.terminals, inside

    def _entry(self, id_: str, pane: Pane, epoch: Callable[[float], float]) -> PaneEntry:
        seen = self._held[id_].source_pane
        title = pane.clean_title or seen.host_title
        entry = pane_entry(
            pane, epoch, id_=id_, tab=seen.tab, os_window=seen.os_window, title=title, terminal=seen.terminal
        )
        return attrs.evolve(
            with_inside(entry, seen.inside),
            name=self._labels.labels.of(f"{self._host}-{os.getpid()}", entry).name,
            place=attrs.evolve(entry.place, host_title=seen.host_title, terminals=seen.terminals),
            commands=attrs.evolve(entry.commands, attach=seen.attach),
            attention=attrs.evolve(entry.attention, visible=seen.visible),
        )

    def _carry_out(self, requests: Sequence[Request]) -> None:
        """Carry out requests of other processes."""
        now = self._clock()
        for request in requests:
            polled = self._held.get(request.pane)
            if request.verb == "mute":
                self.mutes.ask(request.args, polled.source_pane.tab if polled is not None else "", now)
            elif polled is not None and request.verb == "focus":
                job = functools.partial(polled.source.act, request)
                self._jobs.submit(("act", id(request)), job)
            elif polled is not None:
                requested.carry_out(request, polled.pane, self.config.notify.snooze_min, now)
                self._touched.add(request.pane)


def _group(groups: process_table.Groups, source_pane: SourcePane, now: float) -> int:
    return groups.look(source_pane.leader, now) if source_pane.leader else source_pane.group
