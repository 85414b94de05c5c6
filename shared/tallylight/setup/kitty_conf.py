"""
The include in kitty.conf: the plan of the one edit, making it, and taking it back.

A planned edit is shown before it is made, and is in the receipt before it is made. Taking back removes our block from
the present file. That restores the original bytes if nobody edited it since, and loses nothing if somebody did.
"""

from __future__ import annotations

import os
from pathlib import Path

from tallylight.files import directories, install_paths, managed_block, receipt, user_file
from tallylight.files.read_write import explained
from tallylight.files.system import System
from tallylight.files.user_file import Edit
from tallylight.model.errors import TallyError


def plan(system: System, conf: Path) -> Edit | None:
    """Return the edit that adds our include to *conf*, or None if it is there."""
    ours = install_paths.layout(system).kitty_conf
    problem = managed_block.path_problem(str(ours))
    if problem:
        raise TallyError(
            f"kitty cannot include {system.short(ours)}: {problem}; set XDG_DATA_HOME to another directory"
        )
    before = user_file.read(conf)
    text = managed_block.decode(before or b"")
    line = include_line(system, conf)
    # Included by hand: a second include would make kitty show an error window.
    by_hand = managed_block.is_included(text, str(ours), str(system.home))
    after = managed_block.remove(text) if by_hand else managed_block.insert(text, line)
    if before is not None and after == text:
        return None
    pristine = managed_block.encode(managed_block.remove(text))
    return Edit(conf, before, managed_block.encode(after), pristine=pristine, backup=before)


def include_line(system: System, conf: Path) -> str:
    """Return the line for *conf*; it works in every home if the file lies in a repository, as dotfiles do."""
    ours = str(install_paths.layout(system).kitty_conf)
    there = Path(os.path.realpath(conf))
    if any(os.path.lexists(folder / ".git") for folder in there.parents):
        return managed_block.portable_include_line(ours, str(system.home))
    return managed_block.include_line(ours)


def is_writable(conf: Path) -> bool:
    """Return whether `apply` could change *conf*, by its modes."""
    there = Path(os.path.realpath(conf))
    if there.exists():
        return os.access(there, os.W_OK) or (os.access(there.parent, os.W_OK) and there.stat().st_uid == os.geteuid())
    folder = next((folder for folder in there.parents if folder.exists()), Path("/"))
    return os.access(folder, os.W_OK)


def apply(system: System, edit: Edit) -> None:
    """Back the file up, add it to the receipt, and write it."""
    try:
        user_file.change(edit, receipt.load(directories.state_dir(system.env)), system.now())
    except OSError as error:
        raise TallyError(
            f"cannot change {system.short(edit.path)}: {error.strerror or error}; it was not changed. "
            f"If another program manages it, add this line there:\n  {include_line(system, edit.path)}"
        ) from None


def plan_undo(system: System, conf: Path) -> list[Edit]:
    """Return the edits to take back: every file of the receipt, and *conf*, should the receipt be lost."""
    book = receipt.load(directories.state_dir(system.env))
    found = []
    for path in dict.fromkeys([*(entry.path for entry in book.entries), conf]):
        entry = book.find(path)
        before = user_file.read(path)
        after = managed_block.encode(managed_block.remove(managed_block.decode(before or b"")))
        goes = before is None or (entry is not None and entry.created and not after)
        if entry is not None or (before is not None and after != before):
            found.append(Edit(path, before, None if goes else after, entry=entry))
    return found


def undo(system: System, edit: Edit) -> None:
    """Take one file back, and its entry out of the receipt."""
    with explained(
        f"cannot change {system.short(edit.path)}",
        f"; take out the lines from {managed_block.BEGIN} to {managed_block.END} yourself",
    ):
        user_file.take_back(edit)
        if edit.entry is not None:
            receipt.load(directories.state_dir(system.env)).without(edit.path).save()
