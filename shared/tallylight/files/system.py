"""
The system for `tally setup` and `tally doctor`: environment, person, programs and clock.

It is one value, so that tests run the real commands in a temporary home directory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tallylight.files import directories


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _ask_person(question: str) -> bool | None:
    """Ask *question* on the terminal; return whether the answer is yes, None without a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    # Keys typed before the question do not answer it.
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    sys.stdout.write(question + " [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@dataclasses.dataclass(frozen=True)
class System:
    """The system around a command: its environment, and functions for everything it asks of it."""

    env: Mapping[str, str] = dataclasses.field(default_factory=lambda: dict(os.environ))
    say: Callable[[str], None] = _print
    #: Asks the person a question; None if there is no terminal.
    ask: Callable[[str], bool | None] = _ask_person
    platform: str = sys.platform
    now: Callable[[], float] = time.time

    @property
    def home(self) -> Path:
        return directories.home(self.env)

    def which(self, name: str) -> Path | None:
        found = shutil.which(name, path=self.env.get("PATH", os.defpath))
        return Path(found) if found else None

    def run(self, command: Sequence[str | Path], timeout: float = 10.0) -> subprocess.CompletedProcess[str]:
        """
        Run a program to its end, without a terminal; the return code is -1 if it cannot start or hangs.

        It runs in `/` and without Python's variables, so that it reads nothing from the person's directory.
        """
        words = [str(word) for word in command]
        env = {name: value for name, value in self.env.items() if not name.startswith("PYTHON")}
        try:
            return subprocess.run(
                words,
                env=env,
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return subprocess.CompletedProcess(words, -1, "", str(error))

    def package(self, name: str, modules: Sequence[str]) -> tuple[str, list[Path]] | None:
        """Return version and folders of a package that this Python has, found by its *modules*; None if missing."""
        try:
            version = importlib.metadata.version(name)
            specs = [importlib.util.find_spec(module) for module in modules]
        except (ImportError, ValueError):
            return None
        folders = [Path(spec.origin).parent for spec in specs if spec is not None and spec.origin]
        return (version, folders) if len(folders) == len(modules) else None

    def reaches(self, host: str, seconds: float) -> bool:
        """Return whether *host* takes a connection within *seconds*, with the lookup of its name."""
        found: list[bool] = []

        def connect() -> None:
            with contextlib.suppress(OSError), socket.create_connection((host, 443), seconds):
                found.append(True)

        # The lookup of a name has no time limit, so a thread does it.
        thread = threading.Thread(target=connect, daemon=True)
        thread.start()
        thread.join(seconds)
        return bool(found)

    def agrees(self, *, yes: bool) -> bool:
        """Return whether to go ahead: *yes*, or the person's answer. A no is reported."""
        answer = yes or self.ask("\nGo ahead?")
        if not answer:
            hint = " There is no terminal to ask on: run it again with --yes." if answer is None else ""
            self.say(f"Nothing was changed.{hint}")
        return bool(answer)

    def signal(self, pid: int, number: int) -> bool:
        """Send a signal to a process; False if there is none, or it is another user's."""
        try:
            os.kill(pid, number)
        except OSError:
            return False
        return True

    def short(self, path: Path) -> str:
        """Return *path* for display: the home directory as `~`, control characters as `?`."""
        text = str(path)
        home = str(self.home)
        if home != "/" and (text == home or text.startswith(home + "/")):
            text = "~" + text[len(home) :]
        return "".join(c if c.isprintable() else "?" for c in text)
