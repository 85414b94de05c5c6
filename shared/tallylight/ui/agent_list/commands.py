"""
Commands: the keys that choose several rows and act on all that are chosen, or else on the selected one; and those that
name a conversation and group the list.
"""

from __future__ import annotations

import attrs

from tallylight.actions.request import Mark
from tallylight.snapshot import labels
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.ui.agent_list import editor
from tallylight.ui.agent_list.effects import Effects, Perform, Plain, Relabel
from tallylight.ui.agent_list.filtering import after
from tallylight.ui.agent_list.record import Mode, Naming, State
from tallylight.ui.agent_list.state import filtered, listing, notified, select

#: What is said when the hosts of several rows were asked; "0" ends a snooze.
_WORDS = {
    ("snooze", ()): "snoozed",
    ("snooze", ("0",)): "no longer snoozed",
    ("seen", ()): "marked seen",
    ("unread", ()): "marked unread",
}


def toggled(state: State, row: Row) -> tuple[State, Effects]:
    """Choose *row*, or not any more, and go on to the next."""
    toggled = attrs.evolve(state, chosen=state.chosen ^ {row.address})
    return select(toggled, toggled.index + 1), ()


def all_or_none(state: State) -> tuple[State, Effects]:
    """Choose all rows that are shown; none, if any is chosen."""
    every = frozenset(row.address for row in state.shown)
    return attrs.evolve(state, chosen=frozenset() if state.chosen else every), ()


def rows_for(state: State, row: Row) -> tuple[Row, ...]:
    """The rows that are chosen, whether the filter shows them or not; *row* where none is."""
    return tuple(one for one in state.rows if one.address in state.chosen) or (row,)


def asked(state: State, rows: tuple[Row, ...], verb: str, *args: str) -> tuple[State, Effects]:
    """Ask the hosts of *rows* for *verb*; nothing is chosen any more."""
    done = notified(state, f"{len(rows)} {_WORDS[verb, args]}") if state.chosen else state
    return attrs.evolve(done, chosen=frozenset()), tuple(Perform(one, Mark(verb, one.pane.id, args)) for one in rows)


def snoozing(state: State, row: Row) -> tuple[State, Effects]:
    """Snooze those that are not; where all are, take it back."""
    every = rows_for(state, row)
    awake = tuple(one for one in every if not is_snoozed(one.pane, state.now))
    return asked(state, awake, "snooze") if awake else asked(state, every, "snooze", "0")


# Labels -------------------------------------------------------------------------------------------------------------


def naming(state: State, row: Row) -> tuple[State, Effects]:
    """Type a name for *row*, beginning with the one that it has."""
    return attrs.evolve(state, mode=Mode.NAME, naming=Naming(row.address, row.label.name)), ()


def name_key(state: State, pressed: str) -> tuple[State, Effects]:
    """What a key makes of the name that is typed: Enter keeps it, and an empty one takes it away."""
    naming, row = state.naming, state.row
    if pressed == "escape" or naming is None or row is None:
        return listing(state), ()
    if pressed == "enter":
        label = attrs.evolve(row.label, name=labels.named(naming.text))
        return notified(listing(state), "named" if label.name else "it has no name any more"), (Relabel(row, label),)
    text = editor.line_pressed(naming.text, pressed)
    return (state if text is None else named(state, text)), ()


def named(state: State, text: str) -> State:
    """The name is *text* as far as it is typed."""
    assert state.naming is not None
    # A blank at the end may be followed by another word.
    kept = labels.named(text + "x").removesuffix("x") if text.endswith(" ") else labels.named(text)
    return attrs.evolve(state, naming=Naming(state.naming.address, kept))


def group(state: State) -> tuple[State, Effects]:
    """Group by the next thing."""
    by = after(state.group, labels.GROUPS)
    words = f"grouped by {by}" if by else "not grouped"
    return notified(filtered(attrs.evolve(state, group=by)), words), (Plain.REGROUP,)
