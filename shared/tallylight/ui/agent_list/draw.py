"""
The drawing of the list: a state as lines of styled text, for any surface; `ansi` makes them sequences.

Every text of a program goes through `clean`. A line has at most as many cells as the screen has columns, and there are
as many lines as the screen has.
"""

from __future__ import annotations

from collections import Counter

import attrs

from tallylight.actions.say import MAX_TYPED
from tallylight.model import lights
from tallylight.model.prose import counted
from tallylight.model.status import Status
from tallylight.snapshot.rows import is_snoozed
from tallylight.ui.agent_list import detail, foot, geometry, preview, rows
from tallylight.ui.agent_list.editor import rows_of
from tallylight.ui.agent_list.record import OVER, Mode, State
from tallylight.ui.layout import clean, end_of, pad, status_words
from tallylight.ui.spans import Line, Span, cells, filled, painted, with_cursor
from tallylight.wire.styled import Run
from tallylight.wire.text import sanitise, width

#: Lights that the head counts without a fill.
_PLAIN = (Status.LIMITED, Status.QUIET, Status.WORKING, Status.BACKGROUND, Status.IDLE)


def draw(state: State) -> list[Line]:
    """Return all lines of the screen."""
    parts = geometry.areas(state)
    if state.mode in OVER:
        texts = state.text[state.scroll : state.scroll + parts.rows]
        body: list[Line] = [
            (Span(clean(text, state.columns), is_bold=state.mode is Mode.HELP and text[:1] != " "),) for text in texts
        ]
        lines = [_head(state), *filled(body, parts.rows), foot.line(state)]
    else:
        columns = geometry.side_columns(state)
        left = rows.draw(state, parts.rows) if parts.rows else []
        right = _written(state, columns, parts.details) if state.writing is not None else detail.draw(
            state, columns, parts.details
        )  # fmt: skip
        right += preview.draw(state.preview, state.row, columns, parts.preview)
        middle = _beside(left, right) if geometry.is_beside(state) else [*left, *right]
        lines = [_head(state), *middle, foot.line(state)]
    return [_clipped(line, state.columns) for line in lines[: state.lines]]


def _beside(left: list[Line], right: list[Line]) -> list[Line]:
    """Return *left* with *right* beside it, and a line between them."""
    lines: list[Line] = []
    for here, there in zip(left, filled(right, len(left)), strict=True):
        spans = _clipped(here, geometry.LIST)
        lines.append((*spans, Span(" " * (geometry.LIST - cells(spans))), Span(" │ ", is_dim=True), *there))
    return lines


def _clipped(line: Line, columns: int) -> Line:
    """Return the line cut to the width of the screen, however narrow it is."""
    if cells(line) <= columns:
        return line
    spans: list[Span] = []
    for span in line:
        spans.append(attrs.evolve(span, text=sanitise(span.text, cells=columns)))
        columns -= width(spans[-1].text)
    return tuple(spans)


# The head --------------------------------------------------------------------------------------------------------


def _head(state: State) -> Line:
    """Return the first line: counts, a title, the filter or the news."""
    if state.mode is Mode.HELP:
        if state.sought is None:
            return (Span("Keys", is_bold=True),)
        return (Span("Keys  ", is_bold=True), Span(clean(f"/{clean(state.sought)}▏", max(1, state.columns - 6))))
    if state.mode in OVER:
        row, title = state.row, state.title
        if title == "why" and row is not None:
            title = f"why {row.name} is {status_words(row.pane.status, row.pane.kind)}"
        return (Span(clean(title, state.columns), is_bold=True),)
    if state.mode is Mode.ANSWER and state.run:
        return _answering_line(state)
    if state.mode is Mode.FILTER or state.filter:
        cursor = "▏" if state.mode is Mode.FILTER else ""
        found = f"{len(state.shown)} of {len(state.rows)}"
        room = max(3, state.columns - len(found) - 2)
        typed = end_of(state.filter, room - 2)
        return (Span(pad(clean(f"/{typed}{cursor}", room), room), is_bold=True), Span(f"  {found}"[: state.columns]))
    if state.away:
        return (Span(clean(f" {state.away}", state.columns), is_bold=True),)
    levels = ((0, 0, 0),) if geometry.is_narrow(state) else ((1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 0))
    heads = [_counts(state, *words) for words in levels]
    return next((head for head in heads if cells(head) <= state.columns), heads[-1])


def _counts(state: State, has_total: int, has_words: int, is_plain_worded: int) -> Line:
    """Return the number of agents with each light. Words are left out where there is no room, numbers never."""
    counts = Counter(row.pane.status for row in state.rows if not is_snoozed(row.pane, state.now))
    total = f" {counted(len(state.rows), 'agent')}"
    spans, gap = [Span(total if has_total else "", is_bold=True)], "  " * has_total
    for status in (*(one for one in rows.WORDS if one not in _PLAIN), *_PLAIN):
        if not counts[status]:
            continue
        is_plain = status in _PLAIN
        word = f" {rows.WORDS[status]}" if (is_plain_worded if is_plain else has_words) else ""
        spans.append(Span(gap if word else ""))
        spans.append(Span(f" {lights.mark(status)}", chip=status, is_mark=True, is_bold=not is_plain))
        chip = status if status in lights.FILLED or status is Status.DONE else None
        text = f" {counts[status]}{word}{'' if is_plain else ' '}"
        spans.append(Span(text, chip=chip, is_mark=status is Status.DONE, is_bold=not is_plain, is_dim=is_plain))
        gap = " "
    return tuple(spans)


def _answering_line(state: State) -> Line:
    """Return the line above a question that is one of several: its number, and the names of those to come."""
    place = state.run.index(state.selected) if state.selected in state.run else 0
    called = {row.address: clean(row.called, 16) for row in state.rows}
    coming = " ▸ ".join(called[address] for address in state.run[place:] if address in called)
    return (
        Span(" Answer all  ", is_bold=True),
        Span(f" {place + 1} of {len(state.run)} ", chip=Status.WAITING, is_bold=True),
        Span(clean(f"   {coming}", max(1, state.columns - 24)), is_dim=True),
    )


# The written text -------------------------------------------------------------------------------------------------


def _written(state: State, columns: int, height: int) -> list[Line]:
    """Return the written text below a line with its receiver; always with the line of the cursor."""
    writing = state.writing
    if writing is None or height < 1:
        return []
    length = len(writing.editor.text)
    many = f" {length} of {MAX_TYPED} characters " if length > MAX_TYPED // 2 else ""
    when = ", queued until its turn ends" if writing.why else ""
    to = clean(f"── to {writing.holder.agent} in {writing.name}{when} ", max(1, columns - len(many)))
    lines: list[Line] = [
        (Span(to, is_bold=True), Span("─" * max(0, columns - width(to) - len(many)), is_dim=True), Span(many))
    ]
    texts, (row, column) = rows_of(writing.editor, columns)
    room = max(0, height - 1)
    top = max(0, min(row - room // 2, len(texts) - room))
    for number, text in enumerate(texts[top : top + room], top):
        line = (Run(text),) if text else ()
        lines.append(painted(with_cursor(line, column) if number == row else line))
    return filled(lines, height)
