"""
What an agent's own record says about a pane, in words, for every surface that has room for it.
"""

from __future__ import annotations

import time

from tallylight.model.details import NEARLY_FULL
from tallylight.snapshot.schema import Pane


def says(pane: Pane) -> str:
    """What of it tells most: what is asked, else the last message, else what it is about."""
    return pane.asks or pane.message or pane.topic or (pane.title if pane.title != pane.project else "")


def context(pane: Pane) -> str:
    """How full its context is: `42%`; nothing if that is not known."""
    return f"{pane.context}%" if pane.context is not None else ""


def is_nearly_full(pane: Pane) -> bool:
    """Whether its context is so full that a person should know."""
    return pane.context is not None and pane.context >= NEARLY_FULL


def children(pane: Pane) -> str:
    """Its subagents: `Explore working, Review done`."""
    return ", ".join(f"{name} {status}".strip() for name, status in pane.children)


def cost(pane: Pane) -> str:
    """What its session has cost, as it says itself."""
    return f"${pane.cost:.2f}" if pane.cost is not None else ""


def limit(pane: Pane, now: float) -> str:
    """Until when a limit stops it, on the clock of this place: `limited until 11:08`, or with the day."""
    if pane.limited_until <= now:
        return ""
    is_soon = pane.limited_until - now < 86_400
    return (
        f"limited until {time.strftime('%H:%M' if is_soon else '%a %d %b %H:%M', time.localtime(pane.limited_until))}"
    )


def summary(pane: Pane, now: float) -> str:
    """All of it that is short, in one line: the limit, the model, the context, what it cost."""
    full = f"context {context(pane)}" if pane.context is not None else ""
    return ", ".join(words for words in (limit(pane, now), pane.model, full, cost(pane)) if words)
