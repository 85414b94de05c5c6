"""
Compact tables: the `[hooks]` of an agent as plain dicts, tuples and texts, which load fast.

`tally hook` runs at every event of an agent and has no time for TOML or attrs. So the tables of packaged agents are
generated as the module `hooks.tables` (a test compares the two). The table of a user's own agent file is written as
JSON when its hooks are installed.
"""

from __future__ import annotations

from typing import Any

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.hooks import Hooks

#: The version of a `table`: a file of another version is not read.
VERSION = 1
#: The fields of `Hooks` on where its hooks are installed.
_PLACE = ("form", "why", "folder", "folder_env", "file", "entry", "note", "events", "beside")


def table(agent: Agent, hooks: Hooks) -> dict[str, Any]:
    """Return the table of one agent, for `hooks.mapping` and `parts.agent_hooks.install`."""
    names = dict.fromkeys((agent.name, *agent.processes, *agent.generic))
    return {
        "version": VERSION,
        "names": tuple(names),
        "pid_env": hooks.pid_env,
        "daemon": hooks.daemon,
        "fields": attrs.asdict(hooks.fields),
        # (values, status, kind, message, weak, ends_tool, child) for each rule that reads the event.
        "events": {
            event: tuple(
                (rule.values, rule.status, rule.kind, rule.message, rule.weak, rule.ends_tool, rule.child)
                for rule in hooks.rules
                if event in rule.events
            )
            for event in hooks.events
        },
    }


def place(agent: Agent, hooks: Hooks) -> dict[str, Any]:
    """Return where the hooks of one agent are installed, and how."""
    return {
        "display": agent.display,
        "programs": (*agent.processes, *agent.generic),
        **{name: getattr(hooks, name) for name in _PLACE},
        "new": hooks.version,
        "needs": tuple(attrs.asdict(need) for need in hooks.needs),
    }
