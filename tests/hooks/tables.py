"""`python -m tests.hooks.tables`: write the tables of `tally hook` anew from the agent files."""

from __future__ import annotations

from pathlib import Path

from tallylight.agents import agent, agent_files
from tallylight.hooks import tables
from tallylight.parts.agent_hooks import compact

TABLES = Path(tables.__file__)
_HEADER = '''"""
The tables of `tally hook`, made from `agents/*.toml` by `python -m tests.hooks.tables`: change those instead.
"""

'''


def text() -> str:
    """What the module should be: made from the agent files of this checkout."""
    found, errors = agent.load_agents(agent_files.packaged_agents())
    if errors:
        raise errors[0]
    having = sorted(((one, one.hooks) for one in found if one.hooks), key=lambda pair: pair[0].name)
    places = {one.name: compact.place(one, hooks) for one, hooks in having}
    made = {one.name: compact.table(one, hooks) for one, hooks in having if hooks.form}
    # One line each: it is data, and no formatter is to argue with it.
    lines = ["# fmt: off", "# ruff: noqa", "TABLES = {"]
    lines += [f"    {name!r}: {value!r}," for name, value in made.items()]
    lines += ["}", "PLACES = {"]
    lines += [f"    {name!r}: {value!r}," for name, value in places.items()]
    return _HEADER + "\n".join([*lines, "}"]) + "\n"


if __name__ == "__main__":
    TABLES.write_text(text())
