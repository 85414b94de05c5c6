"""Rivals: other processes of an agent in one directory, found among all that run, or as of a moment ago."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

from tallylight.agents import agent_files
from tallylight.agents.agent import Agent
from tallylight.evidence.others import rival_starts
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import ProcTable
from tests.real_agents.driver import wait_until


def _named(name: str, folder: Path, stack: contextlib.ExitStack) -> Process:
    """A process called *name* that works in *folder*, in a session of its own."""
    process = subprocess.Popen([name, "1000"], executable="/bin/sleep", cwd=folder, start_new_session=True)
    stack.enter_context(process)
    stack.callback(process.kill)
    # Before it is called so, it is the process that started it.
    wait_until(lambda: (found := ProcTable().get(process.pid)) is not None and found.argv[:1] == (name,), 5, name)
    found = ProcTable().get(process.pid)
    assert found is not None
    return found


def _crush(home: Path) -> Agent:
    agents, _ = agent_files.load_agents({"HOME": str(home)})
    return next(agent for agent in agents if agent.name == "crush")


def test_others_in_the_directory(tmp_path: Path) -> None:
    """Not the process itself, no other program, and nothing that works elsewhere."""
    agent, table, elsewhere = _crush(tmp_path), ProcTable(), tmp_path / "elsewhere"
    elsewhere.mkdir()
    with contextlib.ExitStack() as stack:
        first = _named("crush", tmp_path, stack)
        _named("another", tmp_path, stack)
        _named("crush", elsewhere, stack)
        assert rival_starts(first, agent, table) == ()
        second = _named("crush", tmp_path, stack)
        assert rival_starts(first, agent, table) == (table.start_time(second.pid),)
        assert rival_starts(second, agent, table) == (table.start_time(first.pid),)


def test_as_of_a_moment_ago(tmp_path: Path) -> None:
    """Where that may be, those of the last look are told, of each process the others; else one that came is found."""
    agent, table = _crush(tmp_path), ProcTable()
    with contextlib.ExitStack() as stack:
        first, second = _named("crush", tmp_path, stack), _named("crush", tmp_path, stack)
        assert len(rival_starts(first, agent, table)) == 1
        _named("crush", tmp_path, stack)
        assert (
            len(rival_starts(first, agent, table, 60.0, 600.0))
            == len(rival_starts(second, agent, table, 60.0, 600.0))
            == 1
        )
        assert len(rival_starts(second, agent, table)) == 2
        assert len(rival_starts(first, agent, table, 60.0, 600.0)) == 2
