"""Who is at the other end of a host's socket, by what the kernel says (`snapshot.sockets`) and the process table."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import attrs

from tallylight.actions.caller import Caller, Who
from tallylight.snapshot import sockets


def caller_at(connection: socket.socket, identify: Callable[[int], Caller]) -> Caller | None:
    """
    Who asks over *connection*, as *identify* tells of a process at this moment; None for another user.

    One whose process has ended by then is unknown: another may have its number.
    """
    peer = sockets.peer(connection)
    if peer is None or peer.uid != os.getuid():
        return None
    caller = identify(peer.pid)
    return attrs.evolve(caller, who=Who.UNKNOWN) if sockets.has_ended(connection) else caller
