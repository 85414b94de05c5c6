"""
The connections of process trees, read from `/proc` and the kernel (`sock_diag`), as samples for `evidence.traffic`.

All sockets of the machine are dumped only when a tree has an unknown one; known ones are looked up one by one. Without
netlink, and for another user's processes, there are none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

import attrs

from tallylight.evidence import sock_diag
from tallylight.evidence.procfs import ProcTable
from tallylight.evidence.sock_diag import Tcp
from tallylight.evidence.traffic import Connection, Sample

#: Open files of a process, and TCP sockets of a tree, that are read.
MAX_OPEN_PROCESS_FILES, MAX_SOCKETS = 256, 64
#: Seconds until a tree is read again.
REREAD_TREE_S = 1.0
#: An unconnected socket is looked for again after one look, and then after twice as many, up to these.
MAX_WAIT = 64
_SOCKET = "socket:["
#: The kernel's attribute for the protocol of a socket: https://man7.org/linux/man-pages/man7/xattr.7.html
_PROTOCOL, _TCP = "system.sockprotoname", b"TCP"


@attrs.define(eq=False)
class Tree:
    """The process *pid* with its descendants, and their sockets as last read."""

    table: ProcTable
    pid: int
    #: The processes, each with its start in monotonic seconds; and when they were read.
    _processes: dict[int, float] = attrs.field(factory=dict)
    _read_at: float = float("-inf")
    #: Its sockets by their inodes: whether each is of TCP, and the known TCP sockets. For the others: the looks until
    #: the next try, and the looks before the last one.
    _is_tcp: dict[str, bool] = attrs.field(factory=dict)
    _known: dict[int, Tcp] = attrs.field(factory=dict)
    _waits: dict[int, tuple[int, int]] = attrs.field(factory=dict)

    def read(self, now: float) -> bool:
        """Read its open sockets; return whether one must be looked for among all."""
        if now - self._read_at >= REREAD_TREE_S:
            self._read_at = now
            booted = now - time.clock_gettime(time.CLOCK_BOOTTIME)
            tick = os.sysconf("SC_CLK_TCK")
            below = self.table.descendants(self.pid)
            self._processes = {self.pid: 0.0, **{one.pid: booted + one.start / tick for one in below}}
        files = {pid: _files(pid) for pid in self._processes}
        # A process that has ended has no files; it goes at once, not with the next reading of the tree.
        self._processes = {pid: start for pid, start in self._processes.items() if files[pid] or pid == self.pid}
        found = {inode: path for pid in self._processes for inode, path in _sockets(files[pid])}
        self._is_tcp = {
            inode: self._is_tcp[inode] if inode in self._is_tcp else _is_tcp(path) for inode, path in found.items()
        }
        present = [int(inode) for inode, is_tcp in self._is_tcp.items() if is_tcp][:MAX_SOCKETS]
        self._known = {inode: self._known[inode] for inode in present if inode in self._known}
        self._waits = {inode: self._waits.get(inode, (0, 0)) for inode in present if inode not in self._known}
        return any(left == 0 for left, _ in self._waits.values())

    @property
    def connected(self) -> list[Tcp]:
        """The known sockets that are connected."""
        return [one for one in self._known.values() if one.port]

    def update(self, every: dict[int, Tcp] | None, now: dict[int, Tcp]) -> None:
        """
        Update its sockets: from *every* socket of the machine if they were dumped, else from *now*, the fresh known
        ones.
        """
        self._known = {inode: now.get(inode, one) for inode, one in self._known.items() if not one.port or inode in now}
        for inode, (left, last) in list(self._waits.items()):
            if every is None:
                self._waits[inode] = left - 1, last
            elif inode in every:
                self._known[inode] = every[inode]
                del self._waits[inode]
            else:
                wait = min(MAX_WAIT, 2 * last or 1)
                self._waits[inode] = wait, wait

    def sample(self, at: float) -> Sample:
        """Return its connections to other trees."""
        own = {one.near for one in self.connected}
        return Sample(
            at,
            tuple(
                Connection(
                    one.inode,
                    one.sent,
                    one.received,
                    at - one.sent_ago,
                    at - one.received_ago,
                    one.port,
                    one.is_over,
                    one.far,
                )
                for one in self.connected
                if one.far not in own
            ),
            tuple(start for pid, start in self._processes.items() if pid != self.pid),
        )


def samples_of(trees: Sequence[Tree]) -> list[Sample]:
    """Return a sample of each tree."""
    is_new = [tree.read(time.monotonic()) for tree in trees]
    now = {one.inode: one for one in sock_diag.refreshed(one for tree in trees for one in tree.connected)}
    every = sock_diag.tcp_sockets() if any(is_new) else None
    at = time.monotonic()
    for tree in trees:
        tree.update(every, now)
    return [tree.sample(at) for tree in trees]


def _files(pid: int) -> list[str]:
    """
    Return the paths of the open files of a process.

    For another user's process only the path of their folder; none if it has ended.
    """
    folder = f"/proc/{pid}/fd"
    try:
        return [f"{folder}/{number}" for number in os.listdir(folder)[:MAX_OPEN_PROCESS_FILES]]  # noqa: PTH208 - names, not paths
    except PermissionError:
        return [folder]
    except OSError:
        return []


def _sockets(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the inodes of the sockets among *files*, each with its path."""
    for path in files:
        try:
            to = os.readlink(path)  # noqa: PTH115
        except OSError:
            continue
        if to.startswith(_SOCKET):
            yield to[len(_SOCKET) : -1], path


def _is_tcp(path: str) -> bool:
    """Return whether the socket at *path* is of TCP; True if unknown."""
    try:
        return os.getxattr(path, _PROTOCOL).startswith(_TCP)
    except OSError:
        return True
