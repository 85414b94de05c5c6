"""
The table of the list: the text of a row, its columns, and its number of lines.

The request has all the room that is left. The branch is dropped as soon as it would cost any request a line, then the
agent. Model, context and the rest are only in the detail.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from tallylight.model import lights
from tallylight.model.repository_status import NOTHING
from tallylight.model.status import Status
from tallylight.snapshot import fields
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.ui import details
from tallylight.ui.agent_list.record import State
from tallylight.ui.layout import GAP, brief, clean, folded, left
from tallylight.wire.text import width

#: Lines of a request at most, where all rows fit.
MOST_ROW_LINES = 3
#: Columns of the screen from 72 on have room for the agent, and from 100 on for the branch.
AGENT_FROM, BRANCH_FROM = 72, 100
#: Cells: of a name at least and at most, and where other machines are listed; of an agent and a branch at most.
MIN_NAME_CELLS, MAX_NAME_CELLS, NAME_FAR = 6, 16, 24
_MAX_AGENT_CELLS, _MAX_BRANCH_CELLS = 10, 24
#: Cells in front of the name, for the pointer, the mark and a blank; and of the age with its gap.
BEFORE_NAME_CELLS, AGE_CELLS = 5, 6
#: Cells of the text of one row.
_ROW_TEXT_CELLS = 600


@attrs.frozen
class RowText:
    """
    The text of a row, and the words *behind* it, which are kept when it is cut.

    A request is something that a person has to know, and may have several lines; in a command the end counts most.
    """

    text: str
    behind: str = ""
    is_request: bool = False
    is_command: bool = False

    def cut(self, cells: int) -> str:
        """Return the text in so many *cells*."""
        return brief(self.text, cells) if self.is_command else clean(self.text, cells)


@attrs.frozen
class Table:
    """The cells of each column; 0 for one that is not there."""

    name: int
    row_text: int
    agent: int = 0
    branch: int = 0


def name_of(row: Row) -> str:
    """Return the name of the row, with its machine in front if that is another one."""
    return clean(f"{row.machine}: {row.called}" if row.machine else row.called, NAME_FAR)


def needs_person(row: Row, now: float) -> bool:
    """Return whether the row needs a person, and is not snoozed."""
    return row.pane.status in lights.FILLED and not is_snoozed(row.pane, now)


def branch_of(row: Row, state: State) -> str:
    """Return the branch that its agent works on, as far as it is known."""
    return clean(state.repositories.get(row.pane.agent_pid or 0, NOTHING).branch, _MAX_BRANCH_CELLS)


def row_text(row: Row, state: State) -> RowText:
    """Return the most useful words: its question, the outcome of its turn, or its activity."""
    pane, now = row.pane, state.now
    before = [details.queued(pane, now), details.limit(pane, now)]
    if is_snoozed(pane, now):
        before.append(f"snoozed {left(pane.attention.snoozed_until - now)}")
    if pane.background and pane.status is Status.BACKGROUND:
        before.append(f"{pane.background} in the background")
    text, behind = details.best_text(pane, row.called), ""
    if pane.status is Status.DONE:
        text, behind = pane.outcome or text, fields.words(pane.more)
    elif needs_person(row, now):
        before += [details.changed_meanwhile(pane, now), pane.detail if pane.detail not in text else ""]
    else:
        before += [details.unanswered(pane, now), pane.doing]
        behind = details.progress_bar(pane.progress)
    words = GAP.join(dict.fromkeys(part for part in (*before, text) if part))
    return RowText(clean(words, _ROW_TEXT_CELLS), behind, needs_person(row, now), bool(pane.asks and pane.what))


def table(state: State, columns: int, *, is_roomy: bool) -> Table:
    """Return the columns for all rows shown; *is_roomy*: each request may have several lines."""
    most = NAME_FAR if any(row.machine for row in state.shown) else MAX_NAME_CELLS
    # A blank more, for the fill behind a name.
    name = max(MIN_NAME_CELLS, min(most, _widest(map(name_of, state.shown)) + 1, columns // 3))
    agent = _widest(clean(row.pane.agent, _MAX_AGENT_CELLS) for row in state.shown) if columns >= AGENT_FROM else 0
    branch = _widest(branch_of(row, state) for row in state.shown) if columns >= BRANCH_FROM else 0
    found = list(dict.fromkeys(_table_of(columns, name, *more) for more in ((agent, branch), (agent, 0), (0, 0))))
    requests = [one.text for one in (row_text(row, state) for row in state.shown) if one.is_request]
    lines = [[len(folded(text, max(1, one.row_text))) for text in requests] for one in found]
    while len(found) > 1 and not _is_enough(found[0], lines[0], lines[1], is_roomy=is_roomy):
        del found[0], lines[0]
    return found[0]


def _widest(texts: Iterable[str]) -> int:
    return max(map(width, texts), default=0)


def _is_enough(one: Table, lines: list[int], without: list[int], *, is_roomy: bool) -> bool:
    """Return whether no request loses lines to the last column of *one*: the branch, or else the agent."""
    if one.branch:
        return lines == without
    worse = [count for count, fewer in zip(lines, without, strict=True) if count > fewer]
    return not is_roomy or all(count <= MOST_ROW_LINES for count in worse)


def _table_of(columns: int, name: int, agent: int, branch: int) -> Table:
    """Return the table with these cells, and the rest for the text."""
    taken = BEFORE_NAME_CELLS + name + 1 + AGE_CELLS + sum(cells + len(GAP) for cells in (agent, branch) if cells)
    return Table(name, max(1, columns - taken), agent, branch)


def lines_of(one: RowText, cells: int, most: int) -> list[str]:
    """Return the words of a row in at most *most* lines of so many *cells*; a long request loses its middle."""
    if not one.is_request or most == 1:
        if not one.behind or width(one.behind) + 12 > cells:
            return [one.cut(cells)]
        return [clean(one.text, cells - width(one.behind) - len(GAP))]
    room = cells * most
    while len(lines := folded(one.cut(room), cells)) > most and room > cells:
        room -= 4
    return lines[:most]
