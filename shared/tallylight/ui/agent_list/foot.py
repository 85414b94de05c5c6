"""
Foot: the last line of the list, with the keys that apply now, or what there is to tell.
"""

from __future__ import annotations

from collections.abc import Callable

from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list.geometry import is_previewing
from tallylight.ui.agent_list.record import Mode, State
from tallylight.ui.layout import clean, end_of
from tallylight.ui.spans import Line, Span

_HINTS = {
    Mode.LIST: (
        "? help",
        "Enter go",
        "a answer",
        "/ filter",
        "Space preview",
        "e write",
        "o sort",
        "s snooze",
        "w why",
        "t week",
        "f fork",
        "r resume",
        "u unread",
        "n name",
        "g group",
        "v seen",
        "i interrupt",
        "D close",
        "q",
    ),
    Mode.WRITE: ("Enter send", "Alt+Enter new line", "Esc leave, the draft is kept"),
    Mode.FILTER: ("type to filter", "Enter keep", "Esc all"),
}


def line(state: State) -> Line:
    """The last line: what there is to tell, else the keys that do something to the selected row."""
    if state.naming is not None:
        typed = end_of(clean(state.naming.text), max(1, state.columns - 7))
        return (Span(clean(f"name: {typed}▏", state.columns), is_bold=True),)
    if state.message:
        return (Span(clean(state.message, state.columns), is_bold=True),)
    if not state.has_focus:
        return ()
    hints = ""
    for hint in _hints(state):
        longer = f"{hints}   {hint}" if hints else hint
        if len(longer) > state.columns:
            break
        hints = longer
    return (Span(hints),)


def _hints(state: State) -> tuple[str, ...]:
    if is_previewing(state) and state.mode is Mode.LIST:
        first, *more = _HINTS[Mode.LIST]
        return (first, "Tab page", "[ ] ← → move", "Space close", *(hint for hint in more if "Space" not in hint))
    if state.writing is not None and state.writing.why:
        return ("Enter queue", *_HINTS[Mode.WRITE][1:])
    if state.mode is Mode.LIST and state.row is not None:
        pane = state.row.pane
        return tuple(hint for hint in _HINTS[Mode.LIST] if hint[0] not in _APPLIES or _APPLIES[hint[0]](pane))
    return _HINTS.get(state.mode) or _answering(state)


#: Whether a key can do something to the selected pane, as far as its light says; those that are missing always can.
_APPLIES: dict[str, Callable[[Pane], bool]] = {
    "a": lambda pane: pane.status is Status.WAITING,
    "i": lambda pane: pane.status is Status.WORKING,
    "v": lambda pane: pane.status in (Status.DONE, Status.DOWN) or pane.unread,
    "e": lambda pane: pane.status not in (Status.WAITING, Status.DOWN),
    "r": lambda pane: pane.status is Status.DOWN,
    "u": lambda pane: not pane.unread,
}


def _answering(state: State) -> tuple[str, ...]:
    """What to press while a question is shown, and how much of it is not."""
    shown = state.asking
    if shown is None or not shown.height:
        return ("the window is too small to show it", "Esc leave")
    below = len(shown.lines) - shown.window.stop
    more = (f"… {below} more below",) if below else ()
    if shown.question.missing:
        return (*more, "Enter go there", "Esc leave")
    if shown.unread:
        return (f"… {shown.unread} to read: scroll", *more, "then a number answers", "Esc leave")
    return (*more, "a number answers", "Esc leave")


def of_text(state: State) -> str:
    """The last line below a text over the whole list."""
    if state.message:
        return state.message
    if state.mode is Mode.HELP:
        return "type to search   up, down: scroll   Esc: back"
    if state.proposal is not None:
        left = len(state.text) - state.proposal.read
        return (
            f"… {left} more lines to read: scroll   Esc: back"
            if left > 0
            else f"y {state.title.rstrip('?')}   {state.proposal.act.key} all rows   Esc: back"
        )
    return "up, down: scroll   any other key: back"
