"""
Compact tables: the `[hooks]` of an agent as plain dicts, tuples and texts, which cost nothing to load.

`tally hook` runs at every event of an agent and can afford neither TOML nor attrs. So the tables of the agents that
come with us are written out as the module `hooks.tables` (a test compares the two), and those of a
user's own agent file as JSON, when its hooks are installed.
"""

from __future__ import annotations

from typing import Any

import attrs

from tallylight.agents.agent import Agent
from tallylight.agents.hooks import Hooks

#: Of what `table` makes: a file of another version is not read.
VERSION = 1
#: What of `Hooks` says where its hooks are written down.
_PLACE = ("form", "why", "folder", "folder_env", "file", "entry", "note", "events", "beside")


def table(agent: Agent, hooks: Hooks) -> dict[str, Any]:
    """The table of one agent: what `hooks.mapping` and `parts.agent_hooks.install` know of it."""
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
    """Where the hooks of one agent are written down, and how."""
    return {
        "display": agent.display,
        "programs": (*agent.processes, *agent.generic),
        **{name: getattr(hooks, name) for name in _PLACE},
        "new": hooks.version,
        "needs": tuple(attrs.asdict(need) for need in hooks.needs),
    }
