"""
Record: all that decides what the list draws. What new snapshots or the clock make of it is in `state`, what a key makes
of it in `press`.

Times are seconds since the epoch.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping

import attrs

from tallylight.actions.answer import Occupant
from tallylight.model.beside import RepositoryStatus
from tallylight.model.status import Status
from tallylight.parts import Key
from tallylight.snapshot.rows import Row, is_snoozed
from tallylight.ui.agent_list.editor import Editor
from tallylight.ui.agent_list.filtering import Order
from tallylight.ui.agent_list.preview import Preview
from tallylight.ui.agent_list.question import Asking
from tallylight.ui.agent_list.selection import Proposal, Together

#: The identity of a question, as far as its host reports it.
Told = tuple[str, str, float, str] | None


class Mode(enum.Enum):
    """What keys mean at the moment."""

    LIST = "list"
    FILTER = "filter"
    ANSWER = "answer"
    WRITE = "write"
    #: A text over the whole list: an explanation, or the help.
    TEXT = "text"
    #: What the agents did in the last days, over the whole list.
    #: The help over the whole list, and words that are looked for in it.
    HELP = "help"
    #: What would be interrupted or closed, over the whole list.
    CONFIRM = "confirm"
    #: The name of the selected row is typed.
    NAME = "name"


#: What covers the whole list.
OVER = (Mode.TEXT, Mode.HELP, Mode.CONFIRM)


def told(row: Row) -> Told:
    """The identity of the question of *row*."""
    return row.address, row.pane.prompt, row.pane.since, row.pane.asks


@attrs.frozen(kw_only=True)
class Writing:
    """The text that is being written for *holder*, in the pane at *address*, which a person calls *name*."""

    address: str
    name: str
    holder: Occupant
    editor: Editor
    #: Why the agent takes no text now: it is queued. Nothing if it does.
    why: str = ""
    #: Until when, in seconds since the epoch, if a limit stops it; 0 for the end of its turn.
    at: int = 0


@attrs.frozen
class Naming:
    """The name that is typed for the conversation in the pane at *address*, as far as it is typed."""

    address: str
    text: str


@attrs.frozen(kw_only=True)
class State:
    """All that decides what is drawn."""

    columns: int = 80
    lines: int = 24
    rows: tuple[Row, ...] = ()
    #: Those of *rows* that the filter lets through.
    shown: tuple[Row, ...] = ()
    #: How many lines each of *shown* is to have, where all of them fit; nothing where each has one.
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
    #: By what rows are grouped, of `labels.GROUPS`; and the heading of each row of *shown*, none where they are not.
    group: str = ""
    headings: tuple[str, ...] = ()
    #: The name that is being typed.
    naming: Naming | None = None
    mode: Mode = Mode.LIST
    #: What mode TEXT shows, from the line *scroll* on.
    title: str = ""
    text: tuple[str, ...] = ()
    scroll: int = 0
    #: What the selected row asks, as it was read off its screen: in the detail, or over the list in mode ANSWER.
    asking: Asking | None = None
    #: The identity of the question that was read last, with any result, and those that were answered.
    looked: Told = None
    answered: tuple[Told, ...] = ()
    #: The addresses of the rows that are answered one after the other.
    run: tuple[str, ...] = ()
    #: What can be answered by a number, and since when it was on the screen whole; and when a number was typed
    #: last. By a clock that only goes on.
    stood: tuple[object, float] = (None, 0.0)
    #: The same of where on the screen it is: rows above it may come and go under a pointer.
    placed: tuple[object, float] = (None, 0.0)
    typed_at: float = -math.inf
    #: The text that is being written; and what was written for each address and not sent.
    writing: Writing | None = None
    drafts: tuple[tuple[str, Editor], ...] = ()
    #: The agent that is shown beside the list, or below it; None while none is.
    preview: Preview | None = None
    #: What would be done to panes, or answered, in mode CONFIRM; and what is looked for in the help, if anything.
    proposal: Proposal | Together | None = None
    sought: str | None = None
    #: What happened while the person was away, for a while after their return.
    away: str = ""
    #: What parts say of the selected row.
    facts: tuple[str, ...] = ()
    #: The keys of parts for the selected row.
    keys: Mapping[str, Key] = attrs.field(factory=dict)
    #: Branch and changes of agents, by `Pane.agent_pid`.
    beside: Mapping[int, RepositoryStatus] = attrs.field(factory=dict)
    #: A message for the person, until the next key.
    message: str = ""
    now: float = 0.0
    #: Whether it stays beside other programs, and whether it has the keyboard: else nothing is selected in it.
    is_panel: bool = False
    has_focus: bool = True

    @property
    def waiting(self) -> tuple[Row, ...]:
        """The rows that ask a person something, those aside that have just been answered."""
        return tuple(row for row in self.shown if self.asks(row))

    def asks(self, row: Row) -> bool:
        """Whether *row* waits for an answer, as far as is known."""
        pane = row.pane
        if pane.status is not Status.WAITING or is_snoozed(pane, self.now):
            return False
        return told(row) not in self.answered

    @property
    def index(self) -> int:
        """The place of the selected row among those shown; 0 if there is none."""
        return next((index for index, row in enumerate(self.shown) if row.address == self.selected), 0)

    @property
    def row(self) -> Row | None:
        """The selected row."""
        return self.shown[self.index] if self.shown else None
