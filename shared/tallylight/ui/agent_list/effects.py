"""
Effects: what a key or the mouse asks the loop of the list to carry out.
"""

from __future__ import annotations

import attrs

from tallylight.actions import request, say
from tallylight.actions.answer import Holder, Question
from tallylight.snapshot.labels import Label
from tallylight.snapshot.rows import Row
from tallylight.ui.agent_list.selection import Act, Proposal


@attrs.frozen
class Quit:
    """The person is done with the list."""


@attrs.frozen
class Back:
    """Back to the pane beside a panel, which stays."""


@attrs.frozen
class Go:
    """To the pane of *row*, and away with the list."""

    row: Row


@attrs.frozen
class Fork:
    """Continue the conversation of *row* in a second pane."""

    row: Row


@attrs.frozen
class Resume:
    """Take up the conversation of *row* again, whose agent has gone."""

    row: Row


@attrs.frozen
class Ask:
    """Ask the host of *row* to change its ledger: `snooze` or `unread`."""

    row: Row
    verb: str
    args: tuple[str, ...] = ()


@attrs.frozen
class Why:
    """Explain *row*: `explained` takes the text."""

    row: Row


@attrs.frozen
class Look:
    """Read the prompt in the pane of *row* off its screen as it is now: `asked` takes what was found."""

    row: Row


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
class Regroup:
    """Keep that lists show their rows in groups by *group*, of `labels.GROUPS`."""

    group: str


@attrs.frozen
class LookBack:
    """Read what the agents did in the last days: `looked_back` takes it."""


@attrs.frozen
class Reach:
    """Find out whether the agent in the pane of *row* takes text now: `writing.begun` takes who it is."""

    row: Row


@attrs.frozen
class Say:
    """Type *text* and Enter into *holder*, in the pane of *row*."""

    row: Row
    holder: Holder
    text: str


@attrs.frozen
class Queue:
    """Have *text* typed into *holder*, in the pane of *row*, when its turn ends."""

    row: Row
    holder: Holder
    text: str


@attrs.frozen
class Unqueue:
    """Forget what is queued in the pane of *row*."""

    row: Row


Effect = (
    Quit | Back | Go | Fork | Resume | Ask | Why | Look | Answer | Propose | Carry | Relabel | Regroup | LookBack
    | Reach | Say | Queue | Unqueue
)  # fmt: skip
Effects = tuple[Effect, ...]
#: What is asked of one pane by `actions.request`.
Asked = Look | Answer | Reach | Say | Queue | Unqueue


def request_of(effect: Asked) -> request.Request:
    """What *effect* asks of its pane."""
    pane = effect.row.pane.id
    match effect:
        case Look():
            return request.Look(pane, request.QUESTION)
        case Answer(question=question, number=number):
            return question.answer(number)
        case Say(holder=held, text=text):
            return say.Say(held.pane, held.pid, held.start, text, enter=True)
        case Queue(holder=held, text=text):
            return request.Later(held.pane, held.pid, held.start, text)
        case Unqueue():
            return request.Unqueue(pane)
    return request.Look(pane, request.TAKER)
