"""
Closing a pane with its programs, for a person who was shown which one.

`occupant` returns the program in the foreground of a pane now, an agent or any other; a surface shows it. `close` looks
again, and closes the pane by its host's own means only if the same process is still in front. A pane with another
program by now is not the one that was agreed to. A refusal names its rule: those of `actions.answer`, and `process`:
another program is in the foreground, or an unknown one.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from tallylight.actions.answer import Done, Occupant, Typist
from tallylight.actions.gate import Refusal, RefusedError, must, refuses
from tallylight.evidence.process import base_name


@attrs.frozen
class Close:
    """Close the pane with the process *pid* in its foreground, started at *start*."""

    pane: str
    pid: int
    start: int


class Closer(Typist, Protocol):
    """A `Typist` that can close its pane. Only `close` below may call `close`."""

    def close(self) -> None:
        """Close the pane, as its host does at a person's command. Raises `SessionError` if the host cannot."""


@refuses
def occupant(typist: Typist) -> Occupant:
    """Return the program in the foreground of the pane now: an agent, or another program by its own name."""
    seen = must(typist.see())
    found = seen.foreground
    process = found.process or found.leader
    # Without its start it could be another process later.
    if process is None or not process.start:
        raise RefusedError(Refusal("process", "the program in that pane is unknown; nothing was closed"))
    program = base_name(process.argv[0] if process.argv else process.exe or process.comm)
    name = found.agent.name if found.agent is not None and not found.is_remote else program
    return Occupant(seen.pane, name, process.pid, process.start)


@refuses
def close(closer: Closer, given: Close) -> Done:
    """Look again, and close the pane if the program that was shown is still in front."""
    held = must(occupant(closer))
    if held.pane != given.pane:
        raise RefusedError(Refusal("gone", "that is another pane now; nothing was closed"))
    if (held.pid, held.start) != (given.pid, given.start):
        raise RefusedError(Refusal("process", f"{held.agent} runs there now; nothing was closed"))
    closer.close()
    return Done(given.pane, "closed")
