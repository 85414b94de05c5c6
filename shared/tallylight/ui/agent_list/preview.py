"""
The preview: one agent beside the list, or below it: its screen now, its last reply, its plan, why it has its light.

    preview = turned(preview, step)             the next page
    lines = draw(preview, row, columns, height)

The screen keeps the colours of its program, and no other sequences (`wire.styled`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable

import attrs

from tallylight.model.report import progress
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Pane
from tallylight.ui import details
from tallylight.ui.agent_list.filtering import after
from tallylight.ui.layout import UNBOUNDED_CELLS, folded
from tallylight.ui.spans import Line, Span, filled, painted, with_cursor
from tallylight.wire.styled import StyledScreen, cut, plain
from tallylight.wire.text import sanitise

#: Lines and columns by one key.
KEY_LINES, COLUMNS_A_KEY = 5, 20
#: The mark in front of a task that is done, current and to do.
_DONE, _NOW, _TO_DO = "✓ ", "▸ ", "· "


class Page(enum.Enum):
    """The pages of a preview, by their titles."""

    SCREEN = "screen"
    REPLY = "reply"
    PLAN = "plan"
    WHY = "why"


PAGES = tuple(Page)


@attrs.frozen(kw_only=True)
class Preview:
    """The agent at *address*, by its display *name*, and the *page* of it that is shown."""

    address: str = ""
    name: str = ""
    page: Page = Page.SCREEN
    #: Its screen as last read, and why it cannot be read now.
    screen: StyledScreen | None = None
    problem: str = ""
    #: Whether it left the list while it was shown.
    is_gone: bool = False
    #: The explanation of its light.
    why: tuple[str, ...] = ()
    #: Lines that the view was moved from its beginning, and columns that it was moved to the right.
    moved: int = 0
    across: int = 0


# Events ----------------------------------------------------------------------------------------------------------


def turned(preview: Preview, step: int) -> Preview:
    """Return the next page, or with -1 the one before."""
    return attrs.evolve(preview, page=after(preview.page, PAGES, step), moved=0, across=0)


def scrolled(preview: Preview, lines: int, columns: int, count: int, height: int) -> Preview:
    """Move the view by *lines* and *columns*; the page has *count* lines, and *height* are shown at once."""
    # A screen begins at its end, and is moved up from there.
    step = -lines if preview.page is Page.SCREEN else lines
    widest = preview.screen.columns - 1 if preview.screen is not None and preview.page is Page.SCREEN else 0
    return attrs.evolve(
        preview,
        moved=max(0, min(min(preview.moved, count - height) + step, count - height)),
        across=max(0, min(preview.across + columns, widest)),
    )


# Drawing ---------------------------------------------------------------------------------------------------------


def draw(preview: Preview | None, row: Row | None, columns: int, height: int) -> list[Line]:
    """Return the lines of the preview: the titles of its pages, and *height* - 1 lines of the shown one."""
    if preview is None or height < 1:
        return []
    shown = body(preview, row, columns)
    room = height - 1
    moved = max(0, min(preview.moved, len(shown) - room))
    start = max(0, len(shown) - room - moved) if preview.page is Page.SCREEN else moved
    return [_titles(preview, columns), *filled(shown[start:], room)]


def body(preview: Preview, row: Row | None, columns: int) -> list[Line]:
    """Return all lines of the shown page."""
    if preview.is_gone:
        return _words(f"{preview.name} is no longer in the list", columns)
    if row is None or row.address != preview.address:
        return []
    return _PAGES[preview.page](preview, row.pane, columns)


def _titles(preview: Preview, columns: int) -> Line:
    """Return the titles of all pages; where it is narrow only that of the shown page, with its number."""
    shown = PAGES if sum(len(page.value) + 3 for page in PAGES) <= columns else (preview.page,)
    spans: list[Span] = []
    for page in shown:
        is_shown = page is preview.page
        spans += [Span("─", is_dim=True), Span(f" {page.value} ", is_bold=is_shown, is_reverse=is_shown)]
    if len(shown) < len(PAGES):
        spans.append(Span(f" {PAGES.index(preview.page) + 1}/{len(PAGES)} "))
    used = sum(len(span.text) for span in spans)
    return (*spans, Span("─" * max(0, columns - used), is_dim=True))


def _screen(preview: Preview, _pane: Pane, columns: int) -> list[Line]:
    """Return the page with the screen, with its cursor marked; the problem if it cannot be read."""
    screen = preview.screen
    if screen is None:
        return _words(preview.problem, columns) if preview.problem else []
    rows = list(screen.lines)
    row, column = screen.cursor or (-1, 0)
    while rows and len(rows) - 1 > row and not plain(rows[-1]).strip():
        rows.pop()
    if row >= 0:
        rows += [()] * (row + 1 - len(rows))
        rows[row] = with_cursor(rows[row], column)
    return [painted(cut(line, columns, preview.across)) for line in rows]


def _plan(_preview: Preview, pane: Pane, columns: int) -> list[Line]:
    """Return the page with the agent's progress, tasks and subagents."""
    found = progress(pane.progress)
    done = found.done if found is not None else -1
    lines: list[Line] = (
        _words(details.progress_bar(pane.progress, max(details.BAR_CELLS, columns // 2)), columns) if found else []
    )
    for number, task in enumerate(pane.tasks):
        mark = _DONE if number < done else _NOW if number == done else _TO_DO
        lines += _item(Span(mark), task, columns, is_bold=number == done)
    if pane.detail:
        lines += _words(pane.detail, columns)
    if found is not None and found.done < found.total and found.total > len(pane.tasks) > 0:
        lines += _words(f"… of {found.total} steps in all", columns)
    if pane.about.children:
        lines += [(), *_words(details.children(pane), columns)]
    return lines or _words("it reported no plan", columns)


def _item(mark: Span, text: str, columns: int, *, is_bold: bool = False) -> list[Line]:
    """Return *text* behind *mark*, with its other lines indented below."""
    room = len(mark.text)
    pieces = [Span(piece.text, is_bold=is_bold) for (piece, *_) in _words(text, max(1, columns - room))]
    return [(Span(" " * room) if number else mark, piece) for number, piece in enumerate(pieces)]


def _words(text: str, columns: int) -> list[Line]:
    """Return *text*, made harmless, in lines that break between words where they can."""
    whole = sanitise(text, cells=UNBOUNDED_CELLS)
    return [(Span(piece),) for piece in folded(whole, columns)]


_PAGES: dict[Page, Callable[[Preview, Pane, int], list[Line]]] = {
    Page.SCREEN: _screen,
    Page.REPLY: lambda _, pane, columns: _words(pane.reply or pane.message or "its last reply is unknown", columns),
    Page.PLAN: _plan,
    Page.WHY: lambda preview, _, columns: [line for text in preview.why for line in _words(text, columns)],
}
