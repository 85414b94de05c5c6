"""The packaged agents, for tests of what is made of them."""

from __future__ import annotations

from tallylight.agents import agent_files
from tallylight.agents.agent import Agent, Agents, load_agents

AGENTS: Agents = load_agents(agent_files.packaged_agents())[0]


def agent(name: str) -> Agent:
    found = AGENTS.get(name)
    assert found is not None
    return found
