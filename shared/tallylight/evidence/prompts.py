"""
Prompts: what the visible screen of an agent says of its status, and the question that a person has to answer.

Rows of text go in, with the agent that holds the foreground and the row of the cursor; a `Prompt` comes out, or None.
The agent's own `[[screen.rules]]` are asked first, then the generic ones of `evidence.dialogs`. Everything is read at
the end of the screen: what was printed before, and has scrolled up, is a transcript and says nothing. Reading is pure,
never raises, and takes a bounded time on any screen.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallylight.agents import Agent
from tallylight.evidence.dialogs import read_dialog
from tallylight.evidence.question import Choice, Prompt
from tallylight.evidence.tail import read_tail

__all__ = ["Choice", "Prompt", "read_prompt"]


def read_prompt(agent: Agent | None, lines: Sequence[str], cursor_row: int) -> Prompt | None:
    """
    What the screen says of *agent*; None if nothing, and for no agent.

    *lines* are the visible rows from the top, *cursor_row* counts from 0.
    """
    if agent is None:
        return None
    return read_dialog(read_tail(lines), cursor_row)
