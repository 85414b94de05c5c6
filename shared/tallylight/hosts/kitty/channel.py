"""Our programs that kitty runs in a window, and the channel between them and this process (`hosts.peers.Channel`)."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kitty.constants import kitty_exe

#: The folder of our package, found before any disk can hang.
_LIBRARY = str(Path(__file__).resolve().parents[3])
#: The new program itself tests for the command, because that reads the disk. The variables are removed because kitty's
#: Python would import from their directories.
_EITHER = (
    'kitty=$1 run=$2 own=$3; shift 3; test -x "$own" && exec "$own" "$@"; '
    'unset PYTHONPATH PYTHONHOME; exec "$kitty" +runpy "$run"'
)


def own_code(module: str, call: str) -> str:
    """
    Return code for kitty's Python (`kitty +runpy`) that imports `main` of our *module*, and runs *call*.

    *call* is an expression such as `main(['why'])`. The code adds our package to the path.
    """
    return f"import sys; sys.path.append({_LIBRARY!r}); from {module} import main; {call}"


def command(installed: str, *words: str) -> list[str]:
    """
    Return a program that runs `tally` with *words*.

    It runs the *installed* command if that still exists, else our code by the Python in kitty.
    """
    given = list(words)
    run = own_code("tallylight.cli.main", f"sys.exit(main({given!r}))")
    return ["/bin/sh", "-c", _EITHER, "tally", kitty_exe(), run, installed, *given]


def opened(make: Callable[[int], Any]) -> tuple[Any, socket.socket]:
    """
    Return the window that *make* makes for a program, which inherits the given descriptor, and our end of the channel.
    """
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
