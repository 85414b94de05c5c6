"""
The door for scripts: the socket of this kitty. `scripts` serves it; it is loaded when the first script comes.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable

import attrs
from kitty.utils import log_error

from tallylight.model.jobs import Submit
from tallylight.snapshot import sockets
from tallylight.snapshot.writer import SnapshotError


@attrs.define
class Door:
    """The socket; no script can connect before it is open. *serve* is called while scripts wait there."""

    serve: Callable[[], None]
    _listener: socket.socket | None = None
    #: Polled before the listener: usually nobody is there, and an exception is expensive.
    _poll: select.poll = attrs.Factory(select.poll)

    def open(self, submit: Submit) -> None:
        """Open the socket, on a thread of *submit*."""
        submit("scripts", lambda: sockets.listen("kitty"), self._opened, _failed)

    def _opened(self, listener: socket.socket) -> None:
        self._listener = listener
        self._poll.register(listener, select.POLLIN)

    def look(self) -> None:
        """Have scripts served that wait to be let in."""
        if self._poll.poll(0):
            self.serve()

    def accept(self) -> socket.socket | None:
        """Return the next script's connection, which does not block; None if no script waits."""
        if self._listener is None or not self._poll.poll(0):
            return None
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return None  # it has gone again
        connection.setblocking(False)
        return connection


def _failed(error: Exception) -> None:
    if not isinstance(error, SnapshotError):  # the snapshot, which is in the directory too, reports its problems
        log_error(f"tallylight: scripts: {error}; scripts cannot reach this kitty")
