"""
The other ends of connections.

The ends of TCP come from `/proc`, https://man7.org/linux/man-pages/man5/proc_pid_net.5.html, and the ends of Unix
sockets from the kernel (`sock_diag`). Another user's processes, and those that have ended meanwhile, are left out.
Without `/proc` none is known, except for Unix sockets, where psutil has the paths of both ends.
"""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterator

from tallylight.evidence.process_table import PsutilTable, Table
from tallylight.evidence.procfs import ProcTable

#: Processes that are read, and bytes of a table of sockets.
MAX_PROCESSES, MAX_TABLE_BYTES = 32768, 4 * 1024 * 1024
_ESTABLISHED = "01"


def is_linked(one: int, other: int, of: Table) -> bool:
    """Return whether a Unix socket of the process *one* is connected to one of the process *other*."""
    if isinstance(of, PsutilTable):
        return not {far for _, far in of.unix_sockets(one) if far}.isdisjoint(
            near for near, _ in of.unix_sockets(other)
        )
    if not isinstance(of, ProcTable):
        return False
    return not of.far_ends(one).isdisjoint(of.sockets(other))


def parse_connection(text: str) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """Return the client's end and the server's in *text*, the `SSH_CONNECTION` that sshd writes; None if malformed."""
    words = text.split()
    if len(words) != 4 or not all(word.isascii() and word.isdigit() and len(word) < 6 for word in words[1::2]):
        return None
    return (words[0], int(words[1])), (words[2], int(words[3]))


def near_end(
    client: tuple[str, int], server: tuple[str, int], root: str = "/proc", own: int | None = None
) -> tuple[int, ...] | None:
    """
    Return the processes of this machine at the end *client* of a connection to *server*.

    None if the end is another machine's or another user's. Empty if there is no such connection, or its owner is
    unknown. *own* is this user.
    """
    ends = [_plain(*client), _plain(*server)]
    rows = [row for row in _rows(root, "self") if row[3] == _ESTABLISHED]
    if not any([_end(row[2]), _end(row[1])] == ends for row in rows):
        return ()
    users = {row[7] for row in rows if [_end(row[1]), _end(row[2])] == ends}
    return connected(client, server, root) if str(os.getuid() if own is None else own) in users else None


def connected(client: tuple[str, int], server: tuple[str, int], root: str = "/proc") -> tuple[int, ...]:
    """Return this user's processes that have the end *client*, an address and a port, of a connection to *server*."""
    table, ends = ProcTable(root), [_plain(*client), _plain(*server)]
    wanted = {fields[9] for fields in _rows(root, "self") if list(map(_end, fields[1:3])) == ends}
    pids = table.pids()[:MAX_PROCESSES] if wanted else []
    return tuple(pid for pid in pids if not wanted.isdisjoint(table.sockets(pid)))


def _end(field: str) -> tuple[str, int] | None:
    """
    Return `0100007F:2253` as an address and a port.

    The address is in words of 32 bits, each in the machine's own order.
    """
    address, _, port = field.partition(":")
    try:
        words = [int(address[start : start + 8], 16) for start in range(0, len(address), 8)]
        packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
        return _plain(str(ipaddress.ip_address(packed)), int(port, 16))
    except ValueError:
        return None


def _plain(address: str, port: int) -> tuple[str, int]:
    """Return an address and a port, with an IPv4 address in its short form."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address, port
    return str(getattr(found, "ipv4_mapped", None) or found), port


def _rows(root: str, pid: int | str) -> Iterator[list[str]]:
    """Yield the sockets in the network of a process, each as its fields in `/proc`."""
    for name in ("tcp", "tcp6"):
        try:
            with open(f"{root}/{pid}/net/{name}", "rb") as file:  # noqa: PTH123
                lines = file.read(MAX_TABLE_BYTES).decode("ascii", "replace").splitlines()[1:]
        except OSError:
            continue
        yield from (fields for line in lines if len(fields := line.split()) > 9)
