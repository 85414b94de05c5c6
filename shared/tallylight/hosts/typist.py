"""
What reads a detached session's screen and types into it, at a person's word: tmux's and GNU Screen's panes.

Where a pane is, its host says in the argument list that attaches to it; nothing else of a snapshot is used. Text goes
to the program as it is: tmux is given it with `-l`, Screen in a file that it pastes, because its `stuff` would read
`^` and `\\` and `$` in it as something else.
"""

from __future__ import annotations

import re
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from tallylight import snapshot
from tallylight.errors import SessionError
from tallylight.hosts.gnu_screen import ScreenSource
from tallylight.hosts.jobs import StuckError, run
from tallylight.snapshot_schema import Pane
from tallylight.text import sanitise

#: Of a screen that is handed out.
MAX_LINES, MAX_CELLS = 500, 1000
#: A Screen takes an order within so many seconds, or it hangs.
TAKEN_S = 2.0
#: The register that text passes through. Screen's own commands use `.` and what a person names.
_REGISTER = "~"
T = TypeVar("T")

_TARGET = re.compile(r"\$[0-9]+:@[0-9]+\.(%[0-9]+)\Z")
_ADDRESS = re.compile(r"[0-9]+\.[^\0\n]{1,512}\Z")


class Multiplexers:
    """The panes of the host `sessions`. Every method may be called on any thread, and takes as long as it takes."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)
        self._env = {name: value for name, value in environ.items() if name not in ("TMUX", "TMUX_PANE", "STY")}
        self._screens = ScreenSource(environ)
        self._lock = threading.Lock()

    def can_type(self, host: str, pane: Pane) -> bool:
        """Whether *pane* is one of ours."""
        return host.startswith("sessions-") and (_tmux(pane) is not None or _screen(pane) is not None)

    def read(self, host: str, pane: Pane) -> list[str]:
        """The rows of its screen, from the top, without the empty ones at the end."""
        del host
        found = _tmux(pane)
        if found is not None:
            lines = self._run(*found[0], "capture-pane", "-p", "-t", found[1]).decode("utf-8", "replace").split("\n")
        else:
            with self._lock:
                sights = self._screens.look() or ()
                sight = next((sight for sight in sights if sight.id == pane.id and sight.read is not None), None)
                look = self._stuck(sight.read) if sight is not None and sight.read is not None else None
            if look is None:
                raise SessionError("the session is gone")
            lines = list(look.lines)
        lines = [sanitise(line, cells=MAX_CELLS) for line in lines[:MAX_LINES]]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def type(self, host: str, pane: Pane, text: str, *, enter: bool) -> None:
        """Type *text*, then Return if *enter*."""
        del host
        found = _tmux(pane)
        if found is not None:
            self._run(*found[0], "send-keys", "-t", found[1], "-l", "--", text)
            if enter:
                self._run(*found[0], "send-keys", "-t", found[1], "Enter")
            return
        self._paste(pane, text)
        if enter:
            self._paste(pane, "\r")

    def interrupt(self, host: str, pane: Pane) -> None:
        """Press Escape."""
        del host
        found = _tmux(pane)
        if found is not None:
            self._run(*found[0], "send-keys", "-t", found[1], "Escape")
        else:
            self._paste(pane, "\x1b")

    def _paste(self, pane: Pane, text: str) -> None:
        found = _screen(pane)
        if found is None:
            raise SessionError("this session cannot be typed into")
        address, window = found
        parent = snapshot.checked_directory(snapshot.directory(self._environ), create=True)
        command = ("screen", "-S", address, "-p", window, "-X")
        with self._lock, tempfile.TemporaryDirectory(prefix="typed-", dir=parent) as folder:
            file, read = Path(folder, "text"), Path(folder, "read")
            file.write_bytes(text.encode())
            self._run(*command, "readreg", _REGISTER, str(file))
            self._run(*command, "paste", _REGISTER)
            # Orders are only queued, and taken in order: once this one was, the file may go.
            self._run(*command, "hardcopy", str(read))
            end = time.monotonic() + TAKEN_S
            while not read.exists():
                if time.monotonic() > end:
                    raise SessionError("screen does not answer")
                time.sleep(0.01)

    def _run(self, *command: str) -> bytes:
        done = self._stuck(lambda: run(command, self._env))
        if done is None or done.code != 0:
            raise SessionError("the session is gone")
        return done.output

    @staticmethod
    def _stuck(call: Callable[[], T]) -> T:
        try:
            return call()
        except StuckError as error:
            raise SessionError(f"{error} does not answer") from None


def _tmux(pane: Pane) -> tuple[tuple[str, ...], str] | None:
    """How a tmux pane is asked: the beginning of its commands, and its target."""
    match pane.attach:
        case ("tmux", "-S", socket, "attach-session", "-t", target) if socket.startswith("/"):
            found = _TARGET.match(target)
            return (("tmux", "-u", "-S", socket), found[1]) if found is not None else None
    return None


def _screen(pane: Pane) -> tuple[str, str] | None:
    """The address and the window of a Screen pane."""
    match pane.attach:
        case ("screen", "-r" | "-x", address, "-p", window) if _ADDRESS.match(address) and window.isdecimal():
            return address, window
    return None
