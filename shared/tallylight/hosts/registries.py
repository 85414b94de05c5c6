"""
The registries of agents: the running sessions that an agent's own files list, with or without a pane.

Claude Code keeps a file for each of its processes, and Copilot a lock in the folder of each session. This reads the
disk: call it away from any loop. Files of ended processes are not opened. A folder is listed only after it changed, or
after `RELIST_S`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from tallylight.agents.agent import Agent, Agents
from tallylight.evidence import process_table
from tallylight.evidence.foreground import identify
from tallylight.evidence.process_table import Table
from tallylight.evidence.records import claude_status, copilot_locks
from tallylight.evidence.records.claude_status import Listed
from tallylight.evidence.records.locate import SESSION_SLACK_S
from tallylight.evidence.records.places import read_part
from tallylight.wire.values import is_number

#: Seconds after which a folder is listed even if it seems unchanged.
RELIST_S = 30.0
#: Files of one folder that are listed, most of them of ended processes.
MAX_REGISTRY_FILES = 10_000
#: Running sessions of one agent that are looked at.
MAX_AGENT_SESSIONS = 200


class _File(NamedTuple):
    """A file that names a process: its pid and the path."""

    pid: int
    path: Path


class _Registry(Protocol):
    """The registry of one agent, in one folder."""

    folder: Path

    def files(self) -> Iterator[_File]:
        """Return the files that name a process, alive or not."""

    def read(self, file: _File, table: Table) -> Listed | None:
        """Return the session in *file*, of a living process of this user; None if it has a pane."""


class _ClaudeSessions:
    """One file for each process, which includes its status."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self) -> Iterator[_File]:
        for name in _names(self.folder):
            if name.endswith(".json") and is_number(name[:-5], 10):
                yield _File(int(name[:-5]), self.folder / name)

    def read(self, file: _File, table: Table) -> Listed | None:
        data = read_part(file.path, 0, claude_status.MAX_STATUS_CHARS) or b""
        start = table.start(file.pid) or 0
        found = claude_status.listed(data.decode("utf-8", "replace"), pid=file.pid, start=start)
        # A background session has a terminal that its daemon holds. Any other one with a terminal has a pane there.
        is_apart = found is not None and (found.is_background or not process_table.terminal(file.pid, table))
        return found if is_apart else None


class _CopilotLocks:
    """One folder for each session, with a lock file of its process. The status is in its events."""

    def __init__(self, agent: Agent, folder: Path) -> None:
        self.folder, self._agents = folder, Agents((agent,))
        #: The locks of each session, with the stamp that its folder had then.
        self._known: dict[str, tuple[int, list[_File]]] = {}

    def files(self) -> Iterator[_File]:
        before, self._known = self._known, {}
        for name in filter(copilot_locks.is_session, _names(self.folder)):
            path = self.folder / name
            try:
                stamp = path.stat().st_mtime_ns
                known = before.get(name, (0, []))
                if known[0] != stamp:
                    pids = ((copilot_locks.holder(lock), path / lock) for lock in _names(path))
                    known = stamp, [_File(pid, lock) for pid, lock in pids if pid]
            except OSError:
                continue
            self._known[name] = known
            yield from known[1]

    def read(self, file: _File, table: Table) -> Listed | None:
        process, started = table.get(file.pid), table.start_time(file.pid)
        try:
            is_its_own = started is not None and file.path.stat().st_mtime >= started - SESSION_SLACK_S
        except OSError:
            return None
        if process is None or not is_its_own or identify((process,), self._agents).agent is None:
            return None
        has_pane = process_table.writes_terminal(file.pid, table)
        return None if has_pane else Listed(file.pid, session=file.path.parent.name)


def _names(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for _, entry in zip(range(MAX_REGISTRY_FILES), entries, strict=False)]


def _registries(environ: Mapping[str, str], agents: Iterable[Agent]) -> Iterator[tuple[str, _Registry]]:
    for agent in agents:
        if agent.registry == "claude-sessions":
            folder = claude_status.folder(environ, environ.get("HOME", ""))
            if folder:
                yield agent.name, _ClaudeSessions(Path(folder))
        elif agent.registry == "copilot-locks":
            yield agent.name, _CopilotLocks(agent, Path(copilot_locks.folder(environ)))


class Registries:
    """The registries of *agents*, for this user and the home directory of *environ*."""

    def __init__(self, environ: Mapping[str, str], agents: Iterable[Agent], table: Table | None = None) -> None:
        self._table = table or process_table.table()
        self._registries = dict(_registries(environ, agents))
        #: Of each agent: when its folder was listed (monotonic), its stamp then, and the files of what lived.
        self._listed: dict[str, tuple[float, int, list[_File]]] = {}

    def look(self) -> list[tuple[str, Listed]]:
        """Return every running session without a pane, each with the name of its agent."""
        return [
            (agent, found)
            for agent, registry in self._registries.items()
            for file in self._files(agent, registry)
            if (found := self._read(registry, file)) is not None
        ]

    def _files(self, agent: str, registry: _Registry) -> list[_File]:
        """Return the files of living processes, at most `MAX_AGENT_SESSIONS`."""
        now = time.monotonic()
        try:
            stamp = registry.folder.stat().st_mtime_ns
            listed_at, before, files = self._listed.get(agent, (-RELIST_S, 0, []))
            if stamp != before or now - listed_at >= RELIST_S:
                living = (file for file in registry.files() if self._table.start(file.pid) is not None)
                files = sorted(living)[:MAX_AGENT_SESSIONS]
                self._listed[agent] = now, stamp, files
        except (OSError, ValueError):
            return []
        return files

    def _read(self, registry: _Registry, file: _File) -> Listed | None:
        """Return the session in *file*; None if its process has ended, has a pane, or belongs to another user."""
        is_ours = process_table.owner(file.pid, self._table) == os.getuid()
        if not is_ours or self._table.start(file.pid) is None:
            return None
        return registry.read(file, self._table)
