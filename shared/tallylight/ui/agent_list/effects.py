"""Effects: actions that a key or the mouse asks the loop of the list to carry out. For one pane it is a request."""

from __future__ import annotations

import enum

import attrs

from tallylight.actions.answer import Question
from tallylight.actions.request import Open, Request
from tallylight.snapshot.labels import Label
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.selection import Act, Proposal


class Plain(enum.Enum):
    """Effects that need no arguments."""

    #: Close the list.
    QUIT = "quit"
    #: Give the keyboard back to the pane beside a panel, which stays.
    BACK = "back"
    #: Keep the new grouping for all lists.
    REGROUP = "regroup"
    #: Explain the selected row: `explained` takes the text.
    WHY = "why"


@attrs.frozen
class Perform:
    """Have the request *asked* carried out for the pane of *row*, and show its result."""

    row: Row
    asked: Request


@attrs.frozen
class Propose:
    """Find out which programs are in the panes of *rows* before *act* is done to them: `proposed` takes the result."""

    act: Act
    rows: tuple[Row, ...]


@attrs.frozen
class Gather:
    """Find out which of *rows* ask exactly the same question as *like*: `proposed` takes the result."""

    rows: tuple[Row, ...]
    like: Question


@attrs.frozen
class Lend:
    """Lend the terminal to the function *call* for *row*; it may return a text for the agent."""

    row: Row
    call: str


@attrs.frozen
class Relabel:
    """Keep *label* for the conversation of *row*."""

    row: Row
    label: Label


#: A `Proposal` is carried out as it was shown.
Effect = Plain | Perform | Propose | Proposal | Gather | Lend | Relabel
Effects = tuple[Effect, ...]


def opening(row: Row, verb: str = "go") -> Effects:
    """
    Return the effects that go to the pane of *row* and close the list; or that `fork` or `resume` its conversation.
    """
    return (Perform(row, Open(verb, row.pane.id)),)
