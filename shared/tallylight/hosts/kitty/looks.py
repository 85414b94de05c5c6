"""
Looks at kitty's windows: who is in the foreground, what is on the screen, and what of it a person can see.

A look at a window at rest that is looked at often has two lengths, in turns: the whole of it, and one that only asks
whether another program holds the foreground and whether the progress bar is still what it was.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
from kitty.progress import ProgressState

from tallylight.hosts.kitty import screens
from tallylight.hosts.kitty import windows as kitty_windows
from tallylight.hosts.kitty.turns import Turns
from tallylight.pane.pane import Pane
from tallylight.pane.screen_looks import CALM_EVERY


@attrs.define
class Looks:
    """
    *panes* are the host's, by window id, *pane* is that of a window, made if need be; *turns* says whose turn it is.

    *now* is monotonic seconds.
    """

    boss: Any
    panes: Mapping[int, Pane]
    pane: Callable[[int], Pane]
    turns: Turns
    #: A pane rests of which nothing is expected for so many seconds.
    rest_s: float = 6.0
    #: The windows that may show an agent, of those that there were, and all of these.
    _watched: dict[int, None] = attrs.field(init=False, factory=dict)
    _all: set[int] = attrs.field(init=False, factory=set)
    #: The windows that a person could see when that was last looked at.
    _visible: set[int] = attrs.field(init=False, factory=set)
    _screens: screens.Screens = attrs.field(init=False, factory=screens.Screens)

    @property
    def visible(self) -> set[int]:
        """The windows that a person could see when that was last looked at."""
        return self._visible

    def watched(self, *, anew: bool = False) -> Mapping[int, None]:
        """The ids of the windows that may show an agent; *anew*: ask each, though none came or went."""
        ids = kitty_windows.ids(self.boss)
        if anew or ids != self._all:
            self._all = set(ids)
            self._watched = dict.fromkeys(kitty_windows.watched(self.boss))
        return self._watched

    def begin(self) -> None:
        """A tick begins; `watched` was called in it."""
        self.turns.begin(self._watched, kitty_windows.visible(self.boss) & self._watched.keys())

    def look(self, now: float, tick: int) -> list[int]:
        """Look at the panes whose turn it is at this *tick*, as far as there is time; those that were looked at."""
        looked: list[int] = []
        turns, rest_s = self.turns, self.rest_s

        def at(id_: int) -> bool:
            window = self.boss.window_id_map.get(id_)
            if window is None:
                return False
            pane = self.pane(id_)
            pgid = kitty_windows.group(window)
            has_bar = window.progress.state is not ProgressState.unset
            is_whole = bool((id_ + tick) % CALM_EVERY == 0 or not turns.is_often(id_))
            if not is_whole and turns.rests(id_) and pane.is_as_it_was(pgid, has_bar=has_bar):
                return True
            looked.append(id_)
            if pgid is not None:
                pane.foreground(pgid, now)
            if is_whole or not pane.is_calm:
                pane.screen(functools.partial(self._screens.look, window), now)
            pane.progress(has_bar, now)
            pane.tick(now)
            return pane.rests(now + rest_s)

        turns.look(at)
        self.look_at_visible(now, looked)
        return looked

    def look_at_visible(self, now: float, ids: Iterable[int]) -> None:
        """Tell the panes of *ids*, and those that came into sight or left it, whether they are seen."""
        visible = kitty_windows.visible(self.boss)
        changing = visible ^ self._visible
        self._visible = visible
        for id_ in changing.union(ids):
            if (pane := self.panes.get(id_)) is not None:
                pane.look(id_ in visible, now)

    def forget(self, id_: int) -> None:
        """The window is gone."""
        self._screens.forget(id_)
        self.turns.forget(id_)
