"""
State: what new snapshots or the clock make of what the list shows, its `record`. What a key makes of it is in `press`.

    state = resized(state, columns, lines)
    state = refreshed(state, rows, now)         new snapshots, or only later
    state = notified(state, "…")                what came of an effect

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
from tallylight.ui.agent_list.geometry import areas, heights, in_view, is_folded, is_previewing, least_top, side_columns
from tallylight.ui.agent_list.record import OVER, Mode, State
from tallylight.ui.agent_list.selection import Proposal, Together, outcome
from tallylight.ui.layout import chop
from tallylight.wire.styled import StyledScreen
from tallylight.wire.text import sanitise

#: Of a filter, in characters.
MAX_FILTER = 100


def fitted(state: State) -> State:
    """The question as far as there is room for it."""
    if state.asking is None:
        return state
    columns, height = side_columns(state), max(0, areas(state).details - 1)
    return attrs.evolve(state, asking=asking.sized(state.asking, columns, height, is_page=state.mode is Mode.ANSWER))


# What happens ----------------------------------------------------------------------------------------------------


def resized(state: State, columns: int, lines: int) -> State:
    """The screen has this many cells."""
    state = filtered(attrs.evolve(state, columns=max(1, columns), lines=max(1, lines)))
    return _laid_out(state, state.proposal) if state.proposal is not None else state


def refreshed(state: State, rows: tuple[Row, ...], now: float) -> State:
    """These are the rows *now*, in order."""
    before = state
    state = filtered(attrs.evolve(state, rows=rows, now=now))
    if before.asking is not None and (state.asking is None or _is_gone(state, state.asking)):
        # In the detail, also below what is typed, it is read again; of a run the next one follows.
        is_page = state.mode is Mode.ANSWER
        is_kept = not is_page or state.selected in state.run
        state = attrs.evolve(state, asking=None) if is_kept else listing(state)
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
    """Whether what is *shown* is asked no more."""
    row = state.row
    if row is None:
        return True
    # All that the host reports of it can be about the prompt that is being answered, or from before it.
    status, prompt = row.pane.status, row.pane.prompt
    is_open = status is Status.WAITING and prompt in ("", shown.question.prompt)
    return not is_open and (status, prompt) != shown.reported


def _lost(state: State) -> str:
    """That what a person writes to or names has gone; nothing while it is still what is selected."""
    address = state.row.address if state.row is not None else ""
    if state.writing is not None and address != state.writing.address:
        return f"{state.writing.name} is no longer in the list; the draft is kept"
    if state.naming is not None and address != state.naming.address:
        return "that agent is no longer in the list; nothing was renamed"
    return ""


def asked(state: State, row: Row, question: Question) -> State:
    """Show *question*, that was read in the pane of *row*, if that is still what is selected."""
    if state.mode is not Mode.LIST or state.selected != row.address:
        return state
    return opened(attrs.evolve(state, mode=Mode.ANSWER), row, question)


def opened(state: State, row: Row, question: Question) -> State:
    """*question* is what the selected *row* asks."""
    return settled(attrs.evolve(state, asking=asking.opened(question, row)))


def followed(state: State) -> State:
    """The preview, if there is one, shows the selected row; of another than before nothing is known yet."""
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
    """The row with its screen drawn; None if there is none."""
    shown = state.preview
    if shown is None or not is_previewing(state) or shown.page is not previews.Page.SCREEN or shown.is_gone:
        return None
    return next((row for row in state.shown if row.address == shown.address), None)


def pictured(state: State, address: str, found: StyledScreen | str) -> State:
    """The screen of the pane at *address* was read, or words say why not."""
    shown = state.preview
    if shown is None or shown.address != address or found in (shown.screen, shown.problem):
        return state
    screen, problem = (None, found) if isinstance(found, str) else (found, "")
    return attrs.evolve(state, preview=attrs.evolve(shown, screen=screen, problem=problem))


def drawn(state: State) -> State:
    """What `draw` made of *state* is on the screen: the person can have seen it."""
    # `flow.stands` says since when.
    if state.proposal is not None:
        read = state.scroll + areas(state).rows
        # What was jumped over has not been read.
        if state.scroll <= state.proposal.read < read:
            return attrs.evolve(state, proposal=attrs.evolve(state.proposal, read=read))
    if state.asking is None or (found := asking.drawn(state.asking)) is state.asking:
        return state
    return attrs.evolve(state, asking=found)


def notified(state: State, message: str) -> State:
    """*state* with *message* for the person."""
    return attrs.evolve(state, message=message)


def explained(state: State, title: str, text: tuple[str, ...]) -> State:
    """Show *text* in place of the list."""
    return attrs.evolve(state, mode=Mode.TEXT, title=title, text=text, scroll=0)


def helped(state: State, sought: str | None = None) -> State:
    """Show the help, as far as it is about *sought*; None: nothing is looked for."""
    kept = sought if sought is None else sanitise(sought)[:MAX_FILTER]
    return attrs.evolve(
        state, mode=Mode.HELP, title="keys", sought=kept, text=help.found(kept or "", state.keys), scroll=0
    )


def proposed(state: State, proposal: Proposal | Together) -> State:
    """Show *proposal*, unless a person has gone on to something else, or there is nothing left to do."""
    if state.mode is not (Mode.ANSWER if isinstance(proposal, Together) else Mode.LIST):
        return state
    if isinstance(proposal, Together):
        if len(proposal.targets) < 2:
            return notified(state, "no other agent asks exactly the same")
    elif not proposal.targets:
        return notified(state, outcome(proposal.act, 0, proposal.left_out))
    return _laid_out(attrs.evolve(state, mode=Mode.CONFIRM, title=proposal.title), proposal)


def _laid_out(state: State, proposal: Proposal | Together) -> State:
    """The lines of *proposal*, as wide as the screen, none of them read yet."""
    parts = tuple(part for line in proposal.lines() for part in chop(line, max(1, state.columns)))
    return attrs.evolve(state, proposal=attrs.evolve(proposal, read=0), text=parts, scroll=0)


def visible(state: State) -> tuple[Row, ...]:
    """The rows that a person can see."""
    if state.mode in OVER:
        return ()
    return state.shown[state.top : state.top + in_view(state)]


def wheeled(state: State, step: int) -> State:
    """Move the view, and the selection only so far that it stays in it."""
    state = attrs.evolve(state, top=max(0, min(state.top + step, least_top(state, len(state.shown) - 1))))
    return select(state, max(state.top, min(state.index, state.top + in_view(state) - 1)))


def scrolled(state: State, step: int) -> State:
    """Scroll the text that is shown by *step* lines."""
    last = max(0, len(state.text) - areas(state).rows)
    return attrs.evolve(state, scroll=max(0, min(state.scroll + step, last)))


# What follows from what ------------------------------------------------------------------------------------------


def listing(state: State) -> State:
    """Back to the list."""
    closed = attrs.evolve(state, mode=Mode.LIST, naming=None, proposal=None, sought=None, asking=None, writing=None)
    return filtered(attrs.evolve(closed, title="", text=(), scroll=0, run=(), looked=None))


def filtering(state: State, text: str) -> State:
    """The filter is *text*."""
    return filtered(attrs.evolve(state, filter=sanitise(text)[:MAX_FILTER]))


def select(state: State, index: int) -> State:
    """Select the shown row *index*, or the nearest that there is."""
    if not state.shown:
        return state
    index = max(0, min(index, len(state.shown) - 1))
    address = state.shown[index].address
    if address != state.selected:
        state = attrs.evolve(state, selected=address, asking=None, looked=None)
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
        state = attrs.evolve(state, asking=None, looked=None)
    return settled(state)


def settled(state: State) -> State:
    """Keep the selected row in view, and no more empty lines below the last than need be; and what it asks fitted."""
    state = fitted(state)
    last = least_top(state, len(state.shown) - 1)
    top = max(min(state.top, state.index, last), least_top(state, state.index))
    return state if top == state.top else attrs.evolve(state, top=top)
