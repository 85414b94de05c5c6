"""
What a tab looks like: the colours of a bar, and the text of a light in so many cells.

Pure. What needs a person is filled, or its mark is: dark text on amber or red. Beside a colour where that does not
have enough contrast, the mark has a black cell. Contrast is reckoned once a bar, with the colours that it really has.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from tallylight.model import contrast, lights
from tallylight.model.contrast import Fills
from tallylight.model.lights import RGB
from tallylight.model.status import Status
from tallylight.ui.layout import clean, folded
from tallylight.wire.text import sanitise, width

#: A tab with fewer cells is drawn by us whatever the style, for kitty's styles have ends of up to eight cells; one with
#: fewer than the next has no name in it, and one with no more than the last no more than its mark.
NARROW, NAMELESS, TINY = 10, 6, 3
#: Of what is asked so much is to be seen, or nothing.
LEAST_WHAT = 5
_NOT_BOLD = "\x1b[22m"
#: An active tab that is nearer to amber or red than this, in OKLab, counts as what a fill touches.
NEAR = 0.15


class Run(NamedTuple):
    """Text in one colour, on one of its own or, with None, on what is there."""

    text: str
    fore: RGB
    back: RGB | None = None


@functools.lru_cache(maxsize=64)
def bar_of(amber: RGB, red: RGB, down: RGB, touching: frozenset[RGB], active: RGB) -> Fills:
    """The bar with these colours for what needs a person, where *touching* colours are beside a fill."""
    if min(contrast.distance(active, amber), contrast.distance(active, red)) < NEAR:
        touching |= {active}
    return contrast.fills_of({Status.WAITING: amber, Status.ERROR: red, Status.DOWN: down}, touching)


def sign(
    status: Status,
    mark: str,
    ground: RGB,
    bar: Fills,
    colours: dict[Status, RGB],
    *,
    is_box: bool,
    size: int = NARROW,
    can_fill: bool = True,
) -> Run:
    """
    The sign of a light on *ground*, which is filled itself unless *is_box*, in a bar with tabs of *size* cells.

    Where no tab of ours *can_fill*, the box of what needs a person has its colour: a black one would be the darkest.

    Blue, and green that would look like amber, has no box; nor has green without room beside it.
    """
    if status in bar.needs:
        fill = bar.needs[status]
        if (
            size > 1
            and can_fill
            and (bar.has_caps or (is_box and contrast.ratio(fill, ground) < contrast.FILL_CONTRAST))
        ):
            return Run(mark, fill, contrast.BLACK)
        return Run(mark, contrast.readable_on(fill), fill if is_box else None)
    colour = colours[status]
    is_news = status is Status.DONE and size > TINY
    news = contrast.news(colour, ground, bar.needs[Status.WAITING]) if is_news else None
    if news is not None:
        return Run(mark, contrast.readable_on(news), news)
    return Run(mark, contrast.legible(colour, ground))


def before_title(one: Run, fore: RGB, *, is_filled: bool) -> list[Run]:
    """What precedes a title in a wide tab with text in *fore*: a sign of three cells, or a plain mark."""
    if one.back is None and not is_filled:
        return [Run(f"{one.text} ", one.fore)]
    room = [Run(" ", fore)] if one.back is not None else []
    return [Run(f" {one.text} ", one.fore, one.back), *room]


def striped(status: Status, one: Run, colours: dict[Status, RGB], ground: RGB, fore: RGB) -> list[Run]:
    """The same as a stripe and a mark, both to be read: on black where a fill would have a cap."""
    mark, stripe = one.text, lights.stripe(status)
    if one.back == contrast.BLACK:
        return [Run(f"{stripe}{mark}", one.fore, one.back), Run(" ", fore)]
    colour = contrast.moved(colours[status], frozenset({ground}), contrast.FILL_CONTRAST) or fore
    return [Run(stripe, colour), Run(f"{mark} ", contrast.legible(colours[status], ground))]


def narrow(one: Run, fore: RGB, name: str, index: int, size: int, room: int) -> list[Run]:
    """
    All of a tab with text in *fore* that has *room*, of a bar with tabs of *size* cells, fewer than `NARROW`.

    A mark and the name, a mark and the index, or the mark alone. An index is whole or absent.
    """
    is_cap = one.back == contrast.BLACK
    mark = one.text if width(one.text) <= room else one.text[:1]
    if size < NAMELESS:
        is_boxed = one.back is not None and (is_cap or size > TINY)
        rest = str(index) if size > TINY or (size == TINY and is_cap) else ""
        rest = rest if width(mark) + len(rest) <= room else ""
        left = 0 if is_boxed else (room - width(mark) - len(rest)) // 2
        behind = Run(rest.ljust(room - left - width(mark)), fore)
        return [Run(" " * left, fore), Run(mark, one.fore, one.back), behind]
    text = sanitise(f"{mark} {name} " if is_cap else f" {mark} {name} ", cells=room)
    end = len(mark) if is_cap else 2 + len(mark)
    return [Run(text[:end], one.fore, one.back), Run(text[end:], fore)]


def fitted(name: str, what: str, room: int) -> str:
    """The title of a tab in *room* cells: *name*, and *what* is asked if some of it can be seen."""
    left = room - width(name) - 2
    if what and left >= min(LEAST_WHAT, width(what)):
        return f"{name}: {clean(what, left)}"
    return clean(name, room)


def stacked(name: str, what: str, project: str, room: int, most: int, *, is_folded: bool) -> list[str]:
    """
    The title of a tab of at most *most* lines, each in *room* cells; *project* below it, unless that is its *name*.

    The title has one line, or where it *is_folded* as many as it needs.
    """
    rows = folded(fitted(name, what, room * most), room) if is_folded else [fitted(name, what, room)]
    if len(rows) > most:
        rows[most - 1 :] = [clean(" ".join(rows[most - 1 :]), room)]
    elif len(rows) < most and project not in ("", name):
        rows.append(f"{_NOT_BOLD}{clean(project, room)}")
    return rows
