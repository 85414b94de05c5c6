"""
Choosing: the keys that choose several rows, and those that act on all that are chosen, or else on the selected one.
"""

from __future__ import annotations

import attrs

from tallylight.actions.request import Mark
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.ui.agent_list.effects import Effects, Perform
from tallylight.ui.agent_list.record import State
from tallylight.ui.agent_list.state import notified, select

#: What is told when the hosts of several rows were asked; "0" ends a snooze.
_WORDS = {
    ("snooze", ()): "snoozed",
    ("snooze", ("0",)): "no longer snoozed",
    ("seen", ()): "marked seen",
    ("unread", ()): "marked unread",
}


def toggled(state: State, row: Row) -> tuple[State, Effects]:
    """Choose *row*, or not any more, and go on to the next."""
    after = attrs.evolve(state, chosen=state.chosen ^ {row.address})
    return select(after, after.index + 1), ()


def all_or_none(state: State) -> tuple[State, Effects]:
    """Choose all rows that are shown; none, if any is chosen."""
    every = frozenset(row.address for row in state.shown)
    return attrs.evolve(state, chosen=frozenset() if state.chosen else every), ()


def rows_for(state: State, row: Row) -> tuple[Row, ...]:
    """The rows that are chosen, whether the filter shows them or not; *row* where none is."""
    return tuple(one for one in state.rows if one.address in state.chosen) or (row,)


def asked(state: State, rows: tuple[Row, ...], verb: str, *args: str) -> tuple[State, Effects]:
    """Ask the hosts of *rows* for *verb*; nothing is chosen any more."""
    after = notified(state, f"{len(rows)} {_WORDS[verb, args]}") if state.chosen else state
    return attrs.evolve(after, chosen=frozenset()), tuple(Perform(one, Mark(verb, one.pane.id, args)) for one in rows)


def snoozing(state: State, row: Row) -> tuple[State, Effects]:
    """Snooze those that are not; where all are, take it back."""
    every = rows_for(state, row)
    awake = tuple(one for one in every if not is_snoozed(one.pane, state.now))
    return asked(state, awake, "snooze") if awake else asked(state, every, "snooze", "0")
