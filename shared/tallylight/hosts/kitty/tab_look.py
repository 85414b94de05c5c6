"""
The looks of a tab: the colours of a bar, and the text of a light in so many cells.

Pure. A light that needs a person is filled, or its mark is: dark text on amber or red. Contrast is computed once for
each bar, with its real colours.
"""

from __future__ import annotations

from tallylight.hosts.kitty.tab_room import ENOUGH_CELLS
from tallylight.model import contrast, lights
from tallylight.model.lights import RGB
from tallylight.model.status import Status
from tallylight.ui.layout import clean, folded
from tallylight.ui.tab_sign import NARROW_TAB_CELLS as NARROW_TAB_CELLS
from tallylight.ui.tab_sign import NEAR as NEAR
from tallylight.ui.tab_sign import TINY as TINY
from tallylight.ui.tab_sign import Run as Run
from tallylight.ui.tab_sign import bar_of as bar_of
from tallylight.ui.tab_sign import sign as sign
from tallylight.wire.text import sanitise, width

#: A tab with fewer cells has no name in it.
NAMELESS = 6
#: The least cells of a request to show, with fewer it is left out; and of a name that gives way to the request.
LEAST_WHAT, SHORT_NAME = 5, 4
_NOT_BOLD = "\x1b[22m"


def before_title(one: Run, fore: RGB, *, is_filled: bool) -> list[Run]:
    """Return the text before the title of a wide tab with text in *fore*: a sign of three cells, or a plain mark."""
    if one.back is None and not is_filled:
        return [Run(f"{one.text} ", one.fore)]
    room = [Run(" ", fore)] if one.back is not None else []
    return [Run(f" {one.text} ", one.fore, one.back), *room]


def striped(status: Status, one: Run, colours: dict[Status, RGB], ground: RGB, fore: RGB) -> list[Run]:
    """Return a light as a legible stripe and mark; on a fill if *ground* is too light for a stripe in its colour."""
    mark, stripe = one.text, lights.stripe(status)
    if one.back is not None and contrast.ratio(one.back, ground) < contrast.FILL_CONTRAST:
        return [Run(f"{stripe}{mark}", one.fore, one.back), Run(" ", fore)]
    colour = contrast.moved(colours[status], frozenset({ground}), contrast.FILL_CONTRAST) or fore
    return [Run(stripe, colour), Run(f"{mark} ", contrast.legible(colours[status], ground))]


def narrow(one: Run, fore: RGB, name: str, index: int, size: int, room: int) -> list[Run]:
    """
    Return the whole text of a tab of *room* cells, in a bar with tabs of *size* cells, fewer than `NARROW_TAB_CELLS`.

    It is a mark and the name, a mark and the index, or the mark alone. An index is whole or absent.
    """
    mark = one.text if width(one.text) <= room else one.text[:1]
    if size < NAMELESS:
        is_boxed = one.back is not None and size > TINY
        rest = str(index) if size > TINY else ""
        rest = rest if width(mark) + len(rest) <= room else ""
        left = 0 if is_boxed else (room - width(mark) - len(rest)) // 2
        behind = Run(rest.ljust(room - left - width(mark)), fore)
        return [Run(" " * left, fore), Run(mark, one.fore, one.back), behind]
    text = sanitise(f" {mark} {name} ", cells=room)
    end = 2 + len(mark)
    return [Run(text[:end], one.fore, one.back), Run(text[end:], fore)]


def fitted(name: str, what: str, room: int) -> str:
    """Return the title of a tab in *room* cells: *name*, and the request *what*, for which a long name is cut."""
    enough = min(width(what), ENOUGH_CELLS)
    if what and room - width(name) - 2 < enough <= room - 2 - SHORT_NAME:
        name = clean(name, room - 2 - enough)
    left = room - width(name) - 2
    if what and left >= min(LEAST_WHAT, width(what)):
        return f"{name}: {clean(what, left)}"
    return clean(name, room)


def stacked(name: str, what: str, project: str, room: int, most: int, *, is_folded: bool) -> list[str]:
    """
    Return the rows of a tab's title, at most *most* rows of *room* cells; *project* below, unless it is the *name*.

    The title has one row; if *is_folded*, as many as it needs.
    """
    rows = folded(fitted(name, what, room * most), room) if is_folded else [fitted(name, what, room)]
    if len(rows) > most:
        rows[most - 1 :] = [clean(" ".join(rows[most - 1 :]), room)]
    elif len(rows) < most and project not in ("", name):
        rows.append(f"{_NOT_BOLD}{clean(project, room)}")
    return rows
