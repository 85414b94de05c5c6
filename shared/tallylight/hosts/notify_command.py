"""
Runs a user's own command instead of a notification: an argument list, with its data in the environment.

The command starts away from the terminal's main thread, in a session of its own, with empty standard streams. At most
`MAX_RUNNING` run at once, each for at most `COMMAND_S`; `tick` ends them and leaves no zombies.

No shell reads the arguments. Yet `sh` changes to the home directory and becomes the command. Python holds its global
lock until a new child has become its program. A program on a disk that does not respond would block the terminal from
any thread.

    TALLY_TITLE TALLY_MESSAGE              the texts of the notification: one line each, without control characters
    TALLY_STATUS TALLY_KIND TALLY_AGENT TALLY_PROJECT
    TALLY_PANE                             the pane's address, `kitty-4711:3`, for `tally jump` and `tally why`
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping

import attrs

from tallylight.files import directories
from tallylight.hosts.worker import Worker
from tallylight.tracker.notify import Notice

MAX_RUNNING = 4
#: The longest time, in seconds, that a command may run.
COMMAND_S = 10.0
JOB = "notify.command"
#: Changes to the directory $0 and becomes the program, with its arguments unchanged.
_BECOME = ("/bin/sh", "-c", 'cd -- "$0" && exec "$@"')


def data(notice: Notice, host: str) -> dict[str, str]:
    """Return the environment variables for *notice*; *host* is the name of this host, such as `kitty-4711`."""
    return {
        "TALLY_TITLE": notice.title,
        "TALLY_MESSAGE": notice.body,
        "TALLY_STATUS": notice.status.value,
        "TALLY_KIND": notice.kind.value if notice.kind is not None else "",
        "TALLY_AGENT": notice.agent,
        "TALLY_PROJECT": notice.project,
        "TALLY_PANE": f"{host}:{notice.pane}",
    }


@attrs.define
class Command:
    """Runs the command *argv* for notices; *failed* is called if it cannot start. *now* is monotonic seconds."""

    argv: tuple[str, ...]
    host: str
    failed: Callable[[Exception], None]
    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ)
    worker: Worker = attrs.field(factory=Worker)
    _starting: int = 0
    _count: Iterator[int] = attrs.field(factory=itertools.count)
    _running: list[tuple[subprocess.Popen[bytes], float]] = attrs.field(factory=list)

    def run(self, notice: Notice, now: float) -> bool:
        """Start the command for *notice*; return False, and do nothing, if too many run already."""
        if self._starting + len(self._running) >= MAX_RUNNING:
            return False
        environ = {**self.environ, **data(notice, self.host)}
        key = JOB, next(self._count)
        if self.worker.submit(
            key, lambda: self._start(environ), lambda process: self._started(process, now), self._failed
        ):
            self._starting += 1
        self.worker.lend()
        return True

    def tick(self, now: float) -> None:
        """Collect the commands that have ended, and kill those that run for too long."""
        self.worker.lend()
        self._running = [(process, since) for process, since in self._running if process.poll() is None]
        for process, since in self._running:
            if now - since >= COMMAND_S:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)

    def _start(self, environ: dict[str, str]) -> subprocess.Popen[bytes]:
        home, name = directories.home(environ), self.argv[0]
        program = shutil.which(str(home / name) if "/" in name else name, path=environ.get("PATH"))
        if program is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        return subprocess.Popen(
            [*_BECOME, str(home), program, *self.argv[1:]],
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _started(self, process: subprocess.Popen[bytes], now: float) -> None:
        self._starting -= 1
        self._running.append((process, now))

    def _failed(self, error: Exception) -> None:
        self._starting -= 1
        self.failed(error)
