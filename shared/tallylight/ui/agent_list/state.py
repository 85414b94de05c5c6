"""
State: what the list shows, and what a key, the mouse, new snapshots or the clock make of it.

    state, effects = press(state, event)        a key, a paste or the mouse
    state = resized(state, columns, lines)
    state = refreshed(state, rows, now)         new snapshots, or only later
    state = told(state, "…")                    what came of an effect

What effects there are, `effects` says; they are for the loop to carry out. Times are seconds since the epoch.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

import attrs

from tallylight.actions.answer import Question
from tallylight.model.status import Status
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list import question as asking
from tallylight.ui.agent_list.effects import Answer, Ask, Effects, Fork, Go, Look, Quit, Resume, Why
from tallylight.ui.agent_list.question import Asking
from tallylight.ui.keys import Event, Key, Mouse, Paste
from tallylight.wire.text import sanitise

#: Of a filter, in characters.
MAX_FILTER = 100
#: Lines that a turn of the wheel moves.
WHEEL = 3
#: From this many lines of details on there is a rule above them.
ROOMY = 4


class Mode(enum.Enum):
    """What keys mean at the moment."""

    LIST = "list"
    FILTER = "filter"
    ANSWER = "answer"
    #: A text over the whole list: an explanation, or the help.
    TEXT = "text"


@attrs.frozen(kw_only=True)
class State:
    """All that decides what is drawn."""

    columns: int = 80
    lines: int = 24
    rows: tuple[Row, ...] = ()
    #: Those of *rows* that the filter lets through.
    shown: tuple[Row, ...] = ()
    #: The address of the selected row; nothing where there is none.
    selected: str = ""
    #: The first row that is drawn.
    top: int = 0
    filter: str = ""
    mode: Mode = Mode.LIST
    #: What mode TEXT shows, from the line *scroll* on.
    title: str = ""
    text: tuple[str, ...] = ()
    scroll: int = 0
    #: The question that is being answered; the address of its pane, for two agents may ask the very same; and the
    #: status and the prompt that the pane's host had told then, which may be older than what stood on the screen.
    asking: Asking | None = None
    asker: str = ""
    known: tuple[Status, str] | None = None
    #: What there is to tell the person; until the next key.
    message: str = ""
    now: float = 0.0

    @property
    def index(self) -> int:
        """Where the selected row stands among those shown; 0 if there is none."""
        return next((index for index, row in enumerate(self.shown) if row.address == self.selected), 0)

    @property
    def row(self) -> Row | None:
        """The selected row."""
        return self.shown[self.index] if self.shown else None


@attrs.frozen
class Areas:
    """How many lines each part has: a head of one, rows, a rule and the details of the selected one, a foot of one."""

    rows: int
    details: int


def areas(state: State) -> Areas:
    """Part the lines: on a small screen there are fewer details, so that rows remain."""
    middle = max(0, state.lines - 2)
    if state.mode is Mode.TEXT:
        return Areas(middle, 0)
    if state.mode is Mode.ANSWER and state.asking is not None:
        # A rule, what is asked, and the answers; the selected row stays if it can, to show whom it is about.
        wanted = min(1 + len(state.asking.lines), max(min(1, middle), middle - 1))
        return Areas(middle - wanted, wanted)
    details = min(5, middle // 3)
    return Areas(middle - details, details)


def _sized(state: State) -> State:
    """The question as far as there is room for it."""
    if state.asking is None:
        return state
    # How many lines there are decides how many can be drawn.
    state = attrs.evolve(state, asking=asking.sized(state.asking, state.columns, state.asking.height))
    assert state.asking is not None
    details = areas(state).details
    return attrs.evolve(state, asking=asking.sized(state.asking, state.columns, details - (details >= ROOMY)))


# What happens ----------------------------------------------------------------------------------------------------


def resized(state: State, columns: int, lines: int) -> State:
    """The screen has this many cells."""
    return _settled(_sized(attrs.evolve(state, columns=max(1, columns), lines=max(1, lines))))


def refreshed(state: State, rows: tuple[Row, ...], now: float) -> State:
    """These are the rows *now*, in order."""
    state = _filtered(attrs.evolve(state, rows=rows, now=now))
    if state.asking is not None:
        row = state.row
        if row is None or row.address != state.asker or not _still_asks(state, row.pane):
            state = told(_listing(state), "that question is gone")
    return state


def _still_asks(state: State, pane: Pane) -> bool:
    """Whether all that the host tells of *pane* can be about the prompt that is being answered, or from before it."""
    assert state.asking is not None
    if (pane.status, pane.prompt) == state.known:
        return True
    return pane.status is Status.WAITING and pane.prompt in ("", state.asking.question.prompt)


def asked(state: State, row: Row, question: Question) -> State:
    """Show *question*, that was read in the pane of *row*, if that is still what is selected."""
    if state.mode is not Mode.LIST or state.selected != row.address:
        return state
    shown = asking.opened(question, state.columns)
    known = (row.pane.status, row.pane.prompt)
    state = attrs.evolve(state, mode=Mode.ANSWER, asking=shown, asker=row.address, known=known)
    return _settled(_sized(state))


def drawn(state: State) -> State:
    """What `draw` made of *state* stands on the screen: the person can have seen it."""
    if state.asking is None or (found := asking.drawn(state.asking)) is state.asking:
        return state
    return attrs.evolve(state, asking=found)


def told(state: State, message: str) -> State:
    """Tell the person *message*."""
    return attrs.evolve(state, message=message)


def explained(state: State, title: str, text: tuple[str, ...]) -> State:
    """Show *text* in place of the list."""
    return attrs.evolve(state, mode=Mode.TEXT, title=title, text=text, scroll=0)


def press(state: State, event: Event) -> tuple[State, Effects]:
    """A person pressed a key, pasted, or used the mouse."""
    state = attrs.evolve(state, message="")
    if isinstance(event, Mouse):
        return _mouse(state, event)
    if isinstance(event, Paste):
        # Never as commands: what is pasted was not pressed.
        return (_typed(state, event.text) if state.mode is Mode.FILTER else state), ()
    if event.name == "ctrl+c":
        return state, (Quit(),)
    return _KEYS[state.mode](state, event)


# Keys ------------------------------------------------------------------------------------------------------------


def _list_key(state: State, key: Key) -> tuple[State, Effects]:
    if (moved := _moved(state, key.name, {"j": "down", "k": "up"})) is not None:
        return moved, ()
    if key.name == "escape" and state.filter:
        return _filtered(attrs.evolve(state, filter="")), ()
    if key.name in ("q", "escape"):
        return state, (Quit(),)
    if key.name == "/":
        return attrs.evolve(state, mode=Mode.FILTER), ()
    if key.name == "?":
        return explained(state, "keys", HELP), ()
    command = _COMMANDS.get(key.name)
    if command is None:
        return state, ()
    return command(state, state.row) if state.row is not None else (told(state, "no agent is selected"), ())


def _filter_key(state: State, key: Key) -> tuple[State, Effects]:
    if (moved := _moved(state, key.name, {})) is not None:
        return moved, ()
    if key.name == "escape":
        return _filtered(attrs.evolve(state, mode=Mode.LIST, filter="")), ()
    if key.name in ("enter", "tab"):
        return attrs.evolve(state, mode=Mode.LIST), ()
    if key.name == "backspace":
        return _filtered(attrs.evolve(state, filter=state.filter[:-1])), ()
    if key.name == "ctrl+u":
        return _filtered(attrs.evolve(state, filter="")), ()
    return (_typed(state, key.name) if len(key.name) == 1 else state), ()


def _answer_key(state: State, key: Key) -> tuple[State, Effects]:
    row, shown = state.row, state.asking
    if key.name in ("escape", "q") or row is None or shown is None:
        return _listing(state), ()
    if (step := _step(key.name, max(1, shown.height - 1), len(shown.lines))) is not None:
        return attrs.evolve(state, asking=asking.scrolled(shown, step)), ()
    if not (key.name.isascii() and key.name.isdigit()):
        return state, ()
    choice = next((choice for choice in shown.question.choices if str(choice.number) == key.name), None)
    if choice is None:
        return state, ()
    if shown.unread:
        return told(
            state, f"read all of it first: scroll {shown.unread} more lines with up, down and the page keys"
        ), ()
    if not choice.keys:
        return told(state, "the keys for this choice are not known; press Esc, then Enter to go there"), ()
    return _listing(state), (Answer(row, shown.question, choice.number),)


def _text_key(state: State, key: Key) -> tuple[State, Effects]:
    step = _step(key.name, max(1, areas(state).rows - 1), len(state.text))
    return (_scrolled(state, step) if step is not None else _listing(state)), ()


def _step(name: str, page: int, all_: int) -> int | None:
    """By how many lines the key *name* scrolls a text of *all_* lines; None if it does not."""
    steps = {
        "up": -1, "k": -1, "down": 1, "j": 1, "page_up": -page, "page_down": page, " ": page, "home": -all_, "end": all_
    }  # fmt: skip
    return steps.get(name)


_KEYS: dict[Mode, Callable[[State, Key], tuple[State, Effects]]] = {
    Mode.LIST: _list_key,
    Mode.FILTER: _filter_key,
    Mode.ANSWER: _answer_key,
    Mode.TEXT: _text_key,
}


def _moved(state: State, name: str, letters: dict[str, str]) -> State | None:
    """The selection moved, if the key moves it."""
    page = max(1, areas(state).rows - 1)
    steps = {
        "up": -1, "down": 1, "page_up": -page, "page_down": page, "home": -len(state.shown), "end": len(state.shown)
    }  # fmt: skip
    step = steps.get(letters.get(name, name))
    return None if step is None else _select(state, state.index + step)


def _answering(state: State, row: Row) -> tuple[State, Effects]:
    if not row.is_own and not row.pane.attach and not row.host.startswith("wezterm-"):
        return told(state, "this pane can be answered only in its own terminal; press Enter to go there"), ()
    # Whether there is a question its host says, which knows the screen of this moment. What it wrote of it last, and we
    # have read, is older: it may still say that the agent works while the first picture has shown the question already.
    return state, (Look(row),)


def _snoozing(state: State, row: Row) -> tuple[State, Effects]:
    # A second time takes it back.
    return state, (Ask(row, "snooze", ("0",) if row.pane.snoozed_until > state.now else ()),)


_COMMANDS: dict[str, Callable[[State, Row], tuple[State, Effects]]] = {
    "enter": lambda state, row: (state, (Go(row),)),
    "a": _answering,
    "f": lambda state, row: (state, (Fork(row),)),
    "r": lambda state, row: (state, (Resume(row),)),
    "s": _snoozing,
    "u": lambda state, row: (state, (Ask(row, "unread"),)),
    "w": lambda state, row: (state, (Why(row),)),
}

HELP: tuple[str, ...] = (
    "Enter     go there; or click twice",
    "a         answer its question here",
    "/         filter; Esc shows all again",
    "f         fork it into a new pane",
    "r         resume it after its agent has ended",
    "s         snooze it, or end the snooze",
    "u         mark it unread",
    "w         show why it has this light",
    "up, down  or k, j; page up, page down, home, end",
    "q, Esc    leave",
)


# The mouse -------------------------------------------------------------------------------------------------------


def _mouse(state: State, event: Mouse) -> tuple[State, Effects]:
    if event.what != "press":
        step = WHEEL if event.what == "wheel_down" else -WHEEL
        if state.asking is not None:
            return attrs.evolve(state, asking=asking.scrolled(state.asking, step)), ()
        return (_scrolled(state, step) if state.mode is Mode.TEXT else _wheeled(state, step)), ()
    if state.mode is Mode.TEXT:
        return _listing(state), ()
    index = state.top + event.line - 1
    if not 1 <= event.line <= areas(state).rows or index >= len(state.shown):
        return state, ()
    row = state.shown[index]
    if state.mode is not Mode.ANSWER and row.address == state.selected:
        return state, (Go(row),)
    return _select(_listing(state), index), ()


def _wheeled(state: State, step: int) -> State:
    """Move the view, and the selection only so far that it stays in it."""
    height = areas(state).rows
    top = max(0, min(state.top + step, len(state.shown) - height))
    index = max(top, min(state.index, top + height - 1))
    return _select(attrs.evolve(state, top=top), index)


def _scrolled(state: State, step: int) -> State:
    last = max(0, len(state.text) - areas(state).rows)
    return attrs.evolve(state, scroll=max(0, min(state.scroll + step, last)))


# What follows from what ------------------------------------------------------------------------------------------


def _listing(state: State) -> State:
    """Back to the list."""
    return _settled(attrs.evolve(state, mode=Mode.LIST, asking=None, asker="", known=None, title="", text=(), scroll=0))


def _typed(state: State, text: str) -> State:
    return _filtered(attrs.evolve(state, filter=(state.filter + sanitise(text))[:MAX_FILTER]))


def _select(state: State, index: int) -> State:
    if not state.shown:
        return state
    index = max(0, min(index, len(state.shown) - 1))
    return _settled(attrs.evolve(state, selected=state.shown[index].address))


def _filtered(state: State) -> State:
    """Apply the filter. The selection stays with its pane, or else with its place."""
    before = state.index
    shown = tuple(row for row in state.rows if row.has(state.filter)) if state.filter else state.rows
    state = attrs.evolve(state, shown=shown)
    if shown and not any(row.address == state.selected for row in shown):
        state = attrs.evolve(state, selected=shown[min(before, len(shown) - 1)].address)
    return _settled(state)


def _settled(state: State) -> State:
    """Keep the selected row in view, and no more empty lines below the last than need be."""
    height = areas(state).rows
    top = max(min(state.top, state.index, len(state.shown) - height), state.index - height + 1, 0)
    return state if top == state.top else attrs.evolve(state, top=top)
