"""A terminal for tests: a pseudoterminal that collects what reaches it, and commands that run on it."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import termios
import time
import tty as raw_mode
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from tests.patience import patient

SHARED = Path(__file__).resolve().parent.parent / "shared"

#: Makes descriptor 0 the controlling terminal of a new session, then becomes the command, which ignores no signal even
#: where the tests were started with `nohup`. Of util-linux and coreutils.
_ON_TERMINAL = [shutil.which("setsid") or "setsid", "--ctty", "env", "--default-signal=HUP,INT,QUIT"]


#: What started the command counts as the terminal that it runs in, as a terminal program would.
_IN_PANE = """
from tallylight.actions import caller
caller.end_of = lambda _, above, _table: caller.End.OWN if above is not None and above.pid == {} else None
"""


def launcher(folder: Path, *, is_terminal: bool = False) -> list[str]:
    """
    Write the launcher as it is installed, into *folder*; return the start of a command line that runs it.

    *is_terminal*: this process is the terminal in which it runs, whatever the tests are run by.
    """
    script = folder / "tally"
    in_pane = _IN_PANE.format(os.getpid()) if is_terminal else ""
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(SHARED)!r})\n{in_pane}from tallylight.cli.main import run\nrun()\n",
        "utf-8",
    )
    return [sys.executable, "-IS", str(script)]


def bare_environment(**extra: str) -> dict[str, str]:
    """Return an environment without a trace of the terminal or multiplexer the tests themselves run in."""
    keep = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYENV_VERSION", "PYENV_ROOT", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in keep if name in os.environ} | {"TERM": "xterm-256color"} | extra


class Terminal:
    """A pseudoterminal without echo or translation, and the processes started on it."""

    def __init__(self, rows: int = 24, columns: int = 80) -> None:
        self.master, self.slave = os.openpty()
        self.received = b""
        self.processes: list[subprocess.Popen[bytes]] = []
        raw_mode.setraw(self.slave)
        termios.tcsetwinsize(self.slave, (rows, columns))
        os.set_blocking(self.master, False)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        os.close(self.master)
        if self.slave >= 0:
            os.close(self.slave)

    @property
    def name(self) -> str:
        return os.ttyname(self.slave)

    def start(
        self, command: list[str], environment: Mapping[str, str] | None = None, pass_fds: tuple[int, ...] = ()
    ) -> subprocess.Popen[bytes]:
        """Start *command* with this terminal as its controlling terminal and on all three descriptors."""
        process = subprocess.Popen(
            [*_ON_TERMINAL, *command],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            env=dict(environment or bare_environment()),
            pass_fds=pass_fds,
        )
        self.processes.append(process)
        return process

    def run(self, command: list[str], environment: Mapping[str, str] | None = None) -> int:
        """Run *command* to its end, reading what it draws; return its exit code."""
        process = self.start(command, environment)
        end = time.monotonic() + patient(30.0)
        while process.poll() is None:
            self._read(0.02)
            assert time.monotonic() < end, f"still running: {command}; received {self.received!r}"
        while self._read(0):
            pass
        return process.returncode

    def type(self, data: bytes) -> None:
        """Send *data* as if it were typed."""
        os.write(self.master, data)

    def wait_for(self, found: bytes | Callable[[bytes], bool]) -> bytes:
        """Read until *found* has come, and return everything so far."""
        end = time.monotonic() + patient(30.0)
        while not (found in self.received if isinstance(found, bytes) else found(self.received)):
            self._read(0.05)
            assert time.monotonic() < end, f"{found!r} did not come; received {self.received!r}"
        return self.received

    def _read(self, wait: float) -> bool:
        if not select.select([self.master], [], [], wait)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            # Linux reports EIO when the last process has closed the terminal.
            return False
        self.received += data
        return bool(data)
