"""
SessionsProcess: starts a host of sessions as a child of this process, and ends it with this process.

A terminal needs one when a pane of it runs tmux or GNU Screen, or when an agent's registry lists a session without a
pane. A bridge needs one while it is connected. Only one runs for each user: `tally host sessions` holds a lock.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from tallylight.agents.agent import Agent
from tallylight.hosts.jobs import backoff
from tallylight.hosts.registries import Registries
from tallylight.hosts.sessions_inside import HOSTS
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.writer import directory

#: The child imports from the same folders as this process, and from no others.
_RUN = "import sys; sys.path[:] = {!r}; from tallylight.cli.main import run; run()"


def this_program(*words: str) -> list[str]:
    """Return the command line that runs `tally` with *words*, with the Python and the code of this process."""
    folders = [folder for folder in sys.path if folder.startswith("/")]
    return [sys.executable, "-I", "-c", _RUN.format(folders), *words]


class SessionsProcess:
    """
    Starts a child that watches the sessions of this machine, unless a process does so already.

    *command* returns the command line of `tally` with its arguments. `keep` may read the disk: call it on a thread, and
    only once at a time.
    """

    def __init__(self, environ: Mapping[str, str], command: Callable[..., Sequence[str]] = this_program) -> None:
        self._environ, self._command = environ, command
        #: Made by `keep`: the constructor must not read the disk.
        self._feed: Feed | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._starts, self._due = 0, 0.0
        self._registries: Registries | None = None

    def keep(self, now: float, *options: str, agents: Sequence[Agent] = ()) -> None:
        """
        Start the child at monotonic *now* unless one runs. With *agents*: only if one of their registries lists a
        session.
        """
        if self._feed is None:
            self._feed = Feed(directory(self._environ), HOSTS)
        self._feed.poll(now)
        is_alive = self._child is not None and self._child.poll() is None
        if is_alive or self._feed.snapshots or now < self._due:
            return
        if agents:
            self._registries = self._registries or Registries(self._environ, agents)
            if not self._registries.look():
                return
        self._starts += 1
        self._due = now + backoff(self._starts)
        nowhere = subprocess.DEVNULL
        self._child = subprocess.Popen(
            self._command("host", "sessions", "--with-parent", str(os.getpid()), *options),
            env=dict(self._environ),
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
        )

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.terminate()
