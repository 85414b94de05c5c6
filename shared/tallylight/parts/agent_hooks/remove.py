"""
Taking hooks out of agents' own files: the plan, and doing it. Standard library only, as `parts.agent_hooks.install` is.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from tallylight.files import managed_block, read_write, user_file
from tallylight.files.receipt import Entry, checksum
from tallylight.files.system import System
from tallylight.files.user_file import Edit
from tallylight.model.errors import TallyError
from tallylight.parts.agent_hooks import json_edit, toml_edit
from tallylight.parts.agent_hooks.install import Target, is_present, packaged, read_receipt, table_path


def plan(system: System) -> tuple[list[Edit], list[TallyError]]:
    """Return what takes out all hooks that come with us, and the files that cannot be read."""
    return plan_removal(system, packaged())


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
        known = read_receipt(system).entries
    except TallyError as error:
        return [], [error]
    # Those that have hooks of ours by the receipt, and are not known any more, too.
    for name in dict.fromkeys(agents or [*targets, *(entry.agent for entry in known)]):
        # What lies in a directory of ours goes before it.
        entries = [entry for entry in reversed(known) if entry.agent == name]
        try:
            target = targets.get(name)
            planned += [_removal(system, target, name, entry.path, entry) for entry in entries]
            path = target.path(system) if target is not None and target.form else None
            if target is None or path is None or any(entry.path == path for entry in entries):
                continue
            with contextlib.suppress(TallyError):  # a file that cannot be read has nothing of ours that we know of
                if is_present(system, target):
                    planned.append(_removal(system, target, name, path, None))
        except TallyError as error:
            problems.append(error)
    return planned, problems


def _removal(system: System, target: Target | None, agent: str, path: Path, entry: Entry | None) -> Edit:
    """What becomes of one file; of one that is nothing without us, nothing."""
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
    """Take one file back, and its entry out of the receipt; return what to print."""
    book = read_receipt(system)
    name, entry = system.short(edit.path), edit.entry
    outcome = user_file.taken_back(system, edit, "hooks")
    try:
        theirs = edit.before or b""
        if edit.goes and entry is not None and not entry.pieces and checksum(theirs) != entry.written:
            # A person has changed what was ours as a whole: their version is kept.
            kept = book.backup_of(edit.path)
            kept.parent.mkdir(parents=True, exist_ok=True)
            read_write.atomic_write(kept, theirs, 0o600)
            outcome = f"{name} removed; it was edited after Tallylight wrote it, and that version is {kept}"
        user_file.take_back(edit)
        table_path(system, edit.agent).unlink(missing_ok=True)
        if entry is not None:
            book.without(edit.path, edit.agent).save()
    except OSError as error:
        raise TallyError(f"cannot change {name}: {error.strerror or error}") from None
    return outcome
