"""
Narrow: the rows of a panel, from 24 columns on: mark, name and age; below what it is about; then tasks and context.

How many lines a row has, `geometry.height_of_row` says: as many as there is room for, and the same for all.
"""

from __future__ import annotations

from collections import Counter

from tallylight.model import lights
from tallylight.model.status import Status
from tallylight.snapshot.rows import NEEDS, Row, is_snoozed
from tallylight.snapshot.schema import Pane
from tallylight.ui import details
from tallylight.ui.agent_list.geometry import height_of_row, placed
from tallylight.ui.agent_list.record import State
from tallylight.ui.layout import age, clean, left, pad
from tallylight.ui.spans import Line, Span, filled
from tallylight.wire.text import width

#: Cells before the name: of the selection and the mark; and before the lines below it, where there is room to spare.
_BEFORE, _INDENT = 5, 5
_ROOMY = 32
#: Cells of the machine's name in front of it, at most.
_MACHINE = 12


def head(state: State) -> Line:
    """How many agents there are, and of what needs a person how many, by their marks."""
    total, counts = counted(state)
    spans = [Span(total, is_bold=True)]
    for status, count in counts.items():
        spans += [Span(" "), Span(f" {lights.mark(status)} {count} ", chip=status, is_bold=True)]
    return tuple(spans)


def counted(state: State) -> tuple[str, dict[Status, int]]:
    """How many agents there are, in words, and how many of each status that needs a person."""
    needy = Counter(row.pane.status for row in state.rows if not is_snoozed(row.pane, state.now))
    total = f"{len(state.rows)} agent{'' if len(state.rows) == 1 else 's'}"
    return total, {status: needy[status] for status in NEEDS if needy[status]}


def marked(row: Row, state: State, text: str, *, is_bold: bool) -> Line:
    """A row: whether it is selected; its mark; and *text*."""
    pane = row.pane
    is_selected, snoozed = state.has_focus and row.address == state.selected, is_snoozed(pane, state.now)
    return (
        Span("▸" if is_selected else " "),
        Span(
            f" {lights.mark(pane.status, pane.kind):<2}",
            chip=None if snoozed else pane.status,
            is_bold=pane.status in NEEDS and not snoozed,
        ),
        Span(" "),
        Span(text, is_bold=is_bold, is_reverse=is_selected),
    )


def rows(state: State, height: int) -> list[Line]:
    """*height* lines of rows."""
    if not state.shown:
        text = "none matches" if state.rows else "no agent runs"
        return filled([(), (Span(clean(f"  {text}", state.columns)),)], height)
    each = height_of_row(state)
    lines: list[Line] = []
    for heading, index in placed(state):
        lines += [heading_line(heading, state.columns)] if heading else _row(state.shown[index], state)[:each]
    return filled(lines, height)


def heading_line(heading: str, columns: int) -> Line:
    """The heading of a group, with a rule behind it."""
    text = clean(heading, columns)
    return (Span(text, is_bold=True), Span(f" {'─' * max(0, columns - width(text) - 1)}", is_dim=True))


def name_of(row: Row, *, with_machine: bool = True) -> str:
    """What the row is called, and in front of it the other machine that it is of."""
    before = f"{clean(row.machine, _MACHINE)}: " if with_machine and row.machine else ""
    return f"{before}{row.called}"


def _row(row: Row, state: State) -> list[Line]:
    pane = row.pane
    since = age(state.now - pane.since) if pane.since else ""
    room = max(1, state.columns - _BEFORE - width(since) - bool(since))
    name = clean(name_of(row), room)
    needs = pane.status in NEEDS and not is_snoozed(pane, state.now)
    title = f"{pad(name, room)} {since}" if since else pad(name, room)
    first = marked(row, state, title, is_bold=needs or pane.unread)
    indent = _INDENT if state.columns >= _ROOMY else 2
    # What a person needs to know most: until when it rests, what it asks, what it says.
    about = details.limit(pane, state.now) or details.says(pane) or pane.agent
    if is_snoozed(pane, state.now):
        about = f"snoozed {left(pane.snoozed_until - state.now)}"
    texts = [text for text in (about, _work(pane, state)) if text]
    below: list[Line] = [(Span(" " * indent + clean(text, max(1, state.columns - indent))),) for text in texts]
    return filled([first, *below], 3)


def _work(pane: Pane, state: State) -> str:
    """How far it is with what, and how full its context is."""
    is_busy = pane.status is not Status.WAITING
    doing = details.doing(pane, details.BAR if state.columns >= _ROOMY else 0, has_words=is_busy)
    full = details.context(pane)
    room = max(1, state.columns - _INDENT - width(full) - 2)
    return "  ".join(part for part in (clean(doing, room) if doing else "", full) if part)
