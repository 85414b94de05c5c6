"""
What reaches the panes of hosts that are asked from outside, tmux's, GNU Screen's and WezTerm's: their screens, and a
`Typist` for each.

Where a pane of a session is, its host says in the argument list that attaches to it; where one of WezTerm is, the
sidecar's own command line. Nothing else of a snapshot is used.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping

import attrs

from tallylight.actions.caller import Being
from tallylight.actions.close import Closer
from tallylight.actions.gate import Refusal
from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.evidence import process_table
from tallylight.evidence.foreground import Identity
from tallylight.hosts.detached import starts
from tallylight.hosts.detached.pane import Holder, ScreenPane, TmuxPane, names_pane, screen_target, tmux_target
from tallylight.hosts.gnu_screen.source import ScreenSource
from tallylight.hosts.wezterm.sidecar import HOST
from tallylight.hosts.wezterm.typist import WezTermPane, gui_of
from tallylight.model.errors import SessionError
from tallylight.snapshot.schema import Pane
from tallylight.wire.styled import StyledScreen


class PaneAccess:
    """
    The panes of the hosts `sessions` and `wezterm`. Every method may be called on any thread, and takes as long as it
    takes.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._env = {name: value for name, value in environ.items() if name not in ("TMUX", "TMUX_PANE", "STY")}
        self._screens = ScreenSource(environ)
        self._lock = threading.Lock()

    @functools.cached_property
    def _agents(self) -> Agents:
        return agent_files.load_agents(self._environ)[0]

    def _holder(self, pane: Pane) -> Holder:
        """Tells who is in the foreground of *pane*; a candidate, if that is what its host takes them for."""

        def look(leader: int, title: str) -> Identity:
            table = process_table.table()
            group = process_table.Groups(table).look(leader, 0.0)
            found = process_table.foreground(group, self._agents, table).with_title(title)
            is_candidate = bool(pane.signs) and found.unknown == pane.unknown
            return attrs.evolve(found, is_candidate=True) if is_candidate else found

        return look

    def can_type(self, host: str, pane: Pane) -> bool:
        """Whether *pane* is one of ours, and its processes are of this machine."""
        if host.startswith(f"{HOST}-"):
            return pane.pid is not None
        return host.startswith("sessions-") and names_pane(pane.attach)

    def at(self, host: str, pane: Pane) -> Closer | Refusal:
        """What looks at *pane*, types into it and closes it, for `actions`; refused if it is not ours."""
        holder = self._holder(pane)
        if (gui := gui_of(host, process_table.table())) is not None:
            return WezTermPane(pane, *gui, holder, self._environ)
        if self.can_type(host, pane):
            if (tmux := tmux_target(pane.attach)) is not None:
                return TmuxPane(pane, *tmux, holder, self._env)
            if (screen := screen_target(pane.attach)) is not None:
                return ScreenPane(pane, *screen, self._screens, holder, self._env, self._lock)
        return Refusal(
            "unreachable", f"{host}:{pane.id} is not a pane of tmux, GNU Screen or WezTerm that can be typed into"
        )

    def started_by(self, host: str, pane: Pane) -> tuple[Being, Being] | None:
        """Who started *pane* for a script, and its first process; None if no script did, or this host does not know."""
        is_session = host.startswith("sessions-")
        return starts.started_by(pane, self._env, process_table.table()) if is_session else None

    def screen(self, host: str, pane: Pane) -> StyledScreen:
        """Its screen as it is now, with its colours, except for GNU Screen: its hardcopies have none."""
        typist = self.at(host, pane)
        if isinstance(typist, Refusal):
            raise SessionError(typist.text)
        return typist.screen()
