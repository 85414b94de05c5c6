"""
Names of panes: the shortest name that no other pane has, and all names that commands understand.

A pane's address, `kitty-4711:3`, never changes. `3` and `tmux 2` are shorter, and shown if only one pane has that name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tallylight.snapshot.elsewhere import is_elsewhere, place_of


def spellings(host: str, id_: str) -> tuple[str, ...]:
    """
    Return every name of a pane, the shortest first and its address last.

    A terminal has ids of one part, `3`. Ids of detached sessions begin with the multiplexer, `tmux/1867/%2`. Hosts of a
    fleet begin with the machine, `desk/kitty-4711`. The host of other machines has ids with all of that,
    `desk/kitty-4711:3`.
    """
    machine, own, there = place_of(host, id_)
    before = f"{machine} " if machine else ""
    multiplexer, slash, _ = there.partition("/")
    last = there.rpartition("/")[2].lstrip("%")
    names = [f"{multiplexer} {last}", there] if slash else [there, f"{own.partition('-')[0]} {there}"]
    return *(before + name for name in names), *([id_] if is_elsewhere(host) else []), f"{host}:{id_}"


def short_names(places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return for each of *places*, a host and a pane's id, the shortest name that no other one has."""
    all_spelled = {place: spellings(*place) for place in places}
    taken = Counter(name for names in all_spelled.values() for name in names)
    return {
        place: next((name for name in names if taken[name] == 1), names[-1]) for place, names in all_spelled.items()
    }
