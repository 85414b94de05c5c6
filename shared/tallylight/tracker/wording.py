"""As what a decision is shown where a person wants another word for it: `[trust] done_is` and `idle_is`."""

from __future__ import annotations

import attrs

from tallylight.model.decision import Decision
from tallylight.model.report import Source
from tallylight.model.status import Kind, Status
from tallylight.tracker.claims import Claim, Timing
from tallylight.tracker.foreground import Foreground


def as_wanted(
    decision: Decision, timing: Timing, foreground: Foreground | None, after_exit: Claim | None, *, at_prompt: bool
) -> Decision:
    """
    *decision* in the words of *timing*: a finished turn, and an agent at its prompt, may count as waiting for input.

    *foreground* holds the pane's foreground. *after_exit* is what is left to say of an agent that has ended.
    *at_prompt*: the shell shows its prompt.
    """
    if not timing.has_own_words:
        return decision
    word, is_agent = decision.status, foreground is not None and foreground.is_agent
    if word is Status.DONE and after_exit is None and not at_prompt:
        word = timing.done_is
    elif word is Status.IDLE and is_agent and decision.reason.source not in (None, Source.SHELL, Source.HEURISTIC):
        # Those three know nothing of an agent's prompt.
        word = timing.idle_is
    return decision if word is decision.status else attrs.evolve(decision, status=word, kind=Kind.INPUT)
