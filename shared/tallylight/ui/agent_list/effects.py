"""
Effects: what a key or the mouse asks the loop of the list to carry out. What is for one pane is a request.
"""

from __future__ import annotations

import enum

import attrs

from tallylight.actions.answer import Question
from tallylight.actions.request import Open, Request
from tallylight.snapshot.labels import Label
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.selection import Act, Proposal


class Plain(enum.Enum):
    """What needs no words."""

    #: The person is done with the list.
    QUIT = "quit"
    #: Back to the pane beside a panel, which stays.
    BACK = "back"
    #: Read what the agents did in the last days: `looked_back` takes it.
    #: Keep by what lists group their rows.
    REGROUP = "regroup"
    #: Explain the selected row: `explained` takes the text.
    WHY = "why"


@attrs.frozen
class Perform:
    """Have done what is *asked* of the pane of *row*, and show what comes of it."""

    row: Row
    asked: Request


@attrs.frozen
class Propose:
    """Find out what is in the panes of *rows* before *act* is done to them: `proposed` takes it."""

    act: Act
    rows: tuple[Row, ...]


@attrs.frozen
class Gather:
    """Find out which of *rows* ask the very same as *like*: `proposed` takes it."""

    rows: tuple[Row, ...]
    like: Question


@attrs.frozen
class Lend:
    """Lend the terminal to what *call* names, for *row*: a text for the agent may come of it."""

    row: Row
    call: str


@attrs.frozen
class Relabel:
    """Keep *label* for the conversation of *row*."""

    row: Row
    label: Label


#: A `Proposal` is to be done as it was shown.
Effect = Plain | Perform | Propose | Proposal | Gather | Lend | Relabel
Effects = tuple[Effect, ...]


def opening(row: Row, verb: str = "go") -> Effects:
    """Go to the pane of *row*, and away with the list; or `fork` or `resume` its conversation."""
    return (Perform(row, Open(verb, row.pane.id)),)
