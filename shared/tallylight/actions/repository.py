"""
The repository around a directory: its branch, read from files; and what has changed in it, asked of git.

`head_of` opens two small files and starts nothing. `changes_of` runs git by the rules of `actions.git`, so that nothing
runs that the repository names; it is given little time, and what git would write is bounded. Both block.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import attrs

from tallylight.actions import git
from tallylight.files.program import StuckError
from tallylight.model.beside import Changes
from tallylight.model.errors import TallyError

#: Seconds that git has for all that it is asked of one repository.
PATIENCE_S = 2.0
#: Of what git writes, in bytes: a work tree with more changes than that is one that nobody looks at by their number.
MAX_OUTPUT = 1024 * 1024

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = re.compile(r"ref: refs/heads/(\S.*)")
#: What git writes in HEAD where its references are in tables and not in files: git knows the branch.
_IN_TABLES = ".invalid"
_STATUS = (
    "status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames",
    "-z",
)  # fmt: skip
_DIFF = ("diff-index", "--shortstat", "--no-renames", "--ignore-submodules=all", "HEAD", "--")
_SHORT = re.compile(r"(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?")


class SlowError(TallyError):
    """git did not answer in its time, or wrote more than it may: leave this repository alone for a while."""


@attrs.frozen
class Head:
    """
    The work tree *top*, and what is checked out in it: *branch*, or a short commit where *is_detached*.

    *branch* is empty where the files do not tell. *worktree* is what git calls it, if it is one that was linked.
    """

    top: str
    branch: str = ""
    is_detached: bool = False
    worktree: str = ""


def head_of(directory: str, home: str) -> Head | None:
    """
    What is checked out around the absolute *directory*; None if that is in no repository.

    One that holds all of *home* says nothing of what is below. `OSError` and `TallyError`: files that cannot be read.
    """
    place = git.place_of(directory, home)
    if place is None:
        return None
    said = git.text(Path(place.folder, "HEAD"), "replace")
    head = Head(place.top, worktree=place.worktree)
    if found := _BRANCH.fullmatch(said):
        return attrs.evolve(head, branch="" if found[1] == _IN_TABLES else found[1])
    return attrs.evolve(head, branch=said[:7], is_detached=True) if _COMMIT.fullmatch(said) else head


def changes_of(top: str, seconds: float = PATIENCE_S) -> tuple[str, Changes] | None:
    """
    The branch of the work tree *top*, "" if it is on none, and what has changed in it; None if git does not say.

    `SlowError` after *seconds*.
    """
    end = time.monotonic() + seconds
    found = _changes(top, end)
    if found is None and time.monotonic() >= end:
        raise SlowError(f"{top}: git did not answer within {seconds:g} s")
    return found


def _changes(top: str, end: float) -> tuple[str, Changes] | None:
    found = git.find(top, git.left(end))
    if found is None or found.top != os.path.realpath(top):
        return None
    try:
        status = found.bounded(*_STATUS, seconds=git.left(end), limit=MAX_OUTPUT)
        if status is None:
            return None
        branch, changes = _of_status(status)
        if not _has_changed(status):
            return branch, changes
        diff = found.bounded(*_DIFF, seconds=git.left(end), limit=MAX_OUTPUT)
    except StuckError:
        raise SlowError(f"{top}: git did not answer in its time") from None
    # Without a commit there is nothing to compare with.
    return branch, changes if diff is None else _with_lines(changes, diff)


def _of_status(status: str) -> tuple[str, Changes]:
    """The branch and the counts, of the porcelain format, version 2. https://git-scm.com/docs/git-status"""
    branch = ""
    ahead = behind = new = 0
    for entry in status.split("\0"):
        if entry.startswith("? "):
            new += 1
        elif entry.startswith("# branch.head "):
            branch = entry.removeprefix("# branch.head ")
        elif found := re.fullmatch(r"# branch\.ab \+(\d{1,9}) -(\d{1,9})", entry):
            ahead, behind = int(found[1]), int(found[2])
    return "" if branch == "(detached)" else branch, Changes(new=new, ahead=ahead, behind=behind)


def _has_changed(status: str) -> bool:
    return any(entry[:2] in ("1 ", "2 ", "u ") for entry in status.split("\0"))


def _with_lines(changes: Changes, diff: str) -> Changes:
    """` 3 files changed, 12 insertions(+), 3 deletions(-)`."""
    _, _, counts = diff.strip().partition(" changed")
    found = _SHORT.fullmatch(counts)
    if found is None:
        return changes
    return attrs.evolve(changes, added=int((found[1] or "0")[:9]), removed=int((found[2] or "0")[:9]))
