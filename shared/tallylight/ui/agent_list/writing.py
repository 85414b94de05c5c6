"""
Writing: a text for the agent of the selected row, from the first key until it is sent.

`begun` starts it, `edited` applies a key or a paste, and `sent` ends it. An unsent text is kept as a draft, for the row
that it was written for, as long as the list is open.
"""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Occupant
from tallylight.actions.queue import typing_time
from tallylight.snapshot.rows import Row
from tallylight.ui import details
from tallylight.ui.agent_list import state as states
from tallylight.ui.agent_list.editor import Editor, inserted
from tallylight.ui.agent_list.record import Mode, State, Writing

#: Drafts that are kept; beyond that the oldest is dropped.
MAX_DRAFTS = 50


def begun(state: State, row: Row, holder: Occupant, why: str = "") -> State:
    """
    Begin a text for *holder* in the pane of *row*, if that row is still selected.

    *why*: it takes no text now, so the text is for the end of its turn. While a limit stops it, the text is for the end
    of the limit.
    """
    if state.mode is not Mode.LIST or state.selected != row.address:
        return state
    editor = dict(state.drafts).get(row.address, Editor())
    pane = row.pane
    name = pane.project or pane.title or row.name
    at = typing_time(pane.limited_until) if not why and pane.limited_until > state.now else 0
    why = why or details.limit(pane, state.now)
    writing = Writing(address=row.address, name=name, holder=holder, editor=editor, why=why, at=at)
    state = states.notified(state, f"{why.partition(';')[0]}: your text will be queued") if why else state
    return states.settled(attrs.evolve(state, mode=Mode.WRITE, writing=writing))


def edited(state: State, editor: Editor) -> State:
    """Return the state with the text in *editor*."""
    assert state.writing is not None
    kept = _kept(state, state.writing.address, editor)
    return states.settled(attrs.evolve(kept, writing=attrs.evolve(state.writing, editor=editor)))


def drafted(state: State, row: Row, text: str) -> State:
    """Keep *text* for *row* as a draft, below what was written there before."""
    before = dict(state.drafts).get(row.address, Editor())
    end = Editor(before.text, len(before.text))
    return _kept(state, row.address, inserted(end, f"\n{text}" if before.text else text))


def _kept(state: State, address: str, editor: Editor) -> State:
    """Return the state with *editor* as the draft for the pane at *address*; an empty text deletes the draft."""
    drafts = [(other, text) for other, text in state.drafts if other != address]
    if editor.text:
        drafts.append((address, editor))
    return attrs.evolve(state, drafts=tuple(drafts[-MAX_DRAFTS:]))


def sent(state: State, words: str) -> State:
    """Return the state after the text was typed or queued, as *words* report: without its draft."""
    return states.notified(states.listing(edited(state, Editor())), words) if state.writing is not None else state
