"""
Draw: a state as lines of styled text, for any surface; `ansi` makes them sequences.

Everything that a program said goes through `clean`. A line has at most as many cells as the screen has columns, and
there are as many lines as the screen has.
"""

from __future__ import annotations

import attrs

from tallylight.actions.say import MAX_TEXT
from tallylight.model.beside import NOTHING
from tallylight.model.status import Status
from tallylight.snapshot.elsewhere import is_elsewhere
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.snapshot.schema import Pane
from tallylight.ui import beside, details
from tallylight.ui.agent_list import foot, geometry, narrow, preview, week
from tallylight.ui.agent_list.editor import rows_of
from tallylight.ui.agent_list.record import OVER, Mode, State
from tallylight.ui.layout import GAP, age, clean, end_of, left, pad, status_words
from tallylight.ui.spans import Line, Span, filled, painted, with_cursor
from tallylight.wire.styled import Run
from tallylight.wire.text import sanitise, width

#: From this many columns on the agent's name has a column and there are bars; from that many the status is written out.
MIDDLING = 56
WIDE = 80
#: From so many on the model and how full the context is have columns of their own.
WIDEST = 110
#: Cells of what stands beside a status, in a row.
_BESIDE = 28


def draw(state: State) -> list[Line]:
    """All lines of the screen."""
    parts = geometry.areas(state)
    if state.mode is Mode.WEEK:
        lines = week.draw(state.week, state.columns, state.lines, state.scroll)
    elif state.mode in OVER:
        texts = state.text[state.scroll : state.scroll + parts.rows]
        lines = [_head(state)] + [(Span(clean(text, state.columns)),) for text in texts]
        lines = filled(lines, parts.rows + 1)
        lines.append((Span(clean(foot.of_text(state), state.columns), is_bold=bool(state.message)),))
    else:
        narrow = attrs.evolve(state, columns=geometry.list_columns(state))
        middle = [*_rows(narrow, parts.rows), *_details(narrow, parts.details)]
        shown = preview.draw(state.preview, state.row, geometry.preview_columns(state), parts.preview)
        middle = _beside(middle, narrow.columns, shown) if geometry.is_beside(state) else [*middle, *shown]
        lines = [_head(state), *middle, foot.line(state)]
    return [_clipped(line, state.columns) for line in lines[: state.lines]]


def _beside(left: list[Line], columns: int, right: list[Line]) -> list[Line]:
    """*left*, of so many *columns*, and *right* beside it, with a line between them."""
    lines: list[Line] = []
    for here, there in zip(left, right, strict=True):
        spans = _clipped(here, columns)
        gap = columns - sum(width(span.text) for span in spans)
        lines.append((*spans, Span(" " * gap), Span(" │ ", is_dim=True), *there))
    return lines


def _clipped(line: Line, columns: int) -> Line:
    """The line as far as the screen is wide; a screen narrower than a mark and a name is no reason to fail."""
    if sum(width(span.text) for span in line) <= columns:
        return line
    spans: list[Span] = []
    for span in line:
        spans.append(attrs.evolve(span, text=sanitise(span.text, cells=columns)))
        columns -= width(spans[-1].text)
    return tuple(spans)


# The head --------------------------------------------------------------------------------------------------------


def _head(state: State) -> Line:
    if state.mode is Mode.HELP:
        typed = clean(state.sought)
        return (Span("keys  ", is_bold=True), Span(clean(f"/{typed}▏", max(1, state.columns - 6))))
    if state.mode in OVER:
        row, title = state.row, state.title
        if title == "why" and row is not None:
            title = f"why {row.name} is {status_words(row.pane.status, row.pane.kind)}"
        return (Span(clean(title, state.columns), is_bold=True),)
    if state.mode is Mode.FILTER or state.filter:
        cursor = "▏" if state.mode is Mode.FILTER else ""
        found = f"{len(state.shown)} of {len(state.rows)}"
        room = max(3, state.columns - len(found) - 2)
        typed = end_of(state.filter, room - 2)
        return (Span(pad(clean(f"/{typed}{cursor}", room), room), is_bold=True), Span(f"  {found}"[: state.columns]))
    if geometry.is_narrow(state):
        return narrow.head(state)
    total, counts = narrow.counted(state)
    parts = [f"{count} {status}" for status, count in counts.items()]
    return (Span(clean(", ".join([total, *parts]), state.columns), is_bold=True),)


# The rows --------------------------------------------------------------------------------------------------------


def _rows(state: State, height: int) -> list[Line]:
    if geometry.is_narrow(state):
        return narrow.rows(state, height)
    if not state.shown:
        text = "no agent matches" if state.rows else "no agent runs in any pane"
        return filled([(), (Span(clean(f"  {text}", state.columns)),)], height)
    several = len({row.host for row in state.rows}) > 1 or any(row.machine for row in state.rows)
    columns = [_fields(row, state, with_host=several) for row in state.shown]
    widths = [max(map(width, column)) for column in zip(*columns, strict=True)]
    lines: list[Line] = []
    for heading, index in geometry.placed(state):
        if heading:
            lines.append(narrow.heading_line(heading, state.columns))
            continue
        row = state.shown[index]
        text = GAP.join(pad(field, cells) for field, cells in zip(columns[index], widths, strict=True) if cells)
        room = max(1, state.columns - 5)
        content = pad(clean(f"{text}{GAP}{_says(row.pane, state)}", room), room)
        lines.append(narrow.marked(row, state, content, is_bold=row.pane.unread))
    return filled(lines, height)


def _fields(row: Row, state: State, *, with_host: bool) -> list[str]:
    """What stands in columns. On a narrow screen only the name and the age, so that the question has room."""
    pane = row.pane
    name = narrow.name_of(row, with_machine=state.columns < WIDE)
    return [
        (pane.kind or pane.status) if state.columns >= WIDE else "",
        clean(pane.agent, 14) if state.columns >= MIDDLING else "",
        clean(_host(row), 16) if with_host and state.columns >= WIDE else "",
        clean(name, min(24, max(6, state.columns * 3 // 10))),
        f"{age(state.now - pane.since) if pane.since else '':>3}",
        clean(pane.model, 16) if state.columns >= WIDEST else "",
        f"{details.context(pane):>4}" if pane.context is not None and state.columns >= WIDEST else "",
        beside.text(state.beside.get(pane.agent_pid or 0, NOTHING), _BESIDE) if state.columns >= WIDEST else "",
    ]


def _host(row: Row) -> str:
    """Its session, workspace or terminal, of another machine with that in front."""
    title = row.pane.host_title
    if not title or not row.machine or is_elsewhere(row.host):
        return title or row.host
    return f"{row.machine}: {title}"


def _says(pane: Pane, state: State) -> str:
    """The one line that tells most: what is asked, else the last message, else the title."""
    content = clean(details.says(pane))
    before = [queued] if (queued := _queued(pane)) else []
    before += [limit] if (limit := details.limit(pane, state.now)) else []
    if is_snoozed(pane, state.now):
        before.append(f"snoozed {left(pane.snoozed_until - state.now)}")
    if pane.background and pane.status is Status.BACKGROUND:
        before.append(f"{pane.background} in the background")
    is_busy = pane.status is not Status.WAITING and state.columns >= WIDE
    if doing := details.doing(pane, details.BAR if state.columns >= MIDDLING else 0, has_words=is_busy):
        before.append(clean(doing, state.columns // 2))
    return GAP.join([*before, content])


# The details -----------------------------------------------------------------------------------------------------


def _details(state: State, height: int) -> list[Line]:
    row = state.row
    if height < 1:
        return []
    if row is None:
        return [()] * height
    if state.writing is not None:
        return _text(state, height)
    if state.asking is not None:
        return filled(_question(state, height), height)
    lines: list[Line] = [(Span("─" * state.columns, is_dim=True),)] if height >= geometry.ROOMY else []
    pane = row.pane
    seen: set[str] = {pane.project, ""}
    asked = pane.question if pane.status is Status.WAITING else ""
    doing = details.doing(pane)
    for facts, more in (
        ((_queued(pane), pane.asks, asked, pane.message, _who(row, state.now), doing), _own_record(pane, state)),
        ((pane.topic, _where(pane, state), pane.title, pane.cwd), []),
    ):
        for fact in facts:
            if fact not in seen:
                seen.add(fact)
                lines.append((Span(clean(fact, state.columns)),))
        lines += more
    return filled(lines, height)


def _where(pane: Pane, state: State) -> str:
    """On what branch, in what mode and in what worktree it works, and what has changed there."""
    found = state.beside.get(pane.agent_pid or 0, NOTHING)
    if pane.worktree:
        found = attrs.evolve(found, worktree="")
    parts = (("mode", pane.mode), ("worktree", pane.worktree))
    words = [f"{name} {value}" for name, value in parts if value]
    return ", ".join(one for one in (beside.text(found, state.columns), *words) if one)


def _own_record(pane: Pane, state: State) -> list[Line]:
    """What the agent's own record tells, in two lines at most; a context that is nearly full is amber."""
    first = details.summary(pane, state.now)
    second = GAP.join(part for part in (details.children(pane), pane.reply) if part)
    full = f"context {details.context(pane)}" if details.is_nearly_full(pane) else ""
    before, sought, after = first.partition(full) if full else (first, "", "")
    lines: list[Line] = [(Span(clean(before)), Span(sought, chip=Status.WAITING), Span(clean(after)))] if first else []
    return [*lines, *([(Span(clean(second, state.columns)),)] if second else [])]


def _question(state: State, height: int) -> list[Line]:
    """The part of the question that there is room for, below a line that says how much of it stands above."""
    shown = state.asking
    assert shown is not None
    lines: list[Line] = []
    if height >= geometry.ROOMY:
        content = f"── … {shown.top} more above " if shown.top else ""
        lines.append((Span(clean(content, state.columns)), Span("─" * (state.columns - len(content)), is_dim=True)))
    for text, number in shown.lines[shown.window.start : shown.window.stop]:
        digits = str(number) if number else ""
        lines.append((Span(digits, is_bold=True), Span(text.removeprefix(digits))))
    return lines


def _queued(pane: Pane) -> str:
    """What a person has queued for it, and whether it will be sent; nothing for nothing."""
    if not pane.queued:
        return ""
    return f"not sent, {pane.unsent}: {pane.queued}" if pane.unsent else f"queued: {pane.queued}"


def _text(state: State, height: int) -> list[Line]:
    """The text that is written, below a line that says whom it is for; always with the line of the cursor."""
    writing = state.writing
    assert writing is not None
    length = len(writing.editor.text)
    many = f" {length} of {MAX_TEXT} characters " if length > MAX_TEXT // 2 else ""
    when = ", queued until its turn ends" if writing.why else ""
    to = clean(f"── to {writing.holder.agent} in {writing.name}{when} ", max(1, state.columns - len(many)))
    lines: list[Line] = [
        (Span(to, is_bold=True), Span("─" * max(0, state.columns - width(to) - len(many)), is_dim=True), Span(many))
    ]
    rows, (row, column) = rows_of(writing.editor, state.columns)
    room = max(0, height - 1)
    top = max(0, min(row - room // 2, len(rows) - room))
    for number, text in enumerate(rows[top : top + room], top):
        line = (Run(text),) if text else ()
        lines.append(painted(with_cursor(line, column) if number == row else line))
    return filled(lines, height)


def _who(row: Row, now: float) -> str:
    pane = row.pane
    words = [status_words(pane.status, pane.kind), pane.agent, row.label.name, pane.project, row.name]
    if is_snoozed(pane, now):
        words.append(f"snoozed for {left(pane.snoozed_until - now)}")
    # The host adds a wait when it is over.
    if pane.waited_s >= 1:
        waits_now = max(0.0, now - pane.since) if pane.status is Status.WAITING and pane.since else 0.0
        words.append(f"waited {age(pane.waited_s + waits_now)} today")
    return ", ".join(word for word in words if word)
