"""Commands of the list: the keys that mark the selected row, name its conversation, and group the list."""

from __future__ import annotations

import attrs

from tallylight.actions.request import Mark
from tallylight.snapshot import labels
from tallylight.snapshot.rows import NEEDS, Row, is_snoozed
from tallylight.ui.agent_list import editor
from tallylight.ui.agent_list.effects import Effects, Perform, Plain, Relabel
from tallylight.ui.agent_list.filtering import after
from tallylight.ui.agent_list.record import Mode, Naming, State
from tallylight.ui.agent_list.state import filtered, listing, notified


def snooze(state: State, row: Row) -> tuple[State, Effects]:
    """Return the state and the request to snooze *row*, or to end its snooze; a message if there is nothing to."""
    if is_snoozed(row.pane, state.now):
        return state, mark_request(row, "snooze", "0")
    if row.pane.status not in NEEDS:
        return notified(state, "it does not need you now, so there is nothing to snooze"), ()
    return state, mark_request(row, "snooze")


def mark_request(row: Row, verb: str, *args: str) -> Effects:
    """Return the effect that asks the host of *row* for the `Mark` *verb*: `seen`, `unread` or `snooze`."""
    return (Perform(row, Mark(verb, row.pane.id, args)),)


# Labels -------------------------------------------------------------------------------------------------------------


def naming(state: State, row: Row) -> tuple[State, Effects]:
    """Begin to type a name for *row*, starting with its present one."""
    return attrs.evolve(state, mode=Mode.NAME, naming=Naming(row.address, row.label.name)), ()


def name_key(state: State, pressed: str) -> tuple[State, Effects]:
    """Return the state after a key on the typed name: Enter keeps it, and an empty one removes it."""
    naming, row = state.naming, state.row
    if pressed == "escape" or naming is None or row is None:
        return listing(state), ()
    if pressed == "enter":
        label = attrs.evolve(row.label, name=labels.named(naming.text))
        return notified(listing(state), "named" if label.name else "its name was removed"), (Relabel(row, label),)
    text = editor.line_pressed(naming.text, pressed)
    return (state if text is None else named(state, text)), ()


def named(state: State, text: str) -> State:
    """Return the state with *text* as the name typed so far."""
    assert state.naming is not None
    # A blank at the end may be followed by another word.
    kept = labels.named(text + "x").removesuffix("x") if text.endswith(" ") else labels.named(text)
    return attrs.evolve(state, naming=Naming(state.naming.address, kept))


def group(state: State) -> tuple[State, Effects]:
    """Return the state grouped by the next criterion."""
    by = after(state.group, labels.GROUPS)
    words = f"grouped by {by}" if by else "not grouped"
    return notified(filtered(attrs.evolve(state, group=by)), words), (Plain.REGROUP,)
