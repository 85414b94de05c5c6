"""
A fresh git worktree for a fork: whether one can be made, and making it. https://git-scm.com/docs/git-worktree

`inspect` asks git about a directory and changes nothing; `make` adds one worktree on one new branch beside the
repository, both named for it (`app-fork-1`, `main-fork-1`), and never removes or overwrites anything. git runs hooks
and can be slow, so neither belongs on a terminal's main thread.

Clean enough is: in the work tree of a repository with a commit, and nothing half done (merge, rebase, cherry-pick,
revert, bisect, conflicts). Changes that are not committed are no obstacle; they stay behind, and are counted.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import attrs

from tallylight.actions.gate import Refusal

#: Seconds for a question to git, and for making a worktree of a large repository.
ASK_S = 10.0
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
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_FORK = re.compile(r"-fork-\d{1,3}$")
_CONFLICTS = ("DD", "AU", "UD", "UA", "DU", "AA", "UU")


@attrs.frozen
class Base:
    """
    What a worktree would be made of: the repository's *root*, the *commit*, and what is there now.

    *below* is the agent's directory below the root; *changed* counts the changes that would stay behind. *path* and
    *branch* are the names the new worktree would have.
    """

    root: Path
    commit: str
    below: str
    changed: int
    path: Path
    branch: str

    @property
    def cwd(self) -> str:
        """Where the fork would run."""
        return str(self.path / self.below) if self.below else str(self.path)


def inspect(directory: str) -> Base | Refusal:
    """Say what a worktree for a fork that runs in *directory* would be, or why there can be none."""
    git = shutil.which("git")
    if git is None:
        return Refusal("worktree", "git was not found")
    top = _git(git, directory, "rev-parse", "--show-toplevel")
    if top is None:
        return Refusal("worktree", f"{directory} is in no git repository")
    root = Path(top)
    commit = _git(git, top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if not commit:
        return Refusal("worktree", "the repository has no commit yet")
    folder = _git(git, top, "rev-parse", "--absolute-git-dir")
    half_done = next((what for name, what in _HALF_DONE.items() if folder and Path(folder, name).exists()), "")
    if half_done:
        return Refusal("worktree", f"{half_done} is not finished in {top}")
    status = _git(git, top, "status", "--porcelain", "--untracked-files=normal", "-z")
    if status is None:
        return Refusal("worktree", f"git does not say what has changed in {top}")
    lines = [line for line in status.split("\0") if line]
    if any(line[:2] in _CONFLICTS for line in lines):
        return Refusal("worktree", f"there are conflicts in {top}")
    branch = _git(git, top, "symbolic-ref", "--quiet", "--short", "HEAD") or "detached"
    place, name = _FORK.sub("", root.name), _slug(_FORK.sub("", branch))
    for number in range(1, MAX_FORKS + 1):
        path, new = root.parent / f"{place}-fork-{number}", f"{name}-fork-{number}"
        taken = _git(git, top, "rev-parse", "--verify", "--quiet", f"refs/heads/{new}")
        if not taken and not os.path.lexists(path):
            below = os.path.relpath(os.path.realpath(directory), os.path.realpath(top))
            return Base(root, commit, "" if below == "." else below, len(lines), path, new)
    return Refusal("worktree", f"there are {MAX_FORKS} forks beside {top} already")


def command(base: Base) -> list[str]:
    """What makes the worktree, as it would be typed."""
    return ["git", "-C", str(base.root), "worktree", "add", "-b", base.branch, str(base.path), base.commit]


def make(base: Base) -> str | Refusal:
    """Make the worktree of *base* and return the directory to work in."""
    git = shutil.which("git")
    if git is None:
        return Refusal("worktree", "git was not found")
    try:
        done = _run(git, str(base.root), MAKE_S, *command(base)[3:])
    except (OSError, subprocess.SubprocessError) as error:
        return Refusal("worktree", f"git worktree: {error}")
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return Refusal("worktree", f"git worktree: {lines[-1] if lines else f'exit code {done.returncode}'}")
    # A directory that is not in the commit is not in the worktree either.
    return base.cwd if Path(base.cwd).is_dir() else str(base.path)


def _slug(branch: str) -> str:
    """A name for a new branch: nothing of the old one that git or a shell reads as something else."""
    return re.sub(r"\.{2,}", ".", _UNSAFE.sub("-", branch))[:60].strip("-.").removesuffix(".lock") or "detached"


def _git(git: str, directory: str, *words: str) -> str | None:
    """What git answers, without the line's end; None if it fails."""
    try:
        done = _run(git, directory, ASK_S, *words)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.removesuffix("\n") if done.returncode == 0 else None


def _run(git: str, directory: str, seconds: float, *words: str) -> subprocess.CompletedProcess[str]:
    # The surroundings may name another repository; and nobody is there to type a password.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    return subprocess.run(
        [git, "-C", directory, *words],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=seconds,
        check=False,
    )
