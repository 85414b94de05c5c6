"""
Who is at the other end of a connection of TCP, from `/proc`: https://man7.org/linux/man-pages/man5/proc_pid_net.5.html

What another user runs, or has gone meanwhile, is left out. Without `/proc` nobody is known.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterator

#: Processes that are looked at, open files of one, and bytes of a table of sockets.
MAX_PROCESSES, MAX_FILES, MAX_TABLE = 32768, 1024, 4 * 1024 * 1024
_SOCKET = "socket:["


def connected(client: tuple[str, int], server: tuple[str, int]) -> tuple[int, ...]:
    """The processes of this user that have the end *client*, an address and a port, of a connection to *server*."""
    wanted = {inode for inode, own, other in _connections() if (own, other) == (_plain(*client), _plain(*server))}
    return tuple(pid for pid in _pids() if not wanted.isdisjoint(_sockets(pid))) if wanted else ()


def _connections() -> Iterator[tuple[str, tuple[str, int], tuple[str, int]]]:
    """The connections of this process's network: the inode of each, its own end and the other one."""
    for fields in _rows():
        ends = [_end(field) for field in fields[1:3]]
        if ends[0] is not None and ends[1] is not None:
            yield fields[9], ends[0], ends[1]


def _end(field: str) -> tuple[str, int] | None:
    """`0100007F:2253` as an address and a port: the address in words of 32 bits, each in the machine's own order."""
    address, _, port = field.partition(":")
    try:
        words = [int(address[start : start + 8], 16) for start in range(0, len(address), 8)]
        packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
        return _plain(str(ipaddress.ip_address(packed)), int(port, 16))
    except ValueError:
        return None


def _plain(address: str, port: int) -> tuple[str, int]:
    """An address of IPv4 as that, however it is written."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address, port
    return str(getattr(found, "ipv4_mapped", None) or found), port


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()][:MAX_PROCESSES]  # noqa: PTH208
    except OSError:
        return []


def _sockets(pid: int) -> list[str]:
    """The inodes of the sockets that a process has open."""
    folder = f"/proc/{pid}/fd"
    found: list[str] = []
    try:
        names = os.listdir(folder)[:MAX_FILES]  # noqa: PTH208
    except OSError:
        return []
    for name in names:
        try:
            target = os.readlink(f"{folder}/{name}")  # noqa: PTH115
        except OSError:
            continue
        if target.startswith(_SOCKET):
            found.append(target[len(_SOCKET) : -1])
    return found


def _rows() -> Iterator[list[str]]:
    """The sockets in the network of this process, each as the fields that `/proc` tells of it."""
    for name in ("tcp", "tcp6"):
        try:
            with open(f"/proc/self/net/{name}", "rb") as file:  # noqa: PTH123
                lines = file.read(MAX_TABLE).decode("ascii", "replace").splitlines()[1:]
        except OSError:
            continue
        yield from (fields for line in lines if len(fields := line.split()) > 9)
