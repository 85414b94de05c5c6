"""
The peers of a host's connections: which process they are, and a channel for lines that never blocks.

The kernel (`snapshot.sockets`) and the process table identify a peer.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable

import attrs

from tallylight.actions.caller import Caller, Who
from tallylight.actions.request import MAX_REQUEST_BYTES, MESSAGE_CHUNK_BYTES, Lines, TooLongError
from tallylight.snapshot import sockets


def caller_at(connection: socket.socket, identify: Callable[[int], Caller]) -> Caller | None:
    """
    Return the process at the other end of *connection*, by *identify*; None if another user runs it.

    If it has ended by then it is unknown: another process may have its number.
    """
    peer = sockets.peer(connection)
    if peer is None or peer.uid != os.getuid():
        return None
    caller = identify(peer.pid)
    return attrs.evolve(caller, who=Who.UNKNOWN) if sockets.has_ended(connection) else caller


@attrs.define
class Channel:
    """One end of a connection for lines. *socket* does not block; *unsent* is what it has had no room for yet."""

    socket: socket.socket
    unsent: bytes = attrs.field(init=False, default=b"")
    _lines: Lines = attrs.field(init=False, factory=lambda: Lines(MAX_REQUEST_BYTES))

    def receive(self) -> list[bytes] | None:
        """Return the lines received since the last call; None if the peer has closed, or sent too much."""
        try:
            data = self.socket.recv(MESSAGE_CHUNK_BYTES)
            return self._lines.feed(data) if data else None
        except BlockingIOError:
            return []
        except (OSError, TooLongError):
            return None

    def send(self) -> bool:
        """Send as much of *unsent* as the socket takes; drop it and return False if the peer is gone."""
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent = b""
            return False
        return True

    def close(self) -> None:
        self.unsent = b""
        with contextlib.suppress(OSError):
            self.socket.close()
