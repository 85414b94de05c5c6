"""
Finishing a worktree that we made: its commits go into the branch it came from, or stay on theirs, or go. Its directory
goes in each case. https://git-scm.com/docs/git-worktree

`inspect` asks git and changes nothing; a `Finish` has each command that would run, to be shown first; `carry_out` looks
again, and runs them only if all is still the same, until one fails. Nothing is ever forced:

* a worktree with changes that are not committed, or with something half done, is not finished; files that git ignores
  are counted, for they go with the directory;
* commits go into the other branch only where that needs no merge (`--ff-only`): a merge could run programs that a
  repository names, and may need a person. That branch must be checked out where it was, without changes;
* a branch with commits that are nowhere else is dropped only as `Way.DROP`, and the commands say which commit it was.

Ours is a worktree with our mark in its own part of the repository (`worktrees.make` writes it, git removes it).
"""

from __future__ import annotations

import enum
import subprocess

import attrs

from tallylight.actions import git, worktrees
from tallylight.actions.gate import Refusal
from tallylight.model.errors import TallyError
from tallylight.model.prose import counted

#: Signatures are looked at by a program that settings name, and so may a difference be shown.
_FORWARD = ("merge", "--ff-only", "--no-edit", "--no-stat", "--no-verify-signatures", "--no-autostash")


class Way(enum.StrEnum):
    """What becomes of the commits."""

    MERGE = "merge"
    KEEP = "keep"
    DROP = "drop"


@attrs.frozen(kw_only=True)
class Finish:
    """
    The plan for the worktree at *path*, with the branch *branch* at *commit*.

    *origin* is where it came from, *into* the branch there. *commits* counts those that *into* has not, *ignored* the
    files that git ignores. *steps* are the commands of git, to be run in *origin*.
    """

    way: Way
    path: str
    origin: git.Repository
    branch: str
    into: str
    commit: str
    commits: int
    ignored: int
    steps: tuple[tuple[str, ...], ...]

    @property
    def root(self) -> str:
        """The work tree that it came from."""
        return self.origin.top

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should read first."""
        notes = []
        if self.ignored:
            notes.append(f"{counted(self.ignored, 'file')} that git ignores will be removed with the directory.")
        if self.way is Way.DROP and self.commits:
            back = f"git branch {self.branch} {self.commit}"
            notes.append(f"{counted(self.commits, 'commit')} will be on no branch; `{back}` brings them back.")
        return tuple(notes)


def inspect(directory: str, way: Way) -> Finish | Refusal:
    """What finishing the worktree around *directory* in this *way* would do, or why it is not done."""
    found = git.find(directory)
    if found is None:
        return Refusal("worktree", f"{directory} is in no git worktree")
    path, made_from = found.top, worktrees.origin_of(found)
    if made_from is None:
        return Refusal("worktree", f"{path} is not a worktree that tally made")
    root, into = made_from
    origin = git.find(root)
    is_same = origin is not None and (origin.top, origin.place.common) == (root, found.place.common)
    if origin is None or not is_same or root == path:
        return Refusal("worktree", f"{root}, its original repository, is gone")
    branch, commit = found.branch(), found.commit()
    if not branch or not commit:
        return Refusal("worktree", f"{path} is on no branch")
    ignored = _ignored(found)
    if isinstance(ignored, Refusal):
        return ignored
    ahead = origin.ask("rev-list", "--count", f"refs/heads/{into}..{commit}")
    if ahead is None and way is Way.MERGE:
        return Refusal("worktree", f"git cannot list the changes in {path}")
    if way is Way.MERGE and (problem := _no_way_in(origin, into, commit)):
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
        origin=origin,
        branch=branch,
        into=into,
        commit=commit,
        commits=int(ahead or 0),
        ignored=ignored,
        steps=steps,
    )


def command(finish: Finish, step: tuple[str, ...]) -> list[str]:
    """One step, to be shown: `carry_out` runs it without what the settings of the repository name."""
    return ["git", "-C", finish.root, *step]


def carry_out(finish: Finish) -> Refusal | None:
    """Do it, if all is as it was shown; what went wrong, or nothing."""
    if inspect(finish.path, finish.way) != finish:
        return Refusal("changed", "something changed after you saw it; nothing was done")
    for number, step in enumerate(finish.steps):
        try:
            finish.origin.change(*step)
        except git.FailedError as error:
            before = "nothing was done" if not number else f"the step before it was done: git {finish.steps[0][0]}"
            return Refusal("git", f"git {step[0]}: {error}; {before}")
        except (OSError, TallyError, subprocess.SubprocessError) as error:
            return Refusal("git", f"git {step[0]}: {error}")
    if finish.way is not Way.KEEP:
        # As git does for a branch that goes, in settings that it is not shown.
        settings = f"{finish.origin.place.common}/config"
        finish.origin.ask("config", "--file", settings, "--remove-section", f"branch.{finish.branch}")
    return None


def _ignored(repository: git.Repository) -> int | Refusal:
    """How many files of a work tree git ignores; refused if anything else would be lost there, or is half done."""
    changes = worktrees.changes_in(repository, "--untracked-files=all", "--ignored=matching")
    if isinstance(changes, Refusal):
        return changes
    ignored = sum(line.startswith("!!") for line in changes)
    if left := len(changes) - ignored:
        what = counted(left, "change")
        return Refusal("uncommitted", f"{what} in {repository.top} not committed; commit or remove first")
    return ignored


def _no_way_in(origin: git.Repository, into: str, commit: str) -> Refusal | None:
    """Why *commit* cannot become the branch *into*, which must be checked out in *origin*."""
    if not into or origin.branch() != into:
        return Refusal("merge", f"{into or 'the branch it came from'} is not checked out in {origin.top}")
    if isinstance(problem := _ignored(origin), Refusal):
        return problem
    if origin.ask("merge-base", "--is-ancestor", f"refs/heads/{into}", commit) is None:
        return Refusal("merge", f"{into} has new commits: rebase or merge by hand, then finish")
    return None
