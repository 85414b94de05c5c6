"""`python -m tests.hooks.tables`: write the tables of `tally hook` anew from the agent files."""

from __future__ import annotations

from pathlib import Path

from tallylight.agents import agent, agent_files
from tallylight.hooks import compact

TABLES = Path(compact.__file__).with_name("tables.py")


def text() -> str:
    """What the module should be: made from the agent files of this checkout."""
    found, errors = agent.load_agents(agent_files.packaged_agents())
    if errors:
        raise errors[0]
    return compact.module_text(found)


if __name__ == "__main__":
    TABLES.write_text(text())
