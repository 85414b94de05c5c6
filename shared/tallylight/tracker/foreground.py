"""
The program in the foreground of a pane, and the status that it gives the pane where no source has a claim.
"""

from __future__ import annotations

import attrs

from tallylight.model.report import Source
from tallylight.model.status import Status


@attrs.frozen
class Foreground:
    """
    The program in the foreground: an agent, or one such as ssh through which an agent elsewhere may report.

    *instance* distinguishes two runs of the same program, for example by process id. Output and silence are evidence
    only if *is_agent*. An agent that *speaks* reports its status once it is up, so its first output is not taken for
    work. With *is_candidate* it may be an agent that no agent file names: its output, silence and end prove nothing.
    """

    name: str
    instance: int
    is_agent: bool = True
    speaks: bool = False
    is_candidate: bool = False


def unclaimed(
    foreground: Foreground | None, *, is_starting: bool, at_prompt: bool
) -> tuple[Source | None, Status, str]:
    """Return source, status and rule of a pane without a claim. *at_prompt*: the shell has shown its prompt."""
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
