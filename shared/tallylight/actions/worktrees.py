"""
A fresh git worktree for a fork: whether one can be made, and making it. https://git-scm.com/docs/git-worktree

`inspect` asks git about a directory and changes nothing; `make` adds one worktree on one new branch beside the
repository, both named for it (`app-fork-1`, `main-fork-1`), and never removes or overwrites anything. git can be slow,
so neither belongs on a terminal's main thread. While git is asked no filter and no hook runs, see `git`; when the
worktree is made the user's own filters run, and the notes of a `Base` say so.

Clean enough is: in the work tree of a repository with a commit, and nothing half done (merge, rebase, cherry-pick,
revert, bisect, conflicts). Changes that are not committed are no obstacle; they stay behind, and are counted.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import attrs

from tallylight.actions import git
from tallylight.actions.gate import Refusal
from tallylight.files import read_write
from tallylight.model.errors import TallyError
from tallylight.wire import values

#: Seconds for making a worktree of a large repository.
MAKE_S = 300.0
#: How many forks may lie beside a repository.
MAX_FORKS = 999

_HALF_DONE = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}
#: The file with a worktree's `Mark`, and the most bytes that it has.
_MARK, _MAX_MARK = "tallylight.json", 16 * 1024
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_FORK = re.compile(r"-fork-\d{1,3}$")
_STATUS = ("status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty", "-z")
_CONFLICTS = ("DD", "AU", "UD", "UA", "DU", "AA", "UU")


@attrs.frozen
class Base:
    """
    What a worktree would be made of: the repository's *root*, the *commit*, and what is there now.

    *below* is the agent's directory below the root; *changed* counts the changes that would stay behind. *path* and
    *branch* are the names the new worktree would have. *programs* are what git's settings name; *notes* say what of
    that runs, or does not, on files that are there.
    """

    root: Path
    commit: str
    below: str
    changed: int
    path: Path
    branch: str
    programs: git.Programs
    notes: tuple[str, ...]

    @property
    def cwd(self) -> str:
        """Where the fork would run."""
        return str(self.path / self.below) if self.below else str(self.path)


def inspect(directory: str) -> Base | Refusal:
    """Say what a worktree for a fork that runs in *directory* would be, or why there can be none."""
    if git.ask("/", "--version") is None:
        return Refusal("worktree", "git was not found")
    top = git.top(directory)
    if top is None:
        return Refusal("worktree", f"{directory} is not in a git repository")
    root = Path(top)
    commit = git.ask(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if not commit:
        return Refusal("worktree", "the repository has no commit yet")
    if unfinished := half_done(top):
        return Refusal("worktree", f"{unfinished} is not finished in {top}")
    programs = git.programs(top)
    if programs is None:
        return Refusal("worktree", f"cannot find out which programs the git settings of {top} run")
    status = git.ask(top, *_STATUS, options=programs.off())
    if status is None:
        return Refusal("worktree", f"git does not say what has changed in {top}")
    lines = [line for line in status.split("\0") if line]
    if any(line[:2] in _CONFLICTS for line in lines):
        return Refusal("worktree", f"there are conflicts in {top}")
    branch = git.ask(top, "symbolic-ref", "--quiet", "--short", "HEAD") or "detached"
    place, name = _FORK.sub("", root.name), _slug(_FORK.sub("", branch))
    for number in range(1, MAX_FORKS + 1):
        path, new = root.parent / f"{place}-fork-{number}", f"{name}-fork-{number}"
        taken = git.ask(top, "rev-parse", "--verify", "--quiet", f"refs/heads/{new}")
        if not taken and not os.path.lexists(path):
            below = os.path.relpath(os.path.realpath(directory), os.path.realpath(top))
            below = "" if below == "." else below
            return Base(root, commit, below, len(lines), path, new, programs, tuple(_notes(top, programs)))
    return Refusal("worktree", f"there are already {MAX_FORKS} forks beside {top}")


def named(base: Base, name: str) -> Base | Refusal:
    """*base* with the branch *name*, and a directory of that name beside the repository's; refused if one is there."""
    if name != _slug(name):
        return Refusal("worktree", "a name has letters, digits, dots, dashes and underscores, at most 60 of them")
    root = str(base.root)
    if git.ask(root, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}"):
        return Refusal("worktree", f"there is a branch {name} in {root} already")
    path = base.root.parent / f"{_FORK.sub('', base.root.name)}-{name}"
    if os.path.lexists(path):
        return Refusal("worktree", f"{path} is there already")
    return attrs.evolve(base, path=path, branch=name)


def command(base: Base) -> list[str]:
    """What makes the worktree, as it would be typed: with all that keeps git from running what the repository names."""
    off = base.programs.off(keeps_own=True)
    return ["git", *git.GUARDS, *off, "-C", str(base.root), *_add(base)]


def make(base: Base) -> str | Refusal:
    """Make the worktree of *base* and return the directory to work in."""
    root = str(base.root)
    if git.programs(root) != base.programs:
        return Refusal("worktree", f"the settings of git changed in {root}")
    try:
        done = git.run(root, *_add(base), options=base.programs.off(keeps_own=True), seconds=MAKE_S)
    except (OSError, subprocess.SubprocessError) as error:
        return Refusal("worktree", f"git worktree: {error}")
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return Refusal("worktree", f"git worktree: {lines[-1] if lines else f'exit code {done.returncode}'}")
    _put_mark(base)
    # A directory that is not in the commit is not in the worktree either.
    return base.cwd if Path(base.cwd).is_dir() else str(base.path)


def half_done(directory: str) -> str:
    """What is not finished in the work tree at *directory*: `a merge`; nothing if nothing is."""
    folder = git.ask(directory, "rev-parse", "--absolute-git-dir")
    return next((what for name, what in _HALF_DONE.items() if folder and Path(folder, name).exists()), "")


@attrs.frozen
class Mark:
    """Where a worktree of ours came from: the work tree *root*, and the *branch* there; nothing for none."""

    root: str
    branch: str


def mark_of(directory: str) -> Mark | None:
    """The mark of the worktree at *directory*; None if we did not make it."""
    folder = git.ask(directory, "rev-parse", "--absolute-git-dir")
    return read_mark(Path(folder, _MARK)) if folder else None


def read_mark(path: Path) -> Mark | None:
    """The mark in the file *path*; None if it is none."""
    try:
        found = values.load(read_write.read_limited(path, _MAX_MARK))
    except (OSError, TallyError):
        return None
    if not isinstance(found, dict):
        return None
    root, branch = values.exact(found.get("root"), _MAX_MARK), values.exact(found.get("branch"), _MAX_MARK)
    return Mark(root, branch) if root and root.startswith("/") and branch is not None else None


def _put_mark(base: Base) -> None:
    """Note in the worktree's own part of the repository that it is ours; git removes that with the worktree."""
    folder = git.ask(str(base.path), "rev-parse", "--absolute-git-dir")
    branch = git.ask(str(base.root), "symbolic-ref", "--quiet", "--short", "HEAD") or ""
    if folder:
        # Without it the worktree is one that only the person finishes.
        with contextlib.suppress(OSError):
            read_write.atomic_write(
                Path(folder, _MARK), json.dumps({"root": str(base.root), "branch": branch}).encode()
            )


def _slug(branch: str) -> str:
    """A name for a new branch: nothing of the old one that git or a shell reads as something else."""
    return re.sub(r"\.{2,}", ".", _UNSAFE.sub("-", branch))[:60].strip("-.").removesuffix(".lock") or "detached"


def _add(base: Base) -> list[str]:
    return ["worktree", "add", "-b", base.branch, str(base.path), base.commit]


def _notes(top: str, programs: git.Programs) -> Iterator[str]:
    """What a person should know of the filters that files of the repository ask for."""
    for names, text in (
        (programs.own, "git runs your own filter {} on files of the new worktree."),
        (
            programs.foreign,
            "The repository's own filter {} is off: its files are in the new worktree as they are stored.",
        ),
    ):
        # What git does not tell, it may do.
        yield from (text.format(name) for name in names if git.ask(top, "ls-files", f":(attr:filter={name})") != "")
