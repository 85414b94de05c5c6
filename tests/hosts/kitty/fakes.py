"""As much of kitty as the host in it needs, made by hand: its modules, a boss, windows and timers on a clock."""

from __future__ import annotations

import enum
import importlib
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.hosts import kitty as package
from tallylight.hosts.store import Store

#: Our modules that import kitty's, by which they are made anew for each test.
_OURS = (
    "watcher", "agent_list", "answering", "awake", "channel", "consents", "door", "fork", "keys", "host", "colours",
    "looks", "os_titles", "power_consent", "queue", "rollup", "user_vars", "script_starts", "scripts", "settings",
    "splits", "starter", "surfaces", "tabs", "messages", "window_bars", "windows", "wiring",
)  # fmt: skip
#: What is called of each window.
_WATCHED = ("on_close", "on_cmd_startstop", "on_focus_change", "on_set_user_var", "on_title_change")
_OF_THE_TAB_BAR = ("ColorFormatter", "Formatter", "TabAccessor", "TabBar")


class ProgressState(enum.Enum):
    unset = 0
    shown = 1


@attrs.define
class Progress:
    state: ProgressState = ProgressState.unset


@attrs.define
class Child:
    """*child_fd* is the process group in the window's foreground, for `os.tcgetpgrp` of these fakes."""

    child_fd: int
    pid: int = 1


@attrs.define
class Cursor:
    x: int = 0
    y: int = 0


@attrs.define
class Screen:
    text: str = ""
    cursor: Cursor = attrs.Factory(Cursor)
    columns: int = 80
    lines: int = 24
    cursor_visible: bool = True
    in_bracketed_paste_mode: bool = True

    def as_text_non_visual(self, write: Callable[[str], object], *_how: bool) -> None:
        write(self.text)


@attrs.define(eq=False)
class Window:
    id: int
    child: Child
    screen: Screen = attrs.Factory(Screen)
    progress: Progress = attrs.Factory(Progress)
    title: str = ""
    override_title: str | None = None
    tab_id: int = 1
    os_window_id: int = 1
    tab: Any = None
    is_visible_in_layout: bool = True
    user_vars: dict[str, str] = attrs.Factory(dict)
    geometry: object = (0, 0, 720, 432)
    child_title: str = ""
    default_title: str = ""
    watchers: Any = attrs.Factory(lambda: SimpleNamespace(**{name: [] for name in _WATCHED}))

    def tabref(self) -> Any:
        return self.tab

    def refresh(self) -> None:
        """There is nothing to draw."""

    def write_to_child(self, data: str | bytes) -> None:
        """Its program reads nothing."""

    def set_user_var(self, name: str, value: str | None) -> None:
        if value is None:
            self.user_vars.pop(name, None)
        else:
            self.user_vars[name] = value


class Manager:
    """kitty's manager of notifications, which keeps what it is to show."""

    def __init__(self) -> None:
        self.in_progress_notification_commands: dict[int, Any] = {}
        self.shown: list[Any] = []

    def create_notification_cmd(self) -> Any:
        return SimpleNamespace(title="", body="", application_name="")

    def notify_with_command(self, command: Any, _channel: int) -> None:
        self.shown.append(command)

    def handle_notification_cmd(self, *_: Any) -> None:
        """Nothing comes of it."""

    close_notification = handle_notification_cmd


class WindowList(list[Window]):
    """The windows of a tab, each a group of its own."""

    @property
    def num_groups(self) -> int:
        return len(self)

    def iter_all_layoutable_groups(self, *, only_visible: bool = False) -> Iterator[Any]:
        for window in self:
            if window.is_visible_in_layout or not only_visible:
                yield SimpleNamespace(active_window_id=window.id)


@attrs.define(eq=False)
class Tab:
    """A tab of windows; *name* is what a person calls it."""

    id: int
    windows: WindowList
    name: str = ""

    @property
    def active_window(self) -> Window:
        return self.windows[0]

    def __iter__(self) -> Iterator[Window]:
        return iter(self.windows)


@attrs.define(eq=False)
class TabManager:
    """The tabs of an OS window; the window that is active in it is the first of the tab that is shown."""

    os_window_id: int
    tabs: list[Tab]
    tab_bar_should_be_visible: bool = True
    tab_bar_hidden: bool = False
    shown: int = 0
    times_dirty: int = 0

    def __iter__(self) -> Iterator[Tab]:
        return iter(self.tabs)

    @property
    def active_tab(self) -> Tab:
        return self.tabs[self.shown]

    @property
    def active_window(self) -> Window:
        return self.active_tab.active_window

    def mark_tab_bar_dirty(self) -> None:
        self.times_dirty += 1


class Boss:
    """kitty without a tab bar."""

    def __init__(self) -> None:
        self.window_id_map: dict[int, Window] = {}
        self.os_window_map: dict[int, Any] = {}
        self.all_tab_managers: list[Any] = []
        self.notification_manager = Manager()
        self.active_window: Window | None = None
        self.errors: list[str] = []

    def set_active_window(self, window: Window, **_how: bool) -> None:
        self.active_window = window

    def show_error(self, _title: str, message: str) -> None:
        self.errors.append(message)

    def arrange(self, *tabs: list[int]) -> TabManager:
        """Put the windows of these numbers into the tabs of one OS window."""
        made = [Tab(number, WindowList(self.window_id_map[id_] for id_ in ids)) for number, ids in enumerate(tabs, 1)]
        for tab in made:
            for window in tab:
                window.tab_id, window.tab = tab.id, tab
        manager = self.os_window_map[1] = TabManager(1, made)
        self.all_tab_managers = [manager]
        return manager

    def open(self, id_: int, pgid: int) -> Window:
        window = self.window_id_map[id_] = Window(id_, Child(pgid))
        return window


@attrs.define
class Kitty:
    """What the host asked of kitty: its timers, by number, and the lines in the log."""

    host_module: Any = None
    timers: dict[int, tuple[Callable[[int | None], None], float, bool]] = attrs.Factory(dict)
    log: list[str] = attrs.Factory(list)
    #: kitty's own options: another object after it has read its configuration again.
    options: object = attrs.Factory(lambda: SimpleNamespace(window_logo_path=None, watcher={}, background=0))
    #: The titles of windows as the window system is told of them, and the OS windows that were told to show them.
    titles: dict[int, str] = attrs.Factory(dict)
    synced: list[int] = attrs.Factory(list)
    #: The names of the logos of windows.
    logos: dict[int, str] = attrs.Factory(dict)
    _numbers: int = 0
    #: The timer that calls at this moment.
    _running: int = 0

    def add_timer(self, call: Callable[[int | None], None], interval: float, repeats: bool = True) -> int:
        self._numbers += 1
        self.timers[self._numbers] = call, interval, repeats
        return self._numbers

    def remove_timer(self, number: int) -> None:
        """Only by what it calls itself: kitty frees that at once, though it may be about to call it."""
        assert number == self._running, "another timer ends this one"
        del self.timers[number]

    def run(self, number: int) -> None:
        """Let this timer go off."""
        call, _, repeats = self.timers[number]
        if not repeats:
            del self.timers[number]
        before, self._running = self._running, number
        try:
            call(number)
        finally:
            self._running = before

    def update_window_title(self, _os_window_id: int, _tab_id: int, window_id: int, title: str) -> None:
        self.titles[window_id] = title

    def run_repeats(self) -> None:
        """Let the timers go off that repeat."""
        for number, (_, _, repeats) in list(self.timers.items()):
            if repeats:
                self.run(number)

    def run_soon(self) -> None:
        """Let the timers go off that go off once, and are there now."""
        for number, (_, _, repeats) in list(self.timers.items()):
            if not repeats:
                self.run(number)


def modules(kitty: Kitty) -> Iterator[ModuleType]:
    """kitty's modules, as far as they are imported by the host."""
    parts: dict[str, dict[str, Any]] = {
        "": {},
        ".fast_data_types": {
            "add_timer": kitty.add_timer,
            "remove_timer": kitty.remove_timer,
            "current_focused_os_window_id": lambda: 0,
            "cell_size_for_window": lambda _: (9, 18),
            "set_window_logo": lambda *given: kitty.logos.__setitem__(given[2], given[3]),
            "sync_os_window_title": kitty.synced.append,
            "get_options": lambda: kitty.options,
            "Color": int,
        },
        ".child": {"default_env": dict},
        ".launch": {},
        ".constants": {"kitty_exe": lambda: "kitty"},
        ".progress": {"ProgressState": ProgressState},
        ".rgb": {"color_from_int": lambda one: SimpleNamespace(red=one >> 16, green=one >> 8 & 255, blue=one & 255)},
        ".tab_bar": {
            "draw_attributed_string": None,
            **{name: type(name, (), {"update": None, "__getattr__": None}) for name in _OF_THE_TAB_BAR},
        },
        ".tabs": {"SpecialWindow": None},
        ".window": {"update_window_title": kitty.update_window_title},
        ".utils": {"log_error": kitty.log.append, "color_as_int": None, "which": lambda _: None},
    }
    for name, content in parts.items():
        module = ModuleType(f"kitty{name}")
        vars(module).update(content)
        yield module


@pytest.fixture
def kitty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kitty]:
    """A kitty to make a host in: `kitty.host_module.KittyHost(boss)`."""
    made = Kitty()
    for module in modules(made):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    _forget()
    made.host_module = importlib.import_module("tallylight.hosts.kitty.host")
    monkeypatch.setattr(os, "tcgetpgrp", lambda fd: fd)
    # What a program of a fake writes is on its screen at once.
    monkeypatch.setattr("tallylight.hosts.kitty.unparsed.parse", lambda *_: True)
    # Weakly: a host that has ended keeps nothing.
    stores: list[weakref.ref[Store]] = []
    opens = Store.open

    def opened(store: Store) -> None:
        stores.append(weakref.ref(store))
        opens(store)

    monkeypatch.setattr(Store, "open", opened)
    yield made
    # Its descriptors are few on most systems.
    for one in stores:
        if (store := one()) is not None:
            store.close()
    _forget()


def _forget() -> None:
    for name in _OURS:
        sys.modules.pop(f"tallylight.hosts.kitty.{name}", None)
        vars(package).pop(name, None)
