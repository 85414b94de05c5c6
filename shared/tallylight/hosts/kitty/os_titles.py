"""
Shows the light in the title of an OS window without a visible tab bar: with one tab, or `tab_bar_style hidden`.

kitty passes each window title through `update_window_title` to the window system. There the mark is added, only for the
active window of an OS window. If its tab is named after the project, the title is the project, too. The title that
kitty itself keeps does not change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import kitty.window as kitty_window
from kitty.fast_data_types import sync_os_window_title

from tallylight.hosts.kitty import windows
from tallylight.hosts.kitty.rollup import TabRollup
from tallylight.model import lights
from tallylight.model.status import Status
from tallylight.tracker import rollup
from tallylight.wire.text import sanitise

#: The longest title of a pane that is not in front, in cells.
OTHER_PANE_CELLS = 40


@attrs.define
class OsWindowTitles:
    """
    The titles of all OS windows. *when* is the user's choice: `auto` (where no tab bar is seen), `always` or `off`.

    *tabs* has the light of each tab, as of its last `refresh`.
    """

    boss: Any
    tabs: TabRollup
    when: str = "auto"
    #: For each OS window: the window with the marked title, the mark, and the replacement title.
    _shown: dict[int, tuple[int, str, str]] = attrs.field(init=False, factory=dict)
    _update: Callable[[int, int, int, str], object] = attrs.field(init=False, default=lambda *_: None)

    def install(self) -> None:
        """Intercept titles between kitty and the window system, once a process."""
        self._update = update = kitty_window.update_window_title

        def update_window_title(os_window_id: int, tab_id: int, window_id: int, title: str) -> object:
            marked, mark, name = self._shown.get(os_window_id, (0, "", ""))
            return update(os_window_id, tab_id, window_id, mark + (name or title) if marked == window_id else title)

        kitty_window.update_window_title = update_window_title

    def refresh(self) -> None:
        """Update every title."""
        for os_window_id, manager in self.boss.os_window_map.items():
            window = manager.active_window
            if window is None:
                continue
            wanted = window.id, self._mark(manager, window), self._name(manager, window)
            before = self._shown.get(os_window_id, (window.id, "", ""))
            if wanted == before:
                continue
            old = self.boss.window_id_map.get(before[0])
            if any(before[1:]) and old is not None and old is not window:
                self._update(old.os_window_id, old.tab_id, old.id, old.title)
            self._shown[os_window_id] = wanted
            self._update(os_window_id, window.tab_id, window.id, wanted[1] + (wanted[2] or window.title))
            sync_os_window_title(os_window_id)
        for os_window_id in [id_ for id_ in self._shown if id_ not in self.boss.os_window_map]:
            del self._shown[os_window_id]

    def _name(self, manager: Any, window: Any) -> str:
        """Return the title that replaces that of *window*, the active one; empty to keep it."""
        shown = self.tabs.shown(manager.active_tab.id) if self.when != "off" and manager.active_tab else None
        return sanitise(shown.title, cells=OTHER_PANE_CELLS) if shown is not None and shown.owner == window.id else ""

    def _mark(self, manager: Any, window: Any) -> str:
        """Return the text before the title of *window*, the active one: a mark and its owner, or nothing."""
        if self.when == "off" or (self.when == "auto" and windows.shows_tab_bar(manager)):
            return ""
        tabs = [shown for tab in manager if (shown := self.tabs.shown(tab.id)) is not None]
        urgent = rollup.of_tab([shown.decision for shown in tabs])
        if urgent is None or not urgent.is_lit or urgent.status is Status.IDLE:
            return ""
        mark = f"{lights.mark(urgent.status, urgent.kind)} "
        shown = next(shown for shown in tabs if shown.decision is urgent)
        if shown.owner == window.id or (other := self.boss.window_id_map.get(shown.owner)) is None:
            return mark
        return f"{mark}{sanitise(shown.title or other.title, cells=OTHER_PANE_CELLS)} · "
