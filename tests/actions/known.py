"""The agents as they come with the package, and processes as the table tells them."""

from __future__ import annotations

from typing import Any

from tallylight.agents.agent import Agent, Agents
from tallylight.agents.agent_files import load_agents
from tallylight.evidence.foreground import NOBODY, Identity
from tallylight.evidence.process import Process
from tallylight.model.status import Status
from tallylight.parts.conversations.plan import Scene
from tests.entries import new_pane

ID = "0f9c1c60-1111-4222-8333-444455556666"


def packaged() -> Agents:
    """Every agent that comes with the package."""
    agents, problems = load_agents({"HOME": "/nonexistent"})
    assert not problems
    return agents


AGENTS = packaged()


def agent(name: str) -> Agent:
    """One of them."""
    found = AGENTS.get(name)
    assert found is not None
    return found


CLAUDE, CODEX, OPENCODE, GEMINI = (agent(name) for name in ("claude", "codex", "opencode", "gemini"))


def process(*argv: str, pid: int = 20, ppid: int = 10, pgrp: int = 20, exe: str = "", start: int = 200) -> Process:
    """A process that was started so."""
    return Process(pid, ppid, pgrp, argv[0][:15], argv, exe or f"/opt/{argv[0].rpartition('/')[2]}", start)


def scene_of(identity: Identity = NOBODY, *, in_tree: bool = True, process_cwd: str = "", **said: Any) -> Scene:
    """A pane with this in its foreground, of which its host says that."""
    pane = new_pane(id="3", status=Status.IDLE, **said)
    return Scene(pane=pane, identity=identity, in_tree=in_tree, process_cwd=process_cwd)
