"""
Programs of ours that kitty runs in a window, and the two ends of the channel between them (`hosts.peers.Channel`).
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kitty.constants import kitty_exe

#: Where our own package lies, found out before any disk could hang.
_LIBRARY = str(Path(__file__).resolve().parents[3])
#: Whether the command is still there is looked at by the new program itself: that is a disk. kitty's Python would heed
#: a variable that has it import from the directory of the pane.
_EITHER = (
    'kitty=$1 run=$2 own=$3; shift 3; test -x "$own" && exec "$own" "$@"; '
    'unset PYTHONPATH PYTHONHOME; exec "$kitty" +runpy "$run"'
)


def own_code(module: str, call: str) -> str:
    """
    The code that makes *call*, `main(['why'])`, with what *module* of ours has; `sys` is there as well.

    It is for the Python in kitty, `kitty +runpy`: it imports our package, and works nowhere else.
    """
    return f"import sys; sys.path.append({_LIBRARY!r}); from {module} import main; {call}"


def command(installed: str, *words: str) -> list[str]:
    """
    *words*, a verb and its arguments, as a program: by the *installed* command, else, or if that has gone since, by the
    Python in kitty.
    """
    given = list(words)
    run = own_code("tallylight.cli.main", f"sys.exit(main({given!r}))")
    return ["/bin/sh", "-c", _EITHER, "tally", kitty_exe(), run, installed, *given]


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
