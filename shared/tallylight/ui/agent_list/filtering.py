"""
Filtering: the rows that a filter selects, the orders of rows, and the groups.

A filter is words that must all occur in the texts of a pane. A term such as `is:waiting` or `agent:codex` is compared
with the beginning of one field. A group is where its first row would be, below a heading: a project, a machine, a
terminal, an agent or a conversation that several panes show.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import TypeVar

from tallylight.snapshot.rows import Row, is_snoozed

T = TypeVar("T")


class Order(enum.Enum):
    """The orders of rows; *need* puts the rows first that a person has to deal with."""

    NEED = "need"
    AGE = "age"
    NAME = "name"


def after(value: T, circle: Sequence[T], step: int = 1) -> T:
    """Return the value *step* places after *value* in *circle*."""
    return circle[(circle.index(value) + step) % len(circle)]


def matches(row: Row, wanted: str, now: float) -> bool:
    """Return whether the filter *wanted* selects *row* at this time."""
    words = []
    for word in wanted.casefold().split():
        key, colon, value = word.partition(":")
        fields = _fields(row, key, now) if colon else None
        if fields is None:
            words.append(word)
        elif not any(text.casefold().startswith(value) for text in fields):
            return False
    return row.has(" ".join(words))


def _fields(row: Row, key: str, now: float) -> tuple[str, ...] | None:
    """Return the texts that a term with *key* is compared with; None if it is no such term."""
    pane = row.pane
    match key:
        case "is":
            marks = (("unread", pane.attention.unread), ("snoozed", is_snoozed(pane, now)))
            return (pane.status, pane.kind or "", *(word for word, holds in marks if holds))
        case "agent":
            return (pane.agent,)
        case "project":
            return (pane.project,)
        case "host":
            return (row.host, pane.place.host_title)
        case _:
            return None


def ordered(rows: Iterable[Row], order: Order) -> tuple[Row, ...]:
    """Return *rows*, which are sorted by need, in this order; of equals the most urgent stays first."""
    match order:
        case Order.NEED:
            return tuple(rows)
        case Order.AGE:
            # The longest in its status first; rows with an unknown start are last.
            return tuple(sorted(rows, key=lambda row: (not row.pane.since, row.pane.since)))
        case Order.NAME:
            return tuple(sorted(rows, key=lambda row: row.called.casefold()))


_TERMINALS = {"kitty": "kitty", "wezterm": "WezTerm", "sessions": "detached sessions"}
_HERE = "this machine"
_ALONE = "one pane each"


def grouped(rows: Iterable[Row], by: str) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Return *rows* in groups *by* one of `labels.GROUPS`, with the heading of each row; no headings without groups."""
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
    """Return the heading of the group of *row*; *several* are the kinds of terminals with more than one."""
    machine, _, host = row.place.rpartition("/")
    if by == "project":
        return row.pane.project or "no project"
    if by == "machine":
        return machine or _HERE
    if by == "agent":
        return row.pane.agent or "no agent"
    if by == "session":
        return f"{row.pane.agent} session {row.pane.session[:8]}" if row.same else _ALONE
    kind, _, number = host.rpartition("-")
    called = _TERMINALS.get(kind, host)
    numbered = f"{called} {number}" if row.place.rpartition("-")[0] in several else called
    return f"{machine} {numbered}" if machine else numbered
