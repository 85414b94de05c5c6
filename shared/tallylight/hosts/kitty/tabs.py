"""
kitty's tab bar: a light on each tab, over whichever tab bar style the user has.

`TabBar.update` is wrapped on the class, in the process: kitty calls it with the tabs as values just before they are
drawn. So the user's style, templates and own `tab_bar.py` stay in force. No file of theirs is changed, and a reload of
the configuration changes nothing.

A tab that needs a person is filled by its own colours, which the style uses for its ends. The mark is `{tab.tally}` in
the title template: before the user's template, or where the user wrote it. A drawing function that ignores the template
gets its light drawn before it. `{tab.tally_what}` is the request of a waiting tab, `Bash: npm test`.
`{tab.tally_project}` is its agent's project, and `{tab.tally_var_NAME}` the agent's own variable. Narrow tabs are drawn
here.

kitty calls a drawing function once for the layout, with room for one tab alone, and once more to draw. A bar
with a light is measured here instead: `tab_room` shares it out, and kitty's layout hears of no tab that wants more than
its equal share. If tabs have several lines (`tab_title_max_lines`, of bars at a side since kitty 0.49), the project is
below the title.

A fault in here is logged once, and the tabs are drawn without lights.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import kitty.tab_bar as kitty_bar
from kitty.fast_data_types import get_options
from kitty.tab_bar import ColorFormatter, TabAccessor, TabBar, draw_attributed_string

from tallylight.hosts.kitty import tab_look, tab_room
from tallylight.hosts.kitty.colours import as_int, as_sgr_int, rgb
from tallylight.hosts.kitty.features import Features
from tallylight.hosts.kitty.rollup import TabLight, TabRollup
from tallylight.hosts.kitty.tab_look import NARROW_TAB_CELLS, TINY_TAB_CELLS, Run
from tallylight.model import contrast, lights
from tallylight.model.contrast import Fills
from tallylight.model.decision import Decision
from tallylight.model.lights import RGB
from tallylight.model.status import Status
from tallylight.wire.text import middle, sanitise, width

#: The longest title in cells before kitty's own limits apply. No tab is as wide.
MAX_TITLE_CELLS = 256
#: The lights of tabs are read again after so many seconds without a change of tabs; and bars that are remembered.
REFRESH_LIGHTS_S, MAX_BARS = 1.0, 64
FIELD = "tab.tally"
_PREFIX = f"{{{FIELD}}}"
#: The longest request, in cells: a tab has more to show.
TAB_REQUEST_CELLS = 40
_HAS_FIELD = re.compile(r"\btab\.tally\b")
_WHAT_FIELD = f"{FIELD}_what"
_VAR_FIELD = "tally_var_"
_TITLE = "{title}"
_SGR = re.compile(r"\x1b\[[0-9:;]*m")
#: Cells that kitty's styles draw beside a title. The ends of `fade` are cut to one each in tabs with fewer than
#: WIDE_TAB_CELLS cells, or if a title needs them.
_ENDS = {"fade": 8, "slant": 3, "powerline": 2}
_SHORT_FADE, WIDE_TAB_CELLS = 2, 20
#: The part of these before the title.
_STARTS = {"fade": 1, "slant": 2, "powerline": 1}
FEATURE = "tab bar"


@attrs.define
class TabLights:
    """
    Draws the lights of *rollup* on the tabs. Before changed tabs are drawn, it is refreshed: panes move between tabs.

    Its faults switch *features* off. *now* is the monotonic clock of the pulse; *colours* and *style* (`filled`,
    `stripe`, `off`) are the user's choice. `install` wraps kitty's tab bar, once a process.
    """

    rollup: TabRollup
    features: Features
    now: Callable[[], float] = time.monotonic
    colours: dict[Status, RGB] = attrs.Factory(lambda: dict(lights.COLOURS))
    style: str = "filled"
    #: kitty's options under which the user's own code was seen to draw lights; others may be without it.
    _placed_under: object = None
    _is_drawing: bool = False
    #: Values of the bar that is drawn: the cells of each tab, its colours, the filled tabs, and its screen. `_rooms`
    #: has the cells of each, and whether it is cut, unless kitty shares the bar out.
    _cells: int = MAX_TITLE_CELLS
    _rooms: Sequence[tuple[int, bool]] = ()
    _bar: Fills | None = None
    _filled: set[int] = attrs.field(factory=set)
    _screen: Any = None
    #: The tabs as kitty last drew them, by OS window, and when their lights were last read.
    _known: dict[int, list[Any]] = attrs.field(factory=dict)
    _refreshed_at: float = float("-inf")
    _was_read: bool = False

    def install(self) -> None:
        """Wrap `TabBar.update`, and offer `{tab.tally}` and its siblings to title templates."""
        original, colour = TabBar.update, ColorFormatter.__getattr__

        def update(bar: Any, data: Sequence[Any]) -> Any:
            self._filled.clear()
            self._rooms = ()
            ready = self.features.guarded(FEATURE, self._prepared)(bar, data)
            placed = self._placed_under
            self._is_drawing = True
            try:
                return original(bar, data if ready is None else ready)
            finally:
                self._is_drawing = False
                if self._placed_under is not placed:
                    self.rollup.redraw()

        def readable(formatter: Any, name: str) -> Any:
            # Text in a template's colour could not be read on a fill.
            is_filled = getattr(getattr(formatter, "tab_data", None), "tab_id", 0) in self._filled
            return colour(formatter, "tab" if is_filled and self._is_drawing else name)

        TabBar.update = update
        ColorFormatter.__getattr__ = readable
        TabAccessor.tally = property(lambda accessor: self.rendered(accessor.tab_id))
        TabAccessor.tally_what = property(lambda accessor: self.what(accessor.tab_id))
        TabAccessor.tally_project = property(lambda accessor: self.project(accessor.tab_id))
        TabAccessor.__getattr__ = lambda accessor, name: self.variable(accessor.tab_id, name)

    def _lit(self, tab_id: int) -> TabLight | None:
        """Return the light of a tab; None if it has none."""
        shown = self.rollup.shown(tab_id)
        return shown if shown is not None and shown.decision.is_lit and self.style != "off" else None

    def _at_this_moment(self, status: Status, colour: RGB, *, pulses: bool) -> RGB:
        """Return *colour* as it pulses now, if it is the fill of a light of *status* that *pulses*."""
        is_fill = pulses and self._bar is not None and colour == self._bar.get(status)
        return lights.pulsed(colour, self.now()) if is_fill else colour

    def _sign(self, decision: Decision, ground: RGB, tab: TabLight | None, *, is_box: bool) -> Run:
        """Return the sign of a light on *ground* at this moment; with *tab*, the sign for that tab."""
        pulses, is_finished = (tab.pulses, tab.is_finished) if tab is not None else (False, False)
        mark = lights.mark(decision.status, decision.kind) + (lights.mark(Status.DONE) if is_finished else "")
        size = self._cells if tab is not None else NARROW_TAB_CELLS
        mark += (
            lights.COLLISION
            if tab is not None and tab.collides and tab_look.NAMELESS_CELLS <= size < NARROW_TAB_CELLS
            else ""
        )
        bar = self._bar or self._bar_of((ground,), ground)
        one = tab_look.sign(decision.status, mark, ground, bar, self.colours, is_box=is_box, size=size)
        fore, back = (
            colour and self._at_this_moment(decision.status, colour, pulses=pulses) for colour in (one.fore, one.back)
        )
        return Run(mark, fore or one.fore, back)

    def text(
        self, decision: Decision, ground: RGB, fore: RGB, tab: TabLight | None = None, *, is_filled: bool = False
    ) -> str:
        """
        Return the light of *decision* as coloured text, followed by *fore*; with *tab*, the light of that tab.

        *ground* is the colour behind it; in a tab that *is_filled*, its fill.
        """
        status = decision.status
        one = self._sign(decision, ground, tab, is_box=not is_filled)
        if self.style == "stripe":
            runs = tab_look.striped(status, one, self.colours, ground, fore)
        elif status is Status.IDLE:
            return ""
        elif tab is not None and self._cells < NARROW_TAB_CELLS:
            runs = [one]
        else:
            runs = tab_look.before_title(one, fore, is_filled=is_filled)
        if tab is not None and tab.collides and self._cells >= NARROW_TAB_CELLS:
            runs = [*runs, Run(f"{lights.COLLISION} ", contrast.legible(self.colours[Status.WAITING], ground))]
        return "".join(_written(run, ground) for run in runs) + lights.sgr_foreground(fore)

    def rendered(self, tab_id: int) -> str:
        """
        Return a tab's light as coloured text, the value of `{tab.tally}`; empty without a light.

        Call it while a title is drawn: kitty has then set the colours of the tab.
        """
        self._was_read = True
        try:
            shown = self._lit(tab_id)
            if shown is None:
                return ""
            draw_data, tab = ColorFormatter.draw_data, ColorFormatter.tab_data
            ground, fore = self._cell(draw_data.tab_bg(tab), draw_data.tab_fg(tab))
            return self.text(shown.decision, ground, fore, shown, is_filled=tab_id in self._filled)
        except Exception as error:
            self.features.failed("title template", error)
            return ""

    def _cell(self, back: int, fore: int) -> tuple[RGB, RGB]:
        """Return the colours of the cell under the bar's cursor; *back* and *fore* if it has none."""
        cursor = self._screen.cursor if self._is_drawing and self._screen is not None else None
        set_ = (cursor.bg, cursor.fg) if cursor is not None else (0, 0)
        ground, text = (one >> 8 if one & 0xFF == 2 else other for one, other in zip(set_, (back, fore), strict=True))
        return rgb(ground), rgb(text)

    def was_drawn_by_user(self) -> None:
        """Note that the user's own code draws the light: it is not drawn once more in this bar."""
        self._was_read = self.rollup.is_read = True
        if self._is_drawing and self._placed_under is not get_options():
            self._placed_under = get_options()

    def what(self, tab_id: int) -> str:
        """
        Return a waiting tab's request, at most `TAB_REQUEST_CELLS` wide, the value of `{tab.tally_what}`; empty without
        one.
        """
        try:
            shown = self.rollup.shown(tab_id)
            return middle(shown.what, TAB_REQUEST_CELLS) if shown is not None else ""
        except Exception as error:
            self.features.failed("title template", error)
            return ""

    def project(self, tab_id: int) -> str:
        """Return the project of a tab's agent, the value of `{tab.tally_project}`; empty where no agent is lit."""
        shown = self.rollup.shown(tab_id)
        return shown.project if shown is not None and shown.decision.is_lit else ""

    def variable(self, tab_id: int, name: str) -> str:
        """Return an agent's variable, the value of `{tab.tally_var_NAME}`; empty without one."""
        if not name.startswith(_VAR_FIELD):
            raise AttributeError(name)
        shown = self.rollup.shown(tab_id)
        return dict(shown.decision.report.vars).get(name.removeprefix(_VAR_FIELD), "") if shown is not None else ""

    def _prepared(self, bar: Any, data: Sequence[Any]) -> Sequence[Any]:
        """Return *data* with clean titles and filled tabs, and put the light into the title template of *bar*."""
        if self.style == "off":
            return [tab._replace(title=_clean(tab.title)) for tab in data]
        self._refresh(bar, data)
        self.rollup.note(getattr(bar, "os_window_id", 0), [tab.tab_id for tab in data])
        draw_data = bar.draw_data
        columns = bar.screen.columns
        # As kitty divides the bar; in a bar at a side each tab has the whole width.
        is_side = getattr(draw_data, "tab_bar_edge", "top") in ("left", "right")
        self._cells = columns - 1 if is_side else columns // max(1, len(data)) - 1
        style = get_options().tab_bar_style
        touching = [rgb(draw_data.default_bg)]
        if is_side or style not in ("fade", "slant"):
            touching.append(rgb(draw_data.inactive_bg))
        self._bar = self._bar_of(touching, rgb(draw_data.active_bg))
        templates = {
            name: self._template(template)
            for name in ("title_template", "active_title_template")
            if (template := getattr(draw_data, name)) is not None and template != self._template(template)
        }
        if templates:
            bar.draw_data = draw_data._replace(**templates)
        if not hasattr(bar.draw_func, "tally_wrapped"):
            bar.draw_func = self._fitting(self._beside(bar.draw_func) if style == "custom" else bar.draw_func)
        lighted = [self._lighted(tab, draw_data, can_fill=style != "custom") for tab in data]
        self._rooms = () if is_side else self._shared_out(bar, lighted, style)
        return lighted

    def _shared_out(self, bar: Any, data: Sequence[Any], style: str) -> Sequence[tuple[int, bool]]:
        """Return the cells of each tab, and whether it is cut; none where kitty, or a person's code, decides."""
        draw_data, screen = bar.draw_data, bar.screen
        parting = width(draw_data.sep) if style == "separator" else 1
        room = screen.columns - 1 - max(1, parting) * len(data)
        if style == "custom" or room < len(data) or not any(self._lit(tab.tab_id) for tab in data):
            return ()
        share, self._cells = self._cells, screen.columns
        extra = kitty_bar.ExtraData()
        extra.for_layout = True
        wants = []
        for number, tab in enumerate(data):
            is_last = number + 1 == len(data)
            extra.next_tab = None if is_last else data[number + 1]
            screen.cursor.x = 0
            bar.draw_func(draw_data, screen, tab, 0, screen.columns - 2, number + 1, is_last, extra)
            # A slant needs one more than it says, and no separator is behind the last tab.
            behind = 0 if style == "slant" or (style == "separator" and is_last) else parting
            wants.append(self._want(draw_data, tab, max(1, screen.cursor.x - behind), style))
        self._cells = share
        sizes = tab_room.shared_out(tuple(wants), room)
        return [(size, size < one.text + one.ends) for size, one in zip(sizes, wants, strict=True)]

    def _want(self, draw_data: Any, tab: Any, whole: int, style: str) -> tab_room.Want:
        """Return the need of *tab*, which takes *whole* cells with all of its text."""
        shown, ends = self._lit(tab.tab_id), _ENDS["fade"] - _SHORT_FADE if style == "fade" else 0
        rank = tab_room.RANKS.get(shown.decision.status) if shown is not None else None
        if shown is None or rank is None:
            return tab_room.want(tab_room.ACTIVE if tab.is_active else tab_room.REST_RANK, whole, (), ends)
        return tab_room.want(rank, whole, (tab.title, self._asked(shown, draw_data, tab)), ends)

    def _bar_of(self, touching: Iterable[RGB], active: RGB) -> Fills:
        """
        Return the fills of a bar: *touching* are the colours beside an inactive tab, *active* that of the active one.
        """
        needs = (self.colours[status] for status in (Status.WAITING, Status.ERROR, Status.DOWN))
        return tab_look.bar_of(*needs, frozenset(touching), active)

    def _refresh(self, bar: Any, data: Sequence[Any]) -> None:
        """Refresh the lights if the tabs changed or some time has passed: not at each beat of a pulse."""
        place, now = getattr(bar, "os_window_id", 0), self.now()
        known = [*data, *self.rollup.names_of(place)]
        if self._known.get(place) == known and 0 <= now - self._refreshed_at < REFRESH_LIGHTS_S:
            return
        if place not in self._known and len(self._known) >= MAX_BARS:
            self._known.clear()
        self._known[place], self._refreshed_at = known, now
        self.rollup.refresh()

    def _lighted(self, tab: Any, draw_data: Any, *, can_fill: bool) -> Any:
        """
        Return *tab* with the name beside its light, filled if it needs a person.

        At a limit it has the colour of its light. The tab in front keeps its colours.
        """
        shown = self._lit(tab.tab_id)
        tab = tab._replace(title=_clean((shown.title if shown is not None else "") or tab.title))
        if shown is None or self._bar is None or tab.is_active or not can_fill or self.style != "filled":
            return tab
        status = shown.decision.status
        if status is Status.LIMITED:
            hollow = contrast.marked(self.colours[status], rgb(draw_data.tab_bg(tab)))
            return tab._replace(inactive_fg=as_int(hollow))
        if (fill := self._bar.get(status)) is None:
            return tab
        self._filled.add(tab.tab_id)
        now = self._at_this_moment(status, fill, pulses=shown.pulses)
        text = as_int(contrast.readable_on(fill))
        return tab._replace(title=_SGR.sub("", tab.title), inactive_bg=as_int(now), inactive_fg=text)

    def _template(self, template: str) -> str:
        """Return *template* with the light in front, unless it has it, or the user's `draw_title` draws it."""
        if self._placed_under is not None and self._placed_under is get_options():
            return template.removeprefix(_PREFIX)
        return template if _HAS_FIELD.search(template) else f"{_PREFIX}{template}"

    def _fitting(self, draw: Callable[..., int]) -> Callable[..., int]:
        """Return *draw* with text that fits its tabs; narrow tabs with a light are drawn here instead."""

        def fitting(draw_data: Any, screen: Any, tab: Any, before: int, length: int, *rest: Any) -> int:
            self._screen, start = screen, screen.cursor.x
            if self._rooms:
                room, is_cut = self._rooms[rest[0] - 1]
                if rest[2].for_layout:
                    screen.cursor.x = min(room, max(1, screen.columns // len(self._rooms) - 1))
                    return int(screen.cursor.x)
                length = room
                self._cells, draw_data = (room, _with_short_fade(draw_data)) if is_cut else (screen.columns, draw_data)
            found = self.features.guarded(FEATURE, self._fit)(draw_data, screen, tab, length, *rest)
            if isinstance(found, int):
                return found
            screen.cursor.x = start
            draw_data, tab = found or (draw_data, tab)
            return draw(draw_data, screen, tab, before, length, *rest)

        fitting.tally_wrapped = True  # type: ignore[attr-defined]
        return fitting

    def _fit(
        self, draw_data: Any, screen: Any, tab: Any, length: int, index: int, is_last: bool, extra: Any
    ) -> int | tuple[Any, Any]:
        """Return the colours and the tab that kitty is to draw in *length* cells, or the end of a tab drawn here."""
        shown, style = self._lit(tab.tab_id), get_options().tab_bar_style
        if shown is None:
            return draw_data, tab
        # As kitty does before it draws a title: the light uses the colours of the tab.
        ColorFormatter.draw_data, ColorFormatter.tab_data = draw_data, tab
        is_drawn_here = self._cells < (TINY_TAB_CELLS + 1 if style == "custom" else NARROW_TAB_CELLS)
        if is_drawn_here and shown.decision.status is not Status.IDLE:
            return self._draw_narrow(shown, draw_data, screen, tab, length, index, is_last)
        if tab.tab_id in self._filled:
            screen.cursor.bold = True
        # The user wrote a title with colours: it stays as it is.
        if "\x1b" in tab.title:
            return draw_data, tab
        template = (draw_data.active_title_template if tab.is_active else None) or draw_data.title_template
        what = self._asked(shown, draw_data, tab)
        if getattr(draw_data, "max_tab_title_lines", 1) > 1 and template.endswith(_TITLE) and style != "custom":
            return self._stacked(shown, draw_data, tab, what, length, index)
        return self._with_request(draw_data, tab, what, length, extra.for_layout)

    def _asked(self, shown: TabLight, draw_data: Any, tab: Any) -> str:
        """
        Return the request to show behind the name of *tab*; empty if the template or the title is the person's own.
        """
        template = (draw_data.active_title_template if tab.is_active else None) or draw_data.title_template
        is_theirs = not self.rollup.names or _WHAT_FIELD in template or "\x1b" in tab.title
        return "" if is_theirs else middle(shown.request, TAB_REQUEST_CELLS)

    def _with_request(self, draw_data: Any, tab: Any, what: str, length: int, is_layout: bool) -> tuple[Any, Any]:
        """
        Return the colours and the tab, its title with the request *what*, as far as *length* allows; for a layout, not
        cut to it.
        """
        style = get_options().tab_bar_style
        ends = _ENDS.get(style, 0)
        left = length - width(_SGR.sub("", self.rendered(tab.tab_id)))
        whole = tab_look.fitted(tab.title, what, MAX_TITLE_CELLS)
        if style == "fade" and (self._cells < WIDE_TAB_CELLS or (width(whole) + ends > left and not is_layout)):
            ends, draw_data = _SHORT_FADE, _with_short_fade(draw_data)
        title = whole if is_layout else tab_look.fitted(tab.title, what, max(1, left - ends))
        return draw_data, tab._replace(title=title)

    def _stacked(
        self, shown: TabLight, draw_data: Any, tab: Any, what: str, length: int, index: int
    ) -> tuple[Any, Any]:
        """Return the same for a tab of several lines, the project below; folded if the user has kitty fold titles."""
        # The text that the template puts above and before the title.
        frame = kitty_bar.apply_title_template(draw_data, tab._replace(title=""), index, length)
        *above, before = _SGR.sub("", frame).split("\n")
        style, lead, most = get_options().tab_bar_style, width(before), draw_data.max_tab_title_lines - len(above)
        start = _STARTS.get(style, draw_data.leading_spaces)
        ends = _ENDS.get(style, 0)
        if style == "fade":
            # kitty draws one end of a tab in its first line, and the other one in its last.
            ends, draw_data = _SHORT_FADE, _with_short_fade(draw_data)
        room = length - lead - ends
        if draw_data.wrap_width:
            room = min(room, draw_data.wrap_width - lead - start)
        rows = tab_look.stacked(
            tab.title,
            what,
            shown.project if self.rollup.names else "",
            max(1, room),
            max(1, most),
            is_folded=draw_data.wrap_width > 0,
        )
        return draw_data, tab._replace(title=f"\n{' ' * (start + lead)}".join(rows))

    def _draw_narrow(
        self, shown: TabLight, draw_data: Any, screen: Any, tab: Any, length: int, index: int, is_last: bool
    ) -> int:
        """Draw a tab that is too narrow for kitty's styles; return its end."""
        back, fore = draw_data.tab_bg(tab), draw_data.tab_fg(tab)
        is_filled = tab.tab_id in self._filled
        one = self._sign(shown.decision, rgb(back), shown, is_box=not is_filled)
        room = length if self._cells >= tab_look.NAMELESS_CELLS else min(length, self._cells)
        screen.cursor.bold = screen.cursor.bold or is_filled
        for run in tab_look.narrow(one, rgb(fore), _SGR.sub("", tab.title), index, self._cells, room):
            screen.cursor.fg = as_sgr_int(run.fore)
            screen.cursor.bg = as_sgr_int(rgb(back) if run.back is None else run.back)
            screen.draw(run.text)
        end: int = screen.cursor.x
        screen.cursor.bg = as_sgr_int(rgb(draw_data.default_bg))
        if not is_last:
            screen.draw(" ")
        return end

    def _beside(self, draw: Callable[..., int]) -> Callable[..., int]:
        """Return the user's own drawing function, with the light before it unless it draws the title template."""

        def with_light(draw_data: Any, screen: Any, tab: Any, before: int, *rest: Any) -> int:
            cursor, self._was_read = screen.cursor, False
            x, y = cursor.x, cursor.y
            look = cursor.fg, cursor.bg, cursor.bold, cursor.italic
            end = draw(draw_data, screen, tab, before, *rest)
            if self._was_read or self._lit(tab.tab_id) is None:
                return end
            # Once more, after a light on its first colour.
            cell = screen.line(y).cursor_from(x)
            cursor.x, cursor.y = x, y
            cursor.fg, cursor.bg, cursor.bold, cursor.italic = cell.fg, cell.bg, *look[2:]
            draw_attributed_string(self.rendered(tab.tab_id), screen)
            cursor.fg, cursor.bg = look[:2]
            return draw(draw_data, screen, tab, before, *rest)

        return with_light


def _written(run: Run, ground: RGB) -> str:
    """Return *run* as text with its colours, and *ground* behind it."""
    text = f"{lights.sgr_foreground(run.fore)}{run.text}"
    return text if run.back is None else f"{lights.sgr_background(run.back)}{text}{lights.sgr_background(ground)}"


def _with_short_fade(draw_data: Any) -> Any:
    return draw_data._replace(alpha=draw_data.alpha[1:2] or draw_data.alpha)


def _clean(title: str) -> str:
    """
    Return *title* as harmless text. One with an SGR sequence is as its user set it: kitty reads nothing else in that.
    """
    return title if "\x1b" in title else sanitise(title, cells=MAX_TITLE_CELLS)
