"""
Looks at kitty's windows: who is in the foreground, what is on the screen, and what of it a person can see.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Set
from typing import Any

import attrs
from kitty.progress import ProgressState

from tallylight.hosts.kitty import screens
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.pane.pane import Pane


@attrs.define
class Looks:
    """*panes* are the host's, by window id. *now* is monotonic seconds."""

    boss: Any
    panes: Mapping[int, Pane]
    #: The windows that may show an agent, of those that there were, and all of these.
    _watched: Set[int] = attrs.field(init=False, factory=set)
    _all: set[int] = attrs.field(init=False, factory=set)
    #: The windows that a person can see, as far as their panes were told.
    visible: set[int] = attrs.field(init=False, factory=set)
    _screens: screens.Screens = attrs.field(init=False, factory=screens.Screens)

    def panel_came(self) -> None:
        """A window says that it is a panel of ours, or none any more."""
        self._all = set()

    def watched(self) -> Set[int]:
        """The ids of the windows that may show an agent."""
        ids = kitty_windows.ids(self.boss)
        if ids != self._all:
            self._all = set(ids)
            self._watched = kitty_windows.watched(self.boss).keys()
        return self._watched

    def look(self, id_: int, pane: Pane, now: float) -> None:
        """Look at the window of *pane*, if it is still there."""
        window = self.boss.window_id_map.get(id_)
        if window is None:
            return
        self.foreground(window, pane, now)
        pane.screen(functools.partial(self._screens.look, window), now)
        has_bar = window.progress.state is not ProgressState.unset
        if has_bar or pane.has_bar:
            pane.progress(has_bar, now)

    def foreground(self, window: Any, pane: Pane, now: float) -> None:
        """Look at who is in the foreground of *window*, for its *pane*."""
        pgid = kitty_windows.foreground(self.boss, window)
        if pgid is not None:
            pane.foreground(pgid, now)

    def look_at_visible(self, now: float, ids: Iterable[int]) -> set[int]:
        """Tell the panes of *ids*, and those that came into sight or left it, whether they are seen; return which."""
        before, self.visible = self.visible, kitty_windows.visible(self.boss)
        told = {id_ for id_ in (before ^ self.visible).union(ids) if id_ in self.panes}
        for id_ in told:
            self.panes[id_].look(id_ in self.visible, now)
        return told

    def forget(self, id_: int) -> None:
        """The window is gone."""
        self._screens.forget(id_)
