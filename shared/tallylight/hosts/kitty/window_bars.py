"""
The light in the title bar of each window, where kitty has such bars and they are on: `window_title_bar_min_windows`.

kitty draws a bar from a template and the title. The light is added before that title, or where the user wrote
`{tab.tally}`. kitty before 0.46 has no such bars.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import attrs
from kitty.fast_data_types import get_options

from tallylight.hosts.kitty import colours
from tallylight.hosts.kitty.tabs import FIELD, TabLights
from tallylight.model import lights
from tallylight.pane.pane import Pane

FEATURE = "title bars of windows"


@attrs.define
class WindowTitleBars:
    """Draws the lights of *panes* in title bars, by window id, with the looks of *look*."""

    boss: Any
    panes: Mapping[int, Pane]
    look: TabLights
    _is_installed: bool = False
    #: The window of the bar that is drawn, and whether it is the active one of its tab.
    _drawn: tuple[int, bool] = (0, False)
    #: The lights in the bars of each tab: unchanged bars are not drawn again.
    _seen: dict[int, list[object]] = attrs.field(init=False, factory=dict)

    def install(self) -> None:
        """Wrap kitty's drawing of title bars, once a process; do nothing where it has none."""
        try:
            module = importlib.import_module("kitty.window_title_bar")
        except ImportError:
            return
        original = module.WindowTitleBarScreen.render
        prepared = self.look.features.guarded(FEATURE, self._prepared)

        def render(bar: Any, data: Any, *rest: Any) -> Any:
            return original(bar, prepared(data) or data, *rest)

        module.WindowTitleBarScreen.render = render
        # Templates look up other names there, such as `tab.tally`.
        module.safe_builtins["tab"] = self
        self._is_installed = True

    def refresh(self) -> None:
        """Redraw the bars of tabs with a changed light."""
        if not self._is_installed:
            return
        before, self._seen = self._seen, {}
        for manager in self.boss.all_tab_managers:
            for tab in manager:
                if any(window._title_bar_screen is not None for window in tab):
                    self._seen[tab.id] = [self._light(window.id) for window in tab]
                    if self._seen[tab.id] != before.get(tab.id):
                        tab.update_window_title_bars()

    def forget(self) -> None:
        """Redraw everything with the next `refresh`: the same lights look different from now on."""
        self._seen.clear()

    def _light(self, id_: int) -> object:
        """Return a value that changes with a window's light."""
        pane = self.panes.get(id_)
        return (id_, pane.decision.status, pane.decision.kind) if pane is not None and pane.decision.is_lit else id_

    @property
    def tally(self) -> str:
        """The light of the window with the bar that is drawn, as coloured text."""
        id_, is_active = self._drawn
        pane = self.panes.get(id_)
        if pane is None or not pane.decision.is_lit or self.look.style == "off":
            return ""
        fore, back = (_colour(is_active, part) for part in ("foreground", "background"))
        return self.look.text(pane.decision, back, fore)

    def _prepared(self, data: Any) -> Any:
        self._drawn = data.window_id, data.is_active
        options = get_options()
        template = options.window_title_template
        if data.is_active and options.active_window_title_template not in ("", "none", None):
            template = options.active_window_title_template
        return data if FIELD in template else data._replace(title=self.tally + data.title)


def _colour(is_active: bool, part: str) -> lights.RGB:
    """Return the `foreground` or `background` of a title bar: its own, or else that of a tab."""
    options, which = get_options(), "active" if is_active else "inactive"
    own = getattr(options, f"window_title_bar_{which}_{part}")
    return colours.rgb(getattr(options, f"{which}_tab_{part}") if own is None else own)
