"""
SessionsProcess: a host of sessions that another process starts as its child, and that ends with it.

A terminal has one where tmux or GNU Screen runs in a pane of it, or where an agent's registry lists a session without a
pane; a bridge for as long as it is asked. Where one runs
already, whoever has started it, there is no other: `tally host sessions` holds a lock.
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

#: How our own program is started: it imports from where this one does, and from no other place.
_RUN = "import sys; sys.path[:] = {!r}; from tallylight.cli.main import run; run()"


def this_program(*words: str) -> list[str]:
    """Our own command with *words*, by the Python and the code of this process."""
    folders = [folder for folder in sys.path if folder.startswith("/")]
    return [sys.executable, "-I", "-c", _RUN.format(folders), *words]


class SessionsProcess:
    """
    Sees to it that the sessions of this machine are watched, by a child of this process if need be.

    *command* makes our own command of its arguments. `keep` may take its time: it is called away from a terminal's
    loop, and never twice at once.
    """

    def __init__(self, environ: Mapping[str, str], command: Callable[..., Sequence[str]] = this_program) -> None:
        self._environ, self._command = environ, command
        #: Made by `keep`, for the disk is not asked before that.
        self._feed: Feed | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._starts, self._due = 0, 0.0
        self._registries: Registries | None = None

    def keep(self, now: float, *options: str, agents: Sequence[Agent] = ()) -> None:
        """Start one at monotonic *now* if there is none. With *agents*, if one of their registries lists a session."""
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
        """End what was started."""
        if self._child is not None:
            self._child.terminate()
