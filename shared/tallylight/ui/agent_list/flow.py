"""
Flow: from one question to the next. It decides when a question is read, when a number answers it, and where the cursor
goes.

A number answers only a question that was on the screen whole, and for a moment: a question that has just replaced
another was not read by the person who presses a key. So a key that is held down answers nothing either.
"""

from __future__ import annotations

import math

import attrs

from tallylight.actions.answer import Question
from tallylight.actions.gate import Refusal
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list import state as states
from tallylight.ui.agent_list.geometry import areas
from tallylight.ui.agent_list.record import Mode, State, question_id

#: Seconds that a question must be on the screen before a number answers it. A key that was pressed before it came
#: arrives sooner.
PICTURE_SHOWN_S = 0.4
#: Seconds after a number in which another one may be its first repeat: terminals wait most of a second for that.
FIRST_REPEAT_S = 0.75
#: The advice for a question that `can_ask` denies.
ELSEWHERE = "answer it there (Enter), or in its kitty's own list (ctrl+shift+i)"
#: Answered questions that their hosts may show for a moment yet.
MAX_ANSWERED = 50


def can_ask(row: Row) -> bool:
    """Return whether the question of *row* can be read and answered from this list."""
    return bool(row.is_own or row.pane.commands.attach or row.host.startswith(("wezterm-", "machines-")))


def wanted(state: State) -> Row | None:
    """Return the row with a question to read off its screen now, for the detail; None if there is none."""
    row = state.row
    if row is None or state.asking is not None or state.mode not in (Mode.LIST, Mode.ANSWER) or not state.has_focus:
        return None
    is_known = question_id(row) == state.read_question or not state.asks(row)
    return None if is_known or not can_ask(row) or areas(state).details < 2 else row


def read(state: State, row: Row, found: object) -> State:
    """Return the state after reading the screen of *row*: *found* is its question, or why there is none."""
    if state.selected != row.address or state.mode not in (Mode.LIST, Mode.ANSWER) or state.asking is not None:
        return state
    state = attrs.evolve(state, read_question=question_id(row))
    if isinstance(found, Question) and found.choices:
        return states.opened(state, row, found)
    if isinstance(found, Refusal) and state.run:
        return states.notified(state, found.text)
    return state


def is_too_soon(state: State, at: float, *, is_click: bool = False) -> bool:
    """Return whether a number typed or clicked *at* this time cannot be meant for the question on the screen."""
    since = state.shown_where[1] if is_click else state.shown_whole[1]
    return at - since < PICTURE_SHOWN_S or (not is_click and at - state.typed_at < FIRST_REPEAT_S)


def note_shown(state: State, at: float) -> State:
    """Return the state with the answerable question on the screen since *at*, unless it was there before."""
    what: object = None
    top = state.scroll
    if state.proposal is not None and state.proposal.read >= len(state.text):
        what = state.proposal.targets
    elif state.asking is not None and not state.asking.unread:
        what, top = (state.asking.address, state.asking.question), state.asking.top
    where = (what, areas(state), state.columns, top)
    if where == state.shown_where[0]:
        return state
    shown_whole = state.shown_whole if what == state.shown_whole[0] else (what, at)
    return attrs.evolve(state, shown_whole=shown_whole, shown_where=(where, at))


def after_absence(state: State) -> State:
    """Return the state after the person was away: a question must be on the screen for a moment once more."""
    return attrs.evolve(state, shown_whole=(None, math.inf), shown_where=(None, math.inf))


def answered(state: State, row: Row, text: str) -> State:
    """Return the state after the answer to *row*: at the next question, of the run if there is one."""
    done = (*state.answered, question_id(row))[-MAX_ANSWERED:]
    state = attrs.evolve(state, answered=done, asking=None)
    if state.run and state.mode is Mode.ANSWER:
        return states.notified(stepped(state, 1), text)
    after = [*state.shown[state.index + 1 :], *state.shown[: state.index]]
    following = next((one for one in after if state.asks(one)), None)
    if following is not None and state.mode is Mode.LIST:
        state = states.select(state, state.shown.index(following))
    return states.notified(state, text)


def refused(state: State, text: str) -> State:
    """Return the state after a refused answer: the screen is read once more."""
    return states.notified(attrs.evolve(state, asking=None, read_question=None), text)


# One after the other ---------------------------------------------------------------------------------------------


def begun(state: State) -> State:
    """Return the state that answers all questions, one page after the other."""
    run = tuple(row.address for row in state.waiting if can_ask(row))
    if not run:
        return states.notified(state, ELSEWHERE if state.waiting else "no agent asks anything")
    asked = state.asking if state.asking is not None and state.asking.address == run[0] else None
    state = attrs.evolve(state, mode=Mode.ANSWER, run=run, selected=run[0], asking=asked, read_question=None)
    return states.settled(state)


def stepped(state: State, step: int) -> State:
    """Return the state at the next open question of the run, or the one before; after the last one back in the list."""
    place = state.run.index(state.selected) if state.selected in state.run else -1
    asked = {row.address for row in state.waiting}
    order = range(place + 1, len(state.run)) if step > 0 else range(place - 1, -1, -1)
    following = next((state.run[index] for index in order if state.run[index] in asked), None)
    if following is None:
        return states.notified(states.listing(state), "that was the last one") if step > 0 else state
    return attrs.evolve(state, selected=following, asking=None, read_question=None, message="")


def alike(state: State) -> tuple[Row, ...]:
    """Return the rows that seem to ask the same as the selected one, itself included; their screens decide."""
    row = state.row
    if row is None or not row.pane.asks:
        return ()
    wanted = (row.pane.agent, row.pane.asks, row.pane.choices)
    return tuple(
        one for one in state.waiting if can_ask(one) and (one.pane.agent, one.pane.asks, one.pane.choices) == wanted
    )
