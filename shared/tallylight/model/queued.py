"""
A text that waits in a pane for the end of its agent's turn, or of its agent's limit. What becomes of it,
`actions.queue` decides.
"""

from __future__ import annotations

from tallylight.model import attributes


@attributes.frozen(kw_only=True)
class Queued:
    """
    *text* for the agent with the process *pid*, started at *start*, and for no other.

    *ready_at*: since when that agent is at its prompt, in monotonic seconds; None while it is not. *problem*: why the
    text will not be typed any more; nothing while it may be.

    *at*: not before then, in seconds since the epoch, for a limit ends then; 0 for no limit. *due_at*: since when it is
    tried after that, and *typed_at* when it was typed last, both in monotonic seconds. *typed*: how often that was.
    """

    pid: int
    start: int
    text: str
    ready_at: float | None = None
    at: int = 0
    due_at: float | None = None
    typed_at: float | None = None
    typed: int = 0
    problem: str = ""
