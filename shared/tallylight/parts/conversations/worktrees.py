"""
Makes a new git worktree for a fork, if that is possible. https://git-scm.com/docs/git-worktree

`inspect` asks git about a directory and changes nothing. `make` adds one worktree on one new branch beside the
repository, both named after it (`app-fork-1`, `main-fork-1`), and never removes or overwrites anything. git can be
slow, so neither belongs on a terminal's main thread. git runs no program that the repository names, see `git`. While
the worktree is made the user's own filters run, and the notes of a `Base` list them.

The directory must be in the work tree of a repository with a commit, and nothing may be unfinished (merge, rebase,
cherry-pick, revert, bisect, conflicts). Uncommitted changes are no obstacle; they stay behind, and are counted.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import attrs

from tallylight.actions import git
from tallylight.actions.gate import Refusal
from tallylight.model.errors import TallyError

#: The most forks beside a repository.
MAX_FORKS = 999

_HALF_DONE = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_FORK = re.compile(r"-fork-\d{1,3}$")
_CONFLICTS = ("DD", "AU", "UD", "UA", "DU", "AA", "UU")


@attrs.frozen
class Base:
    """
    The basis of a new worktree: the *repository*, the *commit*, and the current state.

    *below* is the agent's directory below the root; *changed* counts the changes that would stay behind. *path* and
    *branch* are the names of the new worktree. *notes* list the filters that do or do not run on its files.
    """

    repository: git.Repository
    commit: str
    below: str
    changed: int
    path: Path
    branch: str
    notes: tuple[str, ...]

    @property
    def root(self) -> Path:
        """The work tree that it would be made from."""
        return Path(self.repository.top)

    @property
    def cwd(self) -> str:
        """The directory in which the fork would run."""
        return str(self.path / self.below) if self.below else str(self.path)


def inspect(directory: str) -> Base | Refusal:
    """Return the basis of a worktree for a fork that runs in *directory*, or why there can be none."""
    if not git.is_installed():
        return Refusal("worktree", "git was not found")
    found = git.find(directory)
    if found is None:
        return Refusal("worktree", f"{directory} is not in a git repository")
    top = found.top
    commit = found.commit()
    if not commit:
        return Refusal("worktree", "the repository has no commit yet")
    changes = changes_in(found, "--untracked-files=normal")
    if isinstance(changes, Refusal):
        return changes
    if any(line[:2] in _CONFLICTS for line in changes):
        return Refusal("worktree", f"there are conflicts in {top}")
    root, branch = Path(top), found.branch() or "detached"
    place, name = _FORK.sub("", root.name), slug(_FORK.sub("", branch))
    for number in range(1, MAX_FORKS + 1):
        path, new = root.parent / f"{place}-fork-{number}", f"{name}-fork-{number}"
        if not found.commit(f"refs/heads/{new}") and not os.path.lexists(path):
            below = os.path.relpath(os.path.realpath(directory), top)
            below = "" if below == "." else below
            return Base(found, commit, below, len(changes), path, new, tuple(_notes(found)))
    return Refusal("worktree", f"there are already {MAX_FORKS} forks beside {top}")


def changes_in(repository: git.Repository, *options: str) -> list[str] | Refusal:
    """Return the lines of `git status` for a work tree; refuse if something is unfinished there."""
    folder = repository.place.folder
    if unfinished := next((what for name, what in _HALF_DONE.items() if Path(folder, name).exists()), ""):
        return Refusal("worktree", f"{unfinished} is not finished in {repository.top}")
    status = repository.ask("status", "--porcelain", "--ignore-submodules=dirty", "-z", *options)
    if status is None:
        return Refusal("worktree", f"git cannot list the changes in {repository.top}")
    return [line for line in status.split("\0") if line]


def named(base: Base, name: str, path: Path | None = None) -> Base | Refusal:
    """Return *base* with the branch *name*, at *path*, else beside the repository; refuse if one of them exists."""
    if name != slug(name):
        return Refusal("worktree", "a name has letters, digits, dots, dashes and underscores, at most 60 of them")
    if base.repository.commit(f"refs/heads/{name}"):
        return Refusal("worktree", f"there is a branch {name} in {base.root} already")
    path = path or base.root.parent / f"{_FORK.sub('', base.root.name)}-{name}"
    if os.path.lexists(path):
        return Refusal("worktree", f"{path} is there already")
    return attrs.evolve(base, path=path, branch=name)


def command(base: Base) -> list[str]:
    """Return a command that makes the worktree: `git worktree` itself would run programs that the repository names."""
    return ["tally", "worktree", str(base.path), "--branch", base.branch, "--of", str(base.root)]


def make(base: Base) -> str | Refusal:
    """Make the worktree of *base* and return the directory to work in."""
    shared = Path(base.repository.place.common, "worktrees")
    try:
        shared.mkdir(exist_ok=True)
        base.repository.change("worktree", "add", "-b", base.branch, str(base.path), base.commit)
        own = Path(base.path, ".git")
        # git names the given directory or the one it links to, depending on its version.
        folder = shared / Path(git.text(own)).name
        own.write_text(f"gitdir: {folder}\n", "utf-8", "surrogateescape")
        # Only since git 2.36 does a worktree get the same part of the files.
        if base.repository.sparse and Path(folder, "info/sparse-checkout").is_file():
            Path(folder, "config.worktree").write_text(base.repository.sparse, "utf-8")
    except (OSError, TallyError, subprocess.SubprocessError) as error:
        return Refusal("worktree", f"git worktree: {error}")
    # A directory that is not in the commit is not in the worktree either.
    return base.cwd if Path(base.cwd).is_dir() else str(base.path)


def slug(branch: str) -> str:
    """Return a name for a new branch, without characters that are special to git or a shell."""
    return re.sub(r"\.{2,}", ".", _UNSAFE.sub("-", branch))[:60].strip("-.").removesuffix(".lock") or "detached"


def _notes(repository: git.Repository) -> Iterator[str]:
    """Yield notes on the filters that files of the repository request."""
    own, off = repository.filters()
    texts = dict.fromkeys(own, "git runs your own filter {} on files of the new worktree.")
    texts |= dict.fromkeys(
        off, "The repository's own filter {} is off: its files are in the new worktree as they are stored."
    )
    # If git does not answer, assume the worse.
    yield from (
        text.format(name) for name, text in texts.items() if repository.ask("ls-files", f":(attr:filter={name})") != ""
    )
