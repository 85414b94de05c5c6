"""
Installs hooks in an agent's own files: plans the edits, and makes them. `parts.agent_hooks.remove` reverts them.

Edits are shown before they are made, and entered in the receipt before that.
Standard library only: `tally setup --undo` imports it, too.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from tallylight.files import directories, install_paths, managed_block, read_write, receipt, user_file
from tallylight.files.read_write import explained
from tallylight.files.receipt import Receipt
from tallylight.files.system import System
from tallylight.files.user_file import Edit
from tallylight.hooks import tables
from tallylight.model.errors import DataFileError, TallyError
from tallylight.parts.agent_hooks import json_edit, toml_edit

#: The first words of our plugins.
_PLUGIN = "// Written by `tally hooks install`"


@dataclasses.dataclass(frozen=True)
class Target:
    """One agent's hooks: their place (compact), and for a user's own agent its compact table."""

    agent: str
    place: Mapping[str, Any]
    table: Mapping[str, Any] | None = None

    @property
    def form(self) -> str:
        return str(self.place["form"])

    def folder(self, system: System) -> Path:
        """Return the agent's folder, from its own variable or XDG_CONFIG_HOME if set."""
        own = system.env.get(self.place["folder_env"], "") if self.place["folder_env"] else ""
        if own.startswith("/"):
            return Path(own)
        name = str(self.place["folder"]).removeprefix("~/")
        config = system.env.get("XDG_CONFIG_HOME", "")
        if name.startswith(".config/") and config.startswith("/"):
            return Path(config, name.removeprefix(".config/"))
        return system.home / name

    def path(self, system: System) -> Path:
        """Return the file that holds the hooks."""
        return self.folder(system) / str(self.place["file"])


def packaged() -> dict[str, Target]:
    """Return every packaged agent with hooks, or with a reason why it has none."""
    return {name: Target(name, place) for name, place in tables.PLACES.items()}


def command(system: System) -> Path:
    """Return the path of the `tally` that hooks run; raise `TallyError` without one."""
    place = install_paths.layout(system)
    if os.access(place.launcher, os.X_OK):
        return place.launcher
    found = system.which("tally")
    if found is None:
        raise TallyError("hooks need the `tally` command: run `tally setup` first")
    return found.absolute()


def command_line(program: Path, agent: str, event: str) -> str:
    """
    Return the command line for an agent, which may pass it to any shell or run it without one.

    A missing program or Python is no error and prints nothing: the agent must not notice. Some shells (fish) would
    complain themselves, so `sh` runs it.
    """
    inner = f"{shlex.quote(str(program))} hook {agent} {event} 2>/dev/null || true"
    return f"/bin/sh -c {shlex.quote(inner)}"


def commands(system: System, target: Target) -> dict[str, str]:
    """Return the command for each event."""
    program = command(system)
    problem = managed_block.path_problem(str(program))
    if problem:
        raise TallyError(f"{system.short(program)} cannot be written into a settings file: {problem}")
    return {event: command_line(program, target.agent, event) for event in target.place["events"]}


def plugin_text(system: System, target: Target) -> str:
    """Return the plugin of an agent, which runs the `tally` of this installation."""
    program = str(command(system))
    found = resources.files("tallylight.parts.agent_hooks").joinpath("plugins", "opencode.js").read_text("utf-8")
    escaped = program.replace("\\", "\\\\").replace('"', '\\"')
    return found.replace("@TALLY@", escaped).replace("@AGENT@", target.agent)


def is_present(system: System, target: Target) -> bool:
    """Return whether the agent's file has anything of ours; raise `TallyError` if it cannot be read."""
    before = user_file.read(target.path(system))
    return before is not None and bool(_present(target, before))


def _present(target: Target, data: bytes) -> dict[str, list[str]]:
    """Return our commands in *data*, the content of the agent's file, by event."""
    if target.form == "plugin":
        return {"": [managed_block.decode(data)]} if managed_block.decode(data).startswith(_PLUGIN) else {}
    if target.form == "tables":
        return toml_edit.ours(managed_block.decode(data))
    return json_edit.ours(managed_block.decode(data), target.agent, grouped=target.form == "groups")


def is_right(system: System, target: Target) -> bool:
    """Return whether all hooks are present, once, and run this installation."""
    before = user_file.read(target.path(system))
    if before is None:
        return False
    if target.form == "plugin":
        return managed_block.decode(before) == plugin_text(system, target)
    return _present(target, before) == {
        event: [command_line(command(system), target.agent, event)] for event in target.place["events"]
    }


def plan_install(system: System, target: Target) -> list[Edit]:
    """Return the edits that install or correct the hooks; none if they are right."""
    if not target.form:
        raise TallyError(f"{target.place['display']} cannot have hooks of Tallylight: {target.place['why']}")
    book = read_receipt(system)
    planned = []
    path = target.path(system)
    try:
        if not is_right(system, target):
            planned += _install_edits(system, target, path, book)
    except DataFileError:
        raise
    except TallyError as error:
        raise TallyError(f"{system.short(path)} was not changed: {error}") from None
    for name, text in target.place["beside"]:
        planned += _own_edits(target, target.folder(system) / name, text.lstrip("\n"), book)
    return planned


def read_receipt(system: System) -> Receipt:
    """Return the receipt: the files with our hooks, by agent."""
    return receipt.load(directories.state_dir(system.env), receipt.HOOKS)


def _install_edits(system: System, target: Target, path: Path, book: Receipt) -> list[Edit]:
    """Return the edits of the agent's file that bring it to our hooks: none if it has them."""
    if target.form == "plugin":
        return _own_edits(target, path, plugin_text(system, target), book)
    entry = book.find(path, target.agent)
    before = user_file.read(path)
    text = managed_block.decode(before or b"")
    pieces = entry.pieces if entry is not None else ()
    if target.form == "tables":
        bare = toml_edit.remove(text, pieces)
        after, piece = toml_edit.insert(bare, commands(system, target))
        pieces = (piece,)
    else:
        bare = json_edit.remove(text, target.agent, pieces, grouped=target.form == "groups")
        hooks = {event: json_edit.entry(target.place["entry"], c) for event, c in commands(system, target).items()}
        after, pieces = json_edit.insert(bare, hooks, grouped=target.form == "groups", version=target.place["new"])
    own = managed_block.encode(bare)
    backup = own if before is not None else None
    return [Edit(path, before, managed_block.encode(after), target.agent, pieces, own, backup)]


def _own_edits(target: Target, path: Path, text: str, book: Receipt) -> list[Edit]:
    """Return the edit of a file that is entirely ours. A foreign file with its name is not overwritten."""
    before, after = user_file.read(path), managed_block.encode(text)
    if book.find(path, target.agent) is not None:
        return [] if before == after else [Edit(path, before, after, target.agent)]
    if before not in (None, after) and not managed_block.decode(before or b"").startswith(_PLUGIN):
        raise TallyError(f"{path} exists and was not made by Tallylight")
    return [Edit(path, before, after, target.agent)]


def apply(system: System, edit: Edit) -> None:
    """Make a backup, enter the edit in the receipt, and write the file."""
    with explained(f"cannot change {system.short(edit.path)}", "; it was not changed"):
        user_file.change(edit, read_receipt(system), system.now())


def keep_table(system: System, target: Target) -> None:
    """Write the table of a user's own agent for `tally hook`, or remove an old one."""
    path = table_path(system, target.agent)
    with explained(f"cannot change {system.short(path)}"):
        if target.table is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        read_write.atomic_write(path, json.dumps(target.table).encode(), 0o600)


def table_path(system: System, agent: str) -> Path:
    """Return the path of the table of a user's own agent."""
    return directories.state_dir(system.env) / "hooks" / f"{agent}.json"
