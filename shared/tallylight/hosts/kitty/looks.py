"""Looks at kitty's windows: their foreground programs, their screens, and which ones a person can see."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
from kitty.progress import ProgressState

from tallylight.evidence.screen import Look
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.pane.pane import Pane


@attrs.define
class Looks:
    """Reads kitty's windows for their *panes*, by window id. *now* is monotonic seconds."""

    boss: Any
    panes: Mapping[int, Pane]
    #: The windows that may show an agent, and all windows, as of the last check.
    _watched: set[int] = attrs.field(init=False, factory=set)
    _all: set[int] = attrs.field(init=False, factory=set)
    #: The windows that a person can see, as their panes know.
    visible: set[int] = attrs.field(init=False, factory=set)
    #: By window id, the text of its screen and the `Look` made from it.
    _screens: dict[int, tuple[str, Look]] = attrs.field(init=False, factory=dict)

    def panel_came(self) -> None:
        """Check all windows again: one became a panel of ours, or is none any more."""
        self._all = set()

    def watched(self) -> set[int]:
        """Return the ids of the windows that may show an agent."""
        # kitty keeps weak references: testing each of them takes longer than some looks.
        ids = getattr(self.boss.window_id_map, "data", self.boss.window_id_map).keys()
        if ids != self._all:
            self._all = set(ids)
            windows = self.boss.window_id_map.items()
            self._watched = {id_ for id_, window in windows if kitty_windows.is_watched(window)}
        return self._watched

    def look(self, id_: int, pane: Pane, now: float) -> None:
        """Look at the window of *pane*, if it is still there."""
        window = self.boss.window_id_map.get(id_)
        if window is None:
            return
        self.foreground(window, pane, now)
        pane.screen(functools.partial(self.screen, window), now)
        has_bar = window.progress.state is not ProgressState.unset
        if has_bar or pane.has_bar:
            pane.progress(has_bar, now)

    def foreground(self, window: Any, pane: Pane, now: float) -> None:
        """Update the foreground program of *window* in its *pane*."""
        # A window with an ended child has a closed descriptor, or another window's by now.
        fd = window.child.child_fd if window.id in self.boss.window_id_map else None
        if fd is None:
            return
        try:
            pgid = os.tcgetpgrp(fd)
        except OSError:
            pgid = 0
        pane.foreground(pgid, now)

    def screen(self, window: Any) -> Look:
        """
        Return the screen of the program in *window*, even if a person has scrolled back.

        An unchanged screen returns the same object.
        """
        screen = window.screen
        chunks: list[str] = []
        screen.as_text_non_visual(chunks.append, False, False)
        text, cursor = "".join(chunks), screen.cursor
        place = cursor.y, cursor.x, screen.columns, screen.cursor_visible
        known = self._screens.get(window.id)
        if known is not None and known[0] == text:
            before = known[1]
            if place == (before.cursor_row, before.cursor_column, before.columns, before.cursor_visible):
                return before
        found = Look(text.split("\n"), *place)
        self._screens[window.id] = text, found
        return found

    def look_at_visible(self, now: float, ids: Iterable[int]) -> set[int]:
        """Pass on whether they are visible to the panes of *ids*, and those with a change of that; return them all."""
        before, self.visible = self.visible, kitty_windows.visible(self.boss)
        reached = {id_ for id_ in (before ^ self.visible).union(ids) if id_ in self.panes}
        for id_ in reached:
            self.panes[id_].look(id_ in self.visible, now)
        return reached

    def forget(self, id_: int) -> None:
        """Forget a window that is gone."""
        self._screens.pop(id_, None)
