"""Rivals: the other processes of an agent in the same directory, which may have written the records there."""

from __future__ import annotations

from tallylight.agents.agent import Agent, Agents
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ProcTable, PsutilTable, Table

#: Other processes of one agent in one directory that are reported, and directories that are kept.
MAX_RIVALS = 32


def rival_starts(process: Process, agent: Agent, of: Table, now: float = 0.0, age_s: float = 0.0) -> tuple[float, ...]:
    """
    Return the start times of the other processes of *agent* in the directory of *process*, in seconds since the epoch.

    The processes of one terminal's foreground count as one; the ancestors and children of *process* count as none. A
    result for another process of it there may be up to *age_s* seconds old at monotonic *now*.
    """
    if not isinstance(of, ProcTable | PsutilTable):
        return ()
    cwd = of.cwd(process.pid)
    found: dict[int, float] = {}
    for pid, pgrp, started in _at_work(agent, cwd, of, now, age_s) if cwd else ():
        if pid != process.pid and pgrp != process.pgrp:
            found[pgrp] = min(started, found.get(pgrp, started))
    return tuple(sorted(found.values())[:MAX_RIVALS])


#: The last results of `_at_work` by table, agent and directory, and when. Replaced as a whole: threads ask for it.
_found_at_work: dict[tuple[Table, str, str], tuple[float, tuple[tuple[int, int, float], ...]]] = {}


def _at_work(
    agent: Agent, cwd: str, of: ProcTable | PsutilTable, now: float, age_s: float
) -> tuple[tuple[int, int, float], ...]:
    """Return the processes of *agent* in *cwd*, each with its group and its start. Reads all processes."""
    key = of, agent.name, cwd
    known = _found_at_work.get(key)
    if known is not None and 0 <= now - known[0] < age_s:
        return known[1]
    agents, found = Agents((agent,)), list[tuple[int, int, float]]()
    for pid in of.at_work_in(cwd):
        other = of.get(pid) if agent.may_be(of.words(pid)) else None
        started = of.start_time(pid) if other is not None and identify((other,), agents).agent is not None else None
        if other is not None and started is not None:
            found.append((pid, other.pgrp, started))
    if len(_found_at_work) >= MAX_RIVALS:
        _found_at_work.clear()
    _found_at_work[key] = now, tuple(found)
    return tuple(found)
