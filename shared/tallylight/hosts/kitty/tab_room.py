"""
The cells that each tab gets of a bar: what needs a person first. Pure.

kitty gives all tabs the same room, so that a question is cut while others have room that they do not need.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

from tallylight.model.status import Status
from tallylight.wire.text import width

#: Which tabs get room first; the rest comes last.
RANKS = {Status.WAITING: 0, Status.ERROR: 1, Status.DOWN: 1, Status.LIMITED: 2}
ACTIVE, REST_RANK = 3, 4
#: Of a name, and of what is asked, so many cells are worth more than the rest of another tab.
ENOUGH_CELLS = 12
#: A tab gives the others room until it has no more cells than this.
_SMALLEST = 6


class Want(NamedTuple):
    """
    A tab by its *rank*, with the cells that all of its text takes, and those of what it must say.

    *ends* are those that its style draws beside the text if it can: all of them, or none.
    """

    rank: int
    text: int
    least: int
    ends: int = 0


def want(rank: int, whole: int, words: Sequence[str], ends: int) -> Want:
    """The cells for a tab of a *rank* that takes *whole* of them, with these *words* in it and such *ends*."""
    text, spare = max(1, whole - ends), sum(max(0, width(word) - ENOUGH_CELLS) for word in words)
    return Want(rank, text, max(1, text - spare), ends)


@functools.lru_cache(maxsize=64)
def shared_out(wants: tuple[Want, ...], room: int) -> tuple[int, ...]:
    """The cells of each tab; *room* has one for each at least."""
    share = room // len(wants)
    sizes = [min(one.text, share, _SMALLEST) for one in wants]
    ranks = sorted({one.rank for one in wants})
    steps = [[one.least if one.rank == rank else 0 for one in wants] for rank in ranks if rank != REST_RANK]
    steps.append([min(one.text, share) for one in wants])
    steps += [[one.text if one.rank == rank else 0 for one in wants] for rank in ranks]
    left = room - sum(sizes)
    for limits in steps:
        left = _filled(sizes, limits, left)
    for number in sorted(range(len(wants)), key=lambda number: wants[number].rank):
        if (ends := wants[number].ends) <= left and sizes[number] == wants[number].text:
            sizes[number], left = sizes[number] + ends, left - ends
    return tuple(sizes)


def _filled(sizes: list[int], limits: Sequence[int], left: int) -> int:
    """Raise *sizes* to their *limits* with the cells that are *left*, the smallest first; what is left then."""
    while left > 0 and (low := [n for n, size in enumerate(sizes) if size < limits[n]]):
        sizes[min(low, key=sizes.__getitem__)] += 1
        left -= 1
    return left
