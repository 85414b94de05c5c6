"""
Details: facts about an agent from its own record, in addition to its status.

They are for display alone and decide nothing. Every text is untrusted and already sanitised, every list bounded.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.report import Progress
from tallylight.model.status import Status

#: From so many percent of its window on, the context is nearly full.
NEARLY_FULL = 80
#: Denied calls in a row that a person hears of: the agent may be stuck.
REPORTED_DENIALS = 3


@attributes.frozen
class Child:
    """A subagent: its name, and whether it works, is done or has failed."""

    name: str
    status: Status


@attributes.frozen(kw_only=True)
class Details:
    """
    The details of one session. A field that its record does not state is empty.

    *context* is the used share of the model's window, in percent from 0 to 100; None if unknown. *tasks* are names:
    finished ones first, then the current one; *progress* counts them. *cost* is in US dollars, only if the agent itself
    states it. *limited_until* is seconds since the epoch, 0 for no limit.
    """

    model: str = ""
    context: int | None = None
    tasks: tuple[str, ...] = ()
    progress: Progress | None = None
    children: tuple[Child, ...] = ()
    #: The first line of the last prompt.
    prompt: str = ""
    reply: str = ""
    #: The last sentence of the reply, or the question at its end.
    outcome: str = ""
    limited_until: float = 0.0
    cost: float | None = None


NO_DETAILS = Details()
