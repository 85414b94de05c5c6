"""
A text that waits in a pane for the end of its agent's turn, or of its agent's limit. What becomes of it,
`actions.queue` decides.
"""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class Queued:
    """
    *text* for the agent with the process *pid*, started at *start*, and for no other.

    *at*: not before then, in seconds since the epoch, for a limit ends then; 0 for no limit. *ready_at*: since when
    that agent is at its prompt, in monotonic seconds; None while it is not. *problem*: why the text will not be typed
    any more; nothing while it may be.
    """

    pid: int
    start: int
    text: str
    at: int = 0
    ready_at: float | None = None
    problem: str = ""
