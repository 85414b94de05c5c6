"""
A strict fake of WezTerm's GUI for its Lua API, on Lua 5.4: what WezTerm does not have fails here as it does there.

The world (windows, tabs, panes) is plain Python and outlives a reload of the configuration, which is a new Lua state
with the same GLOBAL. Events are queued and delivered by `pump`; time passes by `advance` only. As in WezTerm itself:

* A variable can be read as soon as it is set. It emits `user-var-changed` only where a GUI window shows its pane,
  and then the titles of that window are updated.
* Whatever updates titles (a variable, a title, another tab, the focus, output that nobody sees) makes all titles anew
  and emits `update-status` once. Nothing else does, but `set_left_status` and `set_right_status`: each has it emitted
  once more after `status_update_interval`. Nothing ticks by itself.
* Output in a pane that a person sees emits nothing.
* An error in a handler, or `false`, ends the chain of handlers of that event.

What it cannot show: drawing, focus and toasts as the desktop has them.
"""

from __future__ import annotations

import base64
import functools
import json
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import lupa.lua54 as lupa

from tallylight.wire import text
from tests.hosts.wezterm import api

ROOT = Path(__file__).parents[3]
LUA = ROOT / "wezterm"
_FAKE = Path(__file__).with_name("fake.lua")
#: Of the button for a new tab.
NEW_TAB_CELLS = 3
_SET_VAR = re.compile(r"\x1b\]1337;SetUserVar=([^=;\x07]+)=([A-Za-z0-9+/=]*)\x07")


@attrs.define(eq=False)
class Pane:
    id: int
    tab: Tab
    title: str = "bash"
    user_vars: dict[str, str] = attrs.Factory(dict)
    domain: str = "local"
    is_dead: bool = False
    #: OSC 9;4, in the nightlies: `"None"`, `"Indeterminate"`, `{"Percentage": n}` or `{"Error": n}`.
    progress: Any = "None"
    activated: int = 0
    #: Where it stands in its tab, in cells; all of it by default.
    left: int = 0
    width: int = 80
    height: int = 24
    #: WezTerm never sizes a pane that is split off the whole of a tab with splits: a part of it is drawn.
    is_sized: bool = True
    split: list[dict[str, Any]] = attrs.Factory(list)


@attrs.define(eq=False)
class Tab:
    id: int
    window: Window
    title: str = ""
    panes: list[Pane] = attrs.Factory(list)
    active: int = 0
    is_zoomed: bool = False
    #: An InputSelector, copy mode or search covers its active pane.
    overlay: bool = False

    @property
    def active_pane(self) -> Pane | None:
        return self.panes[self.active] if self.panes else None

    @property
    def shown_panes(self) -> list[Pane]:
        """Those that are drawn: a zoomed pane hides the others."""
        return [pane for pane in self.panes if not self.is_zoomed or pane is self.active_pane]


@attrs.define(eq=False)
class Window:
    id: int
    workspace: str = "default"
    tabs: list[Tab] = attrs.Factory(list)
    active: int = 0
    is_focused: bool = False
    left_status: str = ""
    right_status: str = ""
    #: In cells: where an InputSelector cuts its lines.
    columns: int = 80
    #: What a program or `wezterm cli` has last called it.
    title: str = ""
    toasts: list[tuple[str, str]] = attrs.Factory(list)
    performed: list[Any] = attrs.Factory(list)
    spawned: list[dict[str, Any]] = attrs.Factory(list)


class System:
    """What outlives a reload."""

    def __init__(self) -> None:
        self.windows: list[Window] = []
        self.workspace = "default"
        self.globals: dict[str, Any] = {}
        #: The events that are to be delivered, to the Lua state that is the last one by then.
        self.queue: deque[tuple[Any, ...]] = deque()
        #: What waits at a FIFO, by its path, in whichever Lua state.
        self.waiting: dict[str, list[Callable[..., None]]] = {}
        self._ids = 0

    def id(self) -> int:
        self._ids += 1
        return self._ids

    def window(self, workspace: str = "default", *, focused: bool = False) -> Window:
        self.windows.append(Window(self.id(), workspace, is_focused=focused))
        return self.windows[-1]

    def tab(self, window: Window, title: str = "") -> Tab:
        window.tabs.append(Tab(self.id(), window, title))
        return window.tabs[-1]

    def pane(self, tab: Tab, title: str = "bash", **more: Any) -> Pane:
        tab.panes.append(Pane(self.id(), tab, title, **more))
        return tab.panes[-1]

    def panes(self) -> dict[int, Pane]:
        return {p.id: p for w in self.windows for t in w.tabs for p in t.panes}

    def close(self, pane: Pane) -> None:
        pane.is_dead = True
        active = pane.tab.active_pane
        pane.tab.panes.remove(pane)
        pane.tab.active = pane.tab.panes.index(active) if active in pane.tab.panes else 0


@attrs.frozen
class _Object:
    class_: str
    id: int


@attrs.frozen
class _Objects:
    class_: str
    ids: list[int]


@attrs.frozen
class _Infos:
    #: Index, whether it is active, whether it is zoomed, where it stands, and the pane.
    rows: list[tuple[int, bool, bool, int, int, int, int]]


class LuaError(Exception):
    """What WezTerm would show as an error of the configuration."""


class Fake:
    """One Lua state of one WezTerm."""

    def __init__(
        self,
        profile: str = "stable",
        system: System | None = None,
        *,
        has_gui: bool = True,
        path: str = "",
        run: Callable[[list[str]], tuple[bool, str, str]] | None = None,
    ) -> None:
        assert profile in api.PROFILES
        self.profile = profile
        self.system = system or System()
        self.now = 1_700_000_000.0
        self.log: list[tuple[str, str]] = []
        self.handlers: dict[str, list[Any]] = {}
        self.commands: list[list[str]] = []
        self.timers: list[tuple[float, Any]] = []
        #: When `update-status` is emitted once more, by window.
        self.status_due: dict[int, float] = {}
        #: How often the configuration was asked to be loaded anew.
        self.reloads = 0
        #: Seconds: `status_update_interval`.
        self.status_interval = 1.0
        self.tab_max_width = 16
        self.shows_tabs = self.is_fancy = True
        #: The configuration in force, as a title handler is given it.
        self.effective: Any = None
        self.timers_made = 0
        #: What the tab bar shows, and how often it was made.
        self.titles: dict[int, Any] = {}
        self.recomputed = 0
        self.living_pids: set[int] = set()
        #: The arguments of processes, where they are not a sidecar's.
        self.arguments: dict[int, list[str]] = {}
        self.size = 0
        self.paused: Callable[[], None] = lambda: None
        self._run = run or self._no_program
        self._nightly = profile == "nightly"
        self.lua = lupa.LuaRuntime(unpack_returned_tuples=True, register_eval=False, register_builtins=False)
        self._new = self.lua.eval("function(source, host) return load(source, '@fake.lua')(host) end")
        host = self.lua.table_from(
            {
                "new": object,
                "quoted": lambda value: json.dumps(value, ensure_ascii=False),
                "check_action": self._check_action,
                "check_argument": self._check_argument,
                "pause": lambda: self.paused(),
                "now": lambda: int(self.now),
                "sleep": lambda thread, ms: self.timers.append((self.now + ms / 1000, thread)),
                "wait": lambda thread, news: self.system.waiting.setdefault(news, []).append(
                    functools.partial(self._drive, thread)
                ),
            }
        )
        self.half = self._new(_FAKE.read_text("utf-8"), host)
        more = api.NIGHTLY_METHODS if self._nightly else {}
        self.half.methods = self.to_lua({name: own | more.get(name, {}) for name, own in api.METHODS.items()})
        self.half.call_method = self._call_method
        self._build(has_gui)
        self.half.seal(path or f"{LUA}/?.lua;{LUA}/?/init.lua")

    def _no_program(self, argv: list[str]) -> tuple[bool, str, str]:
        raise FileNotFoundError(f"{argv[0]}: No such file or directory")

    # The module -----------------------------------------------------------------------------------------------

    def _build(self, has_gui: bool) -> None:
        asynchronous = {"background_child_process", "emit", "glob", "read_dir", "run_child_process"}
        modules = {
            "mux": self.half.module("mux", self._table(api.MUX), self._dispatch("mux")),
            "procinfo": self.half.module("procinfo", self._table(api.PROCINFO), self._dispatch("procinfo")),
            "time": self.half.module("time", self._table({"call_after": False}), self._dispatch("time")),
        }
        if has_gui:
            modules["gui"] = self.half.module("gui", self._table(api.GUI), self._dispatch("gui"))
        values: dict[str, Any] = {
            **modules,
            "version": api.VERSION[self.profile],
            "home_dir": "/home/u",
            "config_dir": "/home/u/.config/wezterm",
            "config_file": "/home/u/.config/wezterm/wezterm.lua",
            "executable_dir": "/usr/bin",
            "target_triple": "x86_64-unknown-linux-gnu",
            "nerdfonts": self._table({"md_robot": "R"}),
        }
        made = {"action", "GLOBAL", "json_encode", "config_builder"}
        functions = {
            name: name in asynchronous for name in api.MODULE - set(values) - made if hasattr(self, f"wezterm_{name}")
        }
        absent = {"gui"} if not has_gui else set()
        if not self._nightly:
            absent |= api.NIGHTLY_MODULE
        self.wezterm = self.half.build(
            self._table(
                {
                    "values": self._table(values),
                    "functions": self._table(functions),
                    "call": self._dispatch("wezterm"),
                    "store": self._table({"get": self.system.globals.get, "set": self.system.globals.__setitem__}),
                    "config_keys": self._table(dict.fromkeys(api.CONFIG_KEYS, True)),
                    "absent": self._table(dict.fromkeys(absent, True)),
                }
            )
        )

    def _dispatch(self, module: str) -> Callable[..., Any]:
        def call(name: str, *args: Any) -> Any:
            found = getattr(self, f"{module}_{name}", None)
            if found is None:
                raise NotImplementedError(f"the fake: {module}.{name} is in WezTerm, and was never needed here")
            return _answer(found(*map(_inward, args)))

        return call

    def _table(self, value: Any) -> Any:
        return self.lua.table_from(value)

    def to_lua(self, value: Any) -> Any:
        if isinstance(value, dict):
            return self._table({key: self.to_lua(each) for key, each in value.items() if each is not None})
        if isinstance(value, list):
            return self._table([self.to_lua(each) for each in value])
        return value

    def to_python(self, value: Any) -> Any:
        if lupa.lua_type(value) != "table":
            return value
        keys = list(value.keys())
        if keys == list(range(1, len(keys) + 1)):
            return [self.to_python(each) for each in value.values()]
        return {key: self.to_python(each) for key, each in value.items()}

    def wezterm_on(self, name: str, handler: Any) -> None:
        if name not in api.EVENTS and not name.startswith(("tallylight.", "Tallylight: ", "user.")):
            raise LuaError(f"the fake: WezTerm never emits {name}")
        self.handlers.setdefault(name, []).append(handler)

    def wezterm_log_info(self, *words: Any) -> None:
        self.log.append(("info", " ".join(map(str, words))))

    def wezterm_log_warn(self, *words: Any) -> None:
        self.log.append(("warn", " ".join(map(str, words))))

    def wezterm_log_error(self, *words: Any) -> None:
        self.log.append(("error", " ".join(map(str, words))))

    def wezterm_json_parse(self, source: str) -> Any:
        return self.to_lua(json.loads(source))

    def wezterm_format(self, items: Any) -> str:
        # What changes nothing is nothing: attributes are those of a blank line at first.
        out, is_set = "", False
        for item in items:
            if item == "ResetAttributes":
                out, is_set = out + ("\x1b[0m" if is_set else ""), False
            elif "Text" in item:
                out += str(item["Text"])
            else:
                out, is_set = out + "\x1b[1m", True
        return out

    def wezterm_strftime(self, form: str) -> str:
        if form != "%s%.3f":
            raise NotImplementedError(f"the fake: {form!r} was never needed here")
        return f"{self.now:.3f}"

    def wezterm_column_width(self, value: str) -> int:
        return text.width(value)

    def wezterm_truncate_right(self, value: str, cells: int) -> str:
        while text.width(value) > cells:
            value = value[:-1]
        return value

    def wezterm_has_action(self, name: str) -> bool:
        return name in self._actions()

    def wezterm_action_callback(self, handler: Any) -> Any:
        raise LuaError("the fake: action_callback registers a handler for ever; use EmitEvent")

    def wezterm_run_child_process(self, argv: Any) -> Any:
        if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv):
            raise LuaError("run_child_process: a list of strings")
        self.commands.append(argv)
        return self._cli(*argv[1:]) if argv[0] == "/usr/bin/wezterm" else self._run(argv)

    def _cli(self, *words: str) -> tuple[bool, str, str]:
        """WezTerm's own program, of which only one verb is needed here."""
        if words[:4] != ("cli", "--no-auto-start", "kill-pane", "--pane-id") or len(words) != 5:
            raise NotImplementedError(f"the fake: wezterm {words} was never needed here")
        if (pane := self.system.panes().get(int(words[4]))) is None:
            return False, "", f"no such pane {words[4]}"
        self.system.close(pane)
        return True, "", ""

    def wezterm_reload_configuration(self) -> None:
        self.reloads += 1

    def procinfo_pid(self) -> int:
        return 4711

    def procinfo_executable_path_for_pid(self, pid: int) -> str | None:
        return "/usr/bin/python3" if pid in self.living_pids else None

    def procinfo_get_info_for_pid(self, pid: int) -> Any:
        if pid not in self.living_pids:
            return None
        argv = self.arguments.get(pid, ["python3", "tally", "host", "wezterm", "--pid", "4711"])
        # WezTerm reads the wrong column of `/proc/PID/stat`: the size of the memory.
        self.size += 4096
        return self.to_lua({"pid": pid, "start_time": self.size, "executable": "/usr/bin/python3", "argv": argv})

    def time_call_after(self, seconds: float, handler: Any) -> None:
        self.timers_made += 1
        self.timers.append((self.now + seconds, handler))

    # Actions --------------------------------------------------------------------------------------------------

    def _actions(self) -> dict[str, set[str] | None]:
        return api.ACTIONS | (api.NIGHTLY_ACTIONS if self._nightly else {})

    def _check_action(self, name: str) -> None:
        if name not in self._actions():
            raise LuaError(f"{name} is not a valid KeyAssignment")

    def _check_argument(self, name: str, argument: Any) -> None:
        argument = _inward(argument)
        keys = self._actions()[name]
        if name == "EmitEvent" and not isinstance(argument, str):
            raise LuaError("EmitEvent takes a string")
        if keys is None:
            return
        if self._nightly:
            keys = keys | api.NIGHTLY_ACTION_KEYS.get(name, set())
        unknown = set(argument.keys()) - keys
        if unknown:
            raise LuaError(f"{name} has no {unknown}")
        if name == "InputSelector":
            for choice in argument["choices"] or []:
                if set(choice.keys()) - {"id", "label"} or not all(isinstance(v, str) for v in choice.values()):
                    raise LuaError("a choice has an id and a label, both strings")
            if argument.get("action", {}).get("__action") != "EmitEvent":
                raise LuaError("InputSelector.action must be an EmitEvent")

    # Objects --------------------------------------------------------------------------------------------------

    def object(self, class_: str, id_: int) -> Any:
        return self.half.object(class_, id_)

    def _call_method(self, class_: str, name: str, id_: int, *args: Any) -> Any:
        found = getattr(self, f"{class_.lower()}_{name}", None)
        if found is None:
            raise NotImplementedError(f"the fake: {class_}:{name} is in WezTerm, and was never needed here")
        return _answer(found(self._found(class_, id_), *map(_inward, args)))

    def _found(self, class_: str, id_: int) -> Any:
        if class_ == "Pane":
            pane = self.system.panes().get(id_)
            if pane is None:
                raise LuaError(f"pane id {id_} not found in mux")
            return pane
        if class_ == "MuxTab":
            for window in self.system.windows:
                for tab in window.tabs:
                    if tab.id == id_:
                        return tab
            raise LuaError(f"tab id {id_} not found in mux")
        for window in self.system.windows:
            if window.id == id_:
                return window
        raise LuaError(f"window id {id_} not found in mux")

    def _objects(self, class_: str, found: list[Any]) -> _Objects:
        return _Objects(class_, [each.id for each in found])

    def mux_get_tab(self, id_: int) -> Any:
        return _Object("MuxTab", self._found("MuxTab", id_).id)

    def mux_all_windows(self) -> Any:
        return self._objects("MuxWindow", self.system.windows)

    def mux_get_active_workspace(self) -> str:
        return self.system.workspace

    def mux_set_active_workspace(self, name: str) -> None:
        if name not in {window.workspace for window in self.system.windows}:
            raise LuaError(f"{name} is not an existing workspace")
        self.system.workspace = name

    def _shown(self) -> list[Window]:
        return [window for window in self.system.windows if window.workspace == self.system.workspace]

    def gui_gui_windows(self) -> Any:
        return self._objects("GuiWin", self._shown())

    def muxwindow_tabs(self, window: Window) -> Any:
        return self._objects("MuxTab", window.tabs)

    def muxwindow_get_workspace(self, window: Window) -> str:
        return window.workspace

    def muxwindow_get_title(self, window: Window) -> str:
        return window.title

    def muxwindow_spawn_tab(self, window: Window, options: Any) -> None:
        if set(options) - api.SPAWN_KEYS:
            raise LuaError(f"spawn_tab has no {set(options) - api.SPAWN_KEYS}")
        window.spawned.append(options)

    def muxwindow_window_id(self, window: Window) -> int:
        return window.id

    def muxwindow_gui_window(self, window: Window) -> Any:
        if window not in self._shown():
            raise LuaError("window is not currently on screen")
        return _Object("GuiWin", window.id)

    def muxtab_tab_id(self, tab: Tab) -> int:
        return tab.id

    def muxtab_panes(self, tab: Tab) -> Any:
        return self._objects("Pane", tab.panes)

    def muxtab_panes_with_info(self, tab: Tab) -> Any:
        active = tab.active_pane
        return _Infos(
            [
                (n, p is active, tab.is_zoomed and p is active, p.left, p.width, p.height, p.id)
                for n, p in enumerate(tab.panes)
            ]
        )

    def muxtab_active_pane(self, tab: Tab) -> Any:
        return _Object("Pane", tab.active_pane.id) if tab.active_pane else None

    def muxtab_activate(self, tab: Tab) -> None:
        tab.window.active = tab.window.tabs.index(tab)

    def muxtab_set_zoomed(self, tab: Tab, is_zoomed: bool) -> None:
        tab.is_zoomed = is_zoomed

    def pane_pane_id(self, pane: Pane) -> int:
        return pane.id

    def pane_get_title(self, pane: Pane) -> str:
        return pane.title

    def pane_get_progress(self, pane: Pane) -> Any:
        return self.to_lua(pane.progress)

    def pane_get_user_vars(self, pane: Pane) -> Any:
        return self._table(pane.user_vars)

    def pane_get_domain_name(self, pane: Pane) -> str:
        return pane.domain

    def pane_activate(self, pane: Pane) -> None:
        pane.activated += 1
        pane.tab.active = pane.tab.panes.index(pane)
        pane.tab.window.active = pane.tab.window.tabs.index(pane.tab)

    def pane_inject_output(self, pane: Pane, output: str) -> None:
        if pane.domain == "local":
            rest = _SET_VAR.sub(lambda m: self.set_var(pane, m[1], base64.b64decode(m[2]).decode()) or "", output)
            assert rest == "", "the fake: only variables are injected"

    def pane_split(self, pane: Pane, options: Any) -> Any:
        if set(options) - api.SPLIT_KEYS:
            raise LuaError(f"split has no {set(options) - api.SPLIT_KEYS}")
        if options.get("direction", "Right") not in api.DIRECTIONS:
            raise LuaError(f"{options['direction']} is no direction")
        if pane.tab.is_zoomed:
            raise LuaError("cannot split while zoomed")
        pane.split.append(options)
        made = self.system.pane(pane.tab, is_sized=not options.get("top_level") or len(pane.tab.panes) == 1)
        pane.tab.active = pane.tab.panes.index(made)
        return _Object("Pane", made.id)

    def pane_tab(self, pane: Pane) -> Any:
        return None if pane.is_dead else _Object("MuxTab", pane.tab.id)

    def guiwin_window_id(self, window: Window) -> int:
        return window.id

    def guiwin_mux_window(self, window: Window) -> Any:
        return _Object("MuxWindow", window.id)

    def guiwin_is_focused(self, window: Window) -> bool:
        return window.is_focused

    def guiwin_focus(self, window: Window) -> None:
        for each in self.system.windows:
            each.is_focused = each is window

    def guiwin_active_tab(self, window: Window) -> Any:
        return _Object("MuxTab", window.tabs[window.active].id)

    def guiwin_toast_notification(
        self, window: Window, title: Any, message: Any, url: Any = None, timeout: Any = None
    ) -> None:
        if not isinstance(title, str) or not isinstance(message, str):
            raise LuaError("toast_notification takes strings")
        if not isinstance(url, str | None) or not isinstance(timeout, int | None):
            raise LuaError("toast_notification takes an url and milliseconds")
        window.toasts.append((title, message))

    def guiwin_set_left_status(self, window: Window, status: Any) -> None:
        self._set_status(window, "left_status", status)

    def guiwin_set_right_status(self, window: Window, status: Any) -> None:
        self._set_status(window, "right_status", status)

    def _set_status(self, window: Window, side: str, status: Any) -> None:
        if not isinstance(status, str):
            raise LuaError(f"set_{side} takes a string")
        self.status_due.setdefault(window.id, self.now + self.status_interval)
        if status != getattr(window, side):
            setattr(window, side, status)
            self.system.queue.append(("titles",))

    def guiwin_get_dimensions(self, window: Window) -> Any:
        return self._table({"pixel_width": window.columns * 8, "pixel_height": 480, "dpi": 96, "is_full_screen": False})

    def pane_get_dimensions(self, pane: Pane) -> Any:
        return self._table({"cols": pane.tab.window.columns, "viewport_rows": 24, "scrollback_rows": 24})

    def guiwin_active_pane(self, window: Window) -> Any:
        return self.muxtab_active_pane(window.tabs[window.active])

    def guiwin_perform_action(self, window: Window, action: Any, pane: Any) -> None:
        found = self._found("Pane", pane)
        name = action["__action"]
        window.performed.append(action)
        if name == "EmitEvent":
            self.system.queue.append(("emit", action["argument"], window, found))
        elif name == "InputSelector":
            found.tab.overlay = True
        else:
            raise NotImplementedError(f"the fake: {name} was never needed here")

    # What happens ---------------------------------------------------------------------------------------------

    def evaluate(self, source: str) -> Any:
        """Evaluate a configuration file."""
        config = self.half.evaluate(source, "wezterm.lua")
        self.tab_max_width = config["tab_max_width"] or self.tab_max_width
        self.is_fancy = config["use_fancy_tab_bar"] is not False
        self.shows_tabs = config["show_tabs_in_tab_bar"] is not False
        own = {key: self.to_python(config[key]) for key in api.LOOKS}
        # What a handler gets is a table, made anew for each call from all that is in force.
        frame = {"inactive_titlebar_bg": "#333333", "active_titlebar_bg": "#333333", **(own["window_frame"] or {})}
        palette = own["colors"] or {}
        self.effective = self.to_lua({**own, "window_frame": frame, "resolved_palette": palette})
        return config

    def require(self, name: str) -> Any:
        """A module, as Lua has it."""
        return self.lua.eval("function(name) return (require(name)) end")(name)

    def set_var(self, pane: Pane, name: str, value: str) -> None:
        """A program set a user variable, or `inject_output` did."""
        pane.user_vars[name] = value
        self.system.queue.append(("var", pane, name, value))

    def emit(self, name: str, *args: Any) -> None:
        """Run the handlers of an asynchronous event in order, each to its end; `false` or an error stops."""
        assert name not in api.SYNC_EVENTS
        for handler in list(self.handlers.get(name, ())):
            is_good, result = self.half.drive(handler, *args)
            if not is_good:
                self.log.append(("error", f"{name}: {result}"))
            if not is_good or result is False:
                break

    def emit_sync(self, name: str, *args: Any) -> Any:
        """Run the first handler of a synchronous event, and no other; an error is logged and gives nil."""
        for handler in self.handlers.get(name, ())[:1]:
            # Of several results the first counts.
            is_good, result = (*_two(self.half.call_sync(handler, *args)),)[:2]
            if is_good:
                return result
            self.log.append(("error", f"{name}: {result}"))
        return None

    def pump(self) -> None:
        """Deliver what is queued, and what that leads to."""
        for _ in range(1000):
            if not self.system.queue:
                return
            what, *args = self.system.queue.popleft()
            if what == "var":
                pane, name, value = args
                window = pane.tab.window
                if window in self._shown() and not pane.is_dead:
                    gui, mux_pane = self.object("GuiWin", window.id), self.object("Pane", pane.id)
                    self.emit("user-var-changed", gui, mux_pane, name, value)
                    self.update_title(window)
            elif what == "emit":
                name, window, pane = args
                self.emit(name, self.object("GuiWin", window.id), self.object("Pane", pane.id))
            elif what == "titles":
                self.draw()
        raise AssertionError("the fake: the events never end")

    def update_title(self, window: Window) -> None:
        """Something changed that may stand in a title: all are made anew, and `update-status` is emitted."""
        self.draw()
        self._emit_status(window)

    def _emit_status(self, window: Window) -> None:
        self._emit_to(window, "update-status")

    def _emit_to(self, window: Window, event: str) -> None:
        pane = window.tabs[window.active].active_pane if window.tabs else None
        if window in self._shown() and pane is not None:
            self.emit(event, self.object("GuiWin", window.id), self.object("Pane", pane.id))

    def loaded(self) -> None:
        """The configuration was loaded, or loaded anew: each window is told."""
        for window in self._shown():
            self._emit_to(window, "window-config-reloaded")
            self.update_title(window)
        self.pump()

    def output(self, pane: Pane) -> None:
        """A program draws. Where a person sees that, no event tells of it."""
        window = pane.tab.window
        is_seen = window.is_focused and window.tabs[window.active] is pane.tab and pane in pane.tab.shown_panes
        if window in self._shown() and not is_seen:
            self.update_title(window)
        self.pump()

    def set_title(self, pane: Pane, title: str) -> None:
        """A program set its title."""
        pane.title = title
        if pane.tab.window in self._shown():
            self.update_title(pane.tab.window)
        self.pump()

    def focus(self, window: Window, *, is_focused: bool = True) -> None:
        """The desktop gives the focus, or takes it away."""
        window.is_focused = is_focused
        self._emit_to(window, "window-focus-changed")
        self.update_title(window)
        self.pump()

    def advance(self, seconds: float) -> None:
        """Time passes, and what is due in it is done; an idle WezTerm does nothing else."""
        self.pump()
        end = self.now + seconds
        while True:
            at = min([*self.status_due.values(), *(at for at, _ in self.timers)], default=end + 1)
            if at > end:
                break
            self.now = max(self.now, at)
            for id_ in [id_ for id_, due in self.status_due.items() if due <= self.now]:
                del self.status_due[id_]
                self._emit_status(self._found("GuiWin", id_))
            self.run_timers()
        self.now = end

    def run_timers(self) -> None:
        """Run what `call_after` has due."""
        due = [handler for at, handler in self.timers if at <= self.now]
        self.timers = [(at, handler) for at, handler in self.timers if at > self.now]
        for handler in due:
            self._drive(handler)
        self.pump()

    def _drive(self, handler: Any, *args: Any) -> None:
        is_good, result = (*_two(self.half.drive(handler, *args)),)
        if not is_good:
            self.log.append(("error", f"call_after: {result}"))

    def open_fifo(self, news: str, *, is_there: bool = True) -> None:
        """What waits at this FIFO ends; it fails where there is none."""
        self.run_timers()
        for goes_on in self.system.waiting.pop(news, ()):
            goes_on(is_there, "", "")
        self.pump()

    def press(self, name: str, pane: Pane) -> None:
        """A key whose action is `EmitEvent(name)`."""
        self.system.queue.append(("emit", name, pane.tab.window, pane))
        self.pump()

    def choose(self, window: Window, pane: Pane, id_: str | None) -> None:
        """A person chose a line of the InputSelector that is open, or left it."""
        action = window.performed[-1]
        assert action["__action"] == "InputSelector"
        pane.tab.overlay = False
        labels = {c["id"]: c["label"] for c in action["argument"]["choices"]}
        name = action["argument"]["action"]["argument"]
        self.emit(
            name, self.object("GuiWin", window.id), self.object("Pane", pane.id), id_, labels[id_] if id_ else None
        )
        self.pump()

    def selector(self, window: Window) -> tuple[str, list[str]]:
        """The InputSelector that is open, as a person sees it: what stands above its lines, and the lines."""
        argument = window.performed[-1]["argument"]
        if argument.get("fuzzy"):
            head = argument.get("fuzzy_description", "Fuzzy matching: ")
        else:
            head = argument.get("title", "")
        # Cut where the window ends, and nothing says so.
        return head, [text.sanitise(choice["label"], cells=window.columns - 4) for choice in argument["choices"]]

    # Titles ---------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """
        Make the titles of all tabs of the windows shown anew, each twice, as WezTerm does.

        At first each may have `tab_max_width` cells, then as many as it took, or its share where all together take
        more than there is; the fancy tab bar draws all of it.
        """
        self.recomputed += 1
        for window in self._shown() if self.shows_tabs else ():
            first = {tab.id: self.format_tab(tab, self.tab_max_width) for tab in window.tabs}
            taken = {tab.id: text.width(text_of(first[tab.id] or _own_title(tab))) for tab in window.tabs}
            # A cell between two of them, and the button for a new one.
            room = window.columns - (len(taken) - 1) - NEW_TAB_CELLS
            is_crowded = not self.is_fancy and sum(taken.values()) > room
            most = min(self.tab_max_width, room // len(taken) if is_crowded else self.tab_max_width)
            for tab in window.tabs:
                again = self.format_tab(tab, min(most, taken[tab.id]))
                self.titles[tab.id] = again if first[tab.id] is not None else None

    def format_tab(self, tab: Tab, max_width: int = 16) -> Any:
        """What `format-tab-title` gives for a tab, in Python's lists and dicts; None for WezTerm's own title."""
        tabs = [self.tab_information(each) for each in tab.window.tabs]
        active = tab.window.tabs[tab.window.active]
        result = self.emit_sync(
            "format-tab-title",
            self.tab_information(tab),
            self._table(tabs),
            self._table([self.pane_information(pane) for pane in active.panes]),
            self.effective,
            False,
            max_width,
        )
        found = self.to_python(result)
        if isinstance(found, list) and not all(map(_is_item, found)):
            self.log.append(("warn", "format-tab-title: error converting Lua table to termwiz_funcs::FormatItem"))
            return None
        return found

    def tab_information(self, tab: Tab) -> Any:
        fields = api.FIELDS["TabInformation"] | (api.NIGHTLY_FIELDS["TabInformation"] if self._nightly else set())

        def get(key: str) -> Any:
            if key == "panes":
                return self._table([self.pane_information(pane) for pane in tab.shown_panes])
            if key == "active_pane":
                return self.pane_information(tab.active_pane, overlay=tab.overlay) if tab.active_pane else None
            return {
                "tab_id": tab.id,
                "tab_index": tab.window.tabs.index(tab),
                "is_active": tab.window.tabs[tab.window.active] is tab,
                "window_id": tab.window.id,
                "tab_title": tab.title,
                "window_title": "",
            }[key]

        return self.half.information("TabInformation", self._table(dict.fromkeys(fields, True)), get)

    def pane_information(self, pane: Pane, *, overlay: bool = False) -> Any:
        fields = api.FIELDS["PaneInformation"] | (api.NIGHTLY_FIELDS["PaneInformation"] if self._nightly else set())
        is_local = pane.domain == "local"

        def get(key: str) -> Any:
            if key == "user_vars":
                return self._table({} if overlay else pane.user_vars)
            return {
                "pane_id": pane.id,
                "title": "InputSelector" if overlay else pane.title,
                "is_active": pane.tab.active_pane is pane,
                "is_zoomed": pane.tab.is_zoomed,
                "domain_name": pane.domain,
                "foreground_process_name": "/usr/bin/bash" if is_local else "",
                "tty_name": "/dev/pts/1" if is_local else None,
                "has_unseen_output": False,
                "left": pane.left,
                "width": pane.width,
                "progress": self.to_lua(pane.progress),
            }[key]

        return self.half.information("PaneInformation", self._table(dict.fromkeys(fields, True)), get)

    @property
    def counts(self) -> dict[str, int]:
        """Calls by `mode name`: `sync io.open`, `async PaneInformation.user_vars`."""
        return dict(self.half.counts.items())

    def errors(self) -> list[str]:
        return [line for level, line in self.log if level == "error"]


def _inward(value: Any) -> Any:
    """A value that came from Lua: tables come as JSON."""
    return json.loads(value[1:]) if isinstance(value, str) and value.startswith("\0") else value


def _answer(value: Any) -> Any:
    """The answer to a call from Lua, in words: Lua makes the objects."""
    if isinstance(value, _Object):
        return ("object", value.class_, value.id)
    if isinstance(value, _Objects):
        return ("objects", value.class_, *value.ids)
    if isinstance(value, _Infos):
        return ("infos", *(part for row in value.rows for part in row))
    return ("value", *value) if isinstance(value, tuple) else ("value", value)


def _two(result: Any) -> tuple[Any, Any]:
    return result if isinstance(result, tuple) else (result, None)


def _own_title(tab: Tab) -> str:
    """About what WezTerm itself would write, to be measured."""
    return f" {tab.window.tabs.index(tab) + 1}: {tab.title or (tab.active_pane.title if tab.active_pane else '')} "


def _is_item(item: Any) -> bool:
    """Tell whether WezTerm can read *item* of a title; one that it cannot read costs the whole title."""
    if not isinstance(item, dict) or len(item) != 1:
        return bool(item == "ResetAttributes")
    (name, value), *_ = item.items()
    if name in ("Foreground", "Background"):
        return value == "Default" or (isinstance(value, dict) and value.keys() in ({"Color"}, {"AnsiColor"}))
    return (name == "Text" and isinstance(value, str)) or (name == "Attribute" and isinstance(value, dict))


def text_of(items: Any) -> str:
    """The text of a title as a formatter returns it."""
    if not isinstance(items, list):
        return str(items or "")
    return "".join(item["Text"] for item in items if isinstance(item, dict) and "Text" in item)
