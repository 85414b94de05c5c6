"""
The system as `tally setup` and `tally doctor` see it: environment, person, programs, clock.

One value with all of it, so that the real commands run in tests against a home directory that is thrown away.
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
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    # What was typed before the question was there is no answer to it.
    termios.tcflush(sys.stdin, termios.TCIFLUSH)
    sys.stdout.write(question + " [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@dataclasses.dataclass(frozen=True)
class System:
    env: Mapping[str, str] = dataclasses.field(default_factory=lambda: dict(os.environ))
    say: Callable[[str], None] = _print
    #: Answers a question; None if there is nobody to ask.
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
        Run a program to its end, without a terminal; one that cannot start or hangs has a return code of -1.

        It runs in `/` and without Python's own variables: nothing of the directory that a person is in is read.
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
        """The version and the folders of a package that this very Python has, by its *modules*; None if it has not."""
        try:
            version = importlib.metadata.version(name)
            specs = [importlib.util.find_spec(module) for module in modules]
        except (ImportError, ValueError):
            return None
        folders = [Path(spec.origin).parent for spec in specs if spec is not None and spec.origin]
        return (version, folders) if len(folders) == len(modules) else None

    def reaches(self, host: str, seconds: float) -> bool:
        """Whether *host* takes a connection within *seconds*, including the lookup of its name."""
        found: list[bool] = []

        def connect() -> None:
            with contextlib.suppress(OSError), socket.create_connection((host, 443), seconds):
                found.append(True)

        # A name that nobody answers for takes as long as it takes.
        thread = threading.Thread(target=connect, daemon=True)
        thread.start()
        thread.join(seconds)
        return bool(found)

    def agrees(self, *, yes: bool) -> bool:
        """Ask whether to do what was shown, unless *yes*; a no is reported."""
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
        """*path* for a person: the home directory as `~`, control characters as `?`."""
        text = str(path)
        home = str(self.home)
        if home != "/" and (text == home or text.startswith(home + "/")):
            text = "~" + text[len(home) :]
        return "".join(c if c.isprintable() else "?" for c in text)
