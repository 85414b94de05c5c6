"""
The settings that give power to programs, and the part of a change to them that has to wait. Pure.

Every program of a person can write `config.toml`, also an agent. So a setting that takes power away counts at once. One
that gives more counts from the next start of the host, or once the person has agreed. These settings are the level of
`scripting.allow`, and the commands that a host runs by itself: for notifications, and to reach other machines.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection

import attrs

from tallylight.config.machines import Machine
from tallylight.config.settings import SCRIPTING, Config

ALLOW, COMMAND, MACHINES = "scripting.allow", "notify.command", "machines"


@attrs.frozen
class Withheld:
    """A change that waits: the *wanted* value of a *key*, from the file, and the one *in_force*, both as TOML."""

    key: str
    wanted: str
    in_force: str

    def __str__(self) -> str:
        return f"{self.key} is {self.wanted} in config.toml, and {self.in_force} in force"


def is_more(level: str, than: str) -> bool:
    """Return whether *level* of `scripting.allow` lets programs do more *than* another. An unknown level does not."""
    return SCRIPTING.index(level) > SCRIPTING.index(than) if level in SCRIPTING and than in SCRIPTING else False


def held(before: Config, found: Config, runs: Collection[str] = ()) -> tuple[Config, tuple[Withheld, ...]]:
    """
    Return the part of *found* that may replace *before* in a running host, and the changes that wait.

    *runs*: the commands that the host runs, `COMMAND` or `MACHINES`.
    """
    withheld = []
    allow, command, machines = found.scripting, found.notify.command, found.machines
    if is_more(allow, before.scripting):
        withheld.append(Withheld(ALLOW, json.dumps(allow), json.dumps(before.scripting)))
        allow = before.scripting
    if COMMAND in runs and command not in ((), before.notify.command):
        withheld.append(Withheld(COMMAND, json.dumps(command), json.dumps(before.notify.command)))
        command = before.notify.command
    if MACHINES in runs:
        known = {(one.command, one.attach) for one in before.machines.values()}
        new = {name: one for name, one in machines.items() if (one.command, one.attach) not in known}
        for name, one in new.items():
            withheld.append(
                Withheld(f"{MACHINES}.{name}", _command_text(one), _command_text(before.machines.get(name)))
            )
        kept = {name: before.machines.get(name) if name in new else one for name, one in machines.items()}
        machines = {name: one for name, one in kept.items() if one is not None}
    notify = attrs.evolve(found.notify, command=command)
    return attrs.evolve(found, scripting=allow, notify=notify, machines=machines), tuple(withheld)


def _command_text(machine: Machine | None) -> str:
    return json.dumps(shlex.join(machine.command)) if machine is not None else "nothing"
