"""`python -m tests.agents.tables`: write the table that a relay knows the agents by anew from the agent files."""

from __future__ import annotations

from pathlib import Path

from tallylight.agents import agent, agent_files

NAMES = Path(agent.__file__).with_name("names.py")
_HEADER = '''"""
The names that identify an agent's process, made from `agents/*.toml` by `python -m tests.agents.tables`: change those
instead.
"""

# fmt: off
# ruff: noqa
'''


def text() -> str:
    """What the module should be: made from the agent files of this checkout."""
    found, errors = agent.load_agents(agent_files.packaged_agents())
    if errors:
        raise errors[0]
    # One line each, as in the tables of hooks: it is data, and no formatter is to argue with it.
    return _HEADER + "\n".join(["NAMES = (", *(f"    {agent.naming(one)!r}," for one in found), ")"]) + "\n"


if __name__ == "__main__":
    NAMES.write_text(text())
