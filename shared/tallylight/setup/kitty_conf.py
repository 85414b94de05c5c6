"""
Wiring kitty: the plan of the one edit, doing it, and taking it back.

What is planned is shown before it is done, and what is done is in the receipt before it is done. Taking back
removes our block from the file as it is now, which gives the pristine bytes if nobody edited it since, and loses
nothing of theirs if somebody did.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from pathlib import Path

from tallylight.files import directories, install_paths, managed_block, read_write, receipt, user_file
from tallylight.files.system import System
from tallylight.model.errors import TallyError


@dataclasses.dataclass(frozen=True)
class Edit:
    """One file that is to change. *before* is None if there is no such file."""

    path: Path
    before: bytes | None
    after: bytes

    def diff(self, name: str) -> str:
        return managed_block.diff(name, managed_block.decode(self.before or b""), managed_block.decode(self.after))


def plan(system: System, conf: Path) -> Edit | None:
    """The edit that wires *conf*, or None if it is wired."""
    ours = install_paths.layout(system).kitty_conf
    problem = managed_block.path_problem(str(ours))
    if problem:
        raise TallyError(
            f"kitty cannot include {system.short(ours)}: {problem}; set XDG_DATA_HOME to another directory"
        )
    before = user_file.read(conf)
    text = managed_block.decode(before or b"")
    line = include_line(system, conf)
    # Wired by hand: a second include would make kitty show an error window.
    by_hand = managed_block.is_included(text, str(ours), str(system.home))
    after = managed_block.remove(text) if by_hand else managed_block.insert(text, line)
    return None if before is not None and after == text else Edit(conf, before, managed_block.encode(after))


def include_line(system: System, conf: Path) -> str:
    """The line for *conf*: one that holds in every home, if it lies in a repository, as dotfiles do."""
    ours = str(install_paths.layout(system).kitty_conf)
    there = Path(os.path.realpath(conf))
    if any(os.path.lexists(folder / ".git") for folder in there.parents):
        return managed_block.portable_include_line(ours, str(system.home))
    return managed_block.include_line(ours)


def is_writable(conf: Path) -> bool:
    """Whether `apply` could change *conf*, as far as its modes tell."""
    there = Path(os.path.realpath(conf))
    if there.exists():
        return os.access(there, os.W_OK) or (os.access(there.parent, os.W_OK) and there.stat().st_uid == os.geteuid())
    folder = next((folder for folder in there.parents if folder.exists()), Path("/"))
    return os.access(folder, os.W_OK)


def apply(system: System, edit: Edit) -> None:
    """Back up, enter into the receipt, write."""
    book = receipt.load(directories.state_dir(system.env))
    old = book.entries.get(edit.path)
    pristine = managed_block.encode(managed_block.remove(managed_block.decode(edit.before or b"")))

    def entered(backup: str, made: tuple[str, ...]) -> receipt.Receipt:
        return book.with_entry(
            receipt.Entry(
                path=edit.path,
                pristine=receipt.checksum(pristine),
                backup=old.backup if old is not None else backup,
                made=old.made if old is not None and old.made else made,
                at=system.now(),
            )
        )

    try:
        user_file.change(edit.path, edit.after, book, backup=edit.before if old is None else None, entered=entered)
    except OSError as error:
        raise TallyError(
            f"cannot change {system.short(edit.path)}: {error.strerror or error}; it was not changed. "
            f"If another program manages it, add this line there:\n  {include_line(system, edit.path)}"
        ) from None


@dataclasses.dataclass(frozen=True)
class Undone:
    """What taking back did, or would do, to one file."""

    path: Path
    before: bytes
    after: bytes
    #: The file was made by us and holds nothing else: it goes.
    goes: bool
    #: It is now to the byte what it was before us.
    is_pristine: bool
    entry: receipt.Entry | None


def plan_undo(system: System, conf: Path) -> list[Undone]:
    """What there is to take back: every file of the receipt, and *conf*, should the receipt be lost."""
    book = receipt.load(directories.state_dir(system.env))
    found = []
    for path in dict.fromkeys([*book.entries, conf]):
        entry = book.entries.get(path)
        before = user_file.read(path)
        if before is None:
            if entry is not None:
                found.append(Undone(path, b"", b"", goes=False, is_pristine=False, entry=entry))
            continue
        after = managed_block.encode(managed_block.remove(managed_block.decode(before)))
        if entry is None and after == before:
            continue
        pristine = entry is not None and receipt.checksum(after) == entry.pristine
        goes = entry is not None and entry.created and not after
        found.append(Undone(path, before, after, goes=goes, is_pristine=pristine, entry=entry))
    return found


def undo(system: System, step: Undone) -> None:
    """Take one file back, and its entry out of the receipt."""
    try:
        if step.goes:
            Path(os.path.realpath(step.path)).unlink()
            for folder in reversed(step.entry.made if step.entry else ()):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()
        elif step.after != step.before:
            read_write.rewrite(step.path, step.after)
        if step.entry is not None:
            if step.entry.backup and step.is_pristine:
                Path(step.entry.backup).unlink(missing_ok=True)
            receipt.load(directories.state_dir(system.env)).without(step.path).save()
    except OSError as error:
        raise TallyError(
            f"cannot change {system.short(step.path)}: {error.strerror or error}; "
            f"take out the lines from {managed_block.BEGIN} to {managed_block.END} yourself"
        ) from None
