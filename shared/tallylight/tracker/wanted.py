"""
What of a pane's screen is worth looking at: only evidence that could decide something.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.tracker.claims import Claim
from tallylight.tracker.foreground import Foreground


def wants_output(own: Mapping[Source, Claim], foreground: Foreground | None) -> bool:
    """
    Whether visible output would be evidence, beside what the *own* claims of the pane say.

    An agent whose status file is read has no need of guesses.
    """
    is_agent = foreground is not None and foreground.is_agent
    return Source.REGISTRY not in own and (is_agent or any(claim.status is Status.WORKING for claim in own.values()))


def wants_screen(own: Container[Source], foreground: Foreground | None, shown: Status, *, is_explicit: bool) -> bool:
    """
    Whether what the screen says would be evidence, or its question would be shown.

    It has no vote beside an agent's own words; but what it asks is nowhere else.
    """
    is_agent = foreground is not None and foreground.is_agent
    return is_agent and (shown is Status.WAITING or (not is_explicit and Source.REGISTRY not in own))
