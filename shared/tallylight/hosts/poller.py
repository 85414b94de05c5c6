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

from tallylight import files, processes
from tallylight.decision import Decision
from tallylight.hosts import asked as requested
from tallylight.hosts import waited
from tallylight.hosts.entries import pane_entry
from tallylight.hosts.jobs import Jobs
from tallylight.hosts.pane import Look, Pane, Wanted
from tallylight.hosts.sights import Sight as Sight
from tallylight.hosts.sights import Source as Source
from tallylight.requests import Spool
from tallylight.snapshot import MAX_PANES, SnapshotWriter
from tallylight.snapshot_schema import Pane as PaneEntry

#: How soon, in seconds, to look again where a transcript is about to tell how a turn ended.
SOON_S = 0.05
#: How many ticks come to one look at a pane with an agent whose screen is no evidence, and at one without an agent.
OFTEN, SELDOM = 2, 4
#: Of a foreground that holds no agent so many looks ask who it is; then, while it is the same group, every so many do:
#: it could have become another program.
EAGER, RARELY = 8, 4
#: A screen that has not changed of late is read in every so many of the times it could be.
CALM_EVERY = 2
#: Screens read in a second, of all panes together: where more are of interest, each is read more seldom.
READS_A_SECOND = 5
#: A screen that its source calls still is read all the same after so many seconds.
STILL_S = 10.0
#: After a failure a source or a screen is left alone for so long, doubled each time up to the last.
RETRY_S, RETRY_MAX_S = 1.0, 60.0
#: A step this late, in seconds, means that the process was stopped or the machine suspended.
SUSPENDED_S = 3.0
#: The longest sleep between two steps.
_IDLE_S = 1.0


class _UnreadError(Exception):
    """The screen is wanted, and has to be read first."""


@attrs.define(eq=False)
class _Held:
    """One pane and what is known of it."""

    pane: Pane
    source: Source
    sight: Sight
    read_at: float = 0.0
    failures: int = 0
    #: The foreground group at the last look, and how many looks there were.
    group: int = 0
    looks: int = 0
    #: Whether its screen was evidence when it was last looked at.
    is_armed: bool = False
    #: What was last read, and until when it may stand for another reading.
    look: Look | None = None
    good_until: float = 0.0
    told: tuple[object, ...] | None = None
    entry: PaneEntry | None = None


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
        table: processes.Table | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config, problems = files.load_config(environ)
        agents, more = files.load_agents(environ)
        #: What is wrong at the moment, by what it is about.
        self.problems: dict[str, str] = {str(n): str(error) for n, error in enumerate((*problems, *more))}
        self._clock = clock
        self._table = table or processes.table()
        self._reader = processes.ForegroundReader(agents, self._table)
        self._groups = processes.Groups(self._table)
        self._asked = [_Asked(source) for source in sources]
        self._held: dict[str, _Held] = {}
        self._posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._jobs = Jobs(self._posted.put)
        self._snapshot = SnapshotWriter.for_host(host, environ, time.time)
        self._spool = Spool(host, environ=environ)
        self._waited_file = waited.WaitedFile(host, environ)
        self._ledger = self._waited_file.open(waited.today(time.time()))
        #: The panes that may show something else than was last told.
        self._touched: dict[str, _Held] = {}
        #: The panes of which time alone may change what they show, as of the last tick.
        self._lively: list[_Held] = []
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
        self._touched[id_] = held
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
            deadline = held.pane.tracker.deadline()
            if deadline is not None and now >= deadline:
                held.pane.tick(now)
                self._touched[held.sight.id] = held
        if any(held.pane.is_undecided for held in self._lively):
            self._read_files()
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
            is_of_interest = held.pane.agent is not None or held.pane.decision.is_lit or held.entry is None
            if is_of_interest:
                self._lively.append(held)
            every = 1 if held.is_armed or held.entry is None else OFTEN if is_of_interest else SELDOM
            if (number + self._ticks) % every == 0:
                look = functools.partial(self._look_at, held, now, is_plain=not is_of_interest)
                self._guard(f"pane {held.sight.id}", look)
        self._read_files()
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
        self._ledger.tick(waited.today(clock), ledgers, now)
        found = self._ledger.sum(ledgers, now, clock)
        if self._waited_file.is_due(found):
            self._jobs.submit("waited", lambda: self._waited_file.save(found), lambda _: None)

    def _wait(self, now: float) -> float:
        dues = [asked.due for asked in self._asked if not self._jobs.is_busy(asked)]
        dues += [d for held in self._lively if (d := held.pane.tracker.deadline()) is not None]
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
            asked.due = self._clock() + _backoff(asked.failures)
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
            pane = self._held.pop(id_).pane
            self._ledger.closed(pane.attention, now)
            pane.close()
            self._is_changed = True
        for id_, sight in sights.items():
            held = self._held.get(id_)
            if held is None and len(self._held) < MAX_PANES:
                pane = Pane(self.config.timing, self._reader, self._table)
                held = self._held[id_] = _Held(pane, asked.source, sight)
                self._title(held, now)
            elif held is not None:
                before, held.sight = held.sight, sight
                if sight != before:
                    self._touched[id_] = held
                if sight.title != before.title:
                    self._title(held, now)

    def _title(self, held: _Held, now: float) -> None:
        if held.sight.title is not None:
            self._foreground(held, now)
            held.pane.title(held.sight.title, now)

    def _foreground(self, held: _Held, now: float) -> None:
        held.group = self._group(held, now)
        held.pane.foreground(held.group, now)

    def _group(self, held: _Held, now: float) -> int:
        sight = held.sight
        return self._groups.look(sight.leader, now) if sight.leader else sight.group

    def _look_at(self, held: _Held, now: float, *, is_plain: bool = False) -> None:
        """Look at one pane; *is_plain*: it held no agent, so nothing is new while its group is the same."""
        group = self._group(held, now)
        held.looks += 1
        if is_plain and group == held.group and held.looks > EAGER and held.looks % RARELY:
            return
        held.group = group
        held.pane.foreground(group, now)
        if held.sight.read is not None and now >= held.read_at:
            try:
                held.pane.screen(lambda: self._last_look(held, now), now)
                held.is_armed = False
            except _UnreadError:
                held.is_armed = True
                self._read_screen(held, held.sight.read, now)
        held.pane.look(held.sight.visible, now)
        self._touched[held.sight.id] = held

    def _last_look(self, held: _Held, now: float) -> Look:
        """What was last read, if nothing was drawn since; else it has to be read."""
        sight = held.sight
        if held.look is None or now >= held.good_until or sight.is_still is None or not sight.is_still():
            raise _UnreadError
        held.read_at = now + sight.read_every
        return held.look

    def _read_screen(self, held: _Held, read: Callable[[], Look | None], now: float) -> None:
        if self._jobs.submit(("screen", held.sight.id), read, functools.partial(self._screen_read, held)):
            least = sum(other.is_armed for other in self._held.values()) / READS_A_SECOND
            held.read_at = now + max(least, held.sight.read_every * (CALM_EVERY if held.pane.is_calm else 1))

    def _screen_read(self, held: _Held, result: object) -> None:
        now = self._clock()
        if isinstance(result, Look):
            held.failures = 0
            if self._held.get(held.sight.id) is held:
                held.look, held.good_until = result, now + STILL_S
                held.pane.screen(lambda: result, now)
                self._touched[held.sight.id] = held
        elif isinstance(result, Exception):
            held.failures += 1
            held.read_at = now + _backoff(held.failures)
            held.look = None

    # The agents' own files ------------------------------------------------------------------------------------

    def _read_files(self) -> None:
        if self._jobs.is_busy("files"):
            return
        wanted = {id_: w for id_, held in self._held.items() if (w := held.pane.wanted_files()) is not None}
        if wanted:
            self._jobs.submit(
                "files",
                lambda: {id_: one.read() for id_, one in wanted.items()},
                lambda result: self._files_read(wanted, result),
            )

    def _files_read(self, wanted: dict[str, Wanted], result: object) -> None:
        if isinstance(result, dict):
            now = self._clock()
            for id_, (status_file, tail) in result.items():
                held = self._held.get(id_)
                if held is not None:
                    held.pane.files(wanted[id_].status_file, status_file, tail, now)
                    self._touched[id_] = held

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
                self._touched[request.pane] = held

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
                self._is_changed = self._is_changed or entry != held.entry
                held.entry = entry
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

    def _entry(self, held: _Held, now: float) -> PaneEntry:
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
        pane.prompt,
        pane.pid,
    )


def _backoff(failures: int) -> float:
    return min(RETRY_MAX_S, RETRY_S * 2.0 ** min(failures - 1, 10))
