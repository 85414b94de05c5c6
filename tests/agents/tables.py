"""`python -m tests.agents.tables`: write the table that a relay knows the agents by anew from the agent files."""

from __future__ import annotations

import pprint
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
    facts = tuple(agent.naming(one) for one in found)
    return f"{_HEADER}NAMES = {pprint.pformat(facts, width=118, compact=True, sort_dicts=False)}\n"


if __name__ == "__main__":
    NAMES.write_text(text())
