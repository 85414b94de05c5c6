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
ACTIVE, REST = 3, 4
#: Of a name, and of what is asked, so many cells are worth more than the rest of another tab.
ENOUGH = 12
#: A tab gives the others room until it has no more cells than this.
_SMALLEST = 6


class Want(NamedTuple):
    """A tab by its *rank*, with the cells that all of it takes, and those of what it must say."""

    rank: int
    whole: int
    least: int


def want(rank: int, whole: int, words: Sequence[str], ends: int) -> Want:
    """The cells for a tab of a *rank* with these *words* in it, and with *ends* that can be left out."""
    spare = sum(max(0, width(text) - ENOUGH) for text in words)
    return Want(rank, whole, max(1, whole - spare - ends))


@functools.lru_cache(maxsize=64)
def shared_out(wants: tuple[Want, ...], room: int) -> tuple[int, ...]:
    """The cells of each tab; *room* has one for each at least."""
    share = room // len(wants)
    sizes = [min(one.whole, share, _SMALLEST) for one in wants]
    ranks = sorted({one.rank for one in wants})
    steps = [[one.least if one.rank == rank else 0 for one in wants] for rank in ranks if rank != REST]
    steps.append([min(one.whole, share) for one in wants])
    steps += [[one.whole if one.rank == rank else 0 for one in wants] for rank in ranks]
    left = room - sum(sizes)
    for limits in steps:
        left = _filled(sizes, limits, left)
    return tuple(sizes)


def _filled(sizes: list[int], limits: Sequence[int], left: int) -> int:
    """Raise *sizes* to their *limits* with the cells that are *left*, the smallest first; what is left then."""
    while left > 0 and (low := [n for n, size in enumerate(sizes) if size < limits[n]]):
        sizes[min(low, key=sizes.__getitem__)] += 1
        left -= 1
    return left
