"""
Names of panes: the shortest one that no other pane has, and all that are understood.

A pane's address, `kitty-4711:3`, is its own for good; `3` and `tmux 2` are shorter, and shown where there is but one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tallylight.snapshot.elsewhere import is_elsewhere, place_of


def spellings(host: str, id_: str) -> tuple[str, ...]:
    """
    Every name of a pane, the shortest first and its address last.

    A host of a terminal has ids of one part, `3`; that of detached sessions has the multiplexer in front,
    `tmux/1867/%2`; a fleet has the machine in front of the host, `desk/kitty-4711`. So has the host of other machines,
    where ids hold it all, `desk/kitty-4711:3`.
    """
    machine, own, there = place_of(host, id_)
    before = f"{machine} " if machine else ""
    multiplexer, slash, _ = there.partition("/")
    last = there.rpartition("/")[2].lstrip("%")
    names = [f"{multiplexer} {last}", there] if slash else [there, f"{own.partition('-')[0]} {there}"]
    return *(before + name for name in names), *([id_] if is_elsewhere(host) else []), f"{host}:{id_}"


def short_names(places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The shortest name that no other of *places* has, of each: a host and the id of a pane of its."""
    all_spelled = {place: spellings(*place) for place in places}
    taken = Counter(name for names in all_spelled.values() for name in names)
    return {
        place: next((name for name in names if taken[name] == 1), names[-1]) for place, names in all_spelled.items()
    }
