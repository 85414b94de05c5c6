"""
The repository around a directory: its branch, read from files; and its changes, from git.

`head_of` opens two small files and starts nothing. `changes_of` runs git by the rules of `actions.git`, so that no
program of the repository runs; its time and its output are limited. Both block.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import attrs

from tallylight.actions import git
from tallylight.files.program import StuckError
from tallylight.model.repository_status import Changes, RepositoryStatus

#: Seconds that git has for all queries of one repository.
GIT_S = 2.0

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = re.compile(r"ref: refs/heads/(\S.*)")
#: git writes it in HEAD if its references are in tables and not in files: only git knows the branch.
_IN_TABLES = ".invalid"
_STATUS = (
    "status", "--porcelain=v2", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames",
    "-z",
)  # fmt: skip
_DIFF = ("diff-index", "--shortstat", "--no-renames", "--ignore-submodules=all", "HEAD", "--")
_SHORT = re.compile(r"(?:, (\d+) insertions?\(\+\))?(?:, (\d+) deletions?\(-\))?")


def head_of(directory: str, home: str) -> tuple[str, RepositoryStatus] | None:
    """
    Return the work tree around the absolute *directory*, and its checked-out branch; None outside of a repository.

    The branch is empty if the files do not name it. A repository around *home* does not count for folders below. Raise
    `OSError` and `TallyError` for unreadable files.
    """
    place = git.place_of(directory, home)
    if place is None:
        return None
    content = git.text(Path(place.folder, "HEAD"), "replace")
    head = RepositoryStatus(worktree=place.worktree)
    if found := _BRANCH.fullmatch(content):
        head = attrs.evolve(head, branch="" if found[1] == _IN_TABLES else found[1])
    elif _COMMIT.fullmatch(content):
        head = attrs.evolve(head, branch=content[:7], is_detached=True)
    return place.top, head


def changes_of(top: str, seconds: float = GIT_S) -> tuple[str, Changes] | None:
    """
    Return the branch of the work tree *top*, "" if it is on none, and its changes; None if git fails.

    Raise `StuckError` after *seconds*, or if git writes too much: leave this repository alone for a while.
    """
    end = time.monotonic() + seconds
    found = git.find(top, seconds)
    is_found = found is not None and found.top == os.path.realpath(top)
    status = found.run_bounded(*_STATUS, seconds=git.seconds_left(end)) if found is not None and is_found else None
    if found is None or status is None:
        if time.monotonic() >= end:
            raise StuckError(top)
        return None
    branch, changes = _of_status(status)
    if any(entry[:2] in ("1 ", "2 ", "u ") for entry in status.split("\0")):
        # Without a commit there is nothing to compare with.
        changes = with_lines(changes, found.run_bounded(*_DIFF, seconds=git.seconds_left(end)) or "")
    return branch, changes


def _of_status(status: str) -> tuple[str, Changes]:
    """Return the branch and the counts, from the porcelain format, version 2. https://git-scm.com/docs/git-status"""
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


def with_lines(changes: Changes, diff: str) -> Changes:
    """Return *changes* with the lines of *diff*: ` 3 files changed, 12 insertions(+), 3 deletions(-)`."""
    found = _SHORT.fullmatch(diff.strip().partition(" changed")[2])
    added, removed = found.groups("0") if found is not None else ("0", "0")
    return attrs.evolve(changes, added=int(added[:9]), removed=int(removed[:9]))
