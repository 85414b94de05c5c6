"""
Grouping: rows below headings, by project, machine or terminal; and which of them have room on a screen.

A group stands where its first row would. The heading of the first row in view is always drawn, also where the group
begins above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tallylight.snapshot.rows import Row

_TERMINALS = {"kitty": "kitty", "wezterm": "WezTerm", "sessions": "detached sessions"}
_HERE = "this machine"


def grouped(rows: Iterable[Row], by: str) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """*rows* in groups *by* one of `labels.GROUPS`, and the heading of each; no headings where there are no groups."""
    shown = tuple(rows)
    if not by:
        return shown, ()
    # A terminal is called by its number only where there are several of its kind.
    kinds = [host.rpartition("-")[0] for host in {row.place for row in shown}]
    several = {kind for kind in kinds if kinds.count(kind) > 1}
    members: dict[str, list[Row]] = {}
    for row in shown:
        members.setdefault(_heading(row, by, several), []).append(row)
    pairs = [(row, heading) for heading, found in members.items() for row in found]
    return tuple(row for row, _ in pairs), tuple(heading for _, heading in pairs)


def _heading(row: Row, by: str, several: set[str]) -> str:
    machine, _, host = row.place.rpartition("/")
    if by == "project":
        return row.pane.project or "no project"
    if by == "machine":
        return machine or _HERE
    kind, _, number = host.rpartition("-")
    called = _TERMINALS.get(kind, host)
    numbered = f"{called} {number}" if row.place.rpartition("-")[0] in several else called
    return f"{machine} {numbered}" if machine else numbered


def fits(headings: Sequence[str], count: int, top: int, lines: int, height: int) -> int:
    """How many of *count* rows from *top* on have room in so many *lines*, of which a row takes *height*."""
    used, index = 0, top
    while index < count:
        used += height + bool(headings and (index == top or headings[index] != headings[index - 1]))
        if used > lines:
            break
        index += 1
    return index - top


def least_top(headings: Sequence[str], index: int, lines: int, height: int) -> int:
    """The first row that can be on top while row *index* has room; *index* itself where there is room for none."""
    used, top = height + bool(headings), index
    while top > 0:
        used += height + bool(headings and headings[top - 1] != headings[top])
        if used > lines:
            break
        top -= 1
    return top
