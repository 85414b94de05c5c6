"""
Geometry: the lines and columns of each part of the list, and the rows that have room.

Where all rows fit, each has as many lines as it needs; else one. The height of a row does not depend on the selection.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from tallylight.model.status import Status
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list import table
from tallylight.ui.agent_list.editor import rows_of
from tallylight.ui.agent_list.filtering import Order
from tallylight.ui.agent_list.record import OVER, Mode, State

#: Columns from 160 on put the detail at the right of the list; the columns of the list, and of the gap.
BESIDE_FROM_COLUMNS, LIST_COLUMNS, GAP_COLUMNS = 160, 112, 3
#: Lines of a screen with an open preview from the beginning, at least.
LARGE_FROM_LINES = 40
#: Lines of a written text, at least, if there is room.
WRITTEN_LINES = 3
#: Columns up to which a panel has rows of its own form.
NARROW_COLUMNS = 40
#: Lines of the detail for a question without its answers, and for a row without a question.
_QUESTION_LINES, _FACT_LINES = 6, 4
#: Rows above a preview below the list, at least.
_ABOVE_PREVIEW_ROWS = 3


@attrs.frozen
class Areas:
    """
    The lines of each part: a head of one, rows, the detail of the selected one, a preview, a foot of one.

    The detail and the preview are below the rows, or at their right.
    """

    rows: int
    details: int
    preview: int = 0


def areas(state: State) -> Areas:
    """
    Return the lines of each part: rows have as many as they need, and the detail always has room for the question.
    """
    middle = max(0, state.lines - 2)
    if state.mode in OVER:
        return Areas(middle, 0)
    if state.mode is Mode.ANSWER:
        return Areas(0, middle)
    if is_narrow(state) and state.writing is None:
        return Areas(middle, 0)
    if is_beside(state):
        # A question that is longer than half of the screen is worth more than the rest of its own screen.
        is_long = state.asking is not None and state.asking.must >= middle // 2
        details = middle // 2 if is_previewing(state) and not is_long else middle
        return Areas(middle, details, middle - details)
    if state.writing is not None:
        wanted = 1 + max(WRITTEN_LINES, len(rows_of(state.writing.editor, state.columns)[0]))
        wanted = min(wanted, max(min(1, middle), middle - 1))
        return Areas(middle - wanted, wanted)
    if not state.shown and not state.folded:
        return Areas(middle, 0)
    kept = _least_detail_lines(state, middle)
    wanted = sum(state.heights) or len(state.shown)
    rows = min(max(1, wanted + bool(state.folded) + len(set(state.headings))), middle - kept)
    if not is_previewing(state):
        return Areas(rows, middle - rows)
    # A shown question gives way to its screen: half of each would be an answer without the command.
    kept = 0 if state.asking is not None else kept
    rows = min(rows, max(_ABOVE_PREVIEW_ROWS, (middle - kept) // 3), middle - kept)
    return Areas(rows, kept, middle - rows - kept)


def _least_detail_lines(state: State, middle: int) -> int:
    """Return the least lines of the detail: the same for each row, so that the rows do not move with the cursor."""
    asking = [len(row.pane.choices) for row in state.shown if row.pane.status is Status.WAITING]
    return min(middle // 2, _QUESTION_LINES + max(asking) if asking else _FACT_LINES)


def is_previewing(state: State) -> bool:
    """Return whether the preview is open in a mode that draws it; a narrow panel has no lines for it."""
    modes = (Mode.LIST, Mode.FILTER, *((Mode.WRITE,) if state.columns >= BESIDE_FROM_COLUMNS else ()))
    return state.preview is not None and state.mode in modes


def is_beside(state: State) -> bool:
    """Return whether the detail is at the right of the list."""
    return state.columns >= BESIDE_FROM_COLUMNS and state.mode is not Mode.ANSWER


def is_large(state: State) -> bool:
    """Return whether detail and screen of the selected row have room at the right of the list, both at once."""
    return is_beside(state) and state.lines >= LARGE_FROM_LINES and not state.is_panel


def list_columns(state: State) -> int:
    return LIST_COLUMNS if is_beside(state) else state.columns


def side_columns(state: State) -> int:
    """Return the columns of the detail and the preview."""
    return state.columns - LIST_COLUMNS - GAP_COLUMNS if is_beside(state) else state.columns


def is_narrow(state: State) -> bool:
    """Return whether rows are drawn as in a panel, and not as the lines of a table."""
    return state.is_panel and state.columns <= NARROW_COLUMNS and state.mode is not Mode.ANSWER


def is_folded(state: State, rows: tuple[Row, ...]) -> bool:
    """Return whether the idle ones of *rows*, which are in order, become one line, so that the rows before them fit."""
    if state.is_open or state.filter or state.group or state.order is not Order.NEED:
        return False
    idle = [row for row in rows if row.pane.status is Status.IDLE]
    is_held = state.has_focus and any(row.address == state.selected for row in idle)
    if is_held or not 1 < len(idle) < len(rows):
        return False
    middle = max(0, state.lines - 2)
    if is_narrow(state):
        return True
    return len(rows) > (
        middle if is_beside(state) else middle - _least_detail_lines(attrs.evolve(state, shown=rows), middle)
    )


def heights(state: State) -> tuple[int, ...]:
    """Return the number of lines of each row where all of them fit; nothing where each has one."""
    middle = max(0, state.lines - 2)
    room = middle if is_narrow(state) or is_beside(state) else middle - _least_detail_lines(state, middle)
    room -= bool(state.folded) + len(set(state.headings))
    if len(state.shown) > room:
        return ()
    if is_narrow(state):
        found = tuple(1 + table.needs_person(row, state.now) for row in state.shown)
    else:
        cells = table.table(state, list_columns(state), is_roomy=True).row_text
        said = [table.row_text(row, state) for row in state.shown]
        found = tuple(len(table.lines_of(one, cells, table.MOST_ROW_LINES)) for one in said)
    return found if sum(found) <= room else ()


def drawn_heights(state: State) -> tuple[int, ...]:
    """Return the number of lines of each row as drawn; empty if each has one, as above an editor or a preview."""
    room = areas(state).rows - bool(state.folded) - len(set(state.headings))
    return state.heights if sum(state.heights) <= room else ()


def capacity(state: State) -> int:
    """Return the number of lines for the rows and their headings, without the count of hidden rows."""
    room = areas(state).rows - bool(state.folded)
    is_more = len(state.shown) + len(set(state.headings)) > room > 1 + bool(state.headings)
    return max(0, room - is_more)


def in_view(state: State) -> int:
    """Return how many rows have room, from the top one on. The heading of the first is always drawn."""
    if drawn_heights(state):
        return len(state.shown) - state.top
    lines = capacity(state)
    if not state.headings:
        return min(lines, len(state.shown) - state.top)
    used, index = 0, state.top
    while index < len(state.shown):
        used += 1 + (index == state.top or state.headings[index] != state.headings[index - 1])
        if used > lines:
            break
        index += 1
    return index - state.top


def least_top(state: State, index: int) -> int:
    """Return the first row that can be on top while row *index* is in view; *index* itself without room for any."""
    if drawn_heights(state):
        return 0
    headings, lines = state.headings, capacity(state)
    used, top = 1 + bool(headings), index
    while top > 0:
        used += 1 + bool(headings and headings[top - 1] != headings[top])
        if used > lines:
            break
        top -= 1
    return max(0, top)


def placed(state: State) -> Iterator[tuple[str, int]]:
    """Yield the rows from the top on: the heading of a group, or "", and the index of a row of *shown*."""
    for index in range(state.top, min(state.top + in_view(state), len(state.shown))):
        if state.headings and (index == state.top or state.headings[index] != state.headings[index - 1]):
            yield state.headings[index], index
        yield "", index


def row_at(state: State, line: int, column: int = 0) -> int | None:
    """Return the index of the row at this place, the head being line 0; None if none is."""
    each, at = drawn_heights(state), 1
    if not 1 <= line <= areas(state).rows or column >= list_columns(state):
        return None
    for heading, index in placed(state):
        at += 1 if heading or not each else each[index]
        if at > line:
            return None if heading else index
    return None


def detail_line(state: State, line: int, column: int) -> int | None:
    """Return the line of the detail, below its heading, that is on *line* of the screen; None if none is."""
    parts = areas(state)
    if is_beside(state) and column < LIST_COLUMNS + GAP_COLUMNS:
        return None
    first = 2 if is_beside(state) else 2 + parts.rows
    return line - first if first <= line < first + parts.details - 1 else None
