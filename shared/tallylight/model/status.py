"""
The words a person sees: statuses, what a waiting agent waits for, and their order.

Everything else in the package speaks in these two enums. Their values are the words of the `tally` user
variable, the snapshot and the command line.
"""

from __future__ import annotations

import enum


class Status(enum.StrEnum):
    """What one agent, or one pane, is doing. Values are wire words; the order of urgency is `URGENCY`."""

    WORKING = "working"
    #: It needs a person; see `Kind`. No timer ever clears it.
    WAITING = "waiting"
    #: It has used up a limit, and goes on when that has ended. Made of `Kind.LIMIT`, as which it is reported.
    LIMITED = "limited"
    #: Its turn is over, but background tasks or subagents of it still run.
    BACKGROUND = "background"
    #: Its turn is over and nobody has looked yet.
    DONE = "done"
    ERROR = "error"
    #: It vanished in mid-turn.
    DOWN = "down"
    #: It has shown nothing new for a while, and no question: it may be done, or busy, or wait.
    QUIET = "quiet"
    #: Ready and nothing pending; or a shell at its prompt.
    IDLE = "idle"
    #: A plain command runs, or nothing is known: no light.
    ACTIVE = "active"


class Kind(enum.StrEnum):
    """What a waiting agent waits for."""

    PERMISSION = "permission"
    QUESTION = "question"
    INPUT = "input"
    AUTH = "auth"
    #: Of reports alone: nothing more is available until a limit ends. What is shown of it is `Status.LIMITED`.
    LIMIT = "limit"


#: Most urgent first: what a person is to deal with before what. Lists are in this order.
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

#: What is concluded here, and never accepted from a program.
CONCLUDED: frozenset[Status] = frozenset({Status.DOWN, Status.LIMITED, Status.QUIET})

#: What a person can put off.
NEEDS_PERSON: frozenset[Status] = frozenset({Status.WAITING, Status.ERROR, Status.DOWN, Status.DONE, Status.LIMITED})

#: What one light shows for several panes, the first of these that is among them: no green while any of them works.
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
