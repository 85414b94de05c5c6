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
#: The first so many cells of a name or a request come before the rest of another tab.
ENOUGH_CELLS = 12
#: A tab gives the others room until it has no more cells than this.
_SMALLEST = 6


class Want(NamedTuple):
    """
    The demand of a tab with *rank*: the cells for all of its text, and those for the words that matter.

    *ends* are the cells that its style draws beside the text: all of them, or none.
    """

    rank: int
    text: int
    least: int
    ends: int = 0


def want(rank: int, whole: int, words: Sequence[str], ends: int) -> Want:
    """
    Return the cells that a tab of *rank* needs: *whole* for all of its text, enough for *words*, and *ends* of its
    style.
    """
    text, spare = max(1, whole - ends), sum(max(0, width(word) - ENOUGH_CELLS) for word in words)
    return Want(rank, text, max(1, text - spare), ends)


@functools.lru_cache(maxsize=64)
def shared_out(wants: tuple[Want, ...], room: int) -> tuple[int, ...]:
    """Return the cells of each tab, which together fill *room*. There is at least one cell for each tab."""
    share = room // len(wants)
    sizes = [min(one.text, share, _SMALLEST) for one in wants]
    ranks = sorted({one.rank for one in wants})
    steps = [[one.least if one.rank == rank else 0 for one in wants] for rank in ranks if rank != REST_RANK]
    steps.append([min(one.text, share) for one in wants])
    steps += [[one.text if one.rank == rank else 0 for one in wants] for rank in ranks]
    left = room - sum(sizes)
    for targets in steps:
        left = _filled(sizes, targets, left)
    for number in sorted(range(len(wants)), key=lambda number: wants[number].rank):
        if (ends := wants[number].ends) <= left and sizes[number] == wants[number].text:
            sizes[number], left = sizes[number] + ends, left - ends
    return tuple(sizes)


def _filled(sizes: list[int], targets: Sequence[int], left: int) -> int:
    """Raise *sizes* towards *targets* by *left* cells, the smallest size first; return the cells that remain."""
    while left > 0 and (low := [n for n, size in enumerate(sizes) if size < targets[n]]):
        sizes[min(low, key=sizes.__getitem__)] += 1
        left -= 1
    return left
