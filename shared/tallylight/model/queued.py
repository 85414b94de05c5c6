"""
A text that waits in a pane until its agent's turn or usage limit ends. `actions.queue` decides when it is typed.
"""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Queued:
    """
    A *text* to type for the agent with the process *pid*, started at *start*, and for no other.

    *at*: the end of the usage limit, in seconds since the epoch; 0 for no limit. *ready_at*: since when that agent has
    been at its prompt, in monotonic seconds; None while it is not. *problem*: why the text will not be typed any more;
    empty while it may be.
    """

    pid: int
    start: int
    text: str
    at: int = 0
    ready_at: float | None = None
    problem: str = ""
