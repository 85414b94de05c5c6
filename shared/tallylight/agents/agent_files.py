"""Loading of the agent files: those of this package, and the user's own."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tallylight.model.errors import TallyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tallylight.agents.agent import Agents


#: Files that are read of a user's agents directory.
MAX_AGENT_FILES = 200


def packaged_agents() -> list[tuple[str, str]]:
    """Return the agent files of this package: name without ending, and text."""
    from importlib import resources  # loads much, which a relay can do without

    from tallylight.files.directories import NAME

    found = [entry for entry in resources.files(NAME).joinpath("agents").iterdir() if entry.name.endswith(".toml")]
    return sorted((entry.name.removesuffix(".toml"), entry.read_text("utf-8")) for entry in found)


def load_agents(env: Mapping[str, str] = os.environ) -> tuple[Agents, list[TallyError]]:
    """
    Return the agents of this package and of the user, and the errors of their files. A bad file costs only itself.
    """
    from tallylight.agents import agent
    from tallylight.files.directories import NAME

    users, errors = of_user(env)
    packaged = [(f"{NAME}/agents/{name}.toml", text) for name, text in packaged_agents()]
    found, more = agent.load_agents(packaged, users)
    return found, [*errors, *more]


def named_agents(env: Mapping[str, str] = os.environ) -> Agents:
    """
    Return the agents of `load_agents`, those of this package with only the parts that identify their processes.

    For the relay, which needs the name of its agent and starts with every command: no packaged file is read.
    """
    from tallylight.agents import agent, names

    users, _ = agent.load_agents((), of_user(env)[0])
    return agent.Agents([*map(agent.named, names.NAMES), *users])


def of_user(env: Mapping[str, str]) -> tuple[list[tuple[str, str]], list[TallyError]]:
    """Return the user's own files, each a path and its text, and the errors of unreadable ones."""
    errors: list[TallyError] = []
    # Checked without the modules that `files.directories` loads.
    folder = env.get("XDG_CONFIG_HOME", "")
    if not folder.startswith("/"):
        folder = f"{env.get('HOME', '')}/.config"
    if folder.startswith("/") and not os.path.isdir(f"{folder}/tallylight/agents"):  # noqa: PTH112
        return [], errors
    from tallylight.files.directories import config_dir

    try:
        paths = sorted((config_dir(env) / "agents").glob("*.toml"))
    except OSError:
        paths = []
    if not paths:
        return [], errors
    from tallylight.files.read_write import read_text

    if len(paths) > MAX_AGENT_FILES:
        errors.append(TallyError(f"{paths[0].parent}: only the first {MAX_AGENT_FILES} files are read"))
    users = []
    for path in paths[:MAX_AGENT_FILES]:
        try:
            users.append((str(path), read_text(path)))
        except FileNotFoundError:
            errors.append(TallyError(f"{path}: leads nowhere"))
        except TallyError as error:
            errors.append(error)
    return users, errors
