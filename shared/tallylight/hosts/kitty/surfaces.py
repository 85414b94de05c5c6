"""
The surfaces of kitty: every place where it shows a light, and the settings of each.

A fault in one surface switches off only that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kitty.fast_data_types import get_options

from tallylight.config.settings import Config
from tallylight.hosts.kitty import window_bars
from tallylight.hosts.kitty.colours import theme_colours
from tallylight.hosts.kitty.features import Features
from tallylight.hosts.kitty.os_titles import OsWindowTitles
from tallylight.hosts.kitty.rollup import TabRollup
from tallylight.hosts.kitty.splits import SplitLights
from tallylight.hosts.kitty.tabs import TabLights
from tallylight.hosts.kitty.window_bars import WindowTitleBars
from tallylight.pane.pane import Pane

_TITLES, _SPLITS = "titles of OS windows", "lights on splits"


class Surfaces:
    """
    All surfaces of one kitty: tab bars, panels, titles of OS windows, splits. *panes* are the host's, by window id.

    Their faults switch *features* off.
    """

    def __init__(self, boss: Any, panes: Mapping[int, Pane], features: Features) -> None:
        self._guarded = guarded = features.guarded
        self._config = Config()
        self.rollup = TabRollup(boss, panes, features)
        self.tabs = TabLights(self.rollup, features)
        self.tabs.install()
        self.titles = OsWindowTitles(boss, self.rollup)
        guarded(_TITLES, self.titles.install)()
        self.splits = SplitLights(boss, panes, self.rollup.decision, self.tabs.colours)
        #: Adjusts the panels, once there is one.
        self.panels: Callable[[], None] = lambda: None
        self.bars = WindowTitleBars(boss, panes, self.tabs)
        guarded(window_bars.FEATURE, self.bars.install)()

    def apply(self, config: Config) -> None:
        """Apply *config* from now on; it shows with the next `redraw`."""
        self.rollup.forget()
        self.bars.forget()
        kitty = config.kitty
        is_on = kitty.style != "off"
        self._config = config
        self.tabs.style, self.rollup.names = kitty.style, kitty.names
        self.rollup.pulses = kitty.pulse and is_on
        self.splits.is_on = kitty.splits and is_on
        self.titles.when = kitty.os_window_title if is_on else "off"
        self._use_colours()

    def _use_colours(self) -> None:
        """Use the colours of the settings, or of the current theme; redraw all tabs if they changed."""
        found = dict(self._config.colours)
        if self._config.themed:
            theme = theme_colours(get_options())
            found |= {status: theme[status] for status in self._config.themed}
        if found != self.tabs.colours:
            self.tabs.colours = self.splits.colours = found
            self.rollup.forget()
            self.bars.forget()
            self.rollup.redraw()

    def redraw(self) -> None:
        """Redraw all surfaces: a light may have changed."""
        self.rollup.redraw()
        self._guarded(window_bars.FEATURE, self.bars.refresh)()
        self.follow()

    def follow(self) -> None:
        """
        Update the surfaces: windows may have moved, another one may be in front, the theme or the minute may have
        changed.
        """
        if self.rollup.wall() >= self.rollup.changes_at:
            self.rollup.redraw()
        if self._config.themed:
            self._guarded("colours of the theme", self._use_colours)()
        self.panels()
        self._guarded(_TITLES, self.titles.refresh)()
        self._guarded(_SPLITS, self.splits.refresh)()
