"""
The caller: who asks for something, by the process table and by nothing that it says.

Proof is a *line*: the process that asks and its parents, each of them alive and none younger than its child, up to the
first process of a pane, which a terminal started. Where that is known, what runs in the pane is known, too:

* without an agent in the line it is a `SCRIPT`, with one an `AGENT`, the nearest of them;
* a line that ends before, at a process that takes in orphans, proves nothing. What asks is `UNKNOWN`; or a `STRAY`, an
  agent of no known pane.

What counts is who started whom: a process may begin a session or a terminal of its own, as long as its parents live. A
`PERSON` is known by the way of their request: `actions.seat` says whether a person sits at the terminal of a pane. What
each may do, `actions.permission` says.
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

#: Processes of a line that are looked at: a caller deeper than that is unknown.
MAX_DEPTH = 64
#: What lets a person in, and runs as another user than they: none of a person's own programs can start below one.
_LOGINS = frozenset({"dropbear", "login", "sshd", "sshd-session"})

#: A process and its start: what it is in every comparison.
Being = tuple[int, int]


class Who(enum.StrEnum):
    """What a caller is."""

    PERSON = "a person"
    SCRIPT = "a script"
    AGENT = "an agent"
    #: An agent with a broken line to its pane, which is therefore unknown.
    STRAY = "an agent of no known pane"
    UNKNOWN = "unknown"
    #: A button of a notification: who pressed it, the session bus does not prove.
    NOTICE = "a notification"


class End(enum.Enum):
    """At what a line ends, so that it is proved."""

    #: At a terminal that runs below something of its own: an agent may be farther up.
    TERMINAL = enum.auto()
    #: At the terminal that asks, in one of its own panes.
    OWN = enum.auto()
    #: Where a person came in from elsewhere: at a login, or outside of this container.
    LOGIN = enum.auto()


@attrs.frozen
class Caller:
    """
    Who asks: *who*; *being*, the process that counts as the caller: the agent, else the first process of the pane; and
    *agent*, what people call it, nothing for no agent. *asker* is the process itself.

    *lineage* are the processes of its line. *end* is what the first process of its pane is at, and *terminal* that
    pane's own; nothing where the line is broken.
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

#: What is at the end of a line: of the last process of it, and of its parent, None if there is none to be seen.
Ends = Callable[[Process, Process | None], End | None]


def caller_of(
    pid: int,
    agents: Agents,
    table: Table,
    ends: Ends | None = None,
    was_agent: Callable[[int, int], str] = lambda _pid, _start: "",
) -> Caller:
    """
    The caller of the process *pid*; unknown if it is gone.

    *ends* says where a line ends, by default at any terminal; *was_agent* what people call a process that was an agent.
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
        if agent is None and (name := named(process, agents) or was_agent(process.pid, process.start)):
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
    """The process *pid* and its parents, each with its own and whether that is known: it lives, and is no younger."""
    process = table.get(pid) if pid > 0 else None
    seen: set[int] = set()
    while process is not None:
        seen.add(process.pid)
        above = table.get(process.ppid) if process.ppid > 0 else None
        if above is not None and above.start > process.start:
            above = None
        yield process, above, (above is not None or process.ppid == 0) and len(seen) < MAX_DEPTH
        process = above if above is not None and above.pid not in seen and len(seen) < MAX_DEPTH else None


def named(process: Process | None, agents: Agents) -> str:
    """What people call the agent that *process* is by itself; nothing for none."""
    if process is None:
        return ""
    found = identify((process,), agents).agent
    return found.display if found is not None else ""


def end_of(below: Process, above: Process | None, table: Table) -> End | None:
    """
    The end of a line with the process *below* and its parent *above*; None if it goes on, or is broken.

    A terminal is known by its executable, never by its arguments; what it runs that is no pane has no terminal. A login
    is one of another user's, or of root's for root, with an executable that others cannot read or rename.
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
    """The number that this process has in the table, which may be that of another container."""
    try:
        return int(os.readlink("/proc/self"))  # noqa: PTH115 - a number
    except (OSError, ValueError):
        return os.getpid()


def being_of(pid: int | None, table: Table) -> Being | None:
    """The process *pid* as it is now; None if it is gone."""
    start = table.start(pid) if pid else None
    return (pid, start) if pid and start is not None else None
