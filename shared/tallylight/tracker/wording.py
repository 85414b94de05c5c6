"""As what a decision is shown where a person wants another word for it: `[trust] done_is` and `idle_is`."""

from __future__ import annotations

import attrs

from tallylight.model.decision import Decision
from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.tracker.claims import Timing

#: Sources that know nothing of an agent's prompt.
_GUESSES = (None, Source.SHELL, Source.HEURISTIC)


def as_wanted(decision: Decision, timing: Timing, *, is_agent: bool, is_over: bool) -> Decision:
    """
    *decision* in the words of *timing*: a finished turn, and an agent at its prompt, may count as waiting for input.

    *is_agent*: an agent holds the foreground; *is_over*: the agent, or its command, has ended.
    """
    status = decision.status
    if status is Status.DONE:
        is_waiting = timing.done_is is Status.WAITING and not is_over
    else:
        is_waiting = status is Status.IDLE and timing.idle_is is Status.WAITING and is_agent
        is_waiting = is_waiting and decision.reason.source not in _GUESSES
    return attrs.evolve(decision, status=Status.WAITING, kind=Kind.INPUT) if is_waiting else decision
