"""
Access from outside to panes of tmux, GNU Screen and WezTerm: their screens, and a `Typist` for each.

The address of a session's pane is in the argument list of its snapshot that attaches to it. That of a WezTerm pane is
in the sidecar's command line. Nothing else of a snapshot is used.
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
    """The panes of the hosts `sessions` and `wezterm`. Call its methods on a thread: they run programs."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._env = {name: value for name, value in environ.items() if name not in ("TMUX", "TMUX_PANE", "STY")}
        self._screens = ScreenSource(environ)
        self._lock = threading.Lock()

    @functools.cached_property
    def _agents(self) -> Agents:
        return agent_files.load_agents(self._environ)[0]

    def _holder(self, pane: Pane) -> Holder:
        """
        Return a function that identifies the foreground program of *pane*.

        The program is a candidate if the pane's host also calls it one.
        """

        def foreground(leader: int, title: str) -> Identity:
            table = process_table.table()
            group = process_table.Groups(table).look(leader, 0.0)
            found = process_table.foreground(group, self._agents, table).with_title(title)
            is_candidate = bool(pane.program.signs) and found.unknown == pane.program.name
            return attrs.evolve(found, is_candidate=True) if is_candidate else found

        return foreground

    def can_type(self, host: str, pane: Pane) -> bool:
        """Return whether *pane* can be typed into: it is one of these hosts', and its processes run on this machine."""
        if host.startswith(f"{HOST}-"):
            return pane.pid is not None
        return host.startswith("sessions-") and names_pane(pane.commands.attach)

    def at(self, host: str, pane: Pane) -> Closer | Refusal:
        """
        Return the object that reads *pane*, types into it and closes it, for `actions`; a refusal if there is none.
        """
        holder = self._holder(pane)
        if (gui := gui_of(host, process_table.table())) is not None:
            return WezTermPane(pane, *gui, holder, self._environ)
        if self.can_type(host, pane):
            if (tmux := tmux_target(pane.commands.attach)) is not None:
                return TmuxPane(pane, *tmux, holder, self._env)
            if (screen := screen_target(pane.commands.attach)) is not None:
                return ScreenPane(pane, *screen, self._screens, holder, self._env, self._lock)
        return Refusal(
            "unreachable", f"{host}:{pane.id} is not a pane of tmux, GNU Screen or WezTerm that can be typed into"
        )

    def started_by(self, host: str, pane: Pane) -> tuple[Being, Being] | None:
        """Return which process started *pane* by a script, and the pane's first process; None if no script did."""
        is_session = host.startswith("sessions-")
        return starts.started_by(pane, self._env, process_table.table()) if is_session else None

    def screen(self, host: str, pane: Pane) -> StyledScreen:
        """Return the current screen of *pane*, with its colours; a hardcopy of GNU Screen has none."""
        typist = self.at(host, pane)
        if isinstance(typist, Refusal):
            raise SessionError(typist.text)
        return typist.screen()
