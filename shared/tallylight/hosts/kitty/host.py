"""
The kitty host: gathers evidence from kitty's windows inside the kitty process, and shows the decisions.

It runs on kitty's main thread, so it never waits and reads no disk. A timer looks at the windows. A `Worker` reads and
writes files, even the settings, which take effect once read. Every entry is guarded: an exception switches off its
feature, with one line in kitty's log. A bad input of a pane costs only that input (`pane.faults`). A kitty window is a
pane here; a kitty tab holds panes.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kitty.fast_data_types import add_timer, remove_timer

from tallylight.agents.agent import Agents
from tallylight.config.settings import Config
from tallylight.evidence import process_table
from tallylight.evidence.titles import clean_title
from tallylight.hosts.engine import Engine
from tallylight.hosts.kitty import actions, starter, unparsed, user_vars
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.hosts.kitty.attached import Attached
from tallylight.hosts.kitty.door import Door
from tallylight.hosts.kitty.features import Features
from tallylight.hosts.kitty.looks import Looks
from tallylight.hosts.kitty.messages import Messages, log
from tallylight.hosts.kitty.settings import Settings, SettingsReader
from tallylight.hosts.kitty.spins import Spins
from tallylight.hosts.kitty.surfaces import Surfaces
from tallylight.hosts.kitty.wiring import Wiring
from tallylight.hosts.store import Store
from tallylight.hosts.worker import LEND_THREADS_EVERY_S, Worker
from tallylight.model.jobs import raised
from tallylight.pane import marks
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Look, Pane
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.schema import Tab
from tallylight.wire.envelope import CARRIER

HOST = "kitty"
_NOWHERE = "No other agent needs you."


class KittyHost(Engine[int]):
    """The engine for the windows of one kitty process."""

    SLICE_S = 0.0008

    def __init__(self, boss: Any) -> None:
        self.boss = boss
        self.features = Features(log)
        #: Our installed `tally`; empty if there is none, or it is not known yet.
        self.command = ""
        self.worker = Worker(log)
        #: Called at each tick: they look for scripts' requests and queued texts.
        self.each_tick: list[Callable[[], None]] = []
        #: Called when kitty's configuration has us no more.
        self.when_left: set[Callable[[], None]] = set()
        self.door = Door(self.wake)
        #: The answers given in the panes, an `actions.once.Once`; None before the first request.
        self.once: Any = None
        #: Called for a pane that a program's notification has changed.
        self.received = lambda id_: self._after(time.monotonic(), (id_,))
        #: Watches the open windows; set by the code that starts this host.
        self.adopt: Callable[[], None] = lambda: None
        self._wiring = Wiring()
        self.messages = Messages(self)
        super().__init__(
            HOST,
            os.environ,
            config=Config(),
            agents=Agents(()),
            table=process_table.table(),
            submit=self.worker.submit,
            store=Store(HOST, os.environ, self.worker.submit, self.messages.unwritten),
            clock=time.monotonic,
            report=log,
            resumable=self.messages.resumable,
            tabs=functools.partial(_open_tabs, boss),
        )
        self._looks = Looks(boss, self._panes)
        self.panel_came = self._looks.panel_came
        #: Parses all that the program in a window has written; False if kitty has not read all of it yet.
        self.parse = functools.partial(unparsed.parse, boss)
        self._spins = Spins()
        #: Whether the tabs must be redrawn although no decision changed: a pane was added or removed.
        self._is_redrawn = False
        self._soon_timer: int | None = None
        self._timer: int | None = None
        self._timer_s = 0.0
        self.surfaces = Surfaces(boss, self._panes, self.features)
        self._attached = Attached(self.worker, self.guarded("attached sessions", self.surfaces.redraw))
        self.surfaces.rollup.attached = self._attached.decisions
        self.name = f"{HOST}-{os.getpid()}"
        self.apply(self.config)
        self.settings = SettingsReader(
            self.worker, self.guarded("settings", self._take_over), self.guarded("settings", self.messages.mistakes)
        )
        self.surfaces.rollup.given = functools.partial(_given_name, self)
        patience = self.settings.open(time.monotonic())
        self._store.open()
        self.worker.lend(patience)
        self.schedule_tick(time.monotonic())

    def guarded(self, feature: str, call: Callable[..., None]) -> Callable[..., None]:
        return self.features.guarded(feature, call)

    def _awake(self) -> None:
        begin, woken = super()._awake, time.monotonic()

        def loaded(awake: Any) -> None:
            awake.begin(self, woken)
            begin()

        starter.loading.load_more(self.worker.submit, self.guarded("agents", loaded), self.guarded("agents", raised))

    def _report_fault(self, id_: int, fault: str) -> None:
        log(f"window {id_}: {fault}")

    # Settings ------------------------------------------------------------------------------------------------

    def _take_over(self, found: Settings) -> None:
        """Apply new settings, and look again at everything seen before."""
        self.command, self._is_unsaved = found.command, True
        self._store.allow, self._store.withheld = found.config.scripting, tuple(one.key for one in found.withheld)
        self.reader.use(found.agents)
        self.surfaces.rollup.agents = found.agents
        self.apply(found.config)
        if self.messages.notices is not None:
            self.messages.notices.use(found.config.notify)
        if found.withheld:
            self.wake()
        self.parts.use(found.config)
        now = time.monotonic()
        for pane in self._panes.values():
            pane.reconsider_foreground(now)
        self._after(now, self._panes)

    def apply(self, config: Config) -> None:
        """Apply *config* from now on."""
        self.config = config
        self.surfaces.apply(config)
        for pane in self._panes.values():
            pane.tracker.timing = config.timing
            # When it changes by itself was reckoned by the times of before.
            pane.tracker.tick(time.monotonic())
        if self._timer is None or config.poll_s != self._timer_s:
            self._timer_s = config.poll_s
            self._timer = add_timer(self.guarded("timer", self._on_timer), config.poll_s, True)
        self._is_redrawn = True

    # The lights ---------------------------------------------------------------------------------------------

    def newest(self, now: float) -> tuple[tuple[PaneEntry, ...], float]:
        """
        Return every pane at monotonic *now*. Snapshots from the returned time on (epoch, 0: any) have the same.

        That snapshot may not be written yet, but soon is.
        """
        self._after(now, self._panes)
        entries = tuple(self._entries(self._panes).values())
        return entries, time.time() if self._is_unsaved else self._store.pending

    def entry(self, id_: int, now: float) -> PaneEntry | None:
        """Return the entry of window *id_* at monotonic *now*; None if there is none."""
        pane = self._panes.get(id_)
        return self._entry(id_, pane, functools.partial(self._store.epoch, now=now)) if pane is not None else None

    def look_at(self, window: Any, pane: Pane) -> Look:
        """Return the current screen of *window*, and update the foreground program of its *pane*."""
        self._looks.foreground(window, pane, time.monotonic())
        return self._looks.screen(window)

    # Events of kitty ----------------------------------------------------------------------------------------

    def on_set_user_var(self, window: Any, key: str, value: str | None) -> None:
        """Handle a user variable that a program set or deleted."""
        if key == CARRIER:
            self._receive(window, lambda pane, now: pane.user_variable(value, now))

    def on_title_change(self, window: Any, title: str, from_child: bool) -> None:
        """Handle a changed title. A title that a person gave the window is no evidence."""
        if from_child and not self._spins.is_frame(window.id, self._panes.get(window.id), title, time.monotonic()):
            self._receive(window, lambda pane, now: pane.title(title, now))

    def on_cmd_startstop(self, window: Any, is_start: bool, exit_code: int | None) -> None:
        """Handle the start or end of a command of a shell with integration."""
        self._receive(window, lambda pane, now: pane.marked(is_start, exit_code, now))

    def _receive(self, window: Any, take: Callable[[Pane, float], bool]) -> None:
        """
        Pass a report to the pane of *window* with *take*, which returns whether it was used now; else schedule a tick.
        """
        now = time.monotonic()
        pane = self._pane(window.id)
        if not pane.is_behind:
            self._looks.foreground(window, pane, now)
        if take(pane, now):
            self._after(now, (window.id,))
        else:
            self._published[window.id].due = pane.deadline()
            self.schedule_tick(now)

    def on_focus_change(self) -> None:
        """Handle that another window has the focus."""
        self._touched |= self._looks.look_at_visible(time.monotonic(), ())
        self.surfaces.follow()

    def on_close(self, window: Any) -> None:
        """Handle that the window is gone."""
        now = time.monotonic()
        self._drop(window.id, now)
        self._after(now)

    # The timer -----------------------------------------------------------------------------------------------

    def _on_timer(self, timer: int | None) -> None:
        """Run a tick. A timer that was replaced removes itself."""
        # Not earlier: kitty frees a removed timer's function, though it may be about to call it.
        if timer is not None and timer != self._timer:
            remove_timer(timer)
        else:
            self.tick()

    def tick(self) -> None:
        """Look at every window; if Tallylight was uninstalled, put the lights out instead."""
        now = time.monotonic()
        if not self.is_wired:
            self._put_out(now)
            return
        windows = self._looks.watched()
        for id_ in self._panes.keys() - windows:
            self._drop(id_, now)
        for id_ in sorted(windows - self._panes.keys()):
            self._pane(id_)
        self._begin_tick(now, self._looks.visible)
        self._look_at_due(now)
        self.guarded("settings", self.settings.look)(now)
        self.guarded("attached sessions", self._attached.look)(now, windows)
        # In a call of its own: focusing a window is work for kitty, too.
        self.guarded("requests", self._store.take)(
            lambda asked: add_timer(self.guarded("requests", lambda _: self.carry_out(asked)), 0, False)
        )
        # After all requests for files: it is lent time once.
        self.worker.lend()
        if self._ticks % 2:
            self.surfaces.follow()
        for call in self.each_tick:
            call()
        if self.messages.notices is not None:
            self.guarded("notifications", self.messages.notices.look)(now, self._touched)
        self.guarded("ledger", self._add_waiting_time)(now)
        self._after(now)

    @property
    def is_wired(self) -> bool:
        """Return whether kitty's configuration, which may have been read again, contains our watcher."""
        if self._wiring.is_named_again():
            self._store.open()
            self.adopt()
        return not self._wiring.is_left

    def _put_out(self, now: float) -> None:
        """Put every light out, and stop publishing."""
        for id_ in list(self._panes):
            self._drop(id_, now)
            if (window := self.boss.window_id_map.get(id_)) is not None:
                user_vars.withdraw(window)
        if self._is_redrawn:
            self._is_redrawn = False
            self.surfaces.redraw()
            for call in self.when_left:
                call()
            if self.sessions_process is not None:
                self.sessions_process.close()
        self._store.leave()
        self.worker.lend()

    def _skip_pause(self, seconds: float) -> None:
        super()._skip_pause(seconds)
        if self.messages.notices is not None:
            self.messages.notices.pause(seconds)

    def _look_at_due(self, now: float) -> list[int]:
        looked = super()._look_at_due(now)
        self._touched |= self._looks.look_at_visible(now, looked)
        return looked

    def _look(self, id_: int, pane: Pane, now: float) -> None:
        self._looks.look(id_, pane, now)

    def _pane(self, id_: int) -> Pane:
        pane = self._panes.get(id_)
        if pane is None:
            pane = self._add(id_, time.monotonic())
            self._is_redrawn = True
        return pane

    def _drop(self, id_: int, now: float) -> None:
        """Forget window *id_* with its notifications and its last looks; redraw its tab."""
        if id_ in self._panes:
            self._remove(id_)
            if self.messages.notices is not None:
                self.guarded("notifications", self.messages.notices.close)(id_, now)
            self._is_redrawn = True
        self._looks.forget(id_)
        self._spins.forget(id_)

    def carry_out(self, requests: Sequence[Request]) -> None:
        """Carry out requests and show the result; one without a window here, or with an unknown verb, is ignored."""
        now = time.monotonic()
        for request in requests:
            id_ = kitty_windows.id_of(request.pane)
            if request.verb == "focus":
                actions.focus(self.boss, id_)
            elif request.verb == "jump":
                if not self._attached.jump(self.boss, self.newest(now)[0], request.args):
                    self.messages.notify(_NOWHERE, "")
            elif request.verb == "mute":
                window = self.boss.window_id_map.get(id_)
                self.mutes.ask(request.args, str(window.tab_id) if window is not None else "", now)
            elif id_ in self._panes:
                marks.carry_out(request, self._panes[id_], self.config.notify.snooze_min, now)
        self._looks.look_at_visible(now, self._panes)
        self._after(now, self._panes)

    # The lights ---------------------------------------------------------------------------------------------

    def _after(self, now: float, ids: Iterable[int] = ()) -> None:
        """Show what changed in *ids* and in panes that were looked at, and schedule the next tick."""
        self._touched.update(ids)
        changed = self._decide_touched(now)
        for id_ in changed:
            if (window := self.boss.window_id_map.get(id_)) is not None:
                user_vars.publish(window, self._panes[id_])
        if self._is_redrawn or any(changed.values()):
            self._is_redrawn = False
            self.surfaces.redraw()
        if self._publish(now):
            # At once, so that the next command reads the new snapshot.
            self.worker.lend()
        self.schedule_tick(now)

    def _host_values(self, id_: int) -> object:
        window = self.boss.window_id_map.get(id_)
        return (kitty_windows.name(window), window.tab_id, window.os_window_id) if window is not None else None

    def _entry(self, id_: int, pane: Pane, epoch: Callable[[float], float]) -> PaneEntry:
        # The window may be gone.
        window = self.boss.window_id_map.get(id_)
        return pane_entry(
            pane,
            epoch,
            id_=str(id_),
            tab=str(window.tab_id) if window is not None else "",
            os_window=str(window.os_window_id) if window is not None else "",
            title=kitty_windows.name(window),
            terminal=self._attached.terminal(window) if window is not None else "",
        )

    def schedule_tick(self, now: float) -> None:
        """Schedule an early tick if something is due before the next one: the debounce is shorter than the poll."""
        if self._soon_timer is not None:
            return
        wait = min(self._due(now), now + LEND_THREADS_EVERY_S if self.worker.is_waiting else float("inf")) - now
        if wait < self.config.poll_s:
            self._soon_timer = add_timer(self.guarded("timer", self._early_tick), max(wait, 0.01), False) or None

    def _early_tick(self, _timer: int | None) -> None:
        """Look at the panes that are due now, between two ticks."""
        self._soon_timer = None
        now = time.monotonic()
        self._look_at_due(now)
        self._pass_time(now)
        self.worker.lend()
        self._after(now)


def _open_tabs(boss: Any) -> Mapping[str, Tab]:
    tabs = (place for manager in boss.all_tab_managers for place in enumerate(manager))
    return {str(tab.id): Tab(position, clean_title(tab.name)) for position, tab in tabs}


def _given_name(host: KittyHost, id_: int) -> str:
    """Return the user's name for the conversation in window *id_*, once published; else empty."""
    found, published = host.settings.current, host._published.get(id_)
    entry = published.entry if published is not None else None
    return found.labels.of(host.name, entry).name if found is not None and entry is not None else ""
