"""As what a decision is shown where a person wants another word for it: `[trust] done_is` and `idle_is`."""

from __future__ import annotations

import attrs

from tallylight.model.decision import Decision
from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.tracker.claims import Claim, Timing
from tallylight.tracker.foreground import Foreground

#: Sources that know nothing of an agent's prompt.
_GUESSES = (None, Source.SHELL, Source.HEURISTIC)


def as_wanted(
    decision: Decision, timing: Timing, foreground: Foreground | None, after_exit: Claim | None, *, at_prompt: bool
) -> Decision:
    """
    *decision* in the words of *timing*: a finished turn, and an agent at its prompt, may count as waiting for input.

    *foreground* holds the pane's foreground. *after_exit* is what is left to say of an agent that has ended;
    *at_prompt*: the shell shows its prompt.
    """
    if not timing.has_own_words:
        return decision
    is_agent = foreground is not None and foreground.is_agent
    status = decision.status
    if status is Status.DONE:
        is_waiting = timing.done_is is Status.WAITING and after_exit is None and not at_prompt
    else:
        is_waiting = status is Status.IDLE and timing.idle_is is Status.WAITING and is_agent
        is_waiting = is_waiting and decision.reason.source not in _GUESSES
    return attrs.evolve(decision, status=Status.WAITING, kind=Kind.INPUT) if is_waiting else decision
