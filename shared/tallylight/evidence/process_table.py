"""
The process table: running programs, their arguments, and the process in a terminal's foreground.

On Linux it is read from `/proc` alone (`procfs`), elsewhere by psutil. psutil is imported when first needed, so that
one that does not load costs nothing where `/proc` does. A process that has vanished, another user's, a zombie or a
kernel thread is None or empty, never an error: tables change while they are read.

`ForegroundReader` is called by a host at every tick: an unchanged pane costs it one `readlink`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import attrs

from tallylight.agents.agent import Agents
from tallylight.evidence.foreground import NOBODY, Identity, identify
from tallylight.evidence.ordinary import ORDINARY
from tallylight.evidence.process import TERMINALS, program_of
from tallylight.evidence.process import Process as Process
from tallylight.evidence.procfs import MAX_DESCENDANTS as MAX_DESCENDANTS
from tallylight.evidence.procfs import ProcTable as ProcTable
from tallylight.evidence.procfs import by_leader, device_number
from tallylight.evidence.procfs import runtime as runtime
from tallylight.model import attributes

_T = TypeVar("_T")
#: Processes up from an agent that are read.
MAX_PARENTS = 64
#: Open files of one agent that are read.
MAX_OPEN = 1024
#: Seconds between readings of the processes behind a leader that is no agent; the same for a crowd, and how many are
#: one.
PERIOD_S, CROWD_S, _CROWD_PROCESSES = 1.0, 1.7, 16
#: Groups with a remembered foreground.
_MAX_GROUPS = 4096


class Table(Protocol):
    """A process table."""

    def get(self, pid: int) -> Process | None:
        """Return the process *pid*; None if there is none or it is a zombie."""

    def token(self, pid: int) -> object:
        """
        Return a value that is cheap to read and changes when *pid* runs another program; None without such a process.
        """

    def fingerprint(self, pid: int) -> object:
        """Return a value that stays equal while *pid* is the same process with the same arguments."""

    def start(self, pid: int) -> int | None:
        """Return the start of *pid*, as in `Process.start`."""

    def start_time(self, pid: int) -> float | None:
        """Return the start of *pid* in seconds since the epoch, as exact as the system reports it."""

    def cwd(self, pid: int) -> str:
        """Return the working directory of *pid*, or ""."""

    def environ(self, pid: int) -> dict[str, str]:
        """Return the environment that *pid* was started with, as far as it is readable."""

    def descendants(self, pid: int) -> tuple[Process, ...]:
        """Return the processes below *pid*, nearest first, at most `MAX_DESCENDANTS`."""

    def group(self, pgrp: int) -> tuple[Process, ...]:
        """Return the living members of a process group, its leader first."""


class PsutilTable:
    """The table by psutil. Raises ImportError if psutil does not load."""

    def __init__(self) -> None:
        import psutil

        self._psutil = psutil

    def _try(self, ask: Callable[[], _T]) -> _T | None:
        # psutil raises ValueError for pids below 0, and passes some errors of the system on.
        """Return the result of *ask*; None if psutil or the system raises an error."""
        try:
            return ask()
        except (self._psutil.Error, OSError, ValueError, OverflowError):
            return None

    def get(self, pid: int) -> Process | None:
        process = self._try(lambda: self._psutil.Process(pid))
        if process is None or self._try(process.status) in (None, self._psutil.STATUS_ZOMBIE):
            return None
        pgrp = self._try(lambda: os.getpgid(pid))
        ppid = self._try(process.ppid)
        start = self.start(pid)
        if ppid is None or start is None:
            return None
        argv = self._try(process.cmdline) or []
        while argv and not argv[-1]:
            argv.pop()
        name, exe = self._try(process.name) or "", self._try(process.exe) or ""
        return Process(pid, ppid, pgrp or 0, name, tuple(argv), exe, start)

    def token(self, pid: int) -> object:
        process = self._try(lambda: self._psutil.Process(pid))
        return None if process is None else self._try(lambda: (process.create_time(), process.name()))

    def fingerprint(self, pid: int) -> object:
        process = self._try(lambda: self._psutil.Process(pid))
        if process is None:
            return None
        created = self._try(process.create_time)
        return None if created is None else (created, tuple(self._try(process.cmdline) or ()))

    def start(self, pid: int) -> int | None:
        created = self.start_time(pid)
        return None if created is None else round(created * 1000)

    def start_time(self, pid: int) -> float | None:
        return self._try(lambda: self._psutil.Process(pid).create_time())

    def terminal_path(self, pid: int) -> str:
        """Return the path of the terminal of *pid*, or ""."""
        return self._try(lambda: self._psutil.Process(pid).terminal()) or ""

    def owner(self, pid: int) -> int | None:
        """Return the real user id of *pid*; None if unknown."""
        uids = self._try(lambda: self._psutil.Process(pid).uids())
        return None if uids is None else int(uids.real)

    def cwd(self, pid: int) -> str:
        return self._try(lambda: self._psutil.Process(pid).cwd()) or ""

    def open_files(self, pid: int) -> tuple[str, ...]:
        found = self._try(lambda: self._psutil.Process(pid).open_files()) or []
        return tuple(str(file.path) for file in found)

    def pids(self) -> list[int]:
        return list(self._psutil.pids())

    def unix_sockets(self, pid: int) -> tuple[tuple[str, str], ...]:
        """Return the Unix sockets of *pid*: the paths of its own end and of the other one, "" without a path."""
        found = self._try(lambda: self._psutil.Process(pid).net_connections("unix")) or []
        return tuple((str(one.laddr or ""), str(one.raddr or "")) for one in found)

    def at_work_in(self, cwd: str) -> tuple[int, ...]:
        """Return the processes with the working directory *cwd*."""
        return tuple(pid for pid in self._psutil.pids() if self.cwd(pid) == cwd)

    def words(self, pid: int) -> str:
        """Return the executable and the arguments of *pid* as one text to search."""
        process = self.get(pid)
        return "" if process is None else "\0".join((process.exe, *(process.argv or (process.comm,))))

    def environ(self, pid: int) -> dict[str, str]:
        return self._try(lambda: self._psutil.Process(pid).environ()) or {}

    def is_shown(self, pid: int, leader: int) -> bool:
        """
        Return whether *pid* has the foreground of its terminal, as far as psutil shows it.

        Where both have one terminal, it must be in the group of *leader*.
        """
        own = self.terminal_path(pid)
        is_elsewhere = own != self.terminal_path(leader)
        return bool(own) and (is_elsewhere or self._try(lambda: os.getpgid(pid) == os.getpgid(leader)) is True)

    def descendants(self, pid: int) -> tuple[Process, ...]:
        children = self._try(lambda: self._psutil.Process(pid).children(recursive=True)) or []
        found = (self.get(child.pid) for child in children[:MAX_DESCENDANTS])
        return tuple(process for process in found if process is not None)

    def group(self, pgrp: int) -> tuple[Process, ...]:
        pids = [pid for pid in self._psutil.pids() if self._try(lambda pid=pid: os.getpgid(pid)) == pgrp]  # type: ignore[misc]
        return by_leader(process for process in map(self.get, pids) if process is not None)


def children(pid: int, of: Table) -> tuple[int, ...]:
    """Return the running processes that *pid* started, lowest number first."""
    if isinstance(of, ProcTable):
        return of.children(pid)
    return tuple(process.pid for process in of.descendants(pid) if process.ppid == pid)


def pids(of: Table) -> list[int]:
    return of.pids() if isinstance(of, ProcTable | PsutilTable) else []


def terminal(pid: int, of: Table) -> int | str:
    """Return the identity of the terminal of *pid*; 0 or "" if it has none."""
    if isinstance(of, PsutilTable):
        return of.terminal_path(pid)
    return of.terminal(pid) if isinstance(of, ProcTable) else 0


def inner_size(found: Identity, of: Table) -> tuple[int, int] | None:
    """Return columns and rows of the terminal of an agent behind another process; else, or if unknown, None."""
    if not found.is_behind or found.process is None or not isinstance(of, ProcTable):
        return None
    return of.terminal_size(found.process.pid)


def owner(pid: int, of: Table) -> int | None:
    """Return the real user id of *pid*; None if unknown."""
    return of.owner(pid) if isinstance(of, ProcTable | PsutilTable) else None


def own_number(pid: int, of: Table) -> int:
    """Return the number of *pid* in its own namespace, which is the number that it writes into its files."""
    return of.own_number(pid) if isinstance(of, ProcTable) else pid


def is_on_terminal(pid: int, path: str, of: Table) -> bool:
    """Return whether the terminal at *path*, such as `/dev/pts/3`, is that of *pid*."""
    if isinstance(of, PsutilTable):
        return of.terminal_path(pid) == path
    if not isinstance(of, ProcTable):
        return False
    try:
        device = os.stat(path).st_rdev  # noqa: PTH116 - a path like any other
    except (OSError, ValueError):
        return False
    return of.terminal(pid) == device_number(device) != 0


def is_shown(process: Process, leader: Process, of: Table) -> bool:
    """Return whether *process* has the foreground of its terminal and writes there, behind *leader*."""
    if isinstance(of, ProcTable | PsutilTable):
        return of.is_shown(process.pid, leader.pid)
    return process.pgrp == leader.pgrp


def between(process: Process, leader: Process, of: Table) -> Iterator[Process]:
    """
    Yield the processes that led from *leader* to *process*, the nearest first, without both; at most `MAX_PARENTS`.
    """
    above: Process | None = process
    for _ in range(MAX_PARENTS):
        # The rest of its pipeline has the same parent.
        if above is None or above.ppid in (leader.pid, leader.ppid):
            break
        above = of.get(above.ppid)
        if above is not None:
            yield above


def _shown_behind(leader: Process, of: Table) -> tuple[tuple[Process, ...], int]:
    """Return the processes behind *leader* for which `is_shown` is true, and how many were read."""
    if isinstance(of, ProcTable):
        return of.shown(leader)
    below = of.descendants(leader.pid)
    return tuple(process for process in below if is_shown(process, leader, of)), len(below)


def reads_terminal(pid: int, of: Table) -> bool:
    """Return whether the standard input of *pid* is its terminal, as far as that is known."""
    return is_on_terminal(pid, of.link(pid, "fd/0"), of) if isinstance(of, ProcTable) else True


def writes_terminal(pid: int, of: Table) -> bool:
    """Return whether the standard output of *pid* is its terminal, as far as that is known."""
    return is_on_terminal(pid, of.link(pid, "fd/1"), of) if isinstance(of, ProcTable) else bool(terminal(pid, of))


def open_files(pids: Iterable[int], of: Table) -> tuple[str, ...]:
    """Return the paths of the files that *pids* have open, at most `MAX_OPEN`; none of another user's processes."""
    if not isinstance(of, ProcTable | PsutilTable):
        return ()
    found = (path for pid in pids for path in of.open_files(pid))
    return tuple(itertools.islice(dict.fromkeys(found), MAX_OPEN))


_table: Table | None = None


def table() -> Table:
    """Return the table of this system: `/proc` where it exists, else psutil."""
    global _table  # noqa: PLW0603 - made once: psutil is dear to import
    if _table is None:
        _table = ProcTable() if sys.platform == "linux" or Path("/proc/self/stat").exists() else PsutilTable()
    return _table


def foreground(pgid: int, agents: Agents, of: Table | None = None) -> Identity:
    """Return the identity in the foreground of process group *pgid*, without any memory of earlier readings."""
    of = of or table()
    found = _SeenForeground().read(pgid, agents, of)
    return attributes.evolve(found, is_drawn=True) if _is_drawn(found, of) else found


def _is_drawn(found: Identity, of: Table) -> bool:
    """
    Return whether the leader of *found* draws the agent's terminal: it is an editor, or has more than that terminal.

    A program that passes everything on, such as `script`, gives it its own size.
    """
    agent, leader, own = found.process, found.leader, inner_size(found, of)
    if own is None or agent is None or leader is None or terminal(agent.pid, of) == terminal(leader.pid, of):
        return False
    outer = of.terminal_size(leader.pid) if isinstance(of, ProcTable) else None
    return program_of(leader) in ORDINARY["an editor"] or (outer is not None and all(own) and own != outer)


@attrs.define
class _SeenForeground:
    """The foreground of one group as last read, and the values that show whether it has changed."""

    identity: Identity = NOBODY
    token: object = None
    fingerprint: object = None
    #: The token of the agent's process, where that is behind the leader.
    inner: object = None
    looks: int = 0
    #: Processes behind the leader; when they were last read, and the newest process then.
    behind: int = 0
    asked_at: float = -math.inf
    newest: bytes = b""
    #: The other ends of the leader's sockets, and the process there that draws a terminal.
    _ends: frozenset[str] = frozenset()
    _server: int = 0

    def read(self, pgid: int, agents: Agents, of: Table) -> Identity:
        """Read the foreground of process group *pgid*; return the same object if nothing changed."""
        # Before the rest: the next look then sees a change in between.
        self.token, self.fingerprint = of.token(pgid), of.fingerprint(pgid)
        leader = of.get(pgid)
        if leader is None:
            return self._keep(identify(of.group(pgid), agents), of)
        found, line = identify((leader,), agents), functools.partial(between, leader=leader, of=of)
        if not found.is_open:
            return self._keep(found, of)
        self.newest = of.newest() if isinstance(of, ProcTable) else b""
        shown, self.behind = _shown_behind(leader, of)
        # Where the leader names an agent, it may run in any group.
        found = identify((leader, *(shown if found.agent is None else of.descendants(pgid))), agents, line)
        if self.behind <= _CROWD_PROCESSES and found.agent is None and isinstance(of, ProcTable):
            ends = of.far_ends(pgid)
            if ends != self._ends:
                self._ends, self._server = ends, of.server(ends)
            server = of.get(self._server) if self._server else None
            if server is not None and program_of(server) not in TERMINALS:
                shown, self.behind = of.shown(server)
                line = functools.partial(between, leader=server, of=of)
                found = identify((leader, *shown), agents, line)
        return self._keep(found, of)

    def _keep(self, found: Identity, of: Table) -> Identity:
        """Keep *found* with its token, and return it; the earlier object if they are equal."""
        self.inner = of.token(found.process.pid) if found.is_behind and found.process is not None else None
        if found != self.identity:
            self.identity = found
        return self.identity

    def has_changed(self, pgid: int, of: Table, now: float, *, is_close: bool) -> bool:
        """Return whether something seems new at monotonic *now*; a look that *is_close* costs more."""
        own = self.identity.process if self.identity.is_behind else None
        if of.token(pgid) != self.token or (own is not None and of.token(own.pid) != self.inner):
            return True
        # A crowd is read less often: a build starts processes all the time.
        is_crowd = self.behind > _CROWD_PROCESSES
        is_due = now - self.asked_at >= (CROWD_S if is_crowd else PERIOD_S)
        is_close = is_close and (is_due or not is_crowd)
        if is_close or is_due:
            self.asked_at = now
        return (is_close and self._has_other_arguments(pgid, of)) or (is_due and self._has_others_behind(pgid, of))

    def _has_other_arguments(self, pgid: int, of: Table) -> bool:
        """Return whether the leader has other arguments, or only a full reading can tell."""
        if self.fingerprint is None or self.identity.is_behind or (self.identity.is_open and self.behind):
            return True
        return of.fingerprint(pgid) != self.fingerprint

    def _has_others_behind(self, pgid: int, of: Table) -> bool:
        """Return whether other processes may be behind the leader: one was started, or the agent is not shown."""
        found = self.identity
        if found.is_behind and found.process is not None and found.leader is not None:
            return not is_shown(found.process, found.leader, of)
        newest = of.newest() if isinstance(of, ProcTable) and found.is_open else b""
        if not found.is_open or (newest and newest == self.newest):
            return False
        self.newest = newest
        return bool(self.behind or children(pgid, of))


class ForegroundReader:
    """
    Reads the foreground of many panes, and each pane only as often as needed.

    `look` returns the same object as long as nothing changed. The first `EAGER` looks at a pane read everything,
    because a shell's child is the shell until it has become its command. After that every `EVERY`th look reads the
    arguments. Processes behind a leader that is no agent are read each `PERIOD_S`, if any process was started since.
    The other looks only check whether the leader, and the agent behind it, run other programs. The groups that were
    read longest ago are forgotten first.
    """

    EAGER = 8
    EVERY = 8

    def __init__(self, agents: Agents, of: Table | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.agents = agents
        self.table = of or table()
        self._clock = clock
        self._seen: OrderedDict[int, _SeenForeground] = OrderedDict()
        #: The names of the processes that were agents, by pid and start: they may run another program by now.
        self._agents: dict[tuple[int, int], str] = {}

    def use(self, agents: Agents) -> None:
        """Know *agents* from now on, and forget all readings."""
        self.agents = agents
        self._seen.clear()

    def look(self, pgid: int) -> Identity:
        if pgid <= 0:
            return NOBODY
        seen = self._seen.get(pgid)
        if seen is None or seen.looks < self.EAGER:
            return self._read(pgid, seen or _SeenForeground())
        # The pid spreads the closer readings of many panes over the ticks.
        is_close = (seen.looks + pgid) % self.EVERY == 0
        if seen.has_changed(pgid, self.table, self._clock(), is_close=is_close):
            return self._read(pgid, seen)
        seen.looks += 1
        return seen.identity

    def look_uncached(self, pgid: int) -> Identity:
        """Return the same as `look`, read again and not remembered."""
        return foreground(pgid, self.agents, self.table) if pgid > 0 else NOBODY

    def was_agent(self, pid: int, start: int) -> str:
        """Return the display name of the agent that the process *pid*, begun at *start*, was; "" for none."""
        return self._agents.get((pid, start), "")

    def _read(self, pgid: int, seen: _SeenForeground) -> Identity:
        """Read group *pgid*, and remember its process if that is an agent."""
        before = seen.token
        identity = seen.read(pgid, self.agents, self.table)
        if identity.agent is not None and identity.process is not None and identity.is_direct:
            self._agents[identity.process.run] = identity.agent.display
            if len(self._agents) > _MAX_GROUPS:
                del self._agents[next(iter(self._agents))]
        seen.looks = seen.looks + 1 if seen.token == before else 1
        self._seen[pgid] = seen
        self._seen.move_to_end(pgid)
        if len(self._seen) > _MAX_GROUPS:
            self._seen.popitem(last=False)
        return identity

    def forget(self, pgid: int) -> None:
        """Forget *pgid*: its pane has another foreground now, or is gone."""
        self._seen.pop(pgid, None)


class Groups:
    """
    Finds the foreground process group of a process's terminal, for a host that does not hold the terminal.

    From `/proc` where it exists. Else `ps` lists all processes at once, at most every `EVERY_S` seconds.
    """

    EVERY_S = 0.2
    #: Seconds to wait for `ps`.
    _PATIENCE_S = 2.0

    def __init__(self, of: Table | None = None) -> None:
        self._table = of or table()
        self._listed: dict[int, int] = {}
        self._listed_at: float | None = None

    def look(self, pid: int, now: float) -> int:
        """
        Return the foreground group of the terminal of *pid* at monotonic *now*; 0 if it has none or *pid* is gone.
        """
        if isinstance(self._table, ProcTable):
            stat = self._table.stat(pid)
            return (stat.tpgid or 0) if stat is not None else 0
        if self._listed_at is None or not 0 <= now - self._listed_at < self.EVERY_S:
            self._listed_at, self._listed = now, {}
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                done = subprocess.run(
                    ["ps", "-A", "-o", "pid=", "-o", "tpgid="],
                    capture_output=True,
                    timeout=self._PATIENCE_S,
                    stdin=subprocess.DEVNULL,
                    check=False,
                )
                pairs = [line.split() for line in done.stdout.splitlines()]
                # -1 and 0 mean no group.
                known = (pair for pair in pairs if len(pair) == 2 and all(map(bytes.isdigit, pair)))
                self._listed = {int(pid): int(group) for pid, group in known}
        return self._listed.get(pid, 0)
