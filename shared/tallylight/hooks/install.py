"""
Hooks in an agent's own files: the plan of the edits, and doing them. `hooks_removal` takes them back.

What is planned is shown before it is done, and what is done is in the receipt (`hooks_book`) before it is done.
Standard library only: `tally setup --undo` comes here, too.
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

from tallylight.files import directories, install_paths, managed_block, read_write, user_file
from tallylight.files.receipt import checksum
from tallylight.files.system import System
from tallylight.hooks import json_edit, receipt, tables, toml_edit
from tallylight.model.errors import DataFileError, TallyError

#: The first words of a plugin of ours.
_PLUGIN = "// Written by `tally hooks install`"


@dataclasses.dataclass(frozen=True)
class Target:
    """One agent's hooks: where they go (a compact place), and for a user's own agent its compact table."""

    agent: str
    place: Mapping[str, Any]
    table: Mapping[str, Any] | None = None

    @property
    def form(self) -> str:
        return str(self.place["form"])

    @property
    def grouped(self) -> bool:
        return self.form == "groups"

    def folder(self, system: System) -> Path:
        """The agent's folder, where its own variable or XDG_CONFIG_HOME puts it."""
        own = system.env.get(self.place["folder_env"], "") if self.place["folder_env"] else ""
        if own.startswith("/"):
            return Path(own)
        name = str(self.place["folder"]).removeprefix("~/")
        config = system.env.get("XDG_CONFIG_HOME", "")
        if name.startswith(".config/") and config.startswith("/"):
            return Path(config, name.removeprefix(".config/"))
        return system.home / name

    def path(self, system: System) -> Path:
        """The file that holds the hooks."""
        return self.folder(system) / str(self.place["file"])


@dataclasses.dataclass(frozen=True)
class Edit:
    """One file that is to change. *before* and *after* are None where there is no such file."""

    agent: str
    path: Path
    before: bytes | None
    after: bytes | None
    #: What was put in; empty for a file that is ours as a whole, and for taking out.
    pieces: tuple[str, ...] = ()
    #: The file without anything of ours.
    pristine: bytes = b""
    entry: receipt.Entry | None = None
    #: A person changed a file that was ours as a whole; their version is kept beside the backups.
    is_edited: bool = False

    def diff(self, name: str) -> str:
        return managed_block.diff(
            name, managed_block.decode(self.before or b""), managed_block.decode(self.after or b"")
        )


def packaged() -> dict[str, Target]:
    """Every agent that comes with us and has hooks, or a reason why not."""
    return {name: Target(name, place) for name, place in tables.PLACES.items()}


def command(system: System) -> Path:
    """The `tally` that hooks are to run."""
    place = install_paths.layout(system)
    if os.access(place.launcher, os.X_OK):
        return place.launcher
    found = system.which("tally")
    if found is None:
        raise TallyError("hooks need the `tally` command: run `tally setup` first")
    return found.absolute()


def command_line(program: Path, agent: str, event: str) -> str:
    """
    What an agent hands to its shell, whichever that is, or runs without one.

    A program that is gone, or a Python that is, is no error and prints nothing: the agent must not see it. Some shells
    (fish) would complain of it themselves, so that it is left to `sh`.
    """
    inner = f"{shlex.quote(str(program))} hook {agent} {event} 2>/dev/null || true"
    return f"/bin/sh -c {shlex.quote(inner)}"


def commands(system: System, target: Target) -> dict[str, str]:
    """What is to be run at each event."""
    program = command(system)
    problem = managed_block.path_problem(str(program))
    if problem:
        raise TallyError(f"{system.short(program)} cannot be written into a settings file: {problem}")
    return {event: command_line(program, target.agent, event) for event in target.place["events"]}


def wanted(system: System, target: Target) -> dict[str, dict[str, Any]]:
    """The hook for each event."""
    return {event: json_edit.entry(target.place["entry"], line) for event, line in commands(system, target).items()}


def plugin_text(system: System, target: Target) -> str:
    """The plugin of an agent, which runs the `tally` of this installation."""
    program = str(command(system))
    found = resources.files("tallylight.hooks").joinpath("plugins", "opencode.js").read_text("utf-8")
    escaped = program.replace("\\", "\\\\").replace('"', '\\"')
    return found.replace("@TALLY@", escaped).replace("@AGENT@", target.agent)


def is_present(system: System, target: Target) -> bool:
    """Whether the agent's file has anything of ours. One that cannot be read is a `TallyError`."""
    before = user_file.read(target.path(system))
    return before is not None and bool(_present(target, before))


def _present(target: Target, data: bytes) -> dict[str, list[str]]:
    if target.form == "plugin":
        return {"": [managed_block.decode(data)]} if managed_block.decode(data).startswith(_PLUGIN) else {}
    if target.form == "tables":
        return toml_edit.ours(managed_block.decode(data))
    return json_edit.ours(managed_block.decode(data), target.agent, grouped=target.grouped)


def is_right(system: System, target: Target) -> bool:
    """Whether all hooks are there, once, and run this installation."""
    before = user_file.read(target.path(system))
    if before is None:
        return False
    if target.form == "plugin":
        return managed_block.decode(before) == plugin_text(system, target)
    return _present(target, before) == {
        event: [command_line(command(system), target.agent, event)] for event in target.place["events"]
    }


def plan_install(system: System, target: Target) -> list[Edit]:
    """The edits that put the hooks in, or right; none if there is nothing to do."""
    if not target.form:
        raise TallyError(f"{target.place['display']} cannot have hooks of Tallylight: {target.place['why']}")
    book = receipt.load(directories.state_dir(system.env))
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


def _install_edits(system: System, target: Target, path: Path, book: receipt.Book) -> list[Edit]:
    if target.form == "plugin":
        return _own_edits(target, path, plugin_text(system, target), book)
    entry = book.find(target.agent, path)
    before = user_file.read(path)
    text = managed_block.decode(before or b"")
    pieces = entry.pieces if entry is not None else ()
    if target.form == "tables":
        plain = toml_edit.remove(text, pieces)
        after, piece = toml_edit.insert(plain, commands(system, target))
        own = managed_block.encode(plain)
        return [Edit(target.agent, path, before, managed_block.encode(after), (piece,), own, entry)]
    bare = json_edit.remove(text, target.agent, pieces, grouped=target.grouped)
    done = json_edit.insert(bare, wanted(system, target), grouped=target.grouped, version=target.place["new"])
    return [
        Edit(
            target.agent, path, before, managed_block.encode(done.text), done.pieces, managed_block.encode(bare), entry
        )
    ]


def _own_edits(target: Target, path: Path, text: str, book: receipt.Book) -> list[Edit]:
    """A file that is ours as a whole. Somebody else's of that name is not overwritten."""
    entry = book.find(target.agent, path)
    before, after = user_file.read(path), managed_block.encode(text)
    if before == after and entry is not None:
        return []
    if (
        before is not None
        and entry is None
        and not managed_block.decode(before).startswith(_PLUGIN)
        and before != after
    ):
        raise TallyError(f"{path} exists and was not made by Tallylight")
    return [Edit(target.agent, path, before, after, (), b"", entry)]


def apply(system: System, edit: Edit) -> None:
    """Back up, enter into the receipt, write."""
    book = receipt.load(directories.state_dir(system.env))
    old = edit.entry
    is_among_others = old is None and edit.before is not None and bool(edit.pieces)

    def entered(backup: str, made: tuple[str, ...]) -> receipt.Book:
        return book.with_entry(
            receipt.Entry(
                agent=edit.agent,
                path=edit.path,
                backup=old.backup if old is not None else backup,
                made=old.made if old is not None and old.made else made,
                pieces=edit.pieces,
                written=checksum(edit.after or b""),
                pristine=checksum(edit.pristine),
                at=system.now(),
            )
        )

    try:
        user_file.change(
            edit.path, edit.after or b"", book, backup=edit.pristine if is_among_others else None, entered=entered
        )
    except OSError as error:
        raise TallyError(
            f"cannot change {system.short(edit.path)}: {error.strerror or error}; it was not changed"
        ) from None


def keep_table(system: System, target: Target) -> None:
    """Write the table of a user's own agent to where `tally hook` looks for it; take an old one away."""
    path = table_path(system, target.agent)
    try:
        if target.table is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        read_write.atomic_write(path, json.dumps(target.table).encode(), 0o600)
    except OSError as error:
        raise TallyError(f"cannot change {system.short(path)}: {error.strerror or error}") from None


def table_path(system: System, agent: str) -> Path:
    """Where `tally hook` looks for the table of a user's own agent."""
    return directories.state_dir(system.env) / "hooks" / f"{agent}.json"
