"""
The registries of agents: the running sessions that an agent's own files list, with or without a pane.

Claude Code keeps a file for each of its processes. This reads the disk: call it away from any loop. Files of ended
processes are not opened. A folder is listed only after it changed, or after `RELIST_S`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from tallylight.agents.agent import Agent
from tallylight.evidence import process_table
from tallylight.evidence.process_table import Table
from tallylight.evidence.records import claude_status
from tallylight.evidence.records.claude_status import Listed
from tallylight.evidence.records.places import read_part
from tallylight.wire.values import is_number

#: Seconds after which a folder is listed even if it seems unchanged.
RELIST_S = 30.0
#: Files of one folder that are listed, most of them of ended processes.
MAX_FILES = 10_000
#: Running sessions of one agent that are looked at.
MAX_SESSIONS = 200


class Registries:
    """The registries of *agents*, for this user and the home directory of *environ*."""

    def __init__(self, environ: Mapping[str, str], agents: Iterable[Agent], table: Table | None = None) -> None:
        self._table = table or process_table.table()
        self._folders = {
            agent.name: Path(folder)
            for agent in agents
            if agent.registry and (folder := claude_status.folder(environ, environ.get("HOME", "")))
        }
        #: For each folder: when it was listed (monotonic), its modification time then, and its living processes.
        self._listed: dict[str, tuple[float, int, list[int]]] = {}

    def look(self) -> list[tuple[str, Listed]]:
        """Return every running session without a pane, each with the name of its agent."""
        return [
            (agent, found)
            for agent, folder in self._folders.items()
            for pid in self._pids(agent, folder)
            if (found := self._read(folder / f"{pid}.json", pid)) is not None
        ]

    def _pids(self, agent: str, folder: Path) -> list[int]:
        """Return the living processes that have a file in *folder*, at most `MAX_SESSIONS`."""
        now = time.monotonic()
        try:
            stamp = folder.stat().st_mtime_ns
            listed_at, before, pids = self._listed.get(agent, (-RELIST_S, 0, []))
            if stamp != before or now - listed_at >= RELIST_S:
                with os.scandir(folder) as entries:
                    names = [entry.name for _, entry in zip(range(MAX_FILES), entries, strict=False)]
                numbers = [int(name[:-5]) for name in names if name.endswith(".json") and is_number(name[:-5], 10)]
                pids = sorted(pid for pid in numbers if self._table.start(pid) is not None)[:MAX_SESSIONS]
                self._listed[agent] = now, stamp, pids
        except (OSError, ValueError):
            return []
        return pids

    def _read(self, path: Path, pid: int) -> Listed | None:
        """Return the session in the file of *pid*; None if it has ended, has a pane, or belongs to another user."""
        start = self._table.start(pid)
        if start is None or process_table.owner(pid, self._table) != os.getuid():
            return None
        data = read_part(path, 0, claude_status.MAX_CHARS) or b""
        found = claude_status.listed(data.decode("utf-8", "replace"), pid=pid, start=start)
        # A background session has a terminal that its daemon holds. Any other one with a terminal has a pane there.
        is_apart = found is not None and (found.is_background or not process_table.terminal(pid, self._table))
        return found if is_apart else None
