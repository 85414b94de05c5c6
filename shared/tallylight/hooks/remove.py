"""
Taking hooks out of agents' own files: the plan, and doing it. Standard library only, as `hooks` is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tallylight.files import directories, managed_block, read_write, user_file
from tallylight.files.receipt import checksum
from tallylight.files.system import System
from tallylight.hooks import json_edit, receipt, toml_edit
from tallylight.hooks.install import Edit, Target, is_present, table_path
from tallylight.model.errors import TallyError


def _removal_of(system: System, targets: Mapping[str, Target], agent: str) -> list[Edit]:
    """What is in the receipt, and what is found without it."""
    book = receipt.load(directories.state_dir(system.env))
    target = targets.get(agent)
    # What lies in a directory of ours goes before it.
    entries = [entry for entry in reversed(book.entries) if entry.agent == agent]
    planned = [_remove_edit(system, target, agent, entry.path, entry) for entry in entries]
    if target is not None and target.form:
        path = target.path(system)
        if not any(entry.path == path for entry in entries):
            with contextlib.suppress(TallyError):  # a file that cannot be read has nothing of ours that we know of
                if is_present(system, target):
                    planned.append(_remove_edit(system, target, agent, path, None))
    return planned


def plan_removal(
    system: System, targets: Mapping[str, Target], agents: Sequence[str] = ()
) -> tuple[list[Edit], list[TallyError]]:
    """
    The edits that take our hooks out of *agents*, or of all, and why some cannot be.

    One agent's bad file costs that agent alone.
    """
    planned: list[Edit] = []
    problems: list[TallyError] = []
    try:
        known = receipt.load(directories.state_dir(system.env)).entries
    except TallyError as error:
        return [], [error]
    # Those that have hooks of ours by the receipt, and are not known any more, too.
    for name in dict.fromkeys(agents or [*targets, *(entry.agent for entry in known)]):
        try:
            planned += _removal_of(system, targets, name)
        except TallyError as error:
            problems.append(error)
    return planned, problems


def _remove_edit(system: System, target: Target | None, agent: str, path: Path, entry: receipt.Entry | None) -> Edit:
    before = user_file.read(path)
    if before is None:
        return Edit(agent, path, None, None, entry=entry)
    is_own = entry is not None and not entry.pieces
    if is_own or (target is not None and target.form == "plugin"):
        return Edit(agent, path, before, None, entry=entry, is_edited=is_own and checksum(before) != _written(entry))
    text = managed_block.decode(before)
    if target.form == "tables" if target is not None else path.suffix == ".toml":
        plain = toml_edit.remove(text, entry.pieces if entry is not None else ())
        goes = entry is not None and entry.created and not plain.strip()
        return Edit(agent, path, before, None if goes else managed_block.encode(plain), entry=entry)
    grouped = target.grouped if target is not None else '"hooks": [' in "".join(entry.pieces if entry else ())
    try:
        bare = json_edit.remove(text, agent, entry.pieces if entry is not None else (), grouped=grouped)
        left = json_edit.holds(bare)
    except TallyError as error:
        raise TallyError(f"{system.short(path)} was not changed: {error}") from None
    goes = entry is not None and entry.created and left in ({}, {"version": 1})
    return Edit(agent, path, before, None if goes else managed_block.encode(bare), entry=entry)


def _written(entry: receipt.Entry | None) -> str:
    return entry.written if entry is not None else ""


def undo(system: System, edit: Edit) -> str:
    """Take one file back, and its entry out of the receipt; what to tell of it."""
    book = receipt.load(directories.state_dir(system.env))
    name, entry = system.short(edit.path), edit.entry
    told = f"{name} was already removed."
    try:
        if edit.before is not None and edit.after is None:
            told = f"{name} removed: Tallylight had made it."
            if edit.is_edited:
                kept = book.backup_of(edit.path)
                kept.parent.mkdir(parents=True, exist_ok=True)
                read_write.atomic_write(kept, edit.before, 0o600)
                told = f"{name} removed; it was edited after Tallylight wrote it, and that version is {kept}"
            Path(os.path.realpath(edit.path)).unlink()
            for folder in reversed(entry.made if entry is not None else ()):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
        elif edit.after is not None:
            read_write.rewrite(edit.path, edit.after)
            told = f"{name}: Tallylight's hooks were removed, everything else was kept."
            if entry is not None and checksum(edit.after) == entry.pristine:
                told = f"{name} is restored, byte for byte."
                if entry.backup:
                    Path(entry.backup).unlink(missing_ok=True)
            elif entry is not None and entry.backup:
                told += f" The file as it was before Tallylight: {entry.backup}"
        table_path(system, edit.agent).unlink(missing_ok=True)
        if entry is not None:
            book.without(edit.agent, edit.path).save()
    except OSError as error:
        raise TallyError(f"cannot change {name}: {error.strerror or error}") from None
    return told
