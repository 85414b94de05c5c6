"""
The state of each agent's hooks, for `tally hooks status` and `tally doctor`. Reads only.

Missing hooks are no fault: the lights work without them. Installed hooks that cannot work are one.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tallylight.files import install_paths, managed_block, toml, user_file
from tallylight.files.system import System
from tallylight.model.errors import TallyError
from tallylight.model.finding import Finding, Health
from tallylight.parts.agent_hooks import install, jsonc
from tallylight.parts.agent_hooks.install import Target
from tallylight.wire import values


class State(enum.StrEnum):
    """The state of one agent's hooks."""

    INSTALLED = "installed"
    #: From another installation, or incomplete.
    MOVED = "moved"
    BROKEN = "broken"
    NOT_INSTALLED = "not installed"
    #: The agent cannot have hooks, or its installed hooks report nothing.
    CANNOT_WORK = "cannot work"


class Standing(NamedTuple):
    """The state of one agent's hooks; *remedy* is the advice, empty if none is needed."""

    agent: str
    state: State
    text: str
    remedy: str = ""

    @property
    def is_fault(self) -> bool:
        """Return whether the hooks need the user; an agent that cannot have hooks is no fault."""
        return self.state in (State.MOVED, State.BROKEN) or bool(self.state is State.CANNOT_WORK and self.remedy)


def standing(system: System, target: Target) -> Standing:
    """Return the state of the hooks of one agent."""
    agent = target.agent
    if not target.form:
        return Standing(agent, State.CANNOT_WORK, str(target.place["why"]))
    path = target.path(system)
    name, again = system.short(path), f"run `tally hooks install {agent}`"
    try:
        if not install.is_present(system, target):
            return Standing(agent, State.NOT_INSTALLED, f"{name} has no hooks; `tally hooks install {agent}` adds them")
        is_right = install.is_right(system, target)
    except TallyError as error:
        return Standing(agent, State.BROKEN, f"{name}: {error}", "correct it")
    if not is_right:
        return Standing(agent, State.MOVED, f"{name} has hooks of another installation or version", again)
    problem = _unmet(system, target)
    if problem is not None:
        return Standing(agent, State.CANNOT_WORK, *problem)
    return Standing(agent, State.INSTALLED, name)


def _unmet(system: System, target: Target) -> tuple[str, str] | None:
    """Return the problem and remedy of the first agent setting that keeps its hooks from working; None without one."""
    for need in target.place["needs"]:
        path = target.folder(system) / need["file"]
        text = managed_block.decode(user_file.read(path) or b"")
        found = _setting(text, need["key"], is_toml=need["file"].endswith(".toml"))
        value = _written(found)
        member = need["member"].replace("{file}", str(target.path(system)))
        has_member = isinstance(found, dict) and any(name.startswith(member) for name in found)
        if (
            (need["value"] and value != need["value"])
            or (need["value_not"] and value == need["value_not"])
            or (member and not has_member)
        ):
            return str(need["problem"]), str(need["remedy"])
    return None


def _written(setting: object) -> str:
    """Return a setting as its file has it; empty for a table, a list, or an absurd number."""
    if isinstance(setting, str):
        return setting
    is_plain = isinstance(setting, bool) or values.number(setting, -values.LATEST, values.LATEST) is not None
    return json.dumps(setting) if is_plain else ""


def _setting(text: str, key: str, *, is_toml: bool) -> Any:
    """Return a setting; None if it is missing or the file cannot be read."""
    found: Any
    try:
        if is_toml:
            found = toml.load(text, key)
        else:
            node = jsonc.parse(text)
            found = node.data() if node is not None else {}
    except TallyError:
        return None
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def is_here(system: System, target: Target) -> bool:
    """Return whether the agent's program is on PATH."""
    return any(system.which(program) for program in target.place["programs"])


def findings(system: System, targets: Mapping[str, Target]) -> Iterator[Finding]:
    """Yield a line for each agent that is installed or has our hooks, for `tally doctor`."""
    if not install_paths.layout(system).launcher.exists() and system.which("tally") is None:
        return  # the installation has a check of its own
    for target in targets.values():
        found = standing(system, target)
        is_ours = found.state in (State.INSTALLED, State.MOVED) or (found.state is State.CANNOT_WORK and found.remedy)
        if not is_ours and not is_here(system, target):
            continue
        health = Health.OK if found.state is State.INSTALLED else Health.SKIPPED
        if found.is_fault:
            health = Health.STALE if found.state is State.MOVED else Health.BROKEN
        yield Finding(f"hooks {found.agent}", health, f"{found.state.value}: {found.text}", found.remedy)
