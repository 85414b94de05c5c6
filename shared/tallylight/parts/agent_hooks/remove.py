"""Removes hooks from agents' own files: plans the edits, and makes them. Standard library only, as in `install`."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from tallylight.files import managed_block, read_write, user_file
from tallylight.files.read_write import explained
from tallylight.files.receipt import Entry, checksum
from tallylight.files.system import System
from tallylight.files.user_file import Edit
from tallylight.model.errors import TallyError
from tallylight.parts.agent_hooks import json_edit, toml_edit
from tallylight.parts.agent_hooks.install import Target, is_present, packaged, read_receipt, table_path


def plan(system: System) -> tuple[list[Edit], list[TallyError]]:
    """Return the edits that remove all hooks of packaged agents, and problems with unreadable files."""
    return plan_removal(system, packaged())


def plan_removal(
    system: System, targets: Mapping[str, Target], agents: Sequence[str] = ()
) -> tuple[list[Edit], list[TallyError]]:
    """
    Return the edits that remove our hooks from *agents*, or from all, and problems.

    One agent's bad file affects that agent only.
    """
    planned: list[Edit] = []
    problems: list[TallyError] = []
    try:
        known = read_receipt(system).entries
    except TallyError as error:
        return [], [error]
    # Also agents with our hooks in the receipt that are not known any more.
    for name in dict.fromkeys(agents or [*targets, *(entry.agent for entry in known)]):
        # Files in a directory of ours come before it.
        entries = [entry for entry in reversed(known) if entry.agent == name]
        try:
            target = targets.get(name)
            planned += [_removal(system, target, name, entry.path, entry) for entry in entries]
            path = target.path(system) if target is not None and target.form else None
            if target is None or path is None or any(entry.path == path for entry in entries):
                continue
            with contextlib.suppress(TallyError):  # an unreadable file has nothing of ours that we know of
                if is_present(system, target):
                    planned.append(_removal(system, target, name, path, None))
        except TallyError as error:
            problems.append(error)
    return planned, problems


def _removal(system: System, target: Target | None, agent: str, path: Path, entry: Entry | None) -> Edit:
    """Return the edit of one file; it deletes a file that would be empty without us."""
    before = user_file.read(path)
    gone = Edit(path, before, None, agent, entry=entry)
    pieces = entry.pieces if entry is not None else ()
    if target is not None:
        form = target.form
    elif path.suffix == ".toml":
        form = "tables"
    else:
        form = "groups" if '"hooks": [' in "".join(pieces) else "list"
    if before is None or form == "plugin" or (entry is not None and not pieces):
        return gone
    text = managed_block.decode(before)
    if form == "tables":
        bare = toml_edit.remove(text, pieces)
        is_empty = not bare.strip()
    else:
        try:
            bare = json_edit.remove(text, agent, pieces, grouped=form == "groups")
            is_empty = json_edit.holds(bare) in ({}, {"version": 1})
        except TallyError as error:
            raise TallyError(f"{system.short(path)} was not changed: {error}") from None
    if entry is not None and entry.created and is_empty:
        return gone
    return dataclasses.replace(gone, after=managed_block.encode(bare))


def undo(system: System, edit: Edit) -> str:
    """Revert one file, and remove its entry from the receipt; return the line to print."""
    book = read_receipt(system)
    name, entry = system.short(edit.path), edit.entry
    outcome = user_file.taken_back(system, edit, "hooks")
    with explained(f"cannot change {name}"):
        theirs = edit.before or b""
        if edit.goes and entry is not None and not entry.pieces and checksum(theirs) != entry.written:
            # A person has changed a file that was entirely ours: their version is kept.
            kept = book.backup_of(edit.path)
            kept.parent.mkdir(parents=True, exist_ok=True)
            read_write.atomic_write(kept, theirs, 0o600)
            outcome = f"{name} removed; it was edited after Tallylight wrote it, and that version is {kept}"
        user_file.take_back(edit)
        table_path(system, edit.agent).unlink(missing_ok=True)
        if entry is not None:
            book.without(edit.path, edit.agent).save()
    return outcome
