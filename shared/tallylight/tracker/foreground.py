"""
Who holds the foreground of a pane, and what the pane shows for that alone, where nothing is claimed about it.
"""

from __future__ import annotations

import attrs

from tallylight.model.report import Source
from tallylight.model.status import Status


@attrs.frozen
class Foreground:
    """
    Who holds the pane's foreground: an agent, or a carrier such as ssh through which an unseen agent may speak.

    *instance* tells two runs of the same program apart (a process id will do). Guesses from output and silence
    are made only where *is_agent*. One that *speaks* is known to tell its status itself once it is up: it is given
    some time before what it draws is taken for work. A *candidate* is no more than that: an agent that no file names.
    Nothing is concluded from its output and silence, nor from its end.
    """

    name: str
    instance: int
    is_agent: bool = True
    speaks: bool = False
    is_candidate: bool = False


def unclaimed(
    foreground: Foreground | None, *, is_starting: bool, at_prompt: bool
) -> tuple[Source | None, Status, str]:
    """Source, status and rule of a record without a claim; *at_prompt*: the shell has shown its prompt."""
    if foreground is not None and foreground.is_candidate:
        return None, Status.ACTIVE, f"{foreground.name} may be an agent, but asks and reports nothing"
    if foreground is not None and foreground.is_agent:
        rule = "it is starting" if is_starting else "no output lately"
        return Source.HEURISTIC, Status.IDLE, rule
    if foreground is not None:
        return None, Status.ACTIVE, f"{foreground.name} is in the foreground"
    if at_prompt:
        return Source.SHELL, Status.IDLE, "shell at its prompt"
    return None, Status.ACTIVE, "nothing known of this pane"
