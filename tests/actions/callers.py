"""Callers for tests, one of each kind, and a process table that holds what it is given, terminals and users too."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tallylight.actions.caller import Caller, Who
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ProcTable

CALLERS: dict[Who, Caller] = {
    who: Caller(who, (9, 9), "Claude Code" if who in (Who.AGENT, Who.STRAY) else "", frozenset({(9, 9)}), (9, 9))
    for who in Who
}


def as_caller(who: Who) -> Callable[[], Caller]:
    """What tells that *who* asks."""
    return lambda: CALLERS[who]


def at(level: str) -> Callable[[str], str]:
    """What tells that every host lets itself be asked by *level*."""
    return lambda _host: level


class Hand(ProcTable):
    """A table of these *processes* alone; *terminals* and *owners* by their numbers, everything else is ours."""

    def __init__(
        self,
        *processes: Process,
        terminals: Mapping[int, int] | None = None,
        owners: Mapping[int, int] | None = None,
        own: int = 1000,
    ) -> None:
        super().__init__("/nonexistent")
        self.processes = {known.pid: known for known in processes}
        self.terminals, self.owners, self.own = dict(terminals or {}), dict(owners or {}), own

    def get(self, pid: int) -> Process | None:
        return self.processes.get(pid)

    def start(self, pid: int) -> int | None:
        found = self.processes.get(pid)
        return None if found is None else found.start

    def terminal(self, pid: int) -> int:
        return self.terminals.get(pid, 0)

    def owner(self, pid: int) -> int | None:
        return self.owners.get(pid, self.own) if pid in self.processes else None
