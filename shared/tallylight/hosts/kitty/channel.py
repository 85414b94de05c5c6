"""
Channels between kitty and programs of ours: over each come lines, and answers go, and kitty waits for neither.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from tallylight.actions.request import CHUNK, MAX_REQUEST, Lines, TooLongError

#: Where our own package lies, found out before any disk could hang.
_LIBRARY = str(Path(__file__).resolve().parents[3])


def own_code(module: str, call: str) -> str:
    """
    The code that makes *call*, `main(['why'])`, with what *module* of ours has; `sys` is there as well.

    It is for the Python in kitty, `kitty +runpy`: it imports our package, and works nowhere else.
    """
    return f"import sys; sys.path.append({_LIBRARY!r}); from {module} import main; {call}"


def opened(make: Callable[[int], Any]) -> tuple[Any, socket.socket]:
    """The window that *make* makes for a program, which inherits the descriptor given, and our end of its channel."""
    near, far = socket.socketpair()
    near.setblocking(False)
    far.set_inheritable(True)
    try:
        return make(far.fileno()), near
    except BaseException:
        near.close()
        raise
    finally:
        far.close()


@attrs.define
class Channel:
    """Our end of one, *socket*, which does not block; *unsent* is what of our answers it has had no room for."""

    socket: socket.socket
    unsent: bytes = b""
    _lines: Lines = attrs.Factory(lambda: Lines(MAX_REQUEST))

    def receive(self) -> list[bytes] | None:
        """The lines that have come since the last time; None if the other side has gone, or sends too much."""
        try:
            data = self.socket.recv(CHUNK)
            return self._lines.feed(data) if data else None
        except BlockingIOError:
            return []
        except (OSError, TooLongError):
            return None

    def send(self) -> bool:
        """As much as the socket takes; False if nobody is there to take it."""
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
