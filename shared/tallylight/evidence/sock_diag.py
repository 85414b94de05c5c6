"""
The sockets that the kernel of Linux lists over netlink: the other ends of Unix sockets and the counters of TCP.

https://man7.org/linux/man-pages/man7/sock_diag.7.html It needs no privilege. A kernel that answers nothing, or refuses,
is the same as no socket.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

#: From <linux/netlink.h>, <linux/sock_diag.h> and <linux/unix_diag.h>: the message, the question, an attribute.
_HEADER, _QUESTION, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=BBHIIIII"), struct.Struct("=HH")
_SOCK_DIAG, _BY_FAMILY, _REQUEST, _SHOW_PEER, _PEER, _ANY = 4, 20, 1, 4, 2, 0xFFFFFFFF
#: Bytes of a socket in the answer, before its attributes.
_ANSWER_BYTES = 16
#: Seconds to wait for an answer of the kernel, which comes at once.
_KERNEL_ANSWER_S = 1.0
#: The same for TCP, from <linux/inet_diag.h>: the question before and after the socket's id, and the answer.
_INET_QUESTION, _INET_ANSWER = struct.Struct("=BBBxI48s"), struct.Struct("=BB2x48s16xI")
_TCP, _DUMP, _INFO = 6, 0x300, 2
#: States of sockets of a process: connected, connecting, closed at the other end, and listening.
_CONNECTED, _CONNECTS, _CLOSED_THERE, _LISTENS, _ALL_STATES = 1, 2, 8, 10, 0xFFFFFFFF
_STATES = 1 << _CONNECTED | 1 << _CONNECTS | 1 << _CLOSED_THERE | 1 << _LISTENS
#: From <linux/tcp.h>: milliseconds since data was sent and received, and the bytes of each; the latter since 4.19.
_SINCE, _RECEIVED, _SENT = (struct.Struct("=I4xI"), 44), (struct.Struct("=Q"), 128), (struct.Struct("=Q"), 200)
#: Bytes of one answer, and answers to one question, at most.
_MAX_KERNEL_ANSWER_BYTES, _MAX_ANSWERS = 1 << 18, 4096
_MAPPED = bytes(10) + b"\xff\xff"


class Tcp(NamedTuple):
    """A TCP socket: its id for the kernel, both ends, the bytes that it has sent and received, and when."""

    family: int
    id: bytes
    inode: int
    near: bytes
    far: bytes
    #: The port of the other end; 0 for a socket that listens.
    port: int
    sent: int = 0
    received: int = 0
    #: Seconds since the last bytes were sent and received.
    sent_ago: float = 0.0
    received_ago: float = 0.0
    #: Whether the other end has closed.
    is_over: bool = False


def peers(sockets: Iterable[str]) -> Iterator[str]:
    """Yield the inodes of the other ends of *sockets*, inodes too, as far as the kernel knows them."""
    with contextlib.suppress(OSError), _Kernel() as kernel:
        for number in sockets:
            answer = kernel.ask(_QUESTION.pack(socket.AF_UNIX, 0, 0, _ANY, int(number), _SHOW_PEER, _ANY, _ANY))
            if (peer := _peer_in(answer)) is not None:
                yield peer


def tcp_sockets() -> dict[int, Tcp]:
    """Return all TCP sockets of this network by their inodes; takes some milliseconds."""
    found: dict[int, Tcp] = {}
    for family in (socket.AF_INET, socket.AF_INET6):
        with contextlib.suppress(OSError), _Kernel() as kernel:
            answer = kernel.ask(_INET_QUESTION.pack(family, _TCP, 1 << (_INFO - 1), _STATES, b""), _REQUEST | _DUMP)
            for _ in range(_MAX_ANSWERS):
                messages = list(_messages(answer))
                found |= {one.inode: one for kind, body in messages if (one := _tcp_in(kind, body)) is not None}
                if not messages or any(kind != _BY_FAMILY for kind, _ in messages):
                    break
                answer = kernel.more()
    return found


def refreshed(sockets: Iterable[Tcp]) -> list[Tcp]:
    """Return the *sockets* that still exist, with fresh counters; takes some microseconds each."""
    found: list[Tcp] = []
    with contextlib.suppress(OSError), _Kernel() as kernel:
        for one in sockets:
            answer = kernel.ask(_INET_QUESTION.pack(one.family, _TCP, 1 << (_INFO - 1), _ALL_STATES, one.id))
            found += [
                now for kind, body in _messages(answer) if (now := _tcp_in(kind, body)) and now.inode == one.inode
            ]
    return found


class _Kernel:
    """A connection to the kernel, for one question at a time. Raises `OSError` where the system has no netlink."""

    def __enter__(self) -> _Kernel:
        if (family := getattr(socket, "AF_NETLINK", None)) is None:
            raise OSError
        self._socket = socket.socket(family, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG)
        self._socket.settimeout(_KERNEL_ANSWER_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, question: bytes, flags: int = _REQUEST) -> bytes:
        """Send a question; return the answer, or its beginning."""
        self._socket.sendto(_HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, flags, 1, 0) + question, (0, 0))
        return self.more()

    def more(self) -> bytes:
        """Return the next part of an answer."""
        return self._socket.recv(_MAX_KERNEL_ANSWER_BYTES)


def _messages(answer: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the messages of an *answer*: the kind of each, and its body."""
    while len(answer) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(answer)
        if not _HEADER.size <= length <= len(answer):
            return
        yield kind, answer[_HEADER.size : length]
        answer = answer[length + 3 & ~3 :]


def _tcp_in(kind: int, body: bytes) -> Tcp | None:
    """Return the socket in a message; None without one, or without its counters."""
    if kind != _BY_FAMILY or len(body) < _INET_ANSWER.size:
        return None
    family, state, id_, inode = _INET_ANSWER.unpack_from(body)
    ports, near, far = id_[:4], _plain(family, id_[4:20]), _plain(family, id_[20:36])
    port = 0 if state == _LISTENS else int.from_bytes(ports[2:], "big")
    found = Tcp(family, id_, inode, near + ports[:2], far + ports[2:], port)
    info = next((value for attribute, value in _attributes(body[_INET_ANSWER.size :]) if attribute == _INFO), b"")
    if not port:
        return found
    if len(info) < _SENT[1] + _SENT[0].size:
        return None
    sent_ms, received_ms = _SINCE[0].unpack_from(info, _SINCE[1])
    (sent,), (received,) = _SENT[0].unpack_from(info, _SENT[1]), _RECEIVED[0].unpack_from(info, _RECEIVED[1])
    return found._replace(
        sent=sent,
        received=received,
        sent_ago=sent_ms / 1000,
        received_ago=received_ms / 1000,
        is_over=state == _CLOSED_THERE,
    )


def _plain(family: int, address: bytes) -> bytes:
    """Return an address of IPv4 in 4 bytes, also if it is mapped into IPv6."""
    return address[:4] if family == socket.AF_INET else address.removeprefix(_MAPPED)


def _attributes(rest: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the attributes in *rest* of a message, as far as they are whole."""
    while len(rest) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(rest)
        if not _ATTRIBUTE.size <= length <= len(rest):
            return
        yield kind, rest[_ATTRIBUTE.size : length]
        rest = rest[length + 3 & ~3 :]


def _peer_in(answer: bytes) -> str | None:
    """Return the inode of the other end in an answer of the kernel; None if it has none, or is of another family."""
    for kind, body in _messages(answer):
        if kind == _BY_FAMILY:
            messages = (
                value
                for attribute, value in _attributes(body[_ANSWER_BYTES:])
                if attribute == _PEER and len(value) == 4
            )
            return next((str(int.from_bytes(value, sys.byteorder)) for value in messages), None)
    return None
