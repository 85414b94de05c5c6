"""
Geometry: which lines and columns of the screen each part of the list has, and which rows have room.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from tallylight.ui.agent_list.editor import rows_of
from tallylight.ui.agent_list.record import OVER, Mode, State

#: From this many lines of details on there is a rule above them.
ROOMY = 4
#: From so many columns on the preview stands beside the list, else below; and the columns of what stands between them.
BESIDE = 100
BETWEEN = 3
#: A text that is written has at least so many lines, if there is room.
WRITTEN = 3
#: Below so many columns a panel has rows of several lines.
NARROW = 56


@attrs.frozen
class Areas:
    """
    How many lines each part has: a head of one, rows, a rule and the details of the selected one, a foot of one.

    The *preview* is below the rows, in place of the details, or beside both.
    """

    rows: int
    details: int
    preview: int = 0


def areas(state: State) -> Areas:
    """Part the lines: on a small screen there are fewer details, so that rows remain, and in a narrow one none."""
    middle = max(0, state.lines - 2)
    if state.mode in OVER:
        return Areas(middle, 0)
    if state.mode is Mode.ANSWER and state.asking is not None:
        # A rule, what is asked, and the answers; the selected row stays if it can, to show whom it is about.
        wanted = min(1 + len(state.asking.lines), max(min(1, middle), middle - 1))
        return Areas(middle - wanted, wanted)
    if state.writing is not None:
        wanted = 1 + max(WRITTEN, len(rows_of(state.writing.editor, list_columns(state))[0]))
        wanted = min(wanted, max(min(1, middle), middle - 1))
        return Areas(middle - wanted, wanted, middle if is_beside(state) else 0)
    details = 0 if is_narrow(state) else min(5, middle // 3)
    if not is_previewing(state):
        return Areas(middle - details, details)
    if is_beside(state):
        return Areas(middle - details, details, middle)
    return Areas(middle - middle // 2, 0, middle // 2)


def is_previewing(state: State) -> bool:
    """Whether the preview is drawn: what takes the whole screen for itself covers it."""
    modes = (Mode.LIST, Mode.FILTER, *((Mode.WRITE,) if state.columns >= BESIDE else ()))
    return state.preview is not None and state.mode in modes


def is_beside(state: State) -> bool:
    """Whether the preview has the right half of the screen."""
    return is_previewing(state) and state.columns >= BESIDE


def list_columns(state: State) -> int:
    """The columns of the list."""
    return state.columns - state.columns // 2 - BETWEEN if is_beside(state) else state.columns


def preview_columns(state: State) -> int:
    """The columns of the preview."""
    return state.columns // 2 if is_beside(state) else state.columns


def is_narrow(state: State) -> bool:
    """Whether rows are drawn one below the other's details, as in a panel, and not as the lines of a table."""
    return state.is_panel and state.columns < NARROW


def height_of_row(state: State) -> int:
    """How many lines a row has: in a narrow panel up to three, where all rows have room for as many."""
    if not is_narrow(state):
        return 1
    return max(1, min(3, (areas(state).rows - len(set(state.headings))) // max(1, len(state.shown))))


def in_view(state: State) -> int:
    """How many rows there is room for, from the top one on. The heading of the first is always drawn."""
    lines, height = areas(state).rows, height_of_row(state)
    if not state.headings:
        return lines // height
    used, index = 0, state.top
    while index < len(state.shown):
        used += height + (index == state.top or state.headings[index] != state.headings[index - 1])
        if used > lines:
            break
        index += 1
    return index - state.top


def least_top(state: State, index: int) -> int:
    """The first row that can be on top while row *index* has room; *index* itself where there is room for none."""
    headings, height = state.headings, height_of_row(state)
    used, top = height + bool(headings), index
    while top > 0:
        used += height + bool(headings and headings[top - 1] != headings[top])
        if used > areas(state).rows:
            break
        top -= 1
    return max(0, top)


def placed(state: State) -> Iterator[tuple[str, int]]:
    """What is drawn from the top on: the heading of a group, or nothing and the index of a row of *shown*."""
    for index in range(state.top, min(state.top + in_view(state), len(state.shown))):
        if state.headings and (index == state.top or state.headings[index] != state.headings[index - 1]):
            yield state.headings[index], index
        yield "", index


def row_at(state: State, line: int) -> int | None:
    """The index of the row that is drawn on *line* of the screen, the head being line 0; None if none is."""
    height, at = height_of_row(state), 1
    for heading, index in placed(state):
        at += 1 if heading else height
        if at > line >= 1:
            return None if heading else index
    return None
