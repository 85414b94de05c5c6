"""
The registries of agents as a source of panes: one for each session without a terminal.

Sessions of `claude --bg`, of its remote control and of a program that drives it have no pane, or only their daemon has
it. They become panes without a screen; their status file and transcript (`pane.own_files`) show what they do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence

from tallylight.agents.agent import Agent
from tallylight.evidence import process_table
from tallylight.evidence.commands import arguments
from tallylight.evidence.ports import is_linked
from tallylight.evidence.process_table import Table
from tallylight.evidence.records.claude_status import Listed
from tallylight.hosts.polling.source import SourcePane
from tallylight.hosts.registries import Registries
from tallylight.snapshot.addresses import LISTED
from tallylight.snapshot.elsewhere import is_elsewhere
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.requests import Request
from tallylight.snapshot.rows import Row
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.writer import directory


class RegistrySource:
    """
    The sessions without a pane of all *agents* with a registry, for this user and the home directory of *environ*.
    """

    every = 1.0

    def __init__(self, environ: Mapping[str, str], agents: Iterable[Agent], table: Table | None = None) -> None:
        self._table = table or process_table.table()
        agents = tuple(agents)
        self._registries = Registries(environ, agents, self._table)
        #: The argument of each agent's command that opens a session.
        self._opens = {agent.name: agent.attach.by_id[1] for agent in agents if agent.attach.by_id[1:]}
        self._feed = Feed(directory(environ))

    def look(self) -> Sequence[SourcePane]:
        """Return a `SourcePane` for every running session without a pane."""
        found = self._registries.look()
        if not found:
            return []
        self._feed.poll(time.monotonic())
        # A session is connected to that daemon as well, and so may any agent be that has a session of its own.
        own = {None, 0, *(one.pid for _, one in found)}
        shown = [
            (Row(host.name, pane), self._shown(pane, [one for agent, one in found if agent == pane.agent]))
            for host in self._feed.snapshots
            for pane in host.panes
            if not (pane.session or pane.agent_pid in own or is_elsewhere(host.name))
        ]
        return [self._source_pane(agent, one, shown) for agent, one in found]

    def _shown(self, pane: PaneEntry, found: Sequence[Listed]) -> list[Listed]:
        """
        Return the sessions of *found* that *pane* shows: the one it opened, or has as its title; for an overview, all.

        Its program is connected to their daemon, which started the processes that hold their terminals.
        """
        process = self._table.get(pane.agent_pid or 0)
        daemons = {one: self._parent(self._parent(one.pid)) for one in found if one.is_background}
        if process is None:
            return []
        linked = {pid for pid in set(daemons.values()) if pid > 1 and is_linked(process.pid, pid, self._table)}
        own = [one for one, daemon in daemons.items() if daemon in linked]
        first, *words = *arguments(process.argv, process.exe, process.comm), ""
        if first == self._opens.get(pane.agent):
            # A part of its name opens it, too.
            return [one for one in own if one.id in words or any(word and word in one.name for word in words)]
        return [one for one in own if one.name and one.name == pane.title] or own

    def _parent(self, pid: int) -> int:
        process = self._table.get(pid)
        return process.ppid if process is not None else 0

    def _source_pane(self, agent: str, found: Listed, shown: Sequence[tuple[Row, Sequence[Listed]]]) -> SourcePane:
        """
        Return the pane of the session *found* of *agent*; *shown* lists the rows of panes with the sessions they show.
        """
        id_ = f"{agent}/{found.id or found.session or found.pid}"
        return SourcePane(
            id=id_,
            group=found.pid,
            host_title=found.name,
            session=found.session,
            terminals=tuple(sorted({row.where for row, those in shown if found in those})),
            visible=any(row.pane.attention.visible for row, those in shown if those == [found]),
            attach=(*LISTED, f"sessions-{os.getpid()}:{id_}") if found.id else (),
        )

    def shown(self, entries: Mapping[str, PaneEntry]) -> None:
        """Do nothing: an agent's registry has no place for a light."""

    def act(self, request: Request) -> None:
        """Do nothing: such a session is shown only once a person attaches to it."""

    def close(self) -> None:
        """Do nothing."""
