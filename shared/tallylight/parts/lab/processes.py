"""The processes of a recorded pane: answers a pane's queries of the process table from the recording."""

from __future__ import annotations

from tallylight.agents.agent import Agent, Agents
from tallylight.evidence.foreground import NOBODY, Identity
from tallylight.evidence.process import Process
from tallylight.evidence.unknown import candidate
from tallylight.parts.lab.events import ForegroundChange


class RecordedProcesses:
    """
    A `pane.processes.Foregrounds` and a `process_table.Table` in one, which know only the foreground program.

    An agent that is unknown here counts as one nevertheless, without rules: the recording has it.
    """

    def __init__(self, agents: Agents) -> None:
        self._agents = agents
        self._identity = NOBODY
        self._is_gone = True

    def change(self, change: ForegroundChange) -> int:
        """Apply *change*; return the process group to look at."""
        self._is_gone = change.is_gone
        found = change.foreground
        if found is None:
            self._identity = NOBODY
            return 0
        process = Process(found.instance, comm=found.name)
        known = self._agents.get(found.name) if found.is_agent else None
        strange = candidate(found.name) if found.is_candidate else Agent(name=found.name, display=found.name)
        agent = (known or strange) if found.is_agent else None
        self._identity = Identity(
            leader=process,
            agent=agent,
            process=process,
            is_remote=not found.is_agent,
            rule=found.name,
            speaks=found.speaks,
            is_candidate=found.is_candidate,
        )
        return found.instance

    @property
    def has_foreground(self) -> bool:
        """Return whether a program of interest is in the foreground."""
        return self._identity is not NOBODY

    def look(self, pgid: int) -> Identity:  # noqa: ARG002 - there is only one
        """Return the foreground program."""
        return self._identity

    look_uncached = look

    def forget(self, pgid: int) -> None:
        """Do nothing: nothing is cached."""

    # The rest is a `process_table.Table`: of one process with its recorded fields.

    def get(self, pid: int) -> Process | None:
        """Return the process *pid*, if it is the one in the foreground."""
        process = self._identity.process
        return process if process is not None and process.pid == pid else None

    token = fingerprint = get

    def start(self, pid: int) -> int | None:  # noqa: ARG002
        """Return the start of the last foreground process; None if it has ended."""
        return None if self._is_gone else 0

    def start_time(self, pid: int) -> float | None:  # noqa: ARG002
        """Return None: the start of a process is not recorded."""
        return None

    def cwd(self, pid: int) -> str:  # noqa: ARG002
        """Return an empty path: the directory is not recorded."""
        return ""

    def environ(self, pid: int) -> dict[str, str]:  # noqa: ARG002
        """Return no variables: the environment is not recorded."""
        return {}

    def descendants(self, pid: int) -> tuple[Process, ...]:  # noqa: ARG002
        """Return none: only the foreground is recorded."""
        return ()

    group = descendants
