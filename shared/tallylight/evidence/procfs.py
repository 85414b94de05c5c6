"""
The process table of Linux, read from `/proc`: https://man7.org/linux/man-pages/man5/proc.5.html

A process that has vanished, that belongs to somebody else, a zombie or a kernel thread is None or empty, never an
error: tables change while they are read.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from stat import S_ISCHR, S_ISFIFO, S_ISSOCK

import attrs

from tallylight.evidence import sock_diag
from tallylight.evidence.process import Process

#: Bytes of an argument list and of an environment that are read; its front decides.
_MAX_CMDLINE_BYTES = 1 << 16
_MAX_ENVIRON_BYTES = 1 << 20
#: Descendants of one leader that are read, and threads asked for their children.
MAX_DESCENDANTS = 64
_MAX_PROCESS_THREADS = 64
#: Open files of one process that are read.
_MAX_OPEN_FILES_READ = 1024
_SOCKET, _PTS = "socket:[", "/dev/pts/"
#: The number of a pipe among the devices, and that of `/dev/null`.
_PIPE, _NULL = -1, 1 << 8 | 3


@attrs.frozen
class Stat:
    """The fields of `/proc/PID/stat` that we use."""

    comm: str
    state: str
    ppid: int
    pgrp: int
    session: int
    tty_nr: int
    #: The foreground process group of its terminal; None if it has no terminal, or that has none.
    tpgid: int | None
    #: Ticks from boot to its start: with the pid, the identity of a process.
    start: int
    threads: int = 1


def parse_stat(data: bytes) -> Stat | None:
    """Read a line of `/proc/PID/stat`; None if it is not one. The name may hold spaces, brackets and line ends."""
    head, bracket, tail = data.rpartition(b")")
    fields = tail.split()
    if not bracket or len(fields) < 20:
        return None
    try:
        ppid, pgrp, session, tty_nr, tpgid = (int(field) for field in fields[1:6])
        threads, start = int(fields[17]), int(fields[19])
    except ValueError:
        return None
    comm = head.partition(b"(")[2].decode("utf-8", "replace")
    state = fields[0].decode("ascii", "replace")
    return Stat(comm, state, ppid, pgrp, session, tty_nr, tpgid if tpgid > 0 else None, start, threads)


class ProcFiles:
    """The files of one process each under *root*, normally `/proc`."""

    def __init__(self, root: str = "/proc") -> None:
        self._root = root

    def read(self, pid: int, name: str, limit: int = _MAX_CMDLINE_BYTES) -> bytes:
        """Return the file *name* of *pid*, or b""."""
        try:
            fd = os.open(f"{self._root}/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return b""
        try:
            data = chunk = os.read(fd, limit)
            while chunk and len(data) < limit:
                chunk = os.read(fd, limit - len(data))
                data += chunk
            return data
        except OSError:  # ESRCH: it ended between the two calls
            return b""
        finally:
            os.close(fd)

    def link(self, pid: int, name: str) -> str:
        """Return the target of the link *name* of *pid*, or ""."""
        try:
            return os.readlink(f"{self._root}/{pid}/{name}")  # noqa: PTH115
        except OSError:
            return ""

    def stat(self, pid: int) -> Stat | None:
        """Return the fields of *pid*; None if it is gone, a zombie, or not readable."""
        found = parse_stat(self.read(pid, "stat", 4096)) if pid > 0 else None
        return None if found is None or found.state in "ZXx" else found

    def get(self, pid: int) -> Process | None:
        stat = self.stat(pid)
        return None if stat is None else self._process(pid, stat)

    def _process(self, pid: int, stat: Stat) -> Process:
        data = self.read(pid, "cmdline").rstrip(b"\0")
        argv = tuple(part.decode("utf-8", "surrogateescape") for part in data.split(b"\0")) if data else ()
        return Process(pid, stat.ppid, stat.pgrp, stat.comm, argv, self.link(pid, "exe"), stat.start)

    def token(self, pid: int) -> object:
        try:
            return os.readlink(f"{self._root}/{pid}/exe")  # noqa: PTH115 - pathlib is five times slower
        except PermissionError:
            return self.read(pid, "cmdline")
        except OSError:
            return None

    def fingerprint(self, pid: int) -> object:
        # The fields of stat before the start change all the time; the name in front may hold anything.
        fields = self.read(pid, "stat", 4096).rpartition(b")")[2].split(maxsplit=20)
        is_alive = len(fields) > 20 and fields[0] not in (b"Z", b"X", b"x")
        return (fields[19], self.read(pid, "cmdline")) if is_alive else None

    def start(self, pid: int) -> int | None:
        stat = self.stat(pid)
        return stat.start if stat else None

    def start_time(self, pid: int) -> float | None:
        stat = self.stat(pid)
        try:
            with Path(self._root, "stat").open("rb") as file:
                boot = next((int(line.split()[1]) for line in file if line.startswith(b"btime ")), None)
        except (OSError, ValueError, IndexError):
            return None
        return None if stat is None or boot is None else boot + stat.start / os.sysconf("SC_CLK_TCK")

    def cwd(self, pid: int) -> str:
        link = self.link(pid, "cwd")
        return "" if link.endswith(" (deleted)") else link

    def open_files(self, pid: int, start: str = "/") -> tuple[str, ...]:
        """Return the open paths of *pid* that begin with *start*; none of another user's process."""
        numbers = _names(f"{self._root}/{pid}/fd")[:_MAX_OPEN_FILES_READ]
        return tuple(path for number in numbers if (path := self.link(pid, f"fd/{number}")).startswith(start))

    def sockets(self, pid: int) -> list[str]:
        """Return the inodes of the sockets that *pid* has open."""
        return [socket[len(_SOCKET) : -1] for socket in self.open_files(pid, _SOCKET)]

    def words(self, pid: int) -> str:
        """Return the executable and the arguments of *pid* as one text to search; a third of the cost of `get`."""
        argv = self.read(pid, "cmdline").strip(b"\0") or self.read(pid, "comm", 4096)
        return f"{self.link(pid, 'exe')}\0{argv.decode('utf-8', 'replace')}"

    def environ(self, pid: int) -> dict[str, str]:
        found: dict[str, str] = {}
        for part in self.read(pid, "environ", _MAX_ENVIRON_BYTES).decode("utf-8", "surrogateescape").split("\0"):
            name, equals, value = part.partition("=")
            if equals:
                found.setdefault(name, value)
        return found

    def terminal(self, pid: int) -> int:
        """Return the device number of the terminal of *pid*; 0 if it has none."""
        stat = self.stat(pid)
        return stat.tty_nr if stat else 0

    def terminal_size(self, pid: int) -> tuple[int, int] | None:
        """Return the columns and rows of the terminal that *pid* reads; None if it reads none."""
        if not self.link(pid, "fd/0").startswith(_PTS):
            return None  # a file may hang, and a device may do anything
        try:
            fd = os.open(f"{self._root}/{pid}/fd/0", os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            columns, rows = os.get_terminal_size(fd)
            return columns, rows
        except OSError:
            return None
        finally:
            os.close(fd)

    def owner(self, pid: int) -> int | None:
        """Return the real user id of *pid*; None if unknown."""
        users = self._numbers(pid, b"Uid:")
        return users[0] if users else None

    def own_number(self, pid: int) -> int:
        """Return the number of *pid* in its own namespace, such as a container or a sandbox."""
        numbers = self._numbers(pid, b"NSpid:")
        return numbers[-1] if numbers else pid

    def _numbers(self, pid: int, name: bytes) -> list[int]:
        """Return the numbers behind *name* in the status of *pid*."""
        lines = self.read(pid, "status", 4096).splitlines()
        return next((list(map(int, line.split()[1:])) for line in lines if line.startswith(name)), [])

    def is_shown(self, pid: int, leader: int) -> bool:
        """
        Return whether *pid* has the foreground of its terminal and writes to it; without one, the terminal of *leader*.
        """
        found = self.stat(pid)
        files = self._device(pid, 0), self._device(pid, 1)
        return found is not None and _is_shown(found, *files, self.terminal(leader))

    def _device(self, pid: int, number: int) -> int | None:
        """Return the device of the open file *number* of *pid*, 0 for none; None if not readable."""
        try:
            found = os.stat(f"{self._root}/{pid}/fd/{number}")  # noqa: PTH116 - where it leads, in any namespace
        except PermissionError:
            return None
        except OSError:
            return 0
        if S_ISFIFO(found.st_mode) or S_ISSOCK(found.st_mode):
            return _PIPE
        return device_number(found.st_rdev) if S_ISCHR(found.st_mode) else 0

    def masters(self, pid: int) -> frozenset[int]:
        """Return the numbers in `/dev/pts` of the terminals that *pid* has opened and draws."""
        found = set[int]()
        for number in _names(f"{self._root}/{pid}/fd")[:_MAX_OPEN_FILES_READ]:
            if self.link(pid, f"fd/{number}").endswith("/ptmx"):
                _, _, index = self.read(pid, f"fdinfo/{number}", 4096).partition(b"tty-index:")
                found.update(map(int, filter(bytes.isdigit, index.split()[:1])))
        return frozenset(found)

    def newest(self) -> bytes:
        """Return a value that changes with every process that is started; b"" if unknown."""
        try:
            with open(f"{self._root}/loadavg", "rb") as file:  # noqa: PTH123
                return file.read(128).rpartition(b" ")[2]
        except OSError:
            return b""


class ProcTable(ProcFiles):
    """The table under *root*: all processes, and their relations."""

    def peers(self, sockets: Iterable[str]) -> Iterator[str]:
        """Yield the inodes of the other ends of Unix *sockets*, inodes too."""
        return sock_diag.peers(sockets)

    def far_ends(self, pid: int) -> frozenset[str]:
        """Return the inodes of the other ends of the Unix sockets of *pid*."""
        sockets = self.sockets(pid)
        return frozenset(self.peers(sockets)) if sockets else frozenset()

    def server(self, ends: frozenset[str]) -> int:
        """
        Return the process that has one of *ends* of sockets, and draws one terminal; 0 if there is none.

        A client such as dtach's shows its terminal, and is no child of it. With several terminals it is unknown which
        one a client shows, if any: kitty has clients, too. Reads all processes.
        """
        drawn: dict[int, set[int]] = {}
        for pid, stat in self.stats() if ends else ():
            if stat.session == pid and stat.tty_nr:
                drawn.setdefault(stat.ppid, set()).add(stat.tty_nr & 0xFF | stat.tty_nr >> 12 & ~0xFF)
        return next(
            (
                pid
                for pid, numbers in drawn.items()
                if len(numbers) == 1 and not ends.isdisjoint(self.sockets(pid)) and numbers == self.masters(pid)
            ),
            0,
        )

    def at_work_in(self, cwd: str) -> tuple[int, ...]:
        """Return the processes with the working directory *cwd*, as far as that is readable."""
        return tuple(pid for pid in self.pids() if self.link(pid, "cwd") == cwd)

    def shown(self, leader: Process) -> tuple[tuple[Process, ...], int]:
        """Return the processes behind *leader* for which `is_shown` is true, nearest first, and how many were read."""
        first = self.stat(leader.pid)
        terminal, found, seen = first.tty_nr if first else 0, list[Process](), {leader.pid}
        queue = deque(self.children(leader.pid))
        if first is not None and first.session != leader.pid:
            # The rest of the pipeline that it leads has the same parent.
            beside = (pid for pid in self.children(leader.ppid)[:MAX_DESCENDANTS] if pid != leader.pid)
            queue.extend(pid for pid in beside if self._group(pid) == leader.pgrp)
        while queue and len(seen) <= MAX_DESCENDANTS:
            pid = queue.popleft()
            seen.add(pid)
            # A process without a terminal or pipe to read cannot hand one on.
            given = self._device(pid, 0)
            stat = self.stat(pid) if given not in (0, _NULL) else None
            if stat is not None:
                queue.extend(child for child in self.children(pid, stat.threads) if child not in seen)
                if _is_shown(stat, given, self._device(pid, 1), terminal):
                    found.append(self._process(pid, stat))
        return tuple(found), len(seen) - 1

    def _group(self, pid: int) -> int:
        stat = self.stat(pid)
        return stat.pgrp if stat is not None else 0

    def descendants(self, pid: int) -> tuple[Process, ...]:
        parents: dict[int, list[int]] | None = None
        found: list[Process] = []
        queue = deque([pid])
        seen = {pid}
        while queue and len(found) < MAX_DESCENDANTS:
            current = queue.popleft()
            children = self._children(current)
            if children is None:
                # A kernel without CONFIG_PROC_CHILDREN: go through them all, once.
                parents = self._children_by_parent() if parents is None else parents
                children = parents.get(current, [])
            for child in children:
                if child not in seen and (process := self.get(child)) is not None:
                    seen.add(child)
                    found.append(process)
                    queue.append(child)
        return tuple(found[:MAX_DESCENDANTS])

    def children(self, pid: int, threads: int = 0) -> tuple[int, ...]:
        """Return the children of *pid*, in order; *threads* is its count of threads, if known."""
        found = self._children(pid, threads)
        return tuple(self._children_by_parent().get(pid, ()) if found is None else found)

    def _children(self, pid: int, threads: int = 0) -> list[int] | None:
        """Return the children of *pid*, in order; None if this kernel does not list them."""
        found: list[int] = []
        for thread in [str(pid)] if threads == 1 else _names(f"{self._root}/{pid}/task")[:_MAX_PROCESS_THREADS]:
            try:
                with open(f"{self._root}/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123 - twice as fast
                    found.extend(int(child) for child in file.read(_MAX_CMDLINE_BYTES).split())
            except FileNotFoundError:
                if os.path.exists(f"{self._root}/{pid}/task/{thread}"):  # noqa: PTH110
                    return None
            except (OSError, ValueError):
                continue
        return sorted(found)

    def pids(self) -> list[int]:
        return sorted(int(name) for name in _names(self._root) if name.isdecimal())

    def stats(self) -> Iterator[tuple[int, Stat]]:
        """Yield all processes, with their fields."""
        for pid in self.pids():
            stat = self.stat(pid)
            if stat is not None:
                yield pid, stat

    def _children_by_parent(self) -> dict[int, list[int]]:
        """Return the children of every process, by its number."""
        children: dict[int, list[int]] = {}
        for pid, stat in self.stats():
            children.setdefault(stat.ppid, []).append(pid)
        return children

    def group(self, pgrp: int) -> tuple[Process, ...]:
        return by_leader(self._process(pid, stat) for pid, stat in self.stats() if stat.pgrp == pgrp)


def _is_shown(found: Stat, given: int | None, writes: int | None, terminal: int) -> bool:
    """Return whether a process reads *given* and writes to its own terminal, or without one to *terminal*."""
    # In a session of its own it may have only the terminal that it was given.
    own = found.tty_nr or terminal
    is_front = not found.tty_nr or found.tpgid == found.pgrp
    return is_front and given in (own, None, _PIPE) and writes in (own, None)


def device_number(device: int) -> int:
    """Return the number of *device* as in `stat`: with the minor split around the major; see proc(5)."""
    major, minor = os.major(device), os.minor(device)
    return minor & 0xFF | major << 8 | (minor & ~0xFF) << 12


def runtime(pid: int) -> int | None:
    """Return how long *pid* has run so far, in ns: the same as long as it sleeps. None if unknown."""
    word = ProcTable().read(pid, "schedstat", 64).split(b" ", 1)[0]
    return int(word) if word.isdigit() else None


def by_leader(members: Iterable[Process]) -> tuple[Process, ...]:
    """Return the *members* of a group, its leader first, at most `MAX_DESCENDANTS`."""
    found = sorted(members, key=lambda process: (process.pid != process.pgrp, process.start, process.pid))
    return tuple(found[:MAX_DESCENDANTS])


def _names(folder: str) -> list[str]:
    """Return the names in *folder*, as far as it is readable."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names, not paths
    except OSError:
        return []
