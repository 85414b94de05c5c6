"""
The record of the list: everything that decides its picture. `state` applies new snapshots and the clock, `press` a key.

Times are seconds since the epoch.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping

import attrs

from tallylight.actions.answer import Occupant
from tallylight.model.repository_status import RepositoryStatus
from tallylight.model.status import Status
from tallylight.parts import Key
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.ui.agent_list.editor import Editor
from tallylight.ui.agent_list.filtering import Order
from tallylight.ui.agent_list.preview import Preview
from tallylight.ui.agent_list.question import Asking
from tallylight.ui.agent_list.selection import Proposal, SharedAnswer

#: The identity of a question, as far as its host reports it.
QuestionId = tuple[str, str, float, str] | None


class Mode(enum.Enum):
    """The meaning of keys at the moment."""

    LIST = "list"
    FILTER = "filter"
    ANSWER = "answer"
    WRITE = "write"
    #: A text over the whole list: an explanation, or the help.
    TEXT = "text"
    #: The help over the whole list, and the words that are searched in it.
    HELP = "help"
    #: The panes that would be interrupted or closed, over the whole list.
    CONFIRM = "confirm"
    #: The name of the selected row is typed.
    NAME = "name"


#: The modes that cover the whole list.
OVER = (Mode.TEXT, Mode.HELP, Mode.CONFIRM)


def question_id(row: Row) -> QuestionId:
    return row.address, row.pane.prompt, row.pane.since, row.pane.asks


@attrs.frozen(kw_only=True)
class Writing:
    """A text that a person is writing for the agent *holder*, in the pane at *address* with the display *name*."""

    address: str
    name: str
    holder: Occupant
    editor: Editor
    #: Why the agent takes no text now, so that it is queued; "" if it does.
    why: str = ""
    #: When it is typed, in seconds since the epoch, if a limit stops the agent; 0 for the end of its turn.
    at: int = 0


@attrs.frozen
class Naming:
    """The name typed so far for the conversation in the pane at *address*."""

    address: str
    text: str


@attrs.frozen(kw_only=True)
class State:
    """Everything that decides the picture of the list."""

    columns: int = 80
    lines: int = 24
    rows: tuple[Row, ...] = ()
    #: The *rows* that the filter selects.
    shown: tuple[Row, ...] = ()
    #: The number of lines of each of *shown*, where all of them fit; nothing where each has one.
    heights: tuple[int, ...] = ()
    #: The idle ones that are folded into one line, and whether a person wants to see them.
    folded: tuple[Row, ...] = ()
    is_open: bool = False
    #: The address of the selected row; nothing where there is none.
    selected: str = ""
    #: The first row that is drawn.
    top: int = 0
    filter: str = ""
    order: Order = Order.NEED
    #: The criterion of the groups, of `labels.GROUPS`; and the heading of each row of *shown*, none without groups.
    group: str = ""
    headings: tuple[str, ...] = ()
    #: The name that is being typed.
    naming: Naming | None = None
    mode: Mode = Mode.LIST
    #: The text of mode TEXT, shown from the line *scroll* on.
    title: str = ""
    text: tuple[str, ...] = ()
    scroll: int = 0
    #: The question of the selected row, as read off its screen: in the detail, or over the list in mode ANSWER.
    asking: Asking | None = None
    #: The identity of the question that was read last, with any result, and of those that were answered.
    read_question: QuestionId = None
    answered: tuple[QuestionId, ...] = ()
    #: The addresses of the rows that are answered one after the other.
    run: tuple[str, ...] = ()
    #: The question that a number can answer, and since when it was on the screen whole; and when a number was typed
    #: last. By a monotonic clock.
    shown_whole: tuple[object, float] = (None, 0.0)
    #: The same with its place on the screen: rows above it may come and go under a pointer.
    shown_where: tuple[object, float] = (None, 0.0)
    typed_at: float = -math.inf
    #: The text that is being written; and the unsent drafts, one for each address.
    writing: Writing | None = None
    drafts: tuple[tuple[str, Editor], ...] = ()
    #: The agent that is shown beside the list, or below it; None while none is.
    preview: Preview | None = None
    #: The proposal of mode CONFIRM; and the words searched in the help, None if there is no search.
    proposal: Proposal | SharedAnswer | None = None
    sought: str | None = None
    #: The news from the person's absence, for a while after their return.
    away: str = ""
    #: The words of parts about the selected row.
    facts: tuple[str, ...] = ()
    #: The keys of parts for the selected row.
    keys: Mapping[str, Key] = attrs.field(factory=dict)
    #: Branch and changes of agents, by `Pane.agent_pid`.
    repositories: Mapping[int, RepositoryStatus] = attrs.field(factory=dict)
    #: A message for the person, until the next key.
    message: str = ""
    now: float = 0.0
    #: Whether it stays beside other programs, and whether it has the keyboard: else nothing is selected in it.
    is_panel: bool = False
    has_focus: bool = True

    @property
    def waiting(self) -> tuple[Row, ...]:
        """The rows that ask a person something, without those that have just been answered."""
        return tuple(row for row in self.shown if self.asks(row))

    def asks(self, row: Row) -> bool:
        """Return whether *row* waits for an answer, as far as is known."""
        pane = row.pane
        if pane.status is not Status.WAITING or is_snoozed(pane, self.now):
            return False
        return question_id(row) not in self.answered

    @property
    def index(self) -> int:
        """The place of the selected row among those shown; 0 if there is none."""
        return next((index for index, row in enumerate(self.shown) if row.address == self.selected), 0)

    @property
    def row(self) -> Row | None:
        return self.shown[self.index] if self.shown else None
