"""The sign of a light in a tab of any terminal: its colours, computed from the real colours of the bar. Pure."""

from __future__ import annotations

import functools
from typing import NamedTuple

from tallylight.model import contrast
from tallylight.model.contrast import Fills
from tallylight.model.lights import RGB
from tallylight.model.status import Status

#: Cells below which we draw a tab in any style, and cells below which it has only its mark. The ends of kitty's styles
#: have up to eight cells.
NARROW_TAB_CELLS, TINY_TAB_CELLS = 10, 3
#: The distance in OKLab to amber or red below which an active tab counts as a colour that a fill touches.
NEAR_COLOUR = 0.15


class Run(NamedTuple):
    """Text in one colour, on one of its own, or with None on the present one."""

    text: str
    fore: RGB
    back: RGB | None = None


@functools.lru_cache(maxsize=64)
def bar_of(amber: RGB, red: RGB, down: RGB, touching: frozenset[RGB], active: RGB) -> Fills:
    """Return the fills of a bar with these colours, where *touching* colours are beside a fill."""
    if min(contrast.distance(active, amber), contrast.distance(active, red)) < NEAR_COLOUR:
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
    size: int = NARROW_TAB_CELLS,
) -> Run:
    """
    Return the sign of a light on *ground*, which is filled itself unless *is_box*, in a tab of *size* cells.

    On a ground of its own colour the box is black. Blue, and green that would look like amber, has no box; nor has
    green without room beside it.
    """
    if status in bar:
        fill = bar[status]
        if is_box and size > 1 and contrast.distance(fill, ground) < NEAR_COLOUR:
            return Run(mark, fill, contrast.BLACK)
        return Run(mark, contrast.readable_on(fill), fill if is_box else None)
    colour = colours[status]
    is_news = status is Status.DONE and size > TINY_TAB_CELLS
    news = contrast.news(colour, ground, bar[Status.WAITING]) if is_news else None
    if news is not None:
        return Run(mark, contrast.readable_on(news), news)
    return Run(mark, contrast.marked(colour, ground))
