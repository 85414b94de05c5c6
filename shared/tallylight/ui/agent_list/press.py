"""
Press: what a key, a paste or the mouse makes of the list.

    state, effects = press(state, event)

What effects there are, `effects` says; they are for the loop to carry out. `help.HELP` names the keys.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from tallylight.actions.request import PROMPT_AGENT, QUESTION, DeferredText, Look, Unqueue
from tallylight.actions.say import MAX_TEXT, Say
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list import commands, editor, geometry, preview, writing
from tallylight.ui.agent_list import question as asking
from tallylight.ui.agent_list import state as states
from tallylight.ui.agent_list.effects import Effects, Perform, Plain, Propose, opening
from tallylight.ui.agent_list.filtering import Order, after
from tallylight.ui.agent_list.preview import Preview
from tallylight.ui.agent_list.record import OVER, Mode, State
from tallylight.ui.agent_list.selection import Act
from tallylight.ui.keys import Event, Focus, Mouse, Paste

#: Lines that a turn of the wheel moves.
WHEEL = 3
#: More than any text over the list has.
MAX_LINES = 100_000


def press(state: State, event: Event) -> tuple[State, Effects]:
    """A person pressed a key, pasted, used the mouse, or came to the list or left it."""
    if isinstance(event, Focus):
        return attrs.evolve(state, has_focus=event.is_in), ()
    state = attrs.evolve(state, message="")
    effects: Effects = ()
    if isinstance(event, Mouse):
        state, effects = _mouse(state, event)
    elif isinstance(event, Paste):
        state = _pasted(state, event.text)
    elif state.mode is Mode.WRITE:
        state, effects = _write_key(state, event.name)
    elif event.name == "ctrl+c":
        effects = (Plain.QUIT,)
    else:
        state, effects = _KEYS[state.mode](state, "enter" if event.name == "ctrl+j" else event.name)
    return states.followed(state), effects


# Keys ------------------------------------------------------------------------------------------------------------


def _list_key(state: State, name: str) -> tuple[State, Effects]:
    if (moved := _moved(state, name) if name != " " else None) is not None:
        return moved, ()
    if (shown := _preview_key(state, name)) is not None:
        return shown, ()
    if (change := _OF_THE_LIST.get(name)) is not None:
        return change(state)
    command = _OF_A_ROW.get(name)
    if command is None:
        return state, ()
    return command(state, state.row) if state.row is not None else (states.notified(state, "no agent is selected"), ())


def _escaped(state: State) -> tuple[State, Effects]:
    """One step back: from the filter, from the list."""
    if state.filter:
        return states.filtering(state, ""), ()
    return state, (Plain.BACK if state.is_panel else Plain.QUIT,)


def _resorted(state: State) -> tuple[State, Effects]:
    order = after(state.order, tuple(Order))
    return states.notified(states.filtered(attrs.evolve(state, order=order)), f"sorted by {order.value}"), ()


def _preview_key(state: State, name: str) -> State | None:
    """The state after a key that opens, closes, turns or moves the preview; None for any other."""
    if name == " ":
        turned = attrs.evolve(state, preview=None if state.preview is not None else Preview())
        # There are fewer rows, and the selected one is still to be seen.
        return states.select(turned, turned.index)
    if state.preview is None:
        return None
    if name == "escape":
        return attrs.evolve(state, preview=None)
    if name in ("tab", "shift+tab"):
        return attrs.evolve(state, preview=preview.turned(state.preview, 1 if name == "tab" else -1))
    steps = {
        "[": (-preview.LINES, 0), "]": (preview.LINES, 0), "left": (0, -preview.COLUMNS), "right": (0, preview.COLUMNS)
    }  # fmt: skip
    return _preview_moved(state, *steps[name]) if name in steps else None


def _preview_moved(state: State, lines: int, columns: int) -> State:
    """The view of the preview moved, as far as there is anything to see."""
    shown = state.preview
    assert shown is not None
    count = len(preview.body(shown, state.row, geometry.preview_columns(state)))
    height = max(0, geometry.areas(state).preview - 1)
    return attrs.evolve(state, preview=preview.scrolled(shown, lines, columns, count, height))


def _filter_key(state: State, name: str) -> tuple[State, Effects]:
    if len(name) > 1 and (moved := _moved(state, name)) is not None:
        return moved, ()
    if name in ("escape", "enter", "tab"):
        kept = "" if name == "escape" else state.filter
        return states.filtering(attrs.evolve(state, mode=Mode.LIST), kept), ()
    text = editor.line_pressed(state.filter, name)
    return (state if text is None else states.filtering(state, text)), ()


def _answer_key(state: State, name: str) -> tuple[State, Effects]:
    row, shown = state.row, state.asking
    if name in ("escape", "q") or row is None or shown is None:
        return states.listing(state), ()
    if (step := _step(name, max(1, shown.height - 1), len(shown.lines))) is not None:
        return attrs.evolve(state, asking=asking.scrolled(shown, step)), ()
    if shown.question.missing:
        if name == "enter":
            return state, opening(row)
        return states.notified(state, shown.question.missing), ()
    choice = next((choice for choice in shown.question.choices if str(choice.number) == name), None)
    if choice is None:
        return state, ()
    if shown.unread:
        return states.notified(
            state, f"read all of it first: scroll {shown.unread} more lines with up, down and the page keys"
        ), ()
    if not choice.keys:
        return states.notified(state, "the keys for this choice are not known; press Esc, then Enter to go there"), ()
    return states.listing(state), (Perform(row, shown.question.answer(choice.number)),)


def _help_key(state: State, name: str) -> tuple[State, Effects]:
    # Letters and blanks are what is looked for.
    if len(name) > 1 and (moved := _scrolled(state, name)) is not None:
        return moved, ()
    if name == "backspace":
        return states.helped(state, state.sought[:-1]), ()
    return (states.helped(state, state.sought + name) if len(name) == 1 else states.listing(state)), ()


def _text_key(state: State, name: str) -> tuple[State, Effects]:
    """Over a text, which may be a proposal: any other key leaves it."""
    proposal = state.proposal
    if (moved := _scrolled(state, name)) is not None:
        return moved, ()
    if proposal is not None and name == proposal.act.key:
        # The same key again: all that the list shows, which is a page to be read of its own.
        return states.listing(state), (Propose(proposal.act, state.shown),)
    if name != "y" or proposal is None:
        return states.listing(state), ()
    if proposal.read < len(state.text):
        return states.notified(state, "read all of it first: scroll with up, down and the page keys"), ()
    return states.listing(state), (proposal,)


def _write_key(state: State, name: str) -> tuple[State, Effects]:
    row, found = state.row, state.writing
    if name in ("escape", "ctrl+c") or row is None or found is None:
        return states.listing(state), ()
    if name == "enter":
        if not found.editor.text.strip():
            return states.notified(state, "there is nothing to send"), ()
        held, text = found.holder, found.editor.text
        later = DeferredText(held.pane, held.pid, held.start, text)
        asked = later if found.why else Say(held.pane, held.pid, held.start, text, enter=True)
        return state, (Perform(row, asked),)
    after = editor.pressed(found.editor, name)
    return (state if after is None else writing.edited(state, after)), ()


def _pasted(state: State, text: str) -> State:
    """Never as commands: what is pasted was not pressed."""
    if state.naming is not None:
        return commands.named(state, state.naming.text + text)
    if state.mode is Mode.HELP:
        return states.helped(state, state.sought + text)
    if state.writing is None:
        return states.filtering(state, state.filter + text) if state.mode is Mode.FILTER else state
    before = state.writing.editor
    state = writing.edited(state, editor.inserted(before, text))
    if editor.has_room(before, text):
        return state
    return states.notified(state, f"a text has at most {MAX_TEXT} characters; the rest of what you pasted is left out")


def _scrolled(state: State, name: str) -> State | None:
    """A text over the list scrolled by the key *name*; None if it does not scroll."""
    step = _step(name, max(1, geometry.areas(state).rows - 1), MAX_LINES)
    return states.scrolled(state, step) if step is not None else None


def _step(name: str, page: int, all_: int) -> int | None:
    """By how many lines the key *name* scrolls a text of *all_* lines; None if it does not."""
    steps = {
        "up": -1, "k": -1, "down": 1, "j": 1, "page_up": -page, "page_down": page, " ": page, "home": -all_, "end": all_
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
    Mode.WEEK: _text_key,
}


def _moved(state: State, name: str) -> State | None:
    """The selection moved, if the key moves it."""
    step = _step(name, max(1, geometry.in_view(state) - 1), len(state.shown))
    return None if step is None else states.select(state, state.index + step)


def _answering(state: State, row: Row) -> tuple[State, Effects]:
    if not row.is_own and not row.pane.attach and not row.host.startswith(("wezterm-", "machines-")):
        return states.notified(state, "this pane can be answered only in its own terminal; press Enter to go there"), ()
    # Whether there is a question its host says, which knows the screen of this moment. What it wrote of it last, and we
    # have read, is older: it may still say that the agent works while the first picture has shown the question already.
    return state, (Perform(row, Look(row.pane.id, QUESTION)),)


def _unqueueing(state: State, row: Row) -> tuple[State, Effects]:
    if not row.pane.queued:
        return states.notified(state, "nothing is queued for it; e writes to it"), ()
    return state, (Perform(row, Unqueue(row.pane.id)),)


#: The keys that need no row.
_OF_THE_LIST: dict[str, Callable[[State], tuple[State, Effects]]] = {
    "escape": _escaped,
    "q": lambda state: (state, (Plain.QUIT,)),
    "/": lambda state: (attrs.evolve(state, mode=Mode.FILTER), ()),
    "?": lambda state: (states.helped(state), ()),
    "o": _resorted,
    "g": commands.group,
    "t": lambda state: (attrs.evolve(state, mode=Mode.WEEK, week=None, scroll=0), (Plain.LOOK_BACK,)),
}
#: The keys that are for the selected row.
_OF_A_ROW: dict[str, Callable[[State, Row], tuple[State, Effects]]] = {
    "enter": lambda state, row: (state, opening(row)),
    "a": _answering,
    "E": _unqueueing,
    "D": lambda state, row: (state, (Propose(Act.CLOSE, (row,)),)),
    "e": lambda state, row: (state, (Perform(row, Look(row.pane.id, PROMPT_AGENT)),)),
    "f": lambda state, row: (state, opening(row, "fork")),
    "i": lambda state, row: (state, (Propose(Act.INTERRUPT, (row,)),)),
    "n": commands.naming,
    "r": lambda state, row: (state, opening(row, "resume")),
    "s": lambda state, row: (state, commands.snoozing(row, state.now)),
    "u": lambda state, row: (state, commands.marking(row, "unread")),
    "v": lambda state, row: (state, commands.marking(row, "seen")),
    "w": lambda state, _row: (state, (Plain.WHY,)),
}


# The mouse -------------------------------------------------------------------------------------------------------


def _mouse(state: State, event: Mouse) -> tuple[State, Effects]:
    if event.what != "press":
        step = WHEEL if event.what == "wheel_down" else -WHEEL
        if state.asking is not None:
            return attrs.evolve(state, asking=asking.scrolled(state.asking, step)), ()
        if _is_in_preview(state, event):
            return _preview_moved(state, step, 0), ()
        if state.mode in (Mode.WRITE, Mode.NAME):
            return state, ()
        return (states.scrolled(state, step) if state.mode in OVER else states.wheeled(state, step)), ()
    if state.mode in OVER:
        return states.listing(state), ()
    if _is_in_preview(state, event) or state.mode in (Mode.WRITE, Mode.NAME):
        return state, ()
    index = geometry.row_at(state, event.line)
    if index is None:
        return state, ()
    row = state.shown[index]
    if state.mode is not Mode.ANSWER and (state.is_panel or row.address == state.selected):
        return states.select(state, index), opening(row)
    return states.select(states.listing(state), index), ()


def _is_in_preview(state: State, event: Mouse) -> bool:
    if not geometry.is_previewing(state):
        return False
    parts = geometry.areas(state)
    if geometry.is_beside(state):
        return event.column >= geometry.list_columns(state) and 1 <= event.line <= parts.preview
    return parts.rows < event.line <= parts.rows + parts.preview
