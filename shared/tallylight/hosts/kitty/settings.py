"""
What kitty's host reads once from disk before it can say much: the configuration, the agent files, our own command.

`read` is a job for the worker. Until it is done the host goes by the defaults and knows no agent by name; what programs
say of themselves is shown from the first moment.
"""

from __future__ import annotations

import os

import attrs

from tallylight.actions import fork
from tallylight.agents import agent_files
from tallylight.agents.agent import Agents
from tallylight.config import config_file
from tallylight.config.settings import Config


@attrs.frozen
class Settings:
    """What was read, and what is wrong with it. *command* is `tally` as it was installed, nothing if it was not."""

    config: Config
    agents: Agents
    command: str
    problems: tuple[str, ...]


def read() -> Settings:
    """Read all of it."""
    config, problems = config_file.load_config(os.environ)
    agents, more = agent_files.load_agents(os.environ)
    return Settings(config, agents, fork.own_command(), tuple(map(str, (*problems, *more))))
