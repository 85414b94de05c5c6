"""
The starter: all that kitty loads of us at once; it loads the rest while kitty works.

Loading all our modules takes a fifth of a second. A thread does it, so that kitty's main thread, which draws the first
window meanwhile, reads none of them from the disk. The thread runs only while the main thread releases Python's lock
(see `hosts.worker`). A timer lends it a few milliseconds at a time. Then the host starts, and takes over the windows
that are open; reports of shells so far are passed to it in order. The first agent has the rest loaded.

Only kitty and the standard library are imported here.
"""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from kitty.fast_data_types import add_timer, remove_timer
from kitty.utils import log_error

_PACKAGE = __package__
#: kitty's own modules that we use. Loaded first: two threads must not load modules of kitty's at the same time.
OF_KITTY = ("child", "constants", "launch", "progress", "rgb", "tab_bar", "tabs", "window")
#: The module that the thread loads: the host with all that it needs.
MODULES = ("watcher",)
#: Modules loaded with the first agent: what acts in its pane, keys, the list, parts and their pages.
LATER = ("awake", "keys", "fork")
#: How long, in seconds, the thread is lent the lock in one go, how often, and for how long it may hold it after that.
LEND_LOCK_S, LEND_LOCK_EVERY_S, SWITCH_S = 0.002, 0.004, 0.0005
#: How long, in seconds that were lent, to wait for the settings after the modules: a disk may hang.
SETTINGS_WAIT_S = 0.2
#: Marks of shells that are kept until the host runs.
MAX_MARKS = 256
#: The functions that kitty calls for each window.
WATCHED = ("on_close", "on_cmd_startstop", "on_focus_change", "on_set_user_var", "on_title_change")


class Starter:
    """The loading of one kitty process."""

    def __init__(self) -> None:
        #: The module `watcher`, once all is loaded.
        self.watcher: Any = None
        self.error: Exception | None = None
        #: Whether loading has ended: the host runs, or could not start.
        self.is_over = False
        #: The processor time that the thread has taken, in seconds.
        self.took_s = 0.0
        self._thread: threading.Thread | None = None
        self._is_loaded, self._is_ready = threading.Event(), threading.Event()
        #: Set once `LATER` is loaded; None before that has begun.
        self._has_more: threading.Event | None = None
        self._patience = SETTINGS_WAIT_S
        self._marks: list[tuple[Any, dict[str, Any]]] = []

    def on_load(self, boss: Any, _data: dict[str, Any]) -> None:
        """Begin to load the rest, once a process: kitty has loaded our watcher."""
        if self._thread is None and not self.is_over:
            for name in OF_KITTY:
                importlib.import_module(f"kitty.{name}")
            self._thread = threading.Thread(target=self._load, name="tallylight-load", daemon=True)
            self._thread.start()
            add_timer(lambda timer: self._lend(boss, timer), LEND_LOCK_EVERY_S, True)

    def finished(self, name: str) -> Any:
        """Return the module *name* of this package, for a key; wait for it if it is being loaded."""
        # Two threads that each load a part of the modules would wait for each other.
        if self._thread is not None:
            self._is_loaded.wait(30)
        if self._has_more is not None:
            self._has_more.wait(30)
        return importlib.import_module(f"{_PACKAGE}.{name}")

    def load_more(
        self, submit: Callable[..., object], done: Callable[[Any], None], failed: Callable[[Exception], None]
    ) -> None:
        """Load `LATER` on a thread of *submit*, which calls *done* with the first, or *failed* with an exception."""
        has_more = self._has_more = threading.Event()

        def load() -> Any:
            try:
                first, *_ = [importlib.import_module(f"{_PACKAGE}.{name}") for name in LATER]
                sys.modules["tallylight.hosts.part"].classes(is_early=False)
                sys.modules["tallylight.parts.index"].ask("in_kitty")
                return first
            finally:
                has_more.set()

        def lend(timer: int | None) -> None:
            if _let_run(has_more) and timer is not None:
                remove_timer(timer)

        submit("keys", load, done, failed)
        add_timer(lend, LEND_LOCK_EVERY_S, True)

    def forward(self, name: str, boss: Any, window: Any, data: dict[str, Any]) -> None:
        """Pass kitty's call of *name* for *window* on to the watcher; keep marks of shells until the host runs."""
        if self.watcher is not None:
            getattr(self.watcher, name)(boss, window, data)
        elif name == "on_cmd_startstop" and not self.is_over and len(self._marks) < MAX_MARKS:
            self._marks.append((window, data))

    def took_over(self, boss: Any, watcher: Any) -> None:
        """Pass kitty's calls to *watcher* from now on: the host runs, or cannot."""
        self.watcher, self.is_over = watcher, True
        marks, self._marks = self._marks, []
        for window, data in marks:
            if boss.window_id_map.get(window.id) is window:
                watcher.on_cmd_startstop(boss, window, data)

    def _load(self) -> None:
        """Load `MODULES`, on a thread; keep the error if that fails."""
        try:
            for name in MODULES:
                importlib.import_module(f"{_PACKAGE}.{name}")
            sys.modules["tallylight.hosts.part"].classes(is_early=True)
            self._is_loaded.set()
            sys.modules[f"{_PACKAGE}.settings"].read_ahead()
        except Exception as error:  # whatever is wrong in there, kitty goes on
            self.error = error
        self.took_s = time.thread_time()
        self._is_loaded.set()
        self._is_ready.set()

    def _lend(self, boss: Any, timer: int | None) -> None:
        """Lend the thread some time. Once it is done, start the host and pass the calls so far to it."""
        is_ready = _let_run(self._is_ready)
        if self._is_loaded.is_set() and not is_ready:
            self._patience -= LEND_LOCK_S
        if not is_ready and self._patience > 0:
            return
        if timer is not None:
            remove_timer(timer)
        if self.is_over:
            return  # a key was quicker
        if self.error is None:
            sys.modules[f"{_PACKAGE}.watcher"].start(boss)
        else:
            self.is_over = True
            log_error(f"tallylight: switched off: {type(self.error).__name__}: {self.error}; run `tally doctor`")


def _let_run(until: threading.Event) -> bool:
    """Lend the other threads the lock once, at most until *until* is set; return whether it is."""
    switch = sys.getswitchinterval()
    sys.setswitchinterval(min(SWITCH_S, switch))
    try:
        return until.wait(LEND_LOCK_S)
    finally:
        sys.setswitchinterval(switch)


#: The loading of this process; the functions for kitty, its keys and the host; and kitty's calls for each window.
loading = Starter()
on_load, finished, took_over = loading.on_load, loading.finished, loading.took_over
CALLS = {name: functools.partial(loading.forward, name) for name in WATCHED}


def running() -> Any:
    """Return the host of this kitty; None where it does not run, or not yet."""
    return loading.watcher.running() if loading.watcher is not None else None
