"""
Details: what an agent's own record says about it beside its status.

For display alone: nothing in here decides anything. Every text is untrusted and already sanitised, every list bounded.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.report import Progress
from tallylight.model.status import Status

#: From so many percent of its window on, the context is nearly full.
NEARLY_FULL = 80


@attributes.frozen
class Child:
    """A subagent: what it is called, and whether it works, is done or has failed."""

    name: str
    status: Status


@attributes.frozen(kw_only=True)
class Details:
    """
    What one session reports. A field that its record does not state is empty.

    *context* is the share of the model's window that is used, in percent from 0 to 100; None where the record does not
    state both. *tasks* are names, those that are done first and then the current one; *progress* counts them. *cost* is
    in US dollars, only where the agent itself states it. *limited_until* is seconds since the epoch, 0 for no limit.
    """

    model: str = ""
    context: int | None = None
    tasks: tuple[str, ...] = ()
    progress: Progress | None = None
    children: tuple[Child, ...] = ()
    reply: str = ""
    #: The last sentence of that, or the question that it ends with.
    outcome: str = ""
    limited_until: float = 0.0
    cost: float | None = None


NO_DETAILS = Details()
