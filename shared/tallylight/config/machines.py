"""
The `[machines]` table of the configuration: other machines and containers, each with a command that runs one there.

    [machines]
    devbox = "ssh devbox"
    ci = { command = "docker exec -i ci", attach = "docker exec -it ci" }

docs/places.md describes it. No shell reads a command: it is split into words as a shell would, and that is all.
"""

from __future__ import annotations

import re
import shlex

import attrs

from tallylight.files.toml import Table

#: The most machines: more are a fleet, which needs a broker (docs/places.md).
MAX_MACHINES = 32
#: The form of a machine's name.
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}"
#: The most characters of a command.
_MAX_COMMAND = 2000


@attrs.frozen
class Machine:
    """
    The commands for the machine *name*: words that are put before a command that is to run there.

    *command* is for programs that exchange data, *attach* for a terminal; an empty *attach* follows from *command*.
    """

    name: str
    command: tuple[str, ...]
    attach: tuple[str, ...] = ()


def parse_machines(table: Table) -> dict[str, Machine]:
    """Return the machines in *table* by name; *table* gets their errors."""
    found: dict[str, Machine] = {}
    for name in table.names():
        if re.fullmatch(NAME, name) is None:
            table.ignore(name, "cannot be the name of a machine: use at most 32 letters, digits, `.`, `_` and `-`")
        elif len(found) >= MAX_MACHINES:
            table.ignore(name, f"is ignored: at most {MAX_MACHINES} machines; for more, set up a broker in [fleet]")
        elif isinstance(value := table.text_or_table(name), str):
            if command := _words(table, name, value):
                found[name] = Machine(name, command)
        else:
            command, attach = _words(value, "command", value.text("command")), value.text("attach")
            value.close()
            if command:
                found[name] = Machine(name, command, _words(value, "attach", attach) if attach else ())
    table.close()
    return found


def _words(table: Table, key: str, command: str) -> tuple[str, ...]:
    """Return the words of *command*; none, with an error in *table*, if it is no command."""
    try:
        words = shlex.split(command) if len(command) <= _MAX_COMMAND and "\0" not in command else []
    except ValueError:
        words = []
    if not words or words[0].startswith("-"):
        table.complain(key, 'must begin with a program, like "ssh devbox"')
        return ()
    return tuple(words)
