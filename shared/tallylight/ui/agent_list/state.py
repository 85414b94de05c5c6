"""
The state of the list after new snapshots, the clock or an effect; `press` applies keys. The data is in `record`.

    state = resized(state, columns, lines)
    state = refreshed(state, rows, now)         new snapshots, or only later
    state = notified(state, "…")                the message of an effect

Times are seconds since the epoch.
"""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Question
from tallylight.model.status import Status
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list import help
from tallylight.ui.agent_list import preview as previews
from tallylight.ui.agent_list import question as asking
from tallylight.ui.agent_list.filtering import grouped, matches, ordered
from tallylight.ui.agent_list.geometry import (
    areas,
    heights,
    in_view,
    is_folded,
    is_large,
    is_previewing,
    least_top,
    side_columns,
)
from tallylight.ui.agent_list.record import OVER, Mode, State
from tallylight.ui.agent_list.selection import Proposal, SharedAnswer, outcome
from tallylight.ui.layout import chop
from tallylight.wire.styled import StyledScreen
from tallylight.wire.text import sanitise

#: Characters of a filter.
MAX_FILTER = 100


def fitted(state: State) -> State:
    """Return the state with its question wrapped to the room that it has."""
    if state.asking is None:
        return state
    columns, is_page, shown = side_columns(state), state.mode is Mode.ANSWER, state.asking
    for _ in range(2):  # once more with the room of the preview, if it needs that
        shown = asking.sized(shown, columns, max(0, areas(state).details - 1), is_page=is_page)
        state = attrs.evolve(state, asking=shown)
    return state


# Events -----------------------------------------------------------------------------------------------------------


def resized(state: State, columns: int, lines: int) -> State:
    """Return the state for a screen of so many cells. One that has become large has room for the selected screen."""
    before = state
    state = filtered(attrs.evolve(state, columns=max(1, columns), lines=max(1, lines)))
    if is_large(state) and not is_large(before) and state.preview is None:
        state = attrs.evolve(state, preview=previews.Preview())
    return followed(_laid_out(state, state.proposal) if state.proposal is not None else state)


def refreshed(state: State, rows: tuple[Row, ...], now: float) -> State:
    """Return the state with these *rows* at *now*, in order."""
    before = state
    state = filtered(attrs.evolve(state, rows=rows, now=now))
    if before.asking is not None and (state.asking is None or _is_gone(state, state.asking)):
        # In the detail, also below a typed text, it is read again; in a run the next one follows.
        is_page = state.mode is Mode.ANSWER
        is_kept = not is_page or state.selected in state.run
        state = settled(attrs.evolve(state, asking=None)) if is_kept else listing(state)
        state = notified(state, "that question is gone") if is_page else state
    if problem := _lost(state):
        state = notified(listing(state), problem)
    if state.preview is not None:
        if not state.preview.address:
            return followed(state)
        if not any(row.address == state.preview.address for row in state.shown):
            return attrs.evolve(state, preview=attrs.evolve(state.preview, is_gone=True))
    return state


def _is_gone(state: State, shown: asking.Asking) -> bool:
    """Return whether the question that is *shown* is not asked any more."""
    row = state.row
    if row is None:
        return True
    # The host's report can be about the prompt that is being answered, or from before it.
    status, prompt = row.pane.status, row.pane.prompt
    is_open = status is Status.WAITING and prompt in ("", shown.question.prompt)
    return not is_open and (status, prompt) != shown.reported


def _lost(state: State) -> str:
    """Return the message that the target of a text or a name has gone; "" while it is still selected."""
    address = state.row.address if state.row is not None else ""
    if state.writing is not None and address != state.writing.address:
        return f"{state.writing.name} is no longer in the list; the draft is kept"
    if state.naming is not None and address != state.naming.address:
        return "that agent is no longer in the list; nothing was renamed"
    return ""


def asked(state: State, row: Row, question: Question) -> State:
    """Show *question*, read in the pane of *row*, as a page, if that row is still selected."""
    if state.mode is not Mode.LIST or state.selected != row.address:
        return state
    return opened(attrs.evolve(state, mode=Mode.ANSWER), row, question)


def opened(state: State, row: Row, question: Question) -> State:
    """Return the state with *question* as that of the selected *row*."""
    return settled(attrs.evolve(state, asking=asking.opened(question, row)))


def followed(state: State) -> State:
    """
    Return the state with the preview of the selected row, if there is a preview; empty for another row than before.
    """
    shown, row = state.preview, state.row
    if shown is None or (row is not None and row.address == shown.address and not shown.is_gone):
        return state
    found = previews.Preview(page=shown.page)
    if row is not None:
        pane = row.pane
        name = pane.project or pane.title or pane.agent or row.name
        found = attrs.evolve(found, address=row.address, name=name)
    return attrs.evolve(state, preview=found) if found != shown else state


def watched(state: State) -> Row | None:
    """Return the row with its screen in the preview; None if there is none."""
    shown = state.preview
    if shown is None or not is_previewing(state) or shown.page is not previews.Page.SCREEN or shown.is_gone:
        return None
    return next((row for row in state.shown if row.address == shown.address), None)


def pictured(state: State, address: str, found: StyledScreen | str) -> State:
    """Return the state with the screen of the pane at *address*, or the message why it cannot be read."""
    shown = state.preview
    if shown is None or shown.address != address or found in (shown.screen, shown.problem):
        return state
    screen, problem = (None, found) if isinstance(found, str) else (found, "")
    return attrs.evolve(state, preview=attrs.evolve(shown, screen=screen, problem=problem))


def drawn(state: State) -> State:
    """Return the state after its picture was drawn: the person can have seen it."""
    # `flow.note_shown` notes since when.
    if state.proposal is not None:
        read = state.scroll + areas(state).rows
        # A part that was jumped over has not been read.
        if state.scroll <= state.proposal.read < read:
            return attrs.evolve(state, proposal=attrs.evolve(state.proposal, read=read))
    if state.asking is None or (found := asking.drawn(state.asking)) is state.asking:
        return state
    return attrs.evolve(state, asking=found)


def notified(state: State, message: str) -> State:
    """Return *state* with *message* for the person."""
    return attrs.evolve(state, message=message)


def explained(state: State, title: str, text: tuple[str, ...]) -> State:
    """Show *text* in place of the list."""
    return attrs.evolve(state, mode=Mode.TEXT, title=title, text=text, scroll=0)


def helped(state: State, sought: str | None = None) -> State:
    """Show the help, filtered by *sought*; None: without a search."""
    kept = sought if sought is None else sanitise(sought)[:MAX_FILTER]
    return attrs.evolve(
        state, mode=Mode.HELP, title="keys", sought=kept, text=help.found(kept or "", state.keys), scroll=0
    )


def proposed(state: State, proposal: Proposal | SharedAnswer) -> State:
    """Show *proposal*, unless the person has moved on, or it has no targets left."""
    if state.mode is not (Mode.ANSWER if isinstance(proposal, SharedAnswer) else Mode.LIST):
        return state
    if isinstance(proposal, SharedAnswer):
        if len(proposal.targets) < 2:
            return notified(state, "no other agent asks exactly the same")
    elif not proposal.targets:
        return notified(state, outcome(proposal.act, 0, proposal.left_out))
    return _laid_out(attrs.evolve(state, mode=Mode.CONFIRM, title=proposal.title), proposal)


def _laid_out(state: State, proposal: Proposal | SharedAnswer) -> State:
    """Return the state with the lines of *proposal*, as wide as the screen, none of them read yet."""
    parts = tuple(part for line in proposal.lines() for part in chop(line, max(1, state.columns)))
    return attrs.evolve(state, proposal=attrs.evolve(proposal, read=0), text=parts, scroll=0)


def visible(state: State) -> tuple[Row, ...]:
    """Return the rows that a person can see."""
    if state.mode in OVER:
        return ()
    return state.shown[state.top : state.top + in_view(state)]


def wheeled(state: State, step: int) -> State:
    """Move the view, and the selection only so far that it stays in view."""
    state = attrs.evolve(state, top=max(0, min(state.top + step, least_top(state, len(state.shown) - 1))))
    return select(state, max(state.top, min(state.index, state.top + in_view(state) - 1)))


def scrolled(state: State, step: int) -> State:
    """Scroll the shown text by *step* lines."""
    last = max(0, len(state.text) - areas(state).rows)
    return attrs.evolve(state, scroll=max(0, min(state.scroll + step, last)))


# Consequences -----------------------------------------------------------------------------------------------------


def listing(state: State) -> State:
    """Go back to the list."""
    closed = attrs.evolve(state, mode=Mode.LIST, naming=None, proposal=None, sought=None, asking=None, writing=None)
    return filtered(attrs.evolve(closed, title="", text=(), scroll=0, run=(), read_question=None))


def filtering(state: State, text: str) -> State:
    """Set the filter to *text*."""
    return filtered(attrs.evolve(state, filter=sanitise(text)[:MAX_FILTER]))


def select(state: State, index: int) -> State:
    """Select the shown row *index*, or the nearest one."""
    if not state.shown:
        return state
    index = max(0, min(index, len(state.shown) - 1))
    address = state.shown[index].address
    if address != state.selected:
        state = attrs.evolve(state, selected=address, asking=None, read_question=None)
    return settled(state)


def filtered(state: State) -> State:
    """Apply the filter, the order and the fold. The selection stays with its pane, or else with its place."""
    before = state.index
    rows = (row for row in state.rows if matches(row, state.filter, state.now)) if state.filter else state.rows
    ordered_rows = ordered(rows, state.order)
    is_folding = is_folded(state, ordered_rows)
    folded = tuple(row for row in ordered_rows if is_folding and row.pane.status is Status.IDLE)
    shown, headings = grouped((row for row in ordered_rows if row not in folded), state.group)
    state = attrs.evolve(state, shown=shown, headings=headings, folded=folded)
    state = attrs.evolve(state, heights=heights(state))
    if shown and not any(row.address == state.selected for row in shown):
        state = attrs.evolve(state, selected=shown[min(before, len(shown) - 1)].address)
    if state.asking is not None and (not shown or state.asking.address != state.selected):
        state = attrs.evolve(state, asking=None, read_question=None)
    return settled(state)


def settled(state: State) -> State:
    """Keep the selected row in view, with as few empty lines below the last as possible, and fit its question."""
    state = fitted(state)
    last = least_top(state, len(state.shown) - 1)
    top = max(min(state.top, state.index, last), least_top(state, state.index))
    return state if top == state.top else attrs.evolve(state, top=top)
