"""
The other ends of Unix sockets, as the kernel of Linux tells them over netlink:
https://man7.org/linux/man-pages/man7/sock_diag.7.html
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
from collections.abc import Iterable, Iterator

#: From <linux/netlink.h>, <linux/sock_diag.h> and <linux/unix_diag.h>: the message, what it asks, an attribute.
_HEADER, _ASKED, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=BBHIIIII"), struct.Struct("=HH")
_SOCK_DIAG, _BY_FAMILY, _REQUEST, _SHOW_PEER, _PEER, _ANY = 4, 20, 1, 4, 2, 0xFFFFFFFF
#: Bytes of a socket in the answer, before its attributes.
_TOLD = 16
#: Seconds that the kernel has for an answer, which it gives at once.
_ANSWER_S = 1.0


def peers(sockets: Iterable[str]) -> Iterator[str]:
    """Return the inodes of the other ends of *sockets*, inodes too, as far as the kernel tells."""
    if (family := getattr(socket, "AF_NETLINK", None)) is None:
        return
    kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
    with contextlib.suppress(OSError), socket.socket(family, kind, _SOCK_DIAG) as asked:
        asked.settimeout(_ANSWER_S)
        for number in sockets:
            body = _ASKED.pack(socket.AF_UNIX, 0, 0, _ANY, int(number), _SHOW_PEER, _ANY, _ANY)
            asked.sendto(_HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _REQUEST, 1, 0) + body, (0, 0))
            if (peer := _peer_in(asked.recv(65536))) is not None:
                yield peer


def _peer_in(answer: bytes) -> str | None:
    """Return the inode of the other end, by an answer of the kernel; None if it has none, or is of another family."""
    if len(answer) < _HEADER.size + _TOLD or _HEADER.unpack_from(answer)[1] != _BY_FAMILY:
        return None
    rest = answer[_HEADER.size + _TOLD :]
    while len(rest) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(rest)
        if kind == _PEER and length == _ATTRIBUTE.size + 4 <= len(rest):
            return str(int.from_bytes(rest[_ATTRIBUTE.size : length], sys.byteorder))
        rest = rest[max(_ATTRIBUTE.size, length + 3 & ~3) :]
    return None
