"""Programs behind the relay: the terminal they run on, the command line for that, and what is left of them."""

from __future__ import annotations

import os
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import attr

from tests.terminal import SHARED, Terminal, bare_environment

PACKAGES = Path(attr.__file__).parents[1]


def relay(folder: Path, *options: str) -> list[str]:
    """Write the launcher as it is installed; return the start of a command line that relays the rest of it."""
    script = folder / "tally"
    script.write_text(
        f"import sys\nsys.path[:0] = {[str(SHARED), str(PACKAGES)]!r}\nfrom tallylight.cli.main import run\nrun()\n"
    )
    return [sys.executable, "-IS", str(script), "run", *options]


class Window(Terminal):
    """A terminal in the modes that a terminal emulator's window starts with."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        super().__init__(rows, columns)
        fresh, other = os.openpty()
        termios.tcsetattr(self.slave, termios.TCSANOW, termios.tcgetattr(other))
        os.close(fresh)
        os.close(other)

    @property
    def modes(self) -> list[object]:
        """The modes of the terminal, as `stty` shows them."""
        return termios.tcgetattr(self.slave)

    def is_raw(self) -> bool:
        """Whether a relay holds it."""
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON

    def resize(self, rows: int, columns: int) -> None:
        """Give it another size, as a person who drags its edge."""
        termios.tcsetwinsize(self.master, (rows, columns))

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.slave)
        os.close(self.master)
        self.master = os.open(os.devnull, os.O_RDWR)
        self.slave = -1

    def drain(self, seconds: float) -> None:
        """Read for this long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read(0.02)


def children(pid: int) -> list[int]:
    """The processes that *pid* has started and that live."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def field(pid: int, name: str) -> str:
    """A line of a process's status, or nothing when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:")), "")


def is_alive(pid: int) -> bool:
    """Whether *pid* runs or is stopped."""
    return bool(state := field(pid, "State")) and state[0] not in "ZX"


def descendants(pid: int) -> Iterator[int]:
    """All that *pid* has started, and they have."""
    for child in children(pid):
        yield child
        yield from descendants(child)


def environment(**extra: str) -> dict[str, str]:
    """An environment of a shell without files of its own."""
    return bare_environment(**extra) | {"PS1": "ready> ", "HISTFILE": "/dev/null", "LC_ALL": "C.UTF-8"}
