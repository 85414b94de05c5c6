"""The rows of the list as lines. A row that needs a person is bold, a working one is plain, an idle one is dim."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import attrs

from tallylight.model import lights
from tallylight.model.status import Status
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.ui import details
from tallylight.ui.agent_list import geometry, table
from tallylight.ui.agent_list.record import State
from tallylight.ui.layout import GAP, age, clean, folded, pad
from tallylight.ui.spans import Line, Span, filled
from tallylight.ui.spans import cells as cells_of
from tallylight.wire.text import width

#: The word for each light in the head and in the line below the rows.
WORDS = {
    Status.WAITING: "wait",
    Status.ERROR: "failed",
    Status.DOWN: "ended",
    Status.DONE: "done",
    Status.LIMITED: "limited",
    Status.QUIET: "quiet",
    Status.WORKING: "working",
    Status.BACKGROUND: "background",
    Status.IDLE: "idle",
}


#: Cells of the mark and the blank behind it, in a panel.
_PANEL_MARK_CELLS = 4


_NO_MATCH = ("No agent matches.", "Esc shows all.")
_BEGIN = (
    "No agent runs yet.",
    "",
    "Start one in any tab, such as claude or codex.",
    "It appears here by itself.",
    "",
    "Is one running already? Run tally doctor.",
)


@attrs.frozen
class RowStyle:
    """The look of a row's name, and whether its text is dim."""

    chip: Status | None = None
    is_bold: bool = False
    is_dim: bool = False
    is_text_dim: bool = False


def style_of(row: Row, state: State) -> RowStyle:
    """Return how *row* is drawn: filled if it needs a person, bold for news, dim if it is snoozed or idle."""
    pane = row.pane
    if table.needs_person(row, state.now):
        return RowStyle(pane.status, is_bold=True)
    if pane.status is Status.LIMITED and not is_snoozed(pane, state.now):
        return RowStyle(pane.status)
    if is_snoozed(pane, state.now) or (pane.status is Status.IDLE and not pane.attention.unread):
        return RowStyle(is_dim=True, is_text_dim=True)
    is_news = pane.status is Status.DONE or pane.attention.unread
    return RowStyle(is_bold=is_news, is_text_dim=not is_news)


def mark_of(row: Row, state: State) -> Span:
    """Return the mark of *row*, in three cells."""
    pane = row.pane
    chip = None if is_snoozed(pane, state.now) else pane.status
    is_bold = chip in lights.FILLED or chip is Status.DONE
    mark = lights.mark(pane.status, pane.kind) + (lights.COLLISION if pane.collides else "")
    return Span(f" {mark[:2]:<2}", chip=chip, is_mark=True, is_bold=is_bold, is_dim=not chip)


def aged(row: Row, state: State) -> str:
    """Return how long *row* has had its light."""
    return age(state.now - row.pane.since) if row.pane.since else ""


def draw(state: State, height: int) -> list[Line]:
    if not state.shown and not state.folded:
        return filled(_nothing(state), height)
    each = geometry.drawn_heights(state)
    wide = geometry.list_columns(state)
    columns = table.table(state, wide, is_roomy=bool(each))
    lines: list[Line] = []
    for heading, index in geometry.placed(state):
        if heading:
            lines.append(_heading(heading, wide))
        elif geometry.is_narrow(state):
            lines += _narrow(state.shown[index], state, each[index] if each else 1)
        else:
            lines += _row(state.shown[index], state, columns, each[index] if each else 1)
    below = state.shown[state.top + geometry.in_view(state) :]
    if (below or state.top) and len(lines) < height - bool(state.folded):
        lines += [()] * (geometry.capacity(state) - len(lines))
        lines.append((Span(clean(f"{' ' * table.BEFORE_NAME_CELLS}{_more(state, below)}", wide), is_dim=True),))
    if state.folded:
        lines.append(_fold(state))
    return filled(lines, height)


def _row(row: Row, state: State, columns: table.Table, height: int) -> list[Line]:
    is_selected = state.has_focus and row.address == state.selected
    look, is_needy = style_of(row, state), table.needs_person(row, state.now)
    said = table.row_text(row, state)
    on = functools.partial(_row_span, is_selected)
    name = f" {pad(clean(table.name_of(row), columns.name), columns.name)}"
    cells = [f"{aged(row, state):>{table.AGE_CELLS}}"]
    cells += [pad(clean(row.pane.agent, columns.agent), columns.agent)] if columns.agent else []
    cells += [pad(table.branch_of(row, state), columns.branch)] if columns.branch else []
    before: Line = (
        on("▸" if is_selected else " "),
        attrs.evolve(mark_of(row, state), is_raised=is_selected, is_reverse=is_selected),
        on(name, chip=look.chip, is_bold=look.is_bold, is_dim=look.is_dim),
        on(" "),
    )
    behind: Line = (
        on(cells[0], is_dim=not is_needy),
        on("".join(f"{GAP}{cell}" for cell in cells[1:]), is_dim=True),
    )
    lines: list[Line] = []
    for text in table.lines_of(said, columns.row_text, height):
        more = f"{GAP}{said.behind}" if said.behind and width(text) + width(said.behind) + 2 <= columns.row_text else ""
        rest = more + " " * (columns.row_text - width(text) - width(more))
        lines.append((*before, on(text, is_bold=is_needy, is_dim=look.is_text_dim), on(rest, is_dim=True), *behind))
        before, behind = (on(" " * cells_of(before)),), (on(" " * cells_of(behind)),)
    return lines


def _narrow(row: Row, state: State, height: int) -> list[Line]:
    """Return a row of a panel: its mark, its name and its age; below, if there is room, its question."""
    is_selected = state.has_focus and row.address == state.selected
    look, is_needy = style_of(row, state), table.needs_person(row, state.now)
    since = details.time_left(row.pane, state.now) or aged(row, state)
    on = functools.partial(_row_span, is_selected)
    room = max(1, state.columns - _PANEL_MARK_CELLS)
    name = clean(table.name_of(row), max(1, room - width(since) - 2))
    first: Line = (
        mark_of(row, state),
        on("▸" if is_selected else " ", chip=look.chip),
        on(name + " " * is_needy, chip=look.chip, is_bold=look.is_bold, is_dim=look.is_dim),
        on(" " * max(0, room - width(name) - is_needy - width(since))),
        on(since, is_dim=not is_needy),
    )
    if height < 2:
        return [first]
    return [first, (Span(" " * _PANEL_MARK_CELLS), Span(table.row_text(row, state).cut(room), is_dim=True))]


def _row_span(is_selected: bool, text: str, **look: Any) -> Span:
    """Return a piece of a row, on a ground of its own where the row is selected."""
    return Span(text, is_raised=is_selected, is_reverse=is_selected and look.get("chip") is None, **look)


def _heading(heading: str, columns: int) -> Line:
    """Return the heading of a group, with a rule behind it."""
    text = clean(heading, columns)
    return (Span(text, is_bold=True), Span(f" {'─' * max(0, columns - width(text) - 1)}", is_dim=True))


def _more(state: State, below: tuple[Row, ...]) -> str:
    """Return how many rows have no room, below and above."""
    counts = Counter(row.pane.status for row in below)
    words = ", ".join(f"{counts[status]} {word}" for status, word in WORDS.items() if counts[status])
    above = f"↑ {state.top} above" if state.top else ""
    return GAP.join(part for part in (f"↓ {len(below)} more: {words}" if below else "", above) if part)


def _fold(state: State) -> Line:
    """Return the line of the folded idle rows."""
    is_narrow = geometry.is_narrow(state)
    hint = "" if is_narrow else f"{GAP}z opens"
    names = ", ".join(clean(row.called, table.MAX_NAME_CELLS) for row in state.folded)
    text = f"{len(state.folded)} idle: {names}"
    room = max(1, geometry.list_columns(state) - (table.BEFORE_NAME_CELLS - is_narrow) - len(hint))
    return (Span(f"{'' if is_narrow else ' '} ·  ", is_dim=True), Span(clean(text, room) + hint, is_dim=True))


def _nothing(state: State) -> list[Line]:
    """Return the message that there is no row, and how to begin."""
    texts = _NO_MATCH if state.rows else _BEGIN
    lines: list[Line] = [()]
    for number, text in enumerate(texts):
        parts = folded(text, max(1, geometry.list_columns(state) - 2))
        lines += [(Span(clean(f"  {part}", state.columns), is_dim=bool(number)),) for part in parts]
    return lines
