"""
Effects: what a key or the mouse asks the loop of the list to carry out.
"""

from __future__ import annotations

import enum

import attrs

from tallylight.actions import request, say
from tallylight.actions.answer import Occupant, Question
from tallylight.snapshot.labels import Label
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.selection import Act, Proposal


class Plain(enum.Enum):
    """What is for no row."""

    #: The person is done with the list.
    QUIT = "quit"
    #: Back to the pane beside a panel, which stays.
    BACK = "back"
    #: Read what the agents did in the last days: `looked_back` takes it.
    LOOK_BACK = "look back"
    #: Keep by what lists group their rows.
    REGROUP = "regroup"


class Verb(enum.Enum):
    """What is done for one row."""

    #: To its pane, and away with the list.
    GO = "go"
    #: Continue its conversation in a second pane.
    FORK = "fork"
    #: Take up its conversation again, whose agent has gone.
    RESUME = "resume"
    #: Explain it: `explained` takes the text.
    WHY = "why"
    #: Read the prompt in its pane off the screen as it is now: `asked` takes what was found.
    LOOK = "look"
    #: Find out whether its agent takes text now: `writing.begun` takes who it is.
    REACH = "reach"
    #: Forget what is queued in its pane.
    UNQUEUE = "unqueue"


@attrs.frozen
class Do:
    """Do *verb* for *row*."""

    verb: Verb
    row: Row


@attrs.frozen
class Ask:
    """Ask the host of *row* to change its ledger: `snooze` or `unread`."""

    row: Row
    verb: str
    args: tuple[str, ...] = ()


@attrs.frozen
class Answer:
    """Choose *number* of *question*, for the agent in the pane of *row*."""

    row: Row
    question: Question
    number: int


@attrs.frozen
class Propose:
    """Find out what is in the panes of *rows*, to which *act* is to be done: `proposed` takes it."""

    act: Act
    rows: tuple[Row, ...]


@attrs.frozen
class Carry:
    """Do what *proposal* shows."""

    proposal: Proposal


@attrs.frozen
class Relabel:
    """Keep *label* for the conversation of *row*."""

    row: Row
    label: Label


@attrs.frozen
class Say:
    """Type *text* and Enter into *holder*, in the pane of *row*."""

    row: Row
    holder: Occupant
    text: str


@attrs.frozen
class Queue:
    """Have *text* typed into *holder*, in the pane of *row*, when its turn ends."""

    row: Row
    holder: Occupant
    text: str


Effect = Plain | Do | Ask | Answer | Propose | Carry | Relabel | Say | Queue
Effects = tuple[Effect, ...]
#: What is asked of one pane by `actions.request`.
Asked = Do | Answer | Say | Queue


def request_of(effect: Asked) -> request.Request:
    """What *effect* asks of its pane."""
    match effect:
        case Answer(question=question, number=number):
            return question.answer(number)
        case Say(holder=held, text=text):
            return say.Say(held.pane, held.pid, held.start, text, enter=True)
        case Queue(holder=held, text=text):
            return request.DeferredText(held.pane, held.pid, held.start, text)
        case Do(Verb.UNQUEUE, row):
            return request.Unqueue(row.pane.id)
        case Do(verb, row):
            return request.Look(row.pane.id, request.QUESTION if verb is Verb.LOOK else request.PROMPT_AGENT)
