"""
The kitty host: gathers evidence from kitty's windows inside the kitty process, and shows what the trackers decide.

It runs on kitty's main thread, so it never waits and touches no disk: windows are looked at on a timer, files are read
and written by a `Worker`, its own settings too: they are taken over when they have been read. Every entry is guarded: a
fault switches off the feature it is in, with one line in kitty's log; one in what is taken in of a pane costs that
input alone (`pane.faults`). What kitty calls a window is a pane here; a kitty tab holds panes.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from kitty.fast_data_types import add_timer, remove_timer
from kitty.utils import log_error

from tallylight.actions.once import Once
from tallylight.agents.agent import Agents
from tallylight.config.settings import Config
from tallylight.evidence import process_table
from tallylight.hosts.kept import Kept
from tallylight.hosts.kitty import answering, screens, settings
from tallylight.hosts.kitty import requests as kitty_requests
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.hosts.kitty.attached import Attached
from tallylight.hosts.kitty.features import Features
from tallylight.hosts.kitty.looks import Looks
from tallylight.hosts.kitty.notifications import Notices
from tallylight.hosts.kitty.own_files import FileReader
from tallylight.hosts.kitty.published import Change, Published
from tallylight.hosts.kitty.settings import Settings, SettingsReader
from tallylight.hosts.kitty.store import Store
from tallylight.hosts.kitty.surfaces import Surfaces
from tallylight.hosts.kitty.turns import AGAIN_S, REST_TICKS, Turns
from tallylight.hosts.projects import Projects
from tallylight.hosts.worker import LEND_EVERY_S, Worker
from tallylight.model.decision import Decision
from tallylight.pane.former import Former
from tallylight.pane.pane import Look, Pane
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.tracker.mutes import Mutes
from tallylight.wire.envelope import CARRIER

#: In every so many ticks everything is told of every pane, and the time is kept that agents wait: where a pane shows
#: something else, sooner.
ALL_EVERY, NEWS_EVERY = 16, 4
#: How soon, in seconds, to look again where an answer, a transcript's end, is expected any moment.
SOON_S = 0.05
#: A tick this late, in seconds, means that the process was stopped or the machine suspended.
SUSPENDED_S = 3.0


class KittyHost:
    """All panes of one kitty process."""

    def __init__(self, boss: Any) -> None:
        self.boss = boss
        self.features = Features(_log)
        self.failed, self.guarded = self.features.failed, self.features.guarded
        self.config = Config()
        #: `tally`, as it was installed; nothing if it was not, or that is not known yet.
        self.command = ""
        self.worker = Worker(_log)
        #: Called at each tick: whether a script asks something, whether a text that waits can be typed.
        self.each_tick: list[Callable[[], None]] = []
        #: What was answered in the panes; on this thread nothing waits for the program to go on.
        self.once = Once(settle_s=0.0)
        self._table = process_table.table()
        self.reader = process_table.ForegroundReader(Agents(()), self._table)
        self._panes: dict[int, Pane] = {}
        self._published = Published()
        self._turns = Turns()
        self._looks = Looks(boss, self._panes, self._pane, self._turns)
        self.panel_came = self._looks.panel_came
        self._files = FileReader(self._panes, self.worker, self.guarded, _log, heard=self._answered)
        self._projects = Projects(self.worker.submit)
        self._store = Store(self.worker, _log)
        self._kept = Kept(
            "kitty", self.worker.submit, told=_log, resumable=functools.partial(answering.resumable, self)
        )
        #: Panes that were told of what was read for them, and have yet to be looked through for what is new.
        self._told: set[int] = set()
        #: Whether the snapshot, and the tabs, lack something that is no change of a decision: a pane came or went.
        self._is_unsaved = self._is_redrawn = False
        #: Whether a pane shows something else since the time was kept that agents wait.
        self._is_news = False
        self._last_tick: float | None = None
        self._soon_timer: int | None = None
        self._timer: int | None = None
        self._ticks, self._timer_s = 0, 0.0
        self.surfaces = Surfaces(boss, self._panes, self.guarded, self.failed)
        self._rollup, self._tabs = self.surfaces.rollup, self.surfaces.tabs
        self._attached = Attached(self.worker, self.guarded("attached sessions", self.surfaces.redraw))
        self._rollup.attached = self._attached.decisions
        self._mutes = Mutes()
        self._notices: Notices | None = None
        self.apply(self.config)
        self.settings = SettingsReader(
            self.worker, self.guarded("settings", self._take_over), self.guarded("settings", self._tell_problems)
        )
        patience = settings.patience_s()
        self.settings.open(time.monotonic())
        self._store.open()
        self.worker.lend(patience)
        self.come_back(time.monotonic())

    # Settings ------------------------------------------------------------------------------------------------

    def _take_over(self, found: Settings) -> None:
        """Go by what has been read. What was seen before it was known is looked at again by it."""
        self.command, self._is_unsaved = found.command, True
        self._store.allow, self._store.withheld = found.config.scripting, tuple(one.key for one in found.withheld)
        self.reader.use(found.agents)
        self.apply(found.config)
        if self._notices is None:
            self.guarded("notifications", self._start_notices)()
        else:
            self._notices.use(found.config.notify)
        self._kept.use(found.config)
        now = time.monotonic()
        for pane in self._panes.values():
            pane.recall(now)
        self._after(now)

    def _tell_problems(self, problems: Sequence[str]) -> None:
        """Say what is wrong with the settings, in the log and in front of the person."""
        for problem in problems:
            _log(problem)
        if self._notices is not None:
            self.guarded("notice of mistakes", self._notices.say_problems)(problems)

    def apply(self, config: Config) -> None:
        """Go by *config* from now on."""
        self.config = config
        self._looks.rest_s = 2 * REST_TICKS * config.poll_s
        self.surfaces.apply(config)
        for pane in self._panes.values():
            pane.tracker.timing = config.timing
        if self._timer is None or config.poll_s != self._timer_s:
            self._timer_s = config.poll_s
            self._timer = add_timer(self.guarded("timer", self._on_timer), config.poll_s, True)
        self._is_redrawn = True

    # What is told --------------------------------------------------------------------------------------------

    @property
    def panes(self) -> Mapping[int, Pane]:
        """Every pane, by the id of its window."""
        return self._panes

    def entries(self, now: float) -> tuple[PaneEntry, ...]:
        """Every pane as the snapshot has it at monotonic *now*."""
        return tuple(self._entry(id_, pane, now) for id_, pane in self._panes.items())

    def newest(self, now: float) -> tuple[tuple[PaneEntry, ...], float]:
        """
        Every pane at monotonic *now*, and as of when, in seconds since the epoch, a snapshot says the same; 0: any.

        The snapshot may not have been written yet, but soon is.
        """
        self._after(now)
        return self.entries(now), time.time() if self._is_unsaved else self._store.pending

    def entry(self, id_: int, now: float) -> PaneEntry | None:
        """The pane of window *id_* as the snapshot has it at monotonic *now*; None if there is none."""
        pane = self._panes.get(id_)
        return self._entry(id_, pane, now) if pane is not None else None

    def look_at(self, window: Any, pane: Pane) -> Look:
        """The screen of *window* at this moment. Its *pane* then knows who is in the foreground."""
        self._looks.foreground(window, pane, time.monotonic())
        return screens.look(window)

    def light(self, tab_id: int) -> Decision | None:
        """What is shown on a tab, for code of the person's own."""
        self._tabs.was_asked()
        return self._rollup.light(tab_id)

    def light_text(self, tab_id: int) -> str:
        """What is drawn for it, for code of the person's own."""
        self._tabs.was_asked()
        return self._tabs.rendered(tab_id)

    # What kitty tells ----------------------------------------------------------------------------------------

    def on_set_user_var(self, window: Any, key: str, value: str | None) -> None:
        """A program set or deleted a user variable."""
        if key == CARRIER:
            self._hear(window, lambda pane, now: pane.carrier(value, now))

    def on_title_change(self, window: Any, title: str, from_child: bool) -> None:
        """The title changed. One that a person gave the window says nothing of the program in it."""
        if from_child:
            self._hear(window, lambda pane, now: pane.title(title, now))

    def on_cmd_startstop(self, window: Any, is_start: bool, exit_code: int | None) -> None:
        """A command of a shell with integration started or ended."""
        self._hear(window, lambda pane, now: pane.marked(is_start, exit_code, now))

    def _hear(self, window: Any, tell: Callable[[Pane, float], bool]) -> None:
        """A program says something; *tell* tells its pane, and whether that was read. If not, it is in its turn."""
        now = time.monotonic()
        pane = self._pane(window.id)
        self._turns.wake(window.id)
        if pane.is_behind:
            tell(pane, now)
            return
        self._looks.foreground(window, pane, now)
        if tell(pane, now):
            self._after(now, (window.id,))
        else:
            self.come_back(now, (window.id,))

    def on_focus_change(self) -> None:
        """Another window has the focus."""
        self._looks.look_at_visible(time.monotonic(), ())
        self.surfaces.follow()

    def on_close(self, window: Any) -> None:
        """The window is gone."""
        self._drop(window.id)
        self._after(time.monotonic())

    # The timer -----------------------------------------------------------------------------------------------

    def _on_timer(self, timer: int | None) -> None:
        """It is time for a look. A timer that another one has replaced ends itself."""
        # Not at once: kitty frees what a timer calls when it is removed, though it may be about to call it.
        if timer is not None and timer != self._timer:
            remove_timer(timer)
        else:
            self.tick()

    def tick(self) -> None:
        """Look at every window."""
        now = time.monotonic()
        late = now - self._last_tick - self.config.poll_s if self._last_tick is not None else 0.0
        self._last_tick = now
        self._ticks += 1
        windows = self._looks.watched()
        for id_ in self._panes.keys() - windows:
            self._drop(id_)
        if late > SUSPENDED_S:
            for pane in self._panes.values():
                pane.tracker.pause(late)
        self._looks.begin()
        looked, awake = self._look(now), self._turns.awake(self._panes)
        self.guarded("settings", self.settings.look)(now)
        self.guarded("attached sessions", self._attached.look)(now, windows)
        # In a call of its own: going to a window is work for kitty, too.
        self.guarded("requests", self._store.take)(
            lambda asked: add_timer(self.guarded("requests", lambda _: self.carry_out(asked)), 0, False), now
        )
        # After all else that a worker is asked for: it is lent time once.
        self._files.ask_in_turn({*awake, *self._looks.visible}, self._ticks)
        if self._ticks % 2:
            self.surfaces.follow()
        for call in self.each_tick:
            call()
        ids = {*looked, *awake}
        if self._notices is not None:
            self.guarded("notifications", self._notices.look)(now, ids)
        if self._ticks % (NEWS_EVERY if self._is_news else ALL_EVERY) == 0:
            self._is_news = False
            self.guarded("ledger", self._store.keep)([pane.attention for pane in self._panes.values()], now)
        self._after(now, ids if self._ticks % ALL_EVERY else None)

    def _look(self, now: float) -> list[int]:
        """Look at the panes whose turn it is, as far as there is time; which these were."""
        looked = self._looks.look(now, self._ticks)
        self._projects.tell(self._panes[id_] for id_ in looked if id_ in self._panes)
        return looked

    def _pane(self, id_: int) -> Pane:
        pane = self._panes.get(id_)
        if pane is None:
            pane = self._panes[id_] = Pane(
                self.config.timing, self.reader, self._table, lambda fault: _log(f"window {id_}: {fault}")
            )
            now, former = time.monotonic(), self._store.former
            pane.former = Former(str(id_), former, pane.attention, self._table, self._store.epoch(0.0, now), now)
            self._is_unsaved = self._is_redrawn = True
        return pane

    def _answered(self, id_: int) -> None:
        """The pane of window *id_* was told of what was read for it. It is looked at if something is expected of it."""
        self._told.add(id_)
        if (pane := self._panes.get(id_)) is not None and not pane.rests(time.monotonic() + self._looks.rest_s):
            self._turns.wake(id_)

    def _drop(self, id_: int) -> None:
        pane = self._panes.pop(id_, None)
        if pane is not None:
            now = time.monotonic()
            pane.close()
            self._store.closed(pane.attention, now)
            if self._notices is not None:
                self.guarded("notifications", self._notices.close)(id_, now)
            self._is_unsaved = self._is_redrawn = True
        self._published.forget(id_)
        self._looks.forget(id_)

    # What a person wants -------------------------------------------------------------------------------------

    def _start_notices(self) -> None:
        self._notices = answering.notices(self, self._panes, self._mutes, lambda _: self._after(time.monotonic()))

    def say(self, title: str, body: str) -> None:
        """Tell the person of something that is about no pane."""
        if self._notices is not None:
            self._notices.say(title, body)

    def carry_out(self, requests: Sequence[Request]) -> None:
        """Do what is asked, and show it."""
        now = time.monotonic()
        for request in requests:
            kitty_requests.carry_out(request, self.boss, self._panes, self._mutes, self.config.notify.snooze_min, now)
        self._looks.look_at_visible(now, self._panes)
        self._after(now)

    # What is shown -------------------------------------------------------------------------------------------

    def _after(self, now: float, ids: Collection[int] | None = None) -> None:
        """Show what has changed in *ids*, None for all; see to it that what will change soon is looked at in time."""
        panes, published = self._panes, self._published
        told, self._told = self._told, set()
        looked = panes.keys() if ids is None else {*ids, *told}
        published.may_be_new(looked - self._turns.resting | told)
        for id_ in list(looked):
            if (pane := panes.get(id_)) is None or (change := published.change(id_, pane)) is Change.NONE:
                continue
            if change is Change.SHOWN or not pane.rests(now + self._looks.rest_s):
                self._turns.wake(id_)
            published.publish(id_, pane, self.boss.window_id_map.get(id_), now)
            self._is_unsaved = True
            if change is Change.SHOWN:
                self._is_redrawn = self._is_news = True
        if self._is_redrawn:
            self._is_redrawn = False
            self.surfaces.redraw()
        if self._is_unsaved:
            self._is_unsaved = not self._store.publish(lambda: self._entries_to_keep(now), now)
        self._store.flush(now)
        self._kept.tick(now)
        self.come_back(now, ids)

    def _entries_to_keep(self, now: float) -> tuple[PaneEntry, ...]:
        """Every pane, for the snapshot that is written now; what is open in them is kept, too."""
        windows, origin = self.boss.window_id_map, self._store.epoch(0.0, now)
        entries = self._published.entries(
            self._panes, windows, lambda id_, pane: self._entry(id_, pane, now), now, origin
        )
        self._kept.publish(entries, kitty_windows.tabs(self.boss))
        return entries

    def _entry(self, id_: int, pane: Pane, now: float) -> PaneEntry:
        window = self.boss.window_id_map.get(id_)
        terminal = self._attached.terminal(window) if window is not None else ""
        return self._published.entry(id_, window, pane, terminal, lambda at: self._store.epoch(at, now))

    def come_back(self, now: float, ids: Iterable[int] | None = None) -> None:
        """Have the next tick early if something becomes due before it: the debounce is shorter than the poll."""
        if self._soon_timer is not None:
            return
        # Of those at rest nothing is due before the next tick.
        awake = self._turns.awake(self._panes if ids is None else ids)
        panes = [self._panes[id_] for id_ in awake if id_ in self._panes]
        deadlines = [d for pane in panes if (d := pane.deadline()) is not None]
        deadlines += [now + SOON_S] if any(pane.is_undecided for pane in panes) else []
        if self._turns.is_short:
            deadlines.append(now + AGAIN_S)
        if self._is_unsaved and (at := self._store.next_at) is not None:
            deadlines.append(at)
        if self.worker.is_waiting:
            deadlines.append(now + LEND_EVERY_S)
        wait = min(deadlines, default=now + 3600) - now
        if wait < self.config.poll_s:
            self._soon_timer = add_timer(self.guarded("timer", self._came_back), max(wait, 0.01), False) or None

    def _came_back(self, _timer: int | None) -> None:
        self._soon_timer = None
        now = time.monotonic()
        looked = self._look(now) if self._turns.is_short else ()
        awake = {id_: self._panes[id_] for id_ in self._turns.awake(self._panes)}
        undecided = {id_: pane for id_, pane in awake.items() if pane.is_undecided}
        self._files.ask(undecided)
        due = [id_ for id_, pane in awake.items() if (at := pane.deadline()) is not None and at <= now]
        for id_ in due:
            awake[id_].tick(now)
        if looked or undecided or due or self._told or self._is_unsaved:
            self._after(now, {*looked, *undecided, *due})
        self.come_back(now)


def _log(line: str) -> None:
    log_error(f"tallylight: {line}")
