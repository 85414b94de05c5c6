"""
The caller: on whose behalf a script asks for something, by the process table and by nothing that the script says.

It is the nearest agent among the ancestors of the process that asks, else the leader of its session: the shell of a
terminal, or whatever a service manager started. Where that leader has ended, or runs outside of this container, it is
the outermost ancestor of that session. An identity is a pid with its start, which no other process ever has. A process
that leaves its parents, or begins a session of its own, is a caller of its own that may do nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import attrs

from tallylight.agents.agent import Agents
from tallylight.evidence.foreground import identify
from tallylight.evidence.process_table import Table

#: Ancestors that are looked at: a caller deeper than that is none.
MAX_DEPTH = 64

#: A process and its start: what it is in every comparison.
Being = tuple[int, int]


@attrs.frozen
class Caller:
    """
    Who asks: *being* is the process that counts as the caller, *agent* what people call it, nothing for no agent.

    *lineage* are the process that asks and all its ancestors.
    """

    being: Being
    agent: str
    lineage: frozenset[Being]


def caller_of(pid: int, agents: Agents, table: Table, session_of: Callable[[int], int] = os.getsid) -> Caller | None:
    """
    The caller of the process *pid*; None if it is gone, or it cannot be told.

    *session_of* says the leader of a process's session, 0 for one outside of this container, or raises OSError. Where
    the system hides the processes of others (`hidepid`, see proc(5)), the ancestors end at the first of them.
    """
    lineage: dict[int, Being] = {}
    agent: tuple[Being, str] | None = None
    current = pid
    while current > 0:
        process = table.get(current)
        if process is None and lineage and _is_of_another(current):
            break
        if process is None or len(lineage) >= MAX_DEPTH or current in lineage:
            return None
        lineage[current] = (process.pid, process.start)
        found = identify((process,), agents).agent
        if found is not None and agent is None:
            agent = lineage[current], found.display
        current = process.ppid
    if agent is not None:
        return Caller(*agent, frozenset(lineage.values()))
    try:
        session = session_of(pid)
        if (start := table.start(session) if session > 0 else None) is not None:
            leader = session, start
        else:
            leader = next(being for being in reversed(lineage.values()) if session_of(being[0]) == session)
    except (OSError, StopIteration):  # a process that has ended meanwhile
        return None
    return Caller(leader, "", frozenset(lineage.values()))


def _is_of_another(pid: int) -> bool:
    """Whether the process *pid* is there and belongs to another user."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        pass
    return False


def being_of(pid: int | None, table: Table) -> Being | None:
    """The process *pid* as it is now; None if it is gone."""
    start = table.start(pid) if pid else None
    return (pid, start) if pid and start is not None else None
