"""
The conversation of a pane: what the host remembers of the last agent whose process it saw there.

It outlives the agent, so that what is left of a crash can be resumed. Only an agent that holds the foreground may fill
it, so that nothing which is printed into a plain shell gets in. A session id that the agent's own status file tells is
not replaced by one that came through the terminal. A directory that came through the terminal is never taken: where
something is run, and where git is asked, is what the agent's own status file says, else where its process works.
"""

from __future__ import annotations

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.options import carried, dangerous_flags, remembered
from tallylight.evidence.commands import arguments, is_relayed
from tallylight.evidence.foreground import Identity
from tallylight.model.report import Report, Source
from tallylight.snapshot.schema import ConversationEntry


@attrs.define
class Conversation:
    """One pane's. `entry` is what is remembered, `resume` and `fork` what the program asked for in this run."""

    entry: ConversationEntry = attrs.field(factory=ConversationEntry)
    resume: tuple[str, ...] = ()
    fork: tuple[str, ...] = ()
    _run: tuple[int, int] = (0, 0)
    _is_listening: bool = False
    _own_session: bool = False
    #: The working directory of the agent's process.
    _process_cwd: str = ""
    #: A directory, and what the project in it is called.
    _named: tuple[str, str] = ("", "")
    #: The arguments that were read, and of which agent.
    _read: tuple[tuple[str, ...], Agent] | None = None

    @property
    def unnamed(self) -> str:
        """The directory whose project is not named yet; nothing if it is, or there is none."""
        return self.entry.cwd if self.entry.cwd != self._named[0] else ""

    @property
    def project(self) -> str:
        """What the agent's project is called, until that is known its directory; nothing without an agent."""
        return self.entry.cwd.rstrip("/").rpartition("/")[2] if self.unnamed else self._named[1]

    def name_project(self, name: str) -> None:
        """The project in its directory is called *name*."""
        self._named = self.entry.cwd, name

    def began(self, found: Identity, cwd: str) -> None:
        """The agent of *found* holds the foreground; its process works in *cwd*. The same run may be told again."""
        process = found.process or found.leader
        if found.agent is None or process is None:
            return
        first = found.leader or process
        run = (first.pid, first.start)
        if run != self._run:
            self._run, self._own_session = run, False
            self.resume = self.fork = ()
            self.entry, self._read = ConversationEntry(agent=found.agent.name, cwd=cwd), None
        elif self.entry.cwd == self._process_cwd:
            self.entry = attrs.evolve(self.entry, cwd=cwd)
        self._process_cwd = cwd
        self._is_listening = True
        self.entry = attrs.evolve(self.entry, relayed=is_relayed(first.argv))
        if found.is_direct and (process.argv, found.agent) != self._read:
            self._read = process.argv, found.agent
            kept = remembered(carried(arguments(process.argv, process.exe, process.comm), found.agent))
            self.entry = attrs.evolve(
                self.entry,
                flags=dangerous_flags(process.argv[1:], found.agent),
                options=tuple(word for run in kept.kept for word in run),
                lost=kept.lost,
            )

    def ended(self) -> None:
        """No agent holds the foreground any more."""
        self._is_listening = False

    def heard(self, report: Report) -> None:
        """A report about the pane itself came in."""
        if not self._is_listening or report.id or report.status is None:
            return
        if report.agent not in ("", self.entry.agent):
            return
        is_own = report.source is Source.REGISTRY
        if report.session and (is_own or not self._own_session):
            self._own_session = is_own
            self.entry = attrs.evolve(self.entry, session=report.session)
        if report.cwd and is_own:
            self.entry = attrs.evolve(self.entry, cwd=report.cwd)
        if report.source is Source.PROTOCOL:
            self.resume, self.fork = report.resume, report.fork

    def recorded(self, session: str) -> None:
        """The record of the agent's process is of *session*; whoever else names one knows better."""
        if self._is_listening and session and not self.entry.session:
            self.entry = attrs.evolve(self.entry, session=session)

    def armed(self, argv: tuple[str, ...]) -> None:
        """The program asked to be started again by *argv*; nothing takes that back. It told no status."""
        if self._is_listening:
            self.resume = argv
