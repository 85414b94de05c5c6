"""
The light that a pane keeps after its agent has left the foreground.
"""

from __future__ import annotations

import attrs

from tallylight.model.decision import Decision
from tallylight.model.report import Source
from tallylight.model.status import NEEDS_PERSON, Status
from tallylight.tracker.claims import Claim

#: A command that ends within so many seconds after its agent vanished is taken to be that agent.
EXIT_CODE_S = 2.0
#: A shell's exit codes for a command that a signal killed: ABRT, BUS, FPE, KILL, SEGV.
_KILLED = frozenset({134, 135, 136, 137, 139})

#: The rule for a program that is no agent, or has not ended, by whether it is gone.
_LEFT = {True: "it left the foreground", False: "it was stopped"}
_OWN_WORDS = (Source.PROGRESS, Source.TITLE, Source.RECORD, Source.REGISTRY, Source.PROTOCOL)


def summarise_exit(last: Decision, now: float, *, was_agent: bool, is_gone: bool) -> Claim | None:
    """
    Return the claim to show after a program that showed *last* has left the foreground; None if none is worth it.

    A program that is not *is_gone* was only stopped.
    """
    source, status, has_ended = last.reason.source, last.status, was_agent and is_gone
    if status is Status.LIMITED:
        return None  # the limit is of no interest once the program has left
    if has_ended and status is Status.WORKING:
        status = Status.DOWN if source in _OWN_WORDS else Status.DONE
        rule = "it vanished during a turn" if status is Status.DOWN else "it ended after its last output"
    elif has_ended and status is Status.BACKGROUND:
        status, rule = Status.DONE, "it ended after its turn"
    elif status in (NEEDS_PERSON if has_ended else (Status.WAITING, Status.DONE)):
        rule = f"it ended while {status}" if has_ended else _LEFT[is_gone]
    else:
        return None
    report = attrs.evolve(last.report, source=source or Source.HEURISTIC, status=status, rule=rule)
    return Claim(report, at=now, since=now)


def corrected(ended: Claim, exit_code: int | None, now: float) -> Claim:
    """Return *ended*, corrected by the exit code that the shell reports if its command can have been the agent."""
    if now - ended.at > EXIT_CODE_S:
        return ended
    if ended.status is Status.DOWN and exit_code == 0:
        return _restated(ended, Status.DONE, "its command ended well")
    if ended.status is Status.DONE and ended.report.source not in _OWN_WORDS and exit_code in _KILLED:
        return _restated(ended, Status.DOWN, f"its command was killed (exit code {exit_code})")
    return ended


def taken_back(ended: Claim | None) -> Claim | None:
    """Return *ended* if the agent's own protocol report made it; None otherwise, for the agent exited on purpose."""
    return ended if ended is not None and ended.report.source is Source.PROTOCOL else None


def _restated(claim: Claim, status: Status, rule: str) -> Claim:
    return attrs.evolve(claim, report=attrs.evolve(claim.report, status=status, rule=rule))
