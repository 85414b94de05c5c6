"""
Those at the other end of a host's connections: who they are, by what the kernel says (`snapshot.sockets`) and the
process table; and the channel for lines in both directions, which never blocks.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable

import attrs

from tallylight.actions.caller import Caller, Who
from tallylight.actions.request import CHUNK_BYTES, MAX_REQUEST_BYTES, Lines, TooLongError
from tallylight.snapshot import sockets


def caller_at(connection: socket.socket, identify: Callable[[int], Caller]) -> Caller | None:
    """
    The caller at the other end of *connection*, by *identify* at this moment; None for another user.

    One that has ended by then is unknown: another process may have its number.
    """
    peer = sockets.peer(connection)
    if peer is None or peer.uid != os.getuid():
        return None
    caller = identify(peer.pid)
    return attrs.evolve(caller, who=Who.UNKNOWN) if sockets.has_ended(connection) else caller


@attrs.define
class Channel:
    """Our end of one, *socket*, which does not block: lines come, and *unsent* is what it has had no room for yet."""

    socket: socket.socket
    unsent: bytes = attrs.field(init=False, default=b"")
    _lines: Lines = attrs.field(init=False, factory=lambda: Lines(MAX_REQUEST_BYTES))

    def receive(self) -> list[bytes] | None:
        """The lines that have come since the last time; None if the other side has gone, or sends too much."""
        try:
            data = self.socket.recv(CHUNK_BYTES)
            return self._lines.feed(data) if data else None
        except BlockingIOError:
            return []
        except (OSError, TooLongError):
            return None

    def send(self) -> bool:
        """As much as the socket takes; False, and nothing is left to send, if nobody is there to take it."""
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent = b""
            return False
        return True

    def close(self) -> None:
        """Receive and send nothing any more."""
        self.unsent = b""
        with contextlib.suppress(OSError):
            self.socket.close()
