"""
Writing: a text for the agent of the selected row, on its way from the first key to its being sent.

    state = begun(state, row, holder, why)      that agent would take text now, or why it would not
    state = edited(state, editor)               a key, or a paste
    state = sent(state, words)                  it was typed into the agent, or queued for it

What was written and not sent is kept as a draft, for the row that it was written for, as long as the list is open.
"""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Occupant
from tallylight.actions.queue import ends
from tallylight.snapshot.rows import Row
from tallylight.ui import details
from tallylight.ui.agent_list import state as states
from tallylight.ui.agent_list.editor import Editor, inserted
from tallylight.ui.agent_list.record import Mode, State, Writing

#: Drafts that are kept; beyond that the oldest goes.
MAX_DRAFTS = 50


def begun(state: State, row: Row, holder: Occupant, why: str = "") -> State:
    """
    Write to *holder*, who is in the pane of *row*, if that is still what is selected.

    *why* says why it takes no text now: then what is written is for the end of its turn. While a limit stops it, that
    is for the end of the limit.
    """
    if state.mode is not Mode.LIST or state.selected != row.address:
        return state
    editor = dict(state.drafts).get(row.address, Editor())
    pane = row.pane
    name = pane.project or pane.title or row.name
    at = ends(pane.limited_until) if not why and pane.limited_until > state.now else 0
    why = why or details.limit(pane, state.now)
    writing = Writing(address=row.address, name=name, holder=holder, editor=editor, why=why, at=at)
    state = states.notified(state, f"{why.partition(';')[0]}: your text will be queued") if why else state
    return states.settled(attrs.evolve(state, mode=Mode.WRITE, writing=writing))


def edited(state: State, editor: Editor) -> State:
    """The text is this now."""
    assert state.writing is not None
    kept = _kept(state, state.writing.address, editor)
    return states.settled(attrs.evolve(kept, writing=attrs.evolve(state.writing, editor=editor)))


def drafted(state: State, row: Row, text: str) -> State:
    """Keep *text* as what is to be written to *row*, behind what is written to it already."""
    before = dict(state.drafts).get(row.address, Editor())
    end = Editor(before.text, len(before.text))
    return _kept(state, row.address, inserted(end, f"\n{text}" if before.text else text))


def _kept(state: State, address: str, editor: Editor) -> State:
    drafts = [(other, text) for other, text in state.drafts if other != address]
    if editor.text:
        drafts.append((address, editor))
    return attrs.evolve(state, drafts=tuple(drafts[-MAX_DRAFTS:]))


def sent(state: State, words: str) -> State:
    """It was typed into the agent, or queued, as *words* say: there is no draft of it any more."""
    return states.notified(states.listing(edited(state, Editor())), words) if state.writing is not None else state
