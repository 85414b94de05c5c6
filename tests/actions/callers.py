"""Callers for tests, one of each kind, and a process table that holds what it is given, terminals and users too."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

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


#: As Linux numbers the terminals /dev/null and /dev/zero, if they were some.
NULL, ZERO = 1 << 8 | 3, 1 << 8 | 5
DEVICES = {NULL: "/dev/null", ZERO: "/dev/zero"}


class Hand(ProcTable):
    """
    A table of these *processes* alone; *terminals* and *owners* by their numbers, everything else is ours.

    *files* are what they have open, *environs* their environments. Socket 2n is connected to socket 2n+1. The input of
    a process is its terminal, where that is one of `DEVICES`, unless it is *piped*.
    """

    def __init__(
        self,
        *processes: Process,
        terminals: Mapping[int, int] | None = None,
        owners: Mapping[int, int] | None = None,
        own: int = 1000,
        files: Mapping[int, tuple[str, ...]] | None = None,
        environs: Mapping[int, Mapping[str, str]] | None = None,
        piped: Collection[int] = (),
    ) -> None:
        super().__init__("/nonexistent")
        self.processes = {known.pid: known for known in processes}
        self.terminals, self.owners, self.own = dict(terminals or {}), dict(owners or {}), own
        self.files, self.environs, self.piped = dict(files or {}), dict(environs or {}), piped

    def get(self, pid: int) -> Process | None:
        return self.processes.get(pid)

    def start(self, pid: int) -> int | None:
        found = self.processes.get(pid)
        return None if found is None else found.start

    def terminal(self, pid: int) -> int:
        return self.terminals.get(pid, 0)

    def owner(self, pid: int) -> int | None:
        return self.owners.get(pid, self.own) if pid in self.processes else None

    def pids(self) -> list[int]:
        return sorted(self.processes)

    def open_files(self, pid: int, start: str = "/") -> tuple[str, ...]:
        return tuple(path for path in self.files.get(pid, ()) if path.startswith(start))

    def peers(self, sockets: Iterable[str]) -> Iterator[str]:
        return (str(int(number) ^ 1) for number in sockets)

    def environ(self, pid: int) -> dict[str, str]:
        return dict(self.environs.get(pid, {}))

    def link(self, pid: int, name: str) -> str:
        is_input = name == "fd/0" and pid not in self.piped
        return DEVICES.get(self.terminal(pid), "pipe:[1]") if is_input else f"{name}:[1]"

    def read(self, pid: int, name: str, limit: int = 0) -> bytes:
        return b"NoNewPrivs:\t0\n" if name == "status" else b""
