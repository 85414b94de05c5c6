"""
Statuses, kinds of questions, and the orders in which statuses are listed.

The whole package uses these two enums. Their values are the words of the `tally` user variable, the snapshot and the
command line.
"""

from __future__ import annotations

import enum


class Status(enum.StrEnum):
    """The activity of one agent, or of one pane. Values are words of the wire; `URGENCY` has the order."""

    WORKING = "working"
    #: It asks a person; see `Kind`. No timer ever clears it.
    WAITING = "waiting"
    #: It has used up a limit and can continue when that ends. Sources report it as `Kind.LIMIT`.
    LIMITED = "limited"
    #: Its turn is over, but background tasks or subagents of it still run.
    BACKGROUND = "background"
    #: Its turn is over and nobody has looked yet.
    DONE = "done"
    ERROR = "error"
    #: It vanished in the middle of a turn.
    DOWN = "down"
    #: Its screen has not changed for a while and shows no question: it may be done, busy or waiting.
    QUIET = "quiet"
    #: It is ready at its prompt; or a shell is at its prompt.
    IDLE = "idle"
    #: A plain command runs, or nothing is known: no light.
    ACTIVE = "active"


class Kind(enum.StrEnum):
    """The kind of question that a waiting agent asks."""

    PERMISSION = "permission"
    QUESTION = "question"
    INPUT = "input"
    AUTH = "auth"
    #: Only in reports: the agent is stopped until a usage limit ends. It is shown as `Status.LIMITED`.
    LIMIT = "limit"


#: The order of lists: the most urgent status comes first.
URGENCY: tuple[Status, ...] = (
    Status.WAITING,
    Status.ERROR,
    Status.DOWN,
    Status.DONE,
    Status.LIMITED,
    Status.QUIET,
    Status.BACKGROUND,
    Status.WORKING,
    Status.IDLE,
    Status.ACTIVE,
)

#: Statuses that only the tracker concludes: they are never accepted from a program.
CONCLUDED: frozenset[Status] = frozenset({Status.DOWN, Status.LIMITED, Status.QUIET})

#: Statuses that need a person, and that can be snoozed.
NEEDS_PERSON: frozenset[Status] = frozenset({Status.WAITING, Status.ERROR, Status.DOWN, Status.DONE, Status.LIMITED})

#: One light for several panes shows the first of these that any of them has: no green while one of them works.
TAB_ORDER: tuple[Status, ...] = (
    Status.WAITING,
    Status.ERROR,
    Status.DOWN,
    Status.WORKING,
    Status.BACKGROUND,
    Status.DONE,
    Status.LIMITED,
    Status.QUIET,
    Status.IDLE,
    Status.ACTIVE,
)
