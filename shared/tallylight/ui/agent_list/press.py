"""
Press: the effect of a key, a paste or the mouse on the list.

    state, effects = press(state, event)

`effects` lists the effects, which the loop carries out. `help.HELP` names the keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs

from tallylight.actions.answer import Choice
from tallylight.actions.request import PROMPT_AGENT, QUESTION, DeferredText, LookRequest, Unqueue
from tallylight.actions.say import MAX_TYPED, Say
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.ui.agent_list import commands, editor, flow, geometry, preview, writing
from tallylight.ui.agent_list import question as asking
from tallylight.ui.agent_list import state as states
from tallylight.ui.agent_list.effects import Effects, Gather, Lend, Perform, Plain, Propose, opening
from tallylight.ui.agent_list.filtering import Order, after
from tallylight.ui.agent_list.preview import Preview
from tallylight.ui.agent_list.record import OVER, Mode, State, question_id
from tallylight.ui.agent_list.selection import Act, Proposal, SharedAnswer
from tallylight.ui.keys import Event, Focus, Mouse, Paste, TerminalColour

#: Lines that a turn of the wheel moves.
WHEEL_LINES = 3
#: The keys that answer, and where they do.
_NUMBERS = tuple("123456789")
_NUMBERED = (Mode.LIST, Mode.ANSWER)
_READ_ALL = "read all of it first: scroll with up, down and the page keys"
_NO_QUESTION = "it asks nothing"
_UNREAD = "its question is still being read"
_NO_CHOICE = "there is no choice {}"
_TOO_SOON = "this has only just appeared: read it, then press {} again"
#: More than any text over the list has.
MAX_SCROLLED_LINES = 100_000


def press(state: State, event: Event, at: float = math.inf) -> tuple[State, Effects]:
    """
    Return the state and the effects after *event*, a person's key, paste, mouse or focus, *at* this time as in `flow`.
    """
    if isinstance(event, Focus):
        return states.filtered(attrs.evolve(flow.after_absence(state), has_focus=event.is_in)), ()
    if isinstance(event, TerminalColour):
        return state, ()
    state = attrs.evolve(state, message="")
    effects: Effects = ()
    if isinstance(event, Mouse):
        state, effects = _mouse(state, event, at)
    elif isinstance(event, Paste):
        state = _pasted(state, event.text)
    elif state.mode is Mode.WRITE:
        state, effects = _write_key(state, event.name)
    elif event.name == "ctrl+c":
        effects = (Plain.QUIT,)
    elif event.name in _NUMBERS and (state.mode in _NUMBERED or isinstance(state.proposal, SharedAnswer)):
        state, effects = _answer_by_number(state, event.name, at)
    elif event.name == "y" and isinstance(state.proposal, Proposal):
        state, effects = _carry_out_proposal(state, state.proposal, at)
    else:
        state, effects = _KEYS[state.mode](state, "enter" if event.name == "ctrl+j" else event.name)
    # A part that a key opened or closed has left more or less room for the question.
    return states.fitted(states.followed(state)), effects


# Keys ------------------------------------------------------------------------------------------------------------


def _list_key(state: State, name: str) -> tuple[State, Effects]:
    if (moved := _moved(state, name) if name != " " else None) is not None:
        return moved, ()
    if (shown := _preview_key(state, name)) is not None:
        return shown, ()
    if (change := _OF_THE_LIST.get(name)) is not None:
        return change(state)
    command = _OF_A_ROW.get(name)
    if command is None and (key := state.keys.get(name)) is not None:
        call = key.call
        command = lambda state, row: (state, (Lend(row, call),))  # noqa: E731
    if command is None:
        return _silent(state, name)
    return command(state, state.row) if state.row is not None else (states.notified(state, "no agent is selected"), ())


def _silent(state: State, name: str) -> tuple[State, Effects]:
    """Show that the key *name* does nothing, so that nobody presses it again."""
    return states.notified(state, f"{name} does nothing here"), ()


def _step_back(state: State) -> tuple[State, Effects]:
    """Go one step back: from the filter, from the list."""
    if state.filter:
        return states.filtering(state, ""), ()
    return state, (Plain.BACK if state.is_panel else Plain.QUIT,)


def _sort_next(state: State) -> tuple[State, Effects]:
    order = after(state.order, tuple(Order))
    return states.notified(states.filtered(attrs.evolve(state, order=order)), f"sorted by {order.value}"), ()


def _preview_key(state: State, name: str) -> State | None:
    """Return the state after a key that opens, closes, turns or moves the preview; None for any other."""
    if name == " ":
        turned = attrs.evolve(state, preview=None if state.preview is not None else Preview())
        # There are fewer rows, and the selected one must stay in view.
        return states.select(turned, turned.index)
    if state.preview is None:
        return None
    if name == "escape" and not geometry.is_large(state):
        return attrs.evolve(state, preview=None)
    if name in ("tab", "shift+tab"):
        return attrs.evolve(state, preview=preview.turned(state.preview, 1 if name == "tab" else -1))
    steps = {
        "[": (-preview.KEY_LINES, 0),
        "]": (preview.KEY_LINES, 0),
        "left": (0, -preview.COLUMNS_A_KEY),
        "right": (0, preview.COLUMNS_A_KEY),
    }
    return _preview_moved(state, *steps[name]) if name in steps else None


def _preview_moved(state: State, lines: int, columns: int) -> State:
    """Return the state with the view of the preview moved, as far as it has lines."""
    shown = state.preview
    assert shown is not None
    count = len(preview.body(shown, state.row, geometry.side_columns(state)))
    height = max(0, geometry.areas(state).preview - 1)
    return attrs.evolve(state, preview=preview.scrolled(shown, lines, columns, count, height))


def _filter_key(state: State, name: str) -> tuple[State, Effects]:
    """Apply a key on the filter that is being typed: it moves the selection, ends the filter, or changes it."""
    if len(name) > 1 and (moved := _moved(state, name)) is not None:
        return moved, ()
    if name in ("escape", "enter", "tab"):
        kept = "" if name == "escape" else state.filter
        return states.filtering(attrs.evolve(state, mode=Mode.LIST), kept), ()
    text = editor.line_pressed(state.filter, name)
    return (state if text is None else states.filtering(state, text)), ()


def _answer_key(state: State, name: str) -> tuple[State, Effects]:
    """Apply a key on a question that has the screen: answer, scroll, or leave it."""
    row, shown = state.row, state.asking
    if name == "escape" or row is None:
        return states.listing(state), ()
    if name == "q":
        return state, (Plain.QUIT,)
    if state.run and name in ("enter", "backspace"):
        return flow.stepped(state, 1 if name == "enter" else -1), ()
    if shown is None:
        return states.notified(state, _UNREAD), ()
    if (step := _step(name, max(1, shown.height - 1), len(shown.lines))) is not None:
        if len(shown.lines) <= shown.height:
            return states.notified(state, "all of it is on the screen"), ()
        return attrs.evolve(state, asking=asking.scrolled(shown, step)), ()
    if state.run and name == "S":
        return state, (Gather(flow.alike(state), shown.question),)
    return (state, opening(row)) if shown.question.missing and name == "enter" else _silent(state, name)


def _answer_by_number(state: State, name: str, at: float, *, is_click: bool = False) -> tuple[State, Effects]:
    """Answer by a number if the question was on the screen whole; in the list, show the rest of it first."""
    too_soon, typed = flow.is_too_soon(state, at, is_click=is_click), attrs.evolve(state, typed_at=at)
    row, shown, is_page = state.row, state.asking, state.mode is not Mode.LIST
    if isinstance(state.proposal, SharedAnswer):
        return _answer_all(typed, state.proposal, name, too_soon)
    if row is None or not (is_page or state.asks(row)):
        return states.notified(typed, _asks_nothing(state, row)), ()
    if shown is None:
        return (states.notified(typed, _UNREAD), ()) if is_page else _open_question(typed, row)
    if not is_page and (not shown.is_whole or shown.question.missing):
        return states.asked(attrs.evolve(typed, asking=None), row, shown.question), ()
    choice = next((choice for choice in shown.question.choices if str(choice.number) == name), None)
    if choice is None:
        return states.notified(typed, _NO_CHOICE.format(name)), ()
    if problem := _problem(shown, choice, name, too_soon):
        return states.notified(typed, problem), ()
    after = attrs.evolve(typed, asking=None) if state.run else states.listing(typed)
    return attrs.evolve(after, read_question=question_id(row)), (Perform(row, shown.question.answer(choice.number)),)


def _asks_nothing(state: State, row: Row | None) -> str:
    """Return why a number answers nothing on *row*."""
    if row is None:
        return "no agent is selected"
    return "it is snoozed; a shows its question, s ends the snooze" if is_snoozed(row.pane, state.now) else _NO_QUESTION


def _problem(shown: asking.Asking, choice: Choice, name: str, too_soon: bool) -> str:
    """Return why this key does not take *choice*; "" if it does."""
    if shown.question.missing:
        return shown.question.missing
    if shown.unread:
        return f"read all of it first: scroll {shown.unread} more lines with up, down and the page keys"
    if not choice.keys:
        return "the keys for this choice are not known; press Esc, then Enter to go there"
    return _TOO_SOON.format(name) if too_soon else ""


def _answer_all(state: State, found: SharedAnswer, name: str, too_soon: bool) -> tuple[State, Effects]:
    """Give the same answer to several agents, each for its own screen as it was shown."""
    given = found.chosen(name)
    if not given:
        return states.notified(state, _NO_CHOICE.format(name)), ()
    if found.read < len(state.text):
        return states.notified(state, _READ_ALL), ()
    if too_soon:
        return states.notified(state, _TOO_SOON.format(name)), ()
    return states.listing(state), tuple(Perform(row, answer) for row, answer in given)


def _help_key(state: State, name: str) -> tuple[State, Effects]:
    """Apply a key on the help: search in it, scroll, or leave it."""
    if state.sought is None:
        return (states.helped(state, ""), ()) if name == "/" else _text_key(state, name)
    # Letters and blanks are the searched words.
    if len(name) > 1 and (moved := _scrolled(state, name)) is not None:
        return moved, ()
    if name == "backspace":
        return states.helped(state, state.sought[:-1]), ()
    return (states.helped(state, state.sought + name) if len(name) == 1 else states.listing(state)), ()


def _text_key(state: State, name: str) -> tuple[State, Effects]:
    """Take a key over a text, which may be a proposal: keys that do not scroll leave it."""
    proposal = state.proposal
    if (moved := _scrolled(state, name)) is not None:
        return moved, ()
    if name == "q":
        return state, (Plain.QUIT,)
    if proposal is None or isinstance(proposal, SharedAnswer):
        return states.listing(state), ()
    if name == proposal.act.key:
        # The same key again: a page of its own for all rows of the list.
        return states.listing(state), (Propose(proposal.act, state.shown),)
    return states.listing(state), ()


def _carry_out_proposal(state: State, found: Proposal, at: float) -> tuple[State, Effects]:
    """Carry out the proposal, once it was shown whole, and for as long as a question must be."""
    if found.read < len(state.text):
        return states.notified(state, _READ_ALL), ()
    if flow.is_too_soon(state, at):
        return states.notified(attrs.evolve(state, typed_at=at), _TOO_SOON.format("y")), ()
    return states.listing(attrs.evolve(state, typed_at=at)), (found,)


def _write_key(state: State, name: str) -> tuple[State, Effects]:
    """Apply a key on a text for an agent: edit it, send it, or leave it as a draft."""
    row, found = state.row, state.writing
    if name in ("escape", "ctrl+c") or row is None or found is None:
        return states.listing(state), ()
    if name == "enter":
        if not found.editor.text.strip():
            return states.notified(state, "there is nothing to send"), ()
        held, text = found.holder, found.editor.text
        later = DeferredText(held.pane, held.pid, held.start, text, found.at)
        asked = later if found.why else Say(held.pane, held.pid, held.start, text, enter=True)
        return state, (Perform(row, asked),)
    after = editor.pressed(found.editor, name)
    return (state if after is None else writing.edited(state, after)), ()


def _pasted(state: State, text: str) -> State:
    """Insert a paste where text is typed. It never acts as keys: nobody pressed them."""
    if state.naming is not None:
        return commands.named(state, state.naming.text + text)
    if state.mode is Mode.HELP:
        return state if state.sought is None else states.helped(state, state.sought + text)
    if state.writing is None:
        return states.filtering(state, state.filter + text) if state.mode is Mode.FILTER else state
    before = state.writing.editor
    state = writing.edited(state, editor.inserted(before, text))
    if editor.has_room(before, text):
        return state
    return states.notified(state, f"a text has at most {MAX_TYPED} characters; the rest of what you pasted is left out")


def _scrolled(state: State, name: str) -> State | None:
    """Return the text over the list scrolled by the key *name*; None if it does not scroll."""
    step = _step(name, max(1, geometry.areas(state).rows - 1), MAX_SCROLLED_LINES)
    return states.scrolled(state, step) if step is not None else None


def _step(name: str, page: int, all_: int) -> int | None:
    """Return by how many lines the key *name* scrolls a text of *all_* lines; None if it does not."""
    steps = {
        "up": -1, "k": -1, "down": 1, "j": 1, "page_up": -page, "page_down": page, " ": page,
        **dict.fromkeys(("home", "g"), -all_), **dict.fromkeys(("end", "G"), all_),
    }  # fmt: skip
    return steps.get(name)


_KEYS: dict[Mode, Callable[[State, str], tuple[State, Effects]]] = {
    Mode.LIST: _list_key,
    Mode.FILTER: _filter_key,
    Mode.ANSWER: _answer_key,
    Mode.NAME: commands.name_key,
    Mode.TEXT: _text_key,
    Mode.HELP: _help_key,
    Mode.CONFIRM: _text_key,
}


def _moved(state: State, name: str) -> State | None:
    """Return the state with the selection moved, if the key moves it."""
    step = _step(name, max(1, geometry.in_view(state) - 1), len(state.shown))
    return None if step is None else states.select(state, state.index + step)


def _open_question(state: State, row: Row) -> tuple[State, Effects]:
    """Open the question of *row* as a page, or explain why it cannot be answered here."""
    if not flow.can_ask(row):
        return states.notified(state, flow.ELSEWHERE), ()
    # Its host decides whether there is a question, by the screen of this moment. Its snapshot is older: it may still
    # show a working agent while the first picture has shown the question already.
    return state, (Perform(row, LookRequest(row.pane.id, QUESTION)),)


def _unqueue(state: State, row: Row) -> tuple[State, Effects]:
    """Cancel the text that is queued for *row*."""
    if not row.pane.queue.text:
        return states.notified(state, "nothing is queued for it; e writes to it"), ()
    return state, (Perform(row, Unqueue(row.pane.id)),)


def _toggle_fold(state: State) -> tuple[State, Effects]:
    """Show the idle rows that are folded into one line, or fold them again."""
    if not state.folded and not state.is_open:
        return states.notified(state, "the idle ones are shown already"), ()
    return states.filtered(attrs.evolve(state, is_open=not state.is_open)), ()


#: The keys that need no row.
_OF_THE_LIST: dict[str, Callable[[State], tuple[State, Effects]]] = {
    "escape": _step_back,
    "q": lambda state: (state, (Plain.QUIT,)),
    "/": lambda state: (attrs.evolve(state, mode=Mode.FILTER), ()),
    "?": lambda state: (states.helped(state), ()),
    "A": lambda state: (flow.begun(state), ()),
    "o": _sort_next,
    "O": commands.group,
    "z": _toggle_fold,
}
#: The keys for the selected row.
_OF_A_ROW: dict[str, Callable[[State, Row], tuple[State, Effects]]] = {
    "enter": lambda state, row: (state, opening(row)),
    "a": _open_question,
    "E": _unqueue,
    "D": lambda state, row: (state, (Propose(Act.CLOSE, (row,)),)),
    "e": lambda state, row: (state, (Perform(row, LookRequest(row.pane.id, PROMPT_AGENT)),)),
    "f": lambda state, row: (state, opening(row, "fork")),
    "i": lambda state, row: (state, (Propose(Act.INTERRUPT, (row,)),)),
    "n": commands.naming,
    "r": lambda state, row: (state, opening(row, "resume")),
    "s": commands.snooze,
    "u": lambda state, row: (state, commands.mark_request(row, "unread")),
    "v": lambda state, row: (state, commands.mark_request(row, "seen")),
    "w": lambda state, _row: (state, (Plain.WHY,)),
}


# The mouse -------------------------------------------------------------------------------------------------------


def _mouse(state: State, event: Mouse, at: float) -> tuple[State, Effects]:
    """Apply a click or a turn of the wheel."""
    if event.what != "press":
        return _wheel(state, event, WHEEL_LINES if event.what == "wheel_down" else -WHEEL_LINES), ()
    if state.mode in OVER:
        return states.listing(state), ()
    if _is_in_preview(state, event) or state.mode in (Mode.WRITE, Mode.NAME):
        return state, ()
    if number := _number_at(state, event):
        return _answer_by_number(state, str(number), at, is_click=True)
    index = geometry.row_at(state, event.line, event.column)
    if index is None:
        return state, ()
    row = state.shown[index]
    if state.is_panel or row.address == state.selected:
        return states.select(state, index), opening(row)
    return states.select(states.listing(state), index), ()


def _wheel(state: State, event: Mouse, step: int) -> State:
    """Return the state after a turn of the wheel over the part at this place: a question, the preview, or the rows."""
    if state.asking is not None and state.mode is Mode.ANSWER:
        return attrs.evolve(state, asking=asking.scrolled(state.asking, step))
    if _is_in_preview(state, event):
        return _preview_moved(state, step, 0)
    if state.mode in (Mode.WRITE, Mode.NAME):
        return state
    return states.scrolled(state, step) if state.mode in OVER else states.wheeled(state, step)


def _number_at(state: State, event: Mouse) -> int:
    """Return the number of the answer at this place; 0 for none."""
    line, shown = geometry.detail_line(state, event.line, event.column), state.asking
    if line is None or shown is None or state.mode not in (Mode.LIST, Mode.ANSWER):
        return 0
    lines = [shown.lines[index] for index in shown.window]
    return lines[line].number if line < len(lines) else 0


def _is_in_preview(state: State, event: Mouse) -> bool:
    if not geometry.is_previewing(state):
        return False
    parts = geometry.areas(state)
    if geometry.is_beside(state):
        return event.column >= geometry.LIST_COLUMNS and event.line > parts.details
    return event.line > parts.rows + parts.details
