"""Who asks, by the process table: with a leader of the session that has ended, one outside, and parents of others."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tallylight.actions import caller
from tallylight.actions.caller import Caller, caller_of
from tallylight.evidence import process_table
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ProcTable
from tests.actions.known import AGENTS, process
from tests.tables import each


class Hand(ProcTable):
    """A table of these processes alone."""

    def __init__(self, *processes: Process) -> None:
        super().__init__()
        self.processes = {known.pid: known for known in processes}

    def get(self, pid: int) -> Process | None:
        return self.processes.get(pid)

    def start(self, pid: int) -> int | None:
        found = self.processes.get(pid)
        return None if found is None else found.start


@contextlib.contextmanager
def orphans() -> Iterator[tuple[int, int]]:
    """A process and its child, in a session whose leader has ended."""
    script = "{ sleep 60 & echo $!; wait; } & echo $!"
    with subprocess.Popen(["sh", "-c", script], start_new_session=True, stdout=subprocess.PIPE, text=True) as leader:
        assert leader.stdout is not None
        pids = [int(leader.stdout.readline()), int(leader.stdout.readline())]
        leader.wait()
        # Either of them may have been quicker to say who it started.
        parent, child = sorted(pids, key=lambda pid: _ppid(pid) in pids)
        try:
            yield parent, child
        finally:
            os.killpg(leader.pid, signal.SIGKILL)


def _ppid(pid: int) -> int:
    found = process_table.table().get(pid)
    assert found is not None
    return found.ppid


def test_the_leader_of_the_session_has_ended() -> None:
    """Its outermost process that still runs is the caller, for itself and for what it started."""
    table = process_table.table()
    with orphans() as (parent, child):
        start = table.start(parent)
        for pid in (parent, child):
            told = caller_of(pid, AGENTS, table)
            assert told is not None
            assert (told.being, told.agent) == ((parent, start), "")
            assert (pid, table.start(pid)) in told.lineage


INIT = process("init", pid=1, ppid=0)
SHELL = process("bash", pid=10, ppid=1)
SCRIPT = process("tally", pid=20, ppid=10)
NO_START = process("init", pid=1, ppid=0, start=0)
TREES = [
    # what runs, the session of each, processes of others, the caller
    ((INIT, SHELL, SCRIPT), {20: 10, 10: 10, 1: 1}, (), 10),
    ((INIT, SHELL, SCRIPT), {20: 0, 10: 0, 1: 1}, (), 10),  # the leader runs outside of the container
    ((INIT, SHELL, SCRIPT), {20: 0, 10: 0, 1: 0}, (), 1),
    ((INIT, SHELL, SCRIPT), {20: 7, 10: 7, 1: 1}, (), 10),  # the leader has ended
    ((NO_START, SHELL, SCRIPT), {20: 10, 10: 10, 1: 1}, (), 10),  # a machine that started in no time
    ((SHELL, SCRIPT), {20: 10, 10: 10}, (1,), 10),  # the processes of others are hidden
    ((SHELL, SCRIPT), {20: 10, 10: 10}, (), None),  # a parent that has gone meanwhile
    ((INIT, SCRIPT), {20: 20, 1: 1}, (), None),
    ((INIT, SHELL), {10: 10, 1: 1}, (20,), None),  # the process itself
    ((INIT, SHELL, SCRIPT), {10: 10, 1: 1}, (), None),  # it ends while it is looked at
]


@each("processes, sessions, hidden, expected", TREES)
def test_the_session_is_the_caller(
    monkeypatch: pytest.MonkeyPatch,
    processes: tuple[Process, ...],
    sessions: dict[int, int],
    hidden: tuple[int, ...],
    expected: int | None,
) -> None:
    """Without an agent among the ancestors."""

    def session_of(pid: int) -> int:
        if pid not in sessions:
            raise ProcessLookupError
        return sessions[pid]

    monkeypatch.setattr(caller, "_is_of_another", lambda pid: pid in hidden)
    told = caller_of(20, AGENTS, Hand(*processes), session_of)
    assert (told.being[0] if isinstance(told, Caller) else None) == expected


@pytest.mark.skipif(os.getuid() != 0, reason="nothing is of another user's for a process that may not change its user")
def test_a_process_of_another_user() -> None:
    """A signal that may not be sent tells it from one that is gone."""
    script = (
        "import os; from tallylight.actions import caller; ppid = os.getppid(); os.setuid(65534);"
        "print(caller._is_of_another(ppid), caller._is_of_another(os.getpid()), caller._is_of_another(2**22 + 1))"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True, env=os.environ
    )
    assert found.stdout.split() == ["True", "False", "False"]
