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

#: The process of an agent at rest, whose screen stands still, is looked at in every so many looks.
ASK_EVERY = 4


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
    #: The windows that a person can see, as far as their panes were told.
    visible: set[int] = attrs.field(init=False, factory=set)
    #: The same as of the last time that kitty was asked.
    _in_sight: set[int] = attrs.field(init=False, factory=set)
    #: Those that rest and of which the last look was a short one.
    _short: set[int] = attrs.field(init=False, factory=set)
    #: In how many looks at an agent at rest its process was not looked at.
    _unasked: dict[int, int] = attrs.field(init=False, factory=dict)
    _screens: screens.Screens = attrs.field(init=False, factory=screens.Screens)

    def panel_came(self) -> None:
        """A window says that it is a panel of ours, or none any more."""
        self._all = set()

    def watched(self) -> Mapping[int, None]:
        """The ids of the windows that may show an agent."""
        ids = kitty_windows.ids(self.boss)
        if ids != self._all:
            self._all = set(ids)
            self._watched = dict.fromkeys(kitty_windows.watched(self.boss))
        return self._watched

    def begin(self) -> None:
        """A tick begins; `watched` was called in it."""
        self._in_sight = kitty_windows.visible(self.boss)
        self.turns.begin(self._watched.keys(), self._in_sight & self._watched.keys())

    def look(self, now: float, tick: int) -> list[int]:
        """Look at the panes whose turn it is at this *tick*, as far as there is time; those looked at in full."""
        looked: list[int] = []
        panes, turns, rest_s, short = self.panes, self.turns, self.rest_s, self._short

        def at(id_: int) -> bool:
            window = self.boss.window_id_map.get(id_)
            if window is None:
                return False
            pane = panes.get(id_) or self.pane(id_)
            pgid = kitty_windows.group(window)
            has_bar = window.progress.state is not ProgressState.unset
            rested = turns.rests(id_)
            if id_ in short:
                short.discard(id_)
            elif rested and (turns.is_often(id_) or pane.agent is None) and pane.is_as_it_was(pgid, has_bar=has_bar):
                short.add(id_)
                return True
            looked.append(id_)
            is_same = rested and pane.agent is not None and pane.is_as_it_was(pgid, has_bar=has_bar)
            if pgid is not None and not is_same:
                pane.foreground(pgid, now)
            if rested or not pane.is_calm or (id_ + tick) % CALM_EVERY == 0:
                pane.screen(functools.partial(self._screens.look, window), now)
            if pgid is not None and is_same:
                # What takes the place of an agent in its own group draws something.
                unasked = self._unasked.get(id_, 0) + 1 if pane.is_calm else ASK_EVERY
                self._unasked[id_] = unasked % ASK_EVERY
                if unasked >= ASK_EVERY:
                    pane.foreground(pgid, now)
            if has_bar or pane.has_bar:
                pane.progress(has_bar, now)
            if not rested or pane.pace is not None:
                pane.tick(now)  # else nothing is due yet
            rests = pane.rests(now + rest_s)
            if rests and not rested and id_ % 2:
                short.add(id_)  # half of those that come to rest in one tick
            return rests

        turns.look(at)
        self._tell_visible(now, looked)
        return looked

    def foreground(self, window: Any, pane: Pane, now: float) -> None:
        """Look at who is in the foreground of *window*, for its *pane*."""
        pgid = kitty_windows.foreground(self.boss, window)
        if pgid is not None:
            pane.foreground(pgid, now)

    def look_at_visible(self, now: float, ids: Iterable[int]) -> None:
        """Tell the panes of *ids*, and those that came into sight or left it, whether they are seen."""
        self._in_sight = kitty_windows.visible(self.boss)
        self._tell_visible(now, ids)

    def _tell_visible(self, now: float, ids: Iterable[int]) -> None:
        changing = self._in_sight ^ self.visible
        self.visible = self._in_sight
        for id_ in changing.union(ids):
            if (pane := self.panes.get(id_)) is not None:
                pane.look(id_ in self.visible, now)

    def forget(self, id_: int) -> None:
        """The window is gone."""
        self._screens.forget(id_)
        self._short.discard(id_)
        self._unasked.pop(id_, None)
        self.turns.forget(id_)
