"""
Finishing a worktree that we made: its commits go into the branch it came from, or stay on theirs, or go. Its directory
goes in each case. https://git-scm.com/docs/git-worktree

`inspect` asks git and changes nothing; a `Finish` has each command that would run, to be shown first; `carry_out` looks
again, and runs them only if all is still the same, until one fails. Nothing is ever forced:

* a worktree with changes that are not committed, or with something half done, is not finished; files that git ignores
  are counted, for they go with the directory;
* commits go into the other branch only where that needs no merge (`--ff-only`): a merge could run programs that a
  repository names, and may need a person. That branch must be checked out where it was, without changes;
* a branch whose commits are nowhere else is dropped only as `Way.DROP`, and the commands say which commit it was.

Ours is a worktree with our mark in its own part of the repository (`worktrees.make` writes it, git removes it).
"""

from __future__ import annotations

import enum
import os
import subprocess
from pathlib import Path

import attrs

from tallylight.actions import git, worktrees
from tallylight.actions.gate import Refusal
from tallylight.actions.worktrees import MAKE_S

#: Signatures are looked at by a program that settings name, and so may a difference be shown.
_FORWARD = ("merge", "--ff-only", "--no-edit", "--no-stat", "--no-verify-signatures", "--no-autostash")
#: git tidies up by itself after some commands.
_UNTIDY = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
_CHANGES = ("status", "--porcelain", "--untracked-files=all", "--ignore-submodules=dirty", "-z")


class Way(enum.StrEnum):
    """What becomes of the commits."""

    MERGE = "merge"
    KEEP = "keep"
    DROP = "drop"


@attrs.frozen(kw_only=True)
class Finish:
    """
    What would be done with the worktree at *path*, whose branch *branch* is at *commit*.

    *root* is where it came from, *into* the branch there. *commits* counts those that *into* has not, *ignored* the
    files that git ignores. *steps* are the commands of git, each without its guards, with the directory to run it in.
    """

    way: Way
    path: str
    root: str
    branch: str
    into: str
    commit: str
    commits: int
    ignored: int
    programs: git.Programs
    steps: tuple[tuple[str, ...], ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should read first."""
        notes = []
        if self.ignored:
            notes.append(f"{_counted(self.ignored, 'file')} that git ignores will be gone with the directory.")
        if self.way is Way.DROP and self.commits:
            back = f"git branch {self.branch} {self.commit}"
            notes.append(f"{_counted(self.commits, 'commit')} will be on no branch; `{back}` brings them back.")
        return tuple(notes)


def inspect(directory: str, way: Way) -> Finish | Refusal:
    """What finishing the worktree around *directory* in this *way* would do, or why it is not done."""
    path = git.top(directory)
    if path is None:
        return Refusal("worktree", f"{directory} is in no git worktree")
    mark = worktrees.mark_of(path)
    if mark is None:
        return Refusal("worktree", f"{path} is no worktree that tally made")
    root, into = mark.root, mark.branch
    if git.top(root) != root or _repository(root) != _repository(path) or root == path:
        return Refusal("worktree", f"{root}, from which it was made, is not there any more")
    branch = git.ask(path, "symbolic-ref", "--quiet", "--short", "HEAD")
    commit = git.ask(path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    programs = git.programs(root)
    if not branch or not commit:
        return Refusal("worktree", f"{path} is on no branch")
    if programs is None:
        return Refusal("worktree", f"cannot find out which programs the git settings of {root} run")
    if problem := _unfinished(path, programs):
        return problem
    ignored = git.ask(path, *_CHANGES, "--ignored=matching", options=programs.off())
    ahead = git.ask(root, "rev-list", "--count", f"refs/heads/{into}..{commit}") if into else None
    if ignored is None or (ahead is None and way is Way.MERGE):
        return Refusal("worktree", f"git does not say what is in {path}")
    if way is Way.MERGE and (problem := _no_way_in(root, into, commit, programs)):
        return problem
    remove = ("worktree", "remove", path)
    steps = {
        Way.MERGE: ((*_FORWARD, commit), remove, ("branch", "-d", "--", branch)),
        Way.KEEP: (remove,),
        Way.DROP: (remove, ("branch", "-D", "--", branch)),
    }[way]
    return Finish(
        way=way,
        path=path,
        root=root,
        branch=branch,
        into=into,
        commit=commit,
        commits=int(ahead) if ahead and ahead.isdigit() else 0,
        ignored=sum(line.startswith("!!") for line in ignored.split("\0")),
        programs=programs,
        steps=steps,
    )


def command(finish: Finish, step: tuple[str, ...]) -> list[str]:
    """One step as it would be typed, with all that keeps git from running what the repository names."""
    return ["git", *git.GUARDS, *_options(finish), "-C", finish.root, *step]


def carry_out(finish: Finish) -> Refusal | None:
    """Do it, if all is as it was shown; what went wrong, or nothing."""
    if inspect(finish.path, finish.way) != finish:
        return Refusal("changed", "something has changed since it was shown; nothing was done")
    for number, step in enumerate(finish.steps):
        try:
            done = git.run(finish.root, *step, options=_options(finish), seconds=MAKE_S)
        except (OSError, subprocess.SubprocessError) as error:
            return Refusal("git", f"git {step[0]}: {error}")
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            before = "nothing was done" if not number else f"what stands before it was done: git {finish.steps[0][0]}"
            return Refusal("git", f"git {step[0]}: {lines[-1] if lines else f'exit code {done.returncode}'}; {before}")
    return None


def _options(finish: Finish) -> tuple[str, ...]:
    return (*finish.programs.off(keeps_own=True), *_UNTIDY)


def _unfinished(path: str, programs: git.Programs) -> Refusal | None:
    """Whether anything in the work tree at *path* would be lost, or is half done."""
    if half_done := worktrees.half_done(path):
        return Refusal("worktree", f"{half_done} is not finished in {path}")
    changes = git.ask(path, *_CHANGES, options=programs.off())
    if changes is None:
        return Refusal("worktree", f"git does not say what has changed in {path}")
    count = len([line for line in changes.split("\0") if line])
    if count:
        return Refusal("uncommitted", f"{_counted(count, 'change')} in {path} not committed; commit or remove first")
    return None


def _no_way_in(root: str, into: str, commit: str, programs: git.Programs) -> Refusal | None:
    """Why *commit* cannot become the branch *into*, which must be checked out at *root*."""
    if not into or git.ask(root, "symbolic-ref", "--quiet", "--short", "HEAD") != into:
        return Refusal("merge", f"{into or 'the branch it came from'} is not checked out in {root}")
    if problem := _unfinished(root, programs):
        return problem
    if git.ask(root, "merge-base", "--is-ancestor", f"refs/heads/{into}", commit) is None:
        return Refusal("merge", f"{into} has gone on since: rebase or merge by hand, then finish")
    return None


def _repository(directory: str) -> str:
    """The directory that all worktrees of a repository share."""
    found = git.ask(directory, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return os.path.realpath(found) if found and Path(found).is_dir() else ""


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"
