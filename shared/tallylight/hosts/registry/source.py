"""
The registries of agents as a source of panes: one a session that runs without a terminal of a person's.

Those of `claude --bg`, of its remote control and of a program that drives it have no pane, or one that only its own
daemon has. They are panes without a screen: what one does and asks its status file and its transcript tell
(`pane.own_files`), as for any pane.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence

from tallylight.agents.agent import Agent
from tallylight.evidence import process_table
from tallylight.evidence.ports import is_linked
from tallylight.evidence.process_table import Table
from tallylight.evidence.records.claude_status import Listed
from tallylight.hosts.polling.source import SourcePane
from tallylight.hosts.registries import Registries
from tallylight.snapshot.addresses import LISTED
from tallylight.snapshot.elsewhere import is_elsewhere
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.requests import Request
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import directory


class RegistrySource:
    """The sessions without a pane of all *agents* with a registry, of this user and the home of *environ*."""

    every = 1.0

    def __init__(self, environ: Mapping[str, str], agents: Iterable[Agent], table: Table | None = None) -> None:
        self._table = table or process_table.table()
        self._registries = Registries(environ, agents, self._table)
        self._feed = Feed(directory(environ))

    def look(self) -> Sequence[SourcePane]:
        """A `SourcePane` for every living session without a pane."""
        found = self._registries.look()
        if found:
            self._feed.poll(time.monotonic())
        return [self._source_pane(agent, listed) for agent, listed in found]

    def _shown_in(self, agent: str, found: Listed) -> tuple[list[PaneEntry], list[PaneEntry]]:
        """
        The panes of terminals that show the session, and those with a view of all, in which it is one row.

        A program that shows it is connected to the process that holds its terminal, and a view to that one's parent.
        """
        if not found.is_background:
            return [], []
        holder = self._parent(found.pid)
        panes = [
            pane
            for host in self._feed.snapshots
            if not is_elsewhere(host.name)
            for pane in host.panes
            if pane.agent == agent and pane.terminal
        ]
        shown, views = (
            [pane for pane in panes if self._is_linked(pane, one)] for one in (holder, self._parent(holder))
        )
        return shown, views

    def _parent(self, pid: int) -> int:
        process = self._table.get(pid)
        return process.ppid if process is not None else 0

    def _is_linked(self, pane: PaneEntry, pid: int) -> bool:
        return pid > 1 and bool(pane.agent_pid) and is_linked(pane.agent_pid or 0, pid, self._table)

    def _source_pane(self, agent: str, found: Listed) -> SourcePane:
        id_ = f"{agent}/{found.id or found.pid}"
        shown, views = self._shown_in(agent, found)
        return SourcePane(
            id=id_,
            group=found.pid,
            host_title=found.name,
            terminals=tuple(sorted({pane.terminal for pane in (*shown, *views)})),
            visible=any(pane.visible for pane in shown),
            attach=(*LISTED, f"sessions-{os.getpid()}:{id_}") if found.id else (),
        )

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """An agent's registry has no place for a light."""

    def act(self, request: Request) -> None:
        """Nothing shows such a session until a person attaches to it."""

    def close(self) -> None:
        """Nothing is left behind."""
