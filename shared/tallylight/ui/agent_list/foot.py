"""
Foot: the last line of the list, with the keys that apply now, or a message.
"""

from __future__ import annotations

from collections.abc import Callable

from tallylight.model.status import Status
from tallylight.snapshot.schema import Pane
from tallylight.ui.agent_list import flow
from tallylight.ui.agent_list.geometry import is_large, is_previewing
from tallylight.ui.agent_list.record import OVER, Mode, State
from tallylight.ui.layout import clean, end_of
from tallylight.ui.spans import Line, Span, cells

#: A key and its effect.
Hint = tuple[str, str]
#: The hints that are always last, and never left out.
_LAST: tuple[Hint, ...] = (("?", "help"), ("q", "quit"))
_LIST: tuple[Hint, ...] = (
    ("Enter", "go"),
    ("1-9", "answer"),
    ("a", "whole question"),
    ("A", "answer all"),
    ("Space", "screen"),
    ("e", "write"),
    ("/", "find"),
    ("f", "fork"),
    ("r", "resume"),
    ("w", "why"),
    ("s", "snooze"),
    ("v", "seen"),
    ("i", "interrupt"),
    ("o", "sort"),
    ("u", "unread"),
    ("n", "name"),
    ("D", "close"),
)
_HINTS: dict[Mode, tuple[Hint, ...]] = {
    Mode.WRITE: (("Enter", "send"), ("Alt+Enter", "new line"), ("Esc", "leave, the draft is kept")),
    Mode.FILTER: (("Enter", "keep"), ("Esc", "show all")),
    Mode.TEXT: (("↑ ↓", "scroll"), ("Esc", "back"), *_LAST[1:]),
    Mode.HELP: (("/", "search"), ("↑ ↓", "scroll"), ("Esc", "back"), *_LAST[1:]),
}
_PREVIEW: tuple[Hint, ...] = (("Tab", "page"), ("[ ] ← →", "move"), ("Space", "close"))


def line(state: State) -> Line:
    """Return the last line: a message, else the keys that have an effect now."""
    if state.naming is not None:
        typed = end_of(clean(state.naming.text), max(1, state.columns - 7))
        return (Span(clean(f"name: {typed}▏", state.columns), is_bold=True),)
    if state.message:
        return (Span(clean(f" {state.message}", state.columns), is_bold=True),)
    return _drawn(_hints(state), state.columns) if state.has_focus else ()


def _drawn(hints: tuple[Hint, ...], columns: int) -> Line:
    """Return as many of *hints* as fit; the last ones stay, the others go from the right."""
    last = tuple(hint for hint in hints if hint in _LAST)
    others = [hint for hint in hints if hint not in last]

    def spans() -> Line:
        return tuple(
            span
            for number, (key, word) in enumerate((*others, *last))
            for span in (Span("   " if number else " "), Span(key, is_bold=True), Span(f" {word}", is_dim=True))
        )

    while others and cells(spans()) > columns:
        others.pop()
    return spans()


def _hints(state: State) -> tuple[Hint, ...]:
    if state.writing is not None and state.writing.why:
        return (("Enter", "queue"), *_HINTS[Mode.WRITE][1:])
    if state.mode is Mode.LIST:
        return (*_list_hints(state), *_LAST)
    if state.mode is Mode.ANSWER:
        return _answer_hints(state)
    if state.mode is Mode.HELP and state.sought is not None:
        return (("type", "to search"), ("Esc", "back"))
    if state.proposal is not None:
        unread = len(state.text) - state.proposal.read
        first = ((f"{unread} more lines", "to read: scroll"),) if unread > 0 else state.proposal.hints
        return (*first, ("Esc", "back"))
    return _HINTS.get(state.mode, _HINTS[Mode.TEXT] if state.mode in OVER else ())


def _list_hints(state: State) -> tuple[Hint, ...]:
    """Return the keys that have an effect on the selected row."""
    row = state.row
    if row is None:
        return ()
    hints = [hint for hint in _LIST if hint[0] not in _APPLIES or _APPLIES[hint[0]](row.pane)]
    left_out = {"A"} if sum(map(flow.can_ask, state.waiting)) < 2 else set()
    is_part = state.asking is not None and state.asking.question.missing
    choices = min(9, len(row.pane.choices)) if flow.can_ask(row) and not is_part else 0
    left_out |= set() if choices else {"1-9"}
    hints = [hint for hint in hints if hint[0] not in left_out]
    hints = [(f"1-{choices}", word) if key == "1-9" and choices else (key, word) for key, word in hints]
    return _with_preview(state, tuple(hints))


def _with_preview(state: State, hints: tuple[Hint, ...]) -> tuple[Hint, ...]:
    """Return *hints* with those of an open preview: first, but last where it is always open."""
    if not is_previewing(state):
        return hints
    others = tuple(hint for hint in hints if hint[0] != "Space")
    return (*others, *_PREVIEW) if is_large(state) else (*_PREVIEW, *others)


#: Whether a key has an effect on a pane with this light; keys that are missing here always have.
_APPLIES: dict[str, Callable[[Pane], bool]] = {
    "1-9": lambda pane: pane.status is Status.WAITING,
    "a": lambda pane: pane.status is Status.WAITING,
    "i": lambda pane: pane.status is Status.WORKING,
    "v": lambda pane: pane.status in (Status.DONE, Status.DOWN) or pane.attention.unread,
    "e": lambda pane: pane.status not in (Status.WAITING, Status.DOWN),
    "r": lambda pane: pane.status is Status.DOWN,
    "u": lambda pane: not pane.attention.unread,
}


def _answer_hints(state: State) -> tuple[Hint, ...]:
    """Return the keys while a question has the screen, and how many of its lines have not been seen."""
    shown = state.asking
    others: tuple[Hint, ...] = (("Esc", "leave"), *_LAST[1:])
    if state.run:
        alike = len(flow.alike(state))
        same = (("S", f"the same for all {alike}"),) if alike > 1 else ()
        others = (*same, ("Enter", "skip"), others[0], ("Backspace", "back"), *others[1:])
    if shown is None:
        return others
    if not shown.height:
        return (("", "the window is too small to show it"), *others)
    if shown.question.missing:
        return others if state.run else (("Enter", "go there"), *others)
    if shown.unread:
        return ((f"{shown.unread} more lines", "to read: scroll"), *others)
    numbers = min(9, len(shown.question.choices))
    return ((f"1-{numbers}" if numbers > 1 else "1", "answer"), *others)
