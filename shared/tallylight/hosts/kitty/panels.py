"""
Panels in kitty: the list of agents as a narrow window at the left edge of a tab, which stays open.

A panel is a window in kitty's layout `splits`. A tab in another layout is put into that one, and back when its panel
closes. With one panel for the whole OS window, each tab gets its own when it is first shown, and keeps it. A panel that
moved along would make the programs in both tabs redraw with each change of tabs. The program of a hidden panel is idle.

A panel never takes the keyboard by itself, and a tab with nothing else in it is closed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import attrs
from kitty.fast_data_types import add_timer, cell_size_for_window
from kitty.utils import log_error

from tallylight.hosts.kitty import agent_list
from tallylight.hosts.kitty.host import KittyHost
from tallylight.hosts.kitty.windows import is_watched

LAYOUT = "splits"
#: How often a panel's width is set until it is right: only kitty knows the width of borders.
FIT_TRIES = 3
#: The largest share of its tab's width.
MAX_WIDTH_SHARE = 0.5
FEATURE = "panels"


@attrs.define
class _Shown:
    """A panel in the tab *tab_id*; *layout* is the tab's earlier layout, empty if it had the right one."""

    tab_id: int
    layout: str
    #: The width of the tab and of a cell, in pixels, and the number of windows, when its width was last set.
    measures: tuple[float, ...] = ()


@attrs.define
class Panels:
    """All panels of one kitty."""

    host: KittyHost
    #: By the id of their windows.
    _shown: dict[int, _Shown] = attrs.field(factory=dict)
    #: The OS windows with a panel in each tab.
    _everywhere: set[int] = attrs.field(factory=set)
    _is_busy: bool = False

    def toggle(self, window_id: int) -> str:
        """Open a panel beside window *window_id*, or close it; return why that failed, empty if it did not."""
        window = self.host.boss.window_id_map.get(window_id)
        tab = window.tabref() if window is not None else None
        if tab is None:
            return ""
        if tab.os_window_id in self._everywhere:
            self._everywhere.discard(tab.os_window_id)
            manager = tab.tab_manager_ref()
            self._close(panel for other in manager for panel in self._of(other))
        elif panels := list(self._of(tab)):
            self._close(panels)
        elif problem := self._open(tab):
            return problem
        elif self.host.config.panel.per == "window":
            self._everywhere.add(tab.os_window_id)
        return ""

    def leave(self) -> None:
        """Open no panel any more: kitty's configuration has us no more."""
        self._everywhere.clear()

    def follow(self) -> None:
        """Adjust the panels after windows were added, removed or moved, or another tab is shown."""
        if self._is_busy or not (self._shown or self._everywhere):
            return
        boss = self.host.boss
        self._forget(boss)
        self._everywhere &= boss.os_window_map.keys()
        for id_ in self._everywhere:
            tab = boss.os_window_map[id_].active_tab
            if tab is not None and any(map(is_watched, tab)) and not any(self._of(tab)):
                self._open(tab)  # a tab where that fails has none
        front = {manager.active_tab.id for manager in boss.os_window_map.values() if manager.active_tab is not None}
        for id_, shown in self._shown.items():
            window = boss.window_id_map[id_]
            tab = window.tabref()
            if tab is None:
                continue
            if not any(map(is_watched, tab)):
                boss.mark_window_for_close(window)
            elif shown.measures != _measures(tab):
                self._fit(tab, window, shown)
            agent_list.notify_seen(id_, tab.id in front and bool(window.is_visible_in_layout))

    def _of(self, tab: Any) -> Iterator[Any]:
        """Return the panels of *tab*, even one that an earlier kitty has opened."""
        return (window for window in tab if not is_watched(window))

    def _close(self, panels: Any) -> None:
        for window in list(panels):
            self.host.boss.mark_window_for_close(window)

    def _forget(self, boss: Any) -> None:
        """Restore the layouts of tabs without a panel."""
        for id_ in [id_ for id_ in self._shown if id_ not in boss.window_id_map]:
            shown = self._shown.pop(id_)
            tab = boss.tab_for_id(shown.tab_id)
            if tab is not None and shown.layout and tab.current_layout.name == LAYOUT:
                tab.goto_layout(shown.layout)

    def _open(self, tab: Any) -> str:
        """Open a panel in *tab*; return why that failed, empty if it did not."""
        before = str(tab.current_layout.name)
        self._is_busy = True
        try:
            if before != LAYOUT:
                try:
                    tab.goto_layout(LAYOUT, raise_exception=True)
                except ValueError:
                    return f"A panel needs kitty's layout {LAYOUT!r}: add it to enabled_layouts."
            make = functools.partial(self._make, tab, before if before != LAYOUT else "")
            window = agent_list.open_list(self.host, make, is_panel=True)
            # Not at once: kitty is about to arrange the remaining windows.
            follow = self.host.guarded(FEATURE, lambda _timer: self.follow())
            window.actions_on_removal.append(lambda _window: add_timer(follow, 0, False))
        finally:
            self._is_busy = False
        return ""

    def _make(self, tab: Any, layout: str, command: list[str], env: dict[str, str], fd: int) -> Any:
        """
        Return the new window of a panel, at the edge of *tab* and of the right width; the keyboard stays where it is.
        """
        width, cell, *_ = _measures(tab)
        before = tab.active_window
        was_ignoring = before.ignore_focus_changes
        # The program there must not notice that the keyboard has gone and come back.
        before.ignore_focus_changes = True
        try:
            window = tab.new_window(
                use_shell=False,
                cmd=command,
                override_title="Agents",
                env=env,
                cwd="/",
                location="vsplit",
                bias=100 * min(MAX_WIDTH_SHARE, self.host.config.panel.width * cell / max(1, width)),
                copy_colors_from=before,
                pass_fds=(fd,),
            )
            # kitty need not ask about its program before it closes a tab.
            window.__class__ = type("PanelWindow", (type(window),), {"has_running_program": False})
            tab.current_layout.layout_action("move_to_screen_edge", ("left",), tab.windows)
            shown = self._shown[window.id] = _Shown(tab.id, layout)
            self._fit(tab, window, shown)
            tab.set_active_window(before, for_keep_focus=before)
        finally:
            before.ignore_focus_changes = was_ignoring
        return window

    # How wide ------------------------------------------------------------------------------------------------

    def _fit(self, tab: Any, window: Any, shown: _Shown) -> None:
        """Set the width of the panel *window*. A width that the user sets later stays until the tab changes."""
        group, layout = tab.windows.group_for_window(window), tab.current_layout
        if layout.name != LAYOUT or group is None:
            return
        for _ in range(FIT_TRIES):
            pair = layout.pairs_root.pair_for_window(group.id)
            if pair is None or not pair.horizontal:
                break
            total, cell, *_ = _measures(tab)
            wanted = min(self.host.config.panel.width, int(MAX_WIDTH_SHARE * total / cell))
            missing = (wanted - window.screen.columns) * cell / max(1, pair.width or total)
            pair.bias += missing if pair.one == group.id else -missing
            tab.relayout()
            if window.screen.columns == wanted:
                break
        shown.measures = _measures(tab)


def _measures(tab: Any) -> tuple[float, ...]:
    """Return the width of *tab* and of its cells in pixels, and its number of windows."""
    geometries = [window.geometry for window in tab]
    width = max((g.right for g in geometries), default=0) - min((g.left for g in geometries), default=0)
    return width, cell_size_for_window(tab.os_window_id)[0], len(geometries)


_panels: Panels | None = None


def toggle(host: KittyHost, window_id: int) -> None:
    """Open or close a panel beside window *window_id*; show why if that failed."""
    global _panels  # noqa: PLW0603 - one a process, as the host
    if _panels is None:
        _panels = Panels(host)
        host.surfaces.panels = host.guarded(FEATURE, _panels.follow)
        host.when_left.add(_panels.leave)
    if problem := _panels.toggle(window_id):
        log_error(f"tallylight: {problem}")
        host.boss.show_error("Tallylight", problem)
