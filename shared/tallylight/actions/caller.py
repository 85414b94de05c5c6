"""
The caller: the process that asks for something, by the process table and by no claim of its own.

Proof is a *line*: the process that asks and its parents, each alive and none younger than its child. It goes up to the
first process of a pane, which a terminal started. A whole line shows the kind of program in the pane:

* without an agent in the line it is a `SCRIPT`, with one an `AGENT`, the nearest of them;
* a line that ends before, at a process that adopts orphans, proves nothing. The caller is `UNKNOWN`; or a `STRAY`, an
  agent of no known pane.

Only parents count: a process may begin a session or a terminal of its own, as long as its parents live. A `PERSON` is
known by the way of their request: `actions.seat` decides whether a person sits at the terminal of a pane.
`actions.permission` decides the rights of each.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterator

import attrs

from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import TERMINALS, Process, program_of
from tallylight.evidence.process_table import Table

#: Processes of a line that are read: a caller deeper than that is unknown.
MAX_CALLER_DEPTH = 64
#: Programs that let a person in, and run as another user: none of a person's own programs can start below one.
_LOGINS = frozenset({"dropbear", "login", "sshd", "sshd-session"})

#: A process and its start: its identity in every comparison.
Being = tuple[int, int]


class Who(enum.StrEnum):
    """The kinds of callers."""

    PERSON = "a person"
    SCRIPT = "a script"
    AGENT = "an agent"
    #: An agent with a broken line to its pane, which is therefore unknown.
    STRAY = "an agent of no known pane"
    UNKNOWN = "unknown"
    #: A button of a notification: the session bus does not prove who pressed it.
    NOTICE = "a notification"


class End(enum.Enum):
    """The kinds of ends that prove a line."""

    #: A terminal that runs below another program: an agent may be farther up.
    TERMINAL = enum.auto()
    #: The terminal that asks, in one of its own panes.
    OWN = enum.auto()
    #: Where a person came in from elsewhere: at a login, or outside of this container.
    LOGIN = enum.auto()


@attrs.frozen
class Caller:
    """
    The caller of a request: its kind *who*, and *being*, the process that counts as the caller.

    *being* is the agent, else the first process of the pane. *agent* is the display name of the agent, "" without one.
    *asker* is the process itself. *lineage* are the processes of its line. *end* is the end of its pane's line, and
    *terminal* that pane's own; empty where the line is broken.
    """

    who: Who
    being: Being
    agent: str = ""
    lineage: frozenset[Being] = frozenset()
    asker: Being = (0, 0)
    end: End | None = None
    terminal: int | str = 0


#: A person, proved by the way of their request.
PERSON = Caller(Who.PERSON, (0, 0))

#: Returns the end of a line by its last process and the parent of that, None if there is none to be seen.
Ends = Callable[[Process, Process | None], End | None]


def caller_of(
    pid: int,
    agents: Agents,
    table: Table,
    ends: Ends | None = None,
    was_agent: Callable[[int, int], str] = lambda _pid, _start: "",
) -> Caller:
    """
    Return the caller behind the process *pid*; unknown if it is gone.

    *ends* recognises the end of a line, by default any terminal. *was_agent* returns the display name of a process that
    was an agent.
    """
    ends = ends or (lambda below, above: end_of(below, above, table))
    line: list[Being] = []
    end: End | None = None
    first: Being | None = None
    agent: tuple[Being, str] | None = None
    terminal: int | str = 0
    is_whole = False
    for process, above, is_known in line_of(pid, table):
        line.append((process.pid, process.start))
        if end is None:
            terminal = process_table.terminal(process.pid, table) or terminal
        if agent is None and (name := agent_named(process, agents) or was_agent(process.pid, process.start)):
            # From here on the line has to be proved again.
            agent, is_whole = (line[-1], name), False
        if is_known and (found := ends(process, above)) is not None:
            is_whole = True
            if end is None:
                end, first = found, line[-1]
            if found is not End.TERMINAL:
                break
    asker, lineage = [*line, (pid, 0)][0], frozenset(line)
    if agent is not None:
        return Caller(Who.AGENT if is_whole else Who.STRAY, *agent, lineage, asker, end, terminal)
    if first is not None:
        return Caller(Who.SCRIPT, first, "", lineage, asker, end, terminal)
    return Caller(Who.UNKNOWN, asker, "", lineage, asker)


def line_of(pid: int, table: Table) -> Iterator[tuple[Process, Process | None, bool]]:
    """
    Yield the process *pid* and its parents, each with its own parent, and whether that is certain.

    It is if the parent lives and is no younger.
    """
    process = table.get(pid) if pid > 0 else None
    seen: set[int] = set()
    while process is not None:
        seen.add(process.pid)
        above = table.get(process.ppid) if process.ppid > 0 else None
        if above is not None and above.start > process.start:
            above = None
        yield process, above, (above is not None or process.ppid == 0) and len(seen) < MAX_CALLER_DEPTH
        process = above if above is not None and above.pid not in seen and len(seen) < MAX_CALLER_DEPTH else None


def agent_named(process: Process | None, agents: Agents) -> str:
    """Return the display name of the agent that *process* itself is; "" for none."""
    if process is None:
        return ""
    found = identify((process,), agents).agent
    return found.display if found is not None else ""


def end_of(below: Process, above: Process | None, table: Table) -> End | None:
    """
    Return the end of a line with the process *below* and its parent *above*; None if it continues, or is broken.

    A terminal is known by its executable, never by its arguments; its children outside of panes have no terminal. A
    login belongs to another user, or for root to root, with an executable that others cannot read or rename.
    """
    if above is None:
        return End.LOGIN if below.pid != 1 else None
    if program_of(above) in TERMINALS and process_table.terminal(below.pid, table):
        return End.TERMINAL
    if (program_of(above) or above.comm) not in _LOGINS:
        return None
    own = os.getuid()
    return End.LOGIN if own == 0 or process_table.owner(above.pid, table) not in (own, None) else None


def this_process() -> int:
    """
    Return this process's number as /proc shows it; that table may be another container's, so `os.getpid()` may differ.
    """
    try:
        return int(os.readlink("/proc/self"))  # noqa: PTH115 - a number
    except (OSError, ValueError):
        return os.getpid()


def being_of(pid: int | None, table: Table) -> Being | None:
    """Return the process *pid* with its start; None if it is gone."""
    start = table.start(pid) if pid else None
    return (pid, start) if pid and start is not None else None
