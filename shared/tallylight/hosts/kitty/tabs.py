"""
kitty's tab bar: a light on each tab, over whichever tab bar style the user has.

`TabBar.update` is wrapped in process, on the class: it is called with the tabs as values just before they are
drawn. So the user's style, templates and own `tab_bar.py` stay in force, no file of theirs is touched, and a
configuration reload changes nothing. The light is `{tab.tally}` in the title template: put in front of the
user's template, or where the user wrote it. A drawing function that does not use the template gets its light
drawn before it. `{tab.tally_what}` is what the tab waits for: `Bash: npm test`; nothing while it waits for nobody.

A fault in here is logged once and the tabs are drawn as without us.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
from kitty.fast_data_types import get_options
from kitty.tab_bar import ColorFormatter, Formatter, TabAccessor, TabBar

from tallylight.hosts.kitty.colours import as_int, as_sgr_int, rgb
from tallylight.hosts.kitty.features import Features
from tallylight.hosts.kitty.rollup import TabLight, TabRollup
from tallylight.model import contrast, lights
from tallylight.model.decision import Decision
from tallylight.model.status import Status
from tallylight.wire.text import middle, sanitise

#: What a title may take up in cells before kitty's own limits apply. No tab is as wide.
MAX_TITLE_CELLS = 256
#: A tab that has fewer cells than this has a mark for its whole light; one with still fewer has a coloured title, so
#: that the number in it, or its first letters, can be read.
NARROW, TINY = 12, 7
#: What the tabs show is found again after so many seconds though kitty tells of no change in them; and bars of which
#: that is remembered.
FRESH_S, MAX_BARS = 1.0, 64
FIELD = "tab.tally"
_PREFIX = f"{{{FIELD}}}"
#: What a tab waits for, in cells: a tab has more to say.
WHAT_CELLS = 40
_HAS_FIELD = re.compile(r"\btab\.tally\b")


@attrs.define
class TabLights:
    """
    Draws what *rollup* knows of the tabs. It is refreshed before tabs are drawn that have changed: panes move between
    tabs.

    Its faults switch *features* off. *now* is the monotonic clock of the pulse; *colours*, *style* (`stripe`, `icon`,
    `colour`, `off`), *with_mark* and *pulses* are the user's choice. `install` wraps kitty's tab bar, once a process.
    """

    rollup: TabRollup
    features: Features
    now: Callable[[], float] = time.monotonic
    colours: dict[Status, lights.RGB] = attrs.Factory(lambda: dict(lights.COLOURS))
    style: str = "stripe"
    with_mark: bool = True
    pulses: bool = True
    #: kitty's options under which code of the person's own was seen to draw lights; others may be without it.
    _placed_under: object = None
    _is_drawing: bool = False
    #: The cells that each tab of the bar that is drawn has.
    _cells: int = MAX_TITLE_CELLS
    #: The tabs as kitty last had them drawn, by OS window, and when what they show was last found.
    _known: dict[int, list[Any]] = attrs.field(factory=dict)
    _refreshed_at: float = float("-inf")
    _was_read: bool = False

    def install(self) -> None:
        """Wrap `TabBar.update` and offer `{tab.tally}` and `{tab.tally_what}` to title templates."""
        original = TabBar.update

        def update(bar: Any, data: Sequence[Any]) -> Any:
            ready = self.features.guarded("tab bar", self._prepared)(bar, data)
            placed = self._placed_under
            self._is_drawing = True
            try:
                return original(bar, data if ready is None else ready)
            finally:
                self._is_drawing = False
                if self._placed_under is not placed:
                    self.rollup.redraw()

        TabBar.update = update
        TabAccessor.tally = property(lambda accessor: self.rendered(accessor.tab_id))
        TabAccessor.tally_what = property(lambda accessor: self.what(accessor.tab_id))

    def _lit(self, tab_id: int) -> TabLight | None:
        """What a tab shows, if that is a light."""
        shown = self.rollup.shown(tab_id)
        return shown if shown is not None and shown.decision.is_lit else None

    def _colour(self, shown: TabLight) -> lights.RGB:
        """The colour of a tab's light at this moment."""
        colour = self.colours[shown.decision.status]
        return lights.pulsed(colour, self.now()) if self.pulses and shown.pulses else colour

    def texts(self, decision: Decision, cells: int = MAX_TITLE_CELLS, *, is_finished: bool = False) -> tuple[str, str]:
        """The stripe and the mark that are written for a light in a tab of so many *cells*; either may be empty."""
        mark = lights.mark(decision.status, decision.kind)
        if cells < TINY:
            return "", ""
        if cells < NARROW:
            return "", mark if self.style == "icon" or self.with_mark else ""
        mark += lights.mark(Status.DONE) if is_finished else ""
        if self.style == "icon":
            return "", f"{mark} "
        return lights.stripe(decision.status) if self.style == "stripe" else "", f"{mark} " if self.with_mark else ""

    def rendered(self, tab_id: int) -> str:
        """
        The light of a tab as text with its colour: what `{tab.tally}` stands for. Nothing for a tab without a light.

        Meant for where a title is drawn: kitty has set the colours of the tab that is drawn just before.
        """
        self._was_read = True
        try:
            shown = self._lit(tab_id)
            if shown is None or self.style == "off":
                return ""
            stripe, mark = self.texts(shown.decision, self._cells, is_finished=shown.is_finished)
            if self.style == "colour":
                return mark
            background = rgb(ColorFormatter.draw_data.tab_bg(ColorFormatter.tab_data))
            return written(stripe, mark, self._colour(shown), background) + str(Formatter.fg.tab)
        except Exception as error:
            self.features.failed("title template", error)
            return ""

    def was_asked(self) -> None:
        """Code of the person's own has asked for a light: where that is to draw a tab, it is not drawn once more."""
        self._was_read = self.rollup.is_read = True
        if self._is_drawing and self._placed_under is not get_options():
            self._placed_under = get_options()

    def what(self, tab_id: int) -> str:
        """What a tab waits for, at most `WHAT_CELLS` wide: what `{tab.tally_what}` stands for. Nothing if unknown."""
        try:
            shown = self.rollup.shown(tab_id)
            return middle(shown.what, WHAT_CELLS) if shown is not None else ""
        except Exception as error:
            self.features.failed("title template", error)
            return ""

    def _prepared(self, bar: Any, data: Sequence[Any]) -> Sequence[Any]:
        """*data* with clean titles, and *bar* with the light in its template; both as kitty made them otherwise."""
        if self.style == "off":
            return [tab._replace(title=_clean(tab.title)) for tab in data]
        self._refresh(bar, data)
        self.rollup.note(getattr(bar, "os_window_id", 0), [tab.tab_id for tab in data])
        data = [self._titled(tab) for tab in data]
        draw_data = bar.draw_data
        columns = bar.screen.columns
        # As kitty shares them out; a bar at a side has its whole width for each.
        is_side = getattr(draw_data, "tab_bar_edge", "top") in ("left", "right")
        self._cells = columns if is_side else columns // max(1, len(data)) - 1
        templates = {
            name: self._template(template)
            for name in ("title_template", "active_title_template")
            if (template := getattr(draw_data, name)) is not None and template != self._template(template)
        }
        if templates:
            bar.draw_data = draw_data._replace(**templates)
        if get_options().tab_bar_style == "custom" and not hasattr(bar.draw_func, "tally_wrapped"):
            bar.draw_func = self._wrapped(bar.draw_func)
        if self.style == "colour" or self._cells < TINY:
            data = [self._coloured(tab, bar.draw_data) for tab in data]
        return data

    def _refresh(self, bar: Any, data: Sequence[Any]) -> None:
        """See to it that what is shown is that of the panes that are in the tabs now: not at each beat of a pulse."""
        place, known, now = getattr(bar, "os_window_id", 0), list(data), self.now()
        if self._known.get(place) == known and 0 <= now - self._refreshed_at < FRESH_S:
            return
        if place not in self._known and len(self._known) >= MAX_BARS:
            self._known.clear()
        self._known[place], self._refreshed_at = known, now
        self.rollup.refresh()

    def _titled(self, tab: Any) -> Any:
        """*tab* with the title that stands beside its light."""
        shown = self.rollup.shown(tab.tab_id)
        return tab._replace(title=_clean((shown.title if shown is not None else "") or tab.title))

    def _template(self, template: str) -> str:
        """*template* with the light in front, unless it is in it, or a `draw_title` of the person's own draws it."""
        if self._placed_under is not None and self._placed_under is get_options():
            return template.removeprefix(_PREFIX)
        return template if _HAS_FIELD.search(template) else f"{_PREFIX}{template}"

    def _coloured(self, tab: Any, draw_data: Any) -> Any:
        if (shown := self._lit(tab.tab_id)) is None:
            return tab
        colour = self._colour(shown)
        if tab.is_active or self.style != "colour":
            # The tab that is shown keeps its background, by which it is known.
            fore = as_int(contrast.legible(colour, rgb(draw_data.tab_bg(tab))))
            return tab._replace(active_fg=fore, inactive_fg=fore)
        return tab._replace(inactive_bg=as_int(colour), inactive_fg=as_int(contrast.readable_on(colour)))

    def _wrapped(self, draw: Callable[..., int]) -> Callable[..., int]:
        """A user's own drawing function, with the light in front if it does not draw the title template."""

        #: Whether *draw* goes without the title template: not known before it has drawn a light.
        stands_apart = False

        def with_light(draw_data: Any, screen: Any, tab: Any, before: int, *rest: Any) -> int:
            nonlocal stands_apart
            # As kitty does before it draws a title: the light goes by the colours of the tab.
            ColorFormatter.draw_data, ColorFormatter.tab_data = draw_data, tab
            shown = self._lit(tab.tab_id)
            if shown is None or self.style == "colour":
                return draw(draw_data, screen, tab, before, *rest)
            x, y = screen.cursor.x, screen.cursor.y
            look = screen.cursor.fg, screen.cursor.bg, screen.cursor.bold, screen.cursor.italic
            if not stands_apart:
                self._was_read = False
                end = draw(draw_data, screen, tab, before, *rest)
                if self._was_read:
                    return end
                stands_apart = True
                screen.cursor.x, screen.cursor.y = x, y
                screen.cursor.fg, screen.cursor.bg, screen.cursor.bold, screen.cursor.italic = look
            stripe, mark = self.texts(shown.decision, self._cells, is_finished=shown.is_finished)
            colour, background = self._colour(shown), rgb(draw_data.tab_bg(tab))
            for text, shade in ((stripe, colour), (mark, contrast.legible(colour, background))):
                screen.cursor.fg = as_sgr_int(shade)
                screen.draw(text)
            screen.cursor.fg = look[0]
            return draw(draw_data, screen, tab, before, *rest)

        with_light.tally_wrapped = True  # type: ignore[attr-defined]
        return with_light


def written(stripe: str, mark: str, colour: lights.RGB, background: lights.RGB) -> str:
    """A light as text: its stripe in its very *colour*, its mark so that it can be read on *background*."""
    shaded = f"{lights.sgr_foreground(contrast.legible(colour, background))}{mark}" if mark else ""
    return f"{lights.sgr_foreground(colour)}{stripe}{shaded}" if stripe else shaded


def _clean(title: str) -> str:
    """*title* as harmless text. One with an SGR in it was set by the user, and kitty reads nothing else in it."""
    return title if "\x1b" in title else sanitise(title, cells=MAX_TITLE_CELLS)
