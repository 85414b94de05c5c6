"""
A user's own command, run in the place of a notification: an argument list, its data in the environment.

It is started away from the terminal's main thread, with nothing on its standard streams and in a session of its own;
at most `MAX_RUNNING` run at once, each for at most `LIMIT_S`, and `tick` sees to it that they end and leave no zombie.

No shell reads any of it. But it is `sh` that goes to the home directory and becomes the command: Python keeps its
global lock until a child that it starts has become its program, so a program on a disk that does not answer would hold
the terminal, whichever thread it is started from.

    TALLY_TITLE TALLY_MESSAGE              what a notification would say: one harmless line each
    TALLY_STATUS TALLY_KIND TALLY_AGENT TALLY_PROJECT
    TALLY_PANE                             the pane's address, `kitty-4711:3`, as `tally jump` and `tally why` take it
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
#: How long, in seconds, a command may run.
LIMIT_S = 10.0
JOB = "notify.command"
#: Becomes the program of its arguments, which are words and nothing else, in the directory before them.
_BECOME = ("/bin/sh", "-c", 'cd -- "$0" && exec "$@"')


def data(notice: Notice, host: str) -> dict[str, str]:
    """The environment of the command for *notice*; *host* is the name of this one, `kitty-4711`."""
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
    """The command *argv* of a host; *failed* is called once if it cannot be started. *now* is monotonic seconds."""

    argv: tuple[str, ...]
    host: str
    failed: Callable[[Exception], None]
    environ: Mapping[str, str] = attrs.field(factory=lambda: os.environ)
    worker: Worker = attrs.field(factory=Worker)
    _starting: int = 0
    _count: Iterator[int] = attrs.field(factory=itertools.count)
    _running: list[tuple[subprocess.Popen[bytes], float]] = attrs.field(factory=list)

    def run(self, notice: Notice, now: float) -> bool:
        """Start it for *notice*; False where so many run already that this one is dropped."""
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
        """Take the ended away, and kill those that run for too long; they are taken away as soon as they have ended."""
        self.worker.lend()
        self._running = [(process, since) for process, since in self._running if process.poll() is None]
        for process, since in self._running:
            if now - since >= LIMIT_S:
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
