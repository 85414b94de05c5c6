"""
Labelling: the keys that name, colour and pin a conversation, and that group the list.
"""

from __future__ import annotations

import attrs

from tallylight.snapshot import labels
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list import editor
from tallylight.ui.agent_list.effects import Effects, Plain, Relabel
from tallylight.ui.agent_list.filtering import after
from tallylight.ui.agent_list.record import Mode, Naming, State
from tallylight.ui.agent_list.state import filtered, listing, notified


def begun(state: State, row: Row) -> tuple[State, Effects]:
    """Type a name for *row*, beginning with the one that it has."""
    return attrs.evolve(state, mode=Mode.NAME, naming=Naming(row.address, row.label.name)), ()


def key(state: State, pressed: str) -> tuple[State, Effects]:
    """What a key makes of the name that is typed: Enter keeps it, and an empty one takes it away."""
    naming, row = state.naming, state.row
    if pressed == "escape" or naming is None or row is None:
        return listing(state), ()
    if pressed == "enter":
        label = attrs.evolve(row.label, name=labels.named(naming.text))
        return notified(listing(state), "named" if label.name else "it has no name any more"), (Relabel(row, label),)
    text = editor.line_pressed(naming.text, pressed)
    return (state if text is None else typed(state, text)), ()


def typed(state: State, text: str) -> State:
    """The name is *text* as far as it is typed."""
    assert state.naming is not None
    # A blank at the end may be followed by another word.
    kept = labels.named(text + "x").removesuffix("x") if text.endswith(" ") else labels.named(text)
    return attrs.evolve(state, naming=Naming(state.naming.address, kept))


def pin(state: State, row: Row) -> tuple[State, Effects]:
    """Keep *row* on top, or let it go."""
    label = attrs.evolve(row.label, is_pinned=not row.label.is_pinned)
    return notified(state, "pinned to the top" if label.is_pinned else "no longer pinned"), (Relabel(row, label),)


def colour(state: State, row: Row) -> tuple[State, Effects]:
    """Give *row* the next colour."""
    label = attrs.evolve(row.label, colour=after(row.label.colour, ("", *labels.COLOURS)))
    return notified(state, label.colour or "no colour"), (Relabel(row, label),)


def group(state: State) -> tuple[State, Effects]:
    """Group by the next thing."""
    by = after(state.group, labels.GROUPS)
    words = f"grouped by {by}" if by else "not grouped"
    return notified(filtered(attrs.evolve(state, group=by)), words), (Plain.REGROUP,)
