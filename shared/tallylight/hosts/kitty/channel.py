"""
Programs of ours that kitty runs in a window, and the two ends of the channel between them (`hosts.peers.Channel`).
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
