"""
The agents on this machine, by the process names in the agent files.

Read leniently, with the standard library alone: it is for one line of what `tally setup` tells. Whether the files
are right is `tally doctor`'s business.
"""

from __future__ import annotations

from tallylight.agents import agent_files
from tallylight.files import toml
from tallylight.files.system import System
from tallylight.model.errors import DataFileError


def installed_agents(system: System) -> list[str]:
    """The names of the known agents whose program is on PATH."""
    try:
        packaged = agent_files.packaged_agents()
    except OSError:
        return []
    return [name for name, text in packaged if any(system.which(program) for program in _programs(name, text))]


def _programs(name: str, text: str) -> list[str]:
    try:
        found = toml.load(text, name).get("processes", [name])
    except DataFileError:
        return []
    return [word for word in found if isinstance(word, str)] if isinstance(found, list) else [name]
