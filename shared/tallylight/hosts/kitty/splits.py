"""
A light on each split: where a tab shows several windows, each has its light in its own corner.

Title bars of windows (`window_title_bar_min_windows`, kitty 0.46 and newer) show it if they are on. Without them, the
mark is in the window's top right corner. It is a screen of one line that kitty draws like a title bar. In an older
kitty it is a small window logo, below the text. No program sees it, and no window changes its size for it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Set
from typing import Any

import attrs
import kitty.fast_data_types as kitty_data
from kitty.fast_data_types import cell_size_for_window, get_options

from tallylight.hosts.kitty import badges
from tallylight.hosts.kitty.colours import as_sgr_int, rgb
from tallylight.model import contrast, lights
from tallylight.model.decision import Decision
from tallylight.model.status import Status
from tallylight.pane.pane import Pane

#: A window with fewer columns or lines is too small for a mark in its corner.
MIN_SPLIT_COLUMNS, MIN_LINES = 12, 2
#: kitty's function that draws title bars of windows, if it has one.
_DRAW = "set_window_title_bar_render_data"


class ScreenCorner:
    """
    Marks in the top right corner of windows, on screens of one line that kitty draws like its title bars.

    Each window has only one, because each such screen takes up to 1 MB of memory.
    """

    def __init__(self) -> None:
        #: The screens, and the size of their cells, by window id.
        self._screens: dict[int, tuple[Any, tuple[int, int]]] = {}

    def show(self, window: Any, mark: str, fore: lights.RGB, back: lights.RGB) -> None:
        width, height = size = cell_size_for_window(window.os_window_id)
        screen, of_size = self._screens.get(window.id, (None, None))
        if screen is None or of_size != size:
            screen = kitty_data.Screen(None, 1, badges.BADGE_CELLS, 0, width, height)
            screen.reset_mode(kitty_data.DECAWM)
            self._screens[window.id] = screen, size
        screen.cursor.x = 0
        screen.cursor.bg, screen.cursor.fg = as_sgr_int(back), as_sgr_int(fore)
        screen.cursor.bold = True
        screen.draw(mark.center(badges.BADGE_CELLS))
        edges = window.geometry
        place = edges.right - badges.BADGE_CELLS * width, edges.top, edges.right, edges.top + height
        getattr(kitty_data, _DRAW)(window.os_window_id, window.tab_id, window.id, screen, *place)

    def hide(self, window: Any) -> None:
        screen, _ = self._screens.get(window.id, (None, None))
        if screen is not None and window._title_bar_screen is None:
            getattr(kitty_data, _DRAW)(window.os_window_id, window.tab_id, window.id, screen, 0, 0, 0, 0)

    def keep(self, windows: Container[int]) -> None:
        """Drop all screens except those of *windows*, by their ids."""
        for id_ in [id_ for id_ in self._screens if id_ not in windows]:
            del self._screens[id_]


class LogoCorner:
    """Marks in the top right corner of windows, as window logos. A logo of the user is left alone."""

    def show(self, window: Any, mark: str, fore: lights.RGB, back: lights.RGB) -> None:
        if not get_options().window_logo_path:
            size = cell_size_for_window(window.os_window_id)
            self._set(window, f"tallylight-{mark}-{fore}-{back}-{size}", badges.picture(mark, fore, back, *size))

    def hide(self, window: Any) -> None:
        if not get_options().window_logo_path:
            self._set(window, "", b"")

    def keep(self, windows: Container[int]) -> None:
        """Do nothing: kitty forgets a logo with its window."""

    def _set(self, window: Any, name: str, data: bytes) -> None:
        kitty_data.set_window_logo(window.os_window_id, window.tab_id, window.id, name, "top-right", 1.0, data)


@attrs.define
class SplitLights:
    """
    The badges of all windows.

    *panes* are the host's, by window id; *decision* returns the decision that a window shows; *colours* and *is_on* are
    settings. The time of `refresh` grows with the number of windows in visible tabs.
    """

    boss: Any
    panes: Mapping[int, Pane]
    decision: Callable[[Any], Decision]
    colours: Mapping[Status, lights.RGB]
    is_on: bool = True
    #: Draws a badge in the corner of a window.
    corner: ScreenCorner | LogoCorner = attrs.field(
        init=False, factory=lambda: ScreenCorner() if hasattr(kitty_data, _DRAW) else LogoCorner()
    )
    #: The mark of each window, its colours, and its place.
    _shown: dict[int, tuple[str, lights.RGB, lights.RGB, object]] = attrs.field(init=False, factory=dict)

    def refresh(self) -> None:
        """Draw the badges that changed or moved, and remove others."""
        wanted = self._wanted()
        for id_ in [id_ for id_ in self._shown if id_ not in wanted]:
            del self._shown[id_]
            if (window := self.boss.window_id_map.get(id_)) is not None:
                self.corner.hide(window)
                window.refresh()
        for id_, shown in wanted.items():
            if self._shown.get(id_) != shown:
                self._shown[id_] = shown
                window = self.boss.window_id_map[id_]
                self.corner.show(window, *shown[:3])
                window.refresh()
        self.corner.keep(self.boss.window_id_map)

    def _wanted(self) -> dict[int, tuple[str, lights.RGB, lights.RGB, object]]:
        """Return the badge of each window that gets one: its mark, its colours and its place."""
        found: dict[int, tuple[str, lights.RGB, lights.RGB, object]] = {}
        # Nobody sees a corner in the other tabs; they are looked at when one comes to the front.
        fronts = [manager.active_tab for manager in self.boss.all_tab_managers] if self.is_on else []
        for tab in fronts:
            split = _splits_of(tab) if tab is not None else ()
            for window in tab if split else ():
                if window.id not in self.panes or window.id not in split:
                    continue
                # A window that is too small, or has a title bar of kitty's, gets no mark.
                is_small = window.screen.columns < MIN_SPLIT_COLUMNS or window.screen.lines < MIN_LINES
                if is_small or getattr(window, "_title_bar_screen", None) is not None:
                    continue
                decision = self.decision(window)
                if decision.is_lit and decision.status is not Status.IDLE:
                    size = cell_size_for_window(window.os_window_id)
                    place = window.os_window_id, window.tab_id, window.geometry, size
                    mark = lights.mark(decision.status, decision.kind)
                    found[window.id] = mark, *self._colours(decision.status), place
        return found

    def _colours(self, status: Status) -> tuple[lights.RGB, lights.RGB]:
        """Return the colours of a mark and of its ground; work has no ground of its own."""
        colour = self.colours[status]
        if status in lights.FILLED or status is Status.DONE:
            return contrast.readable_on(colour), colour
        ground = rgb(get_options().background)
        return contrast.legible(colour, ground), ground


def _splits_of(tab: Any) -> Set[int]:
    """Return the windows of *tab* that are visible beside another one."""
    if tab.windows.num_groups < 2:
        return frozenset()
    groups = list(tab.windows.iter_all_layoutable_groups(only_visible=True))
    return {group.active_window_id for group in groups} if len(groups) > 1 else frozenset()
