"""The branch and the changes around a directory: of real repositories, hostile ones, and with a git that is slow."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tallylight.files.program import StuckError
from tallylight.model.errors import TallyError
from tallylight.model.repository_status import NOTHING, Changes, RepositoryStatus
from tallylight.parts.work.repository import changes_of, head_of, with_lines
from tallylight.parts.work.repository_watch import read_one
from tests.actions.test_git import Trap, embedded
from tests.actions.test_git import trap as trap  # a fixture
from tests.tables import each


def head(directory: Path | str) -> tuple[str, RepositoryStatus] | None:
    return head_of(str(directory), "/home/somebody")


def changes(root: Path) -> Changes:
    found = changes_of(str(root))
    assert found is not None
    return found[1]


def test_a_branch(trap: Trap) -> None:
    """Of the directory and of those below it; outside of it there is none."""
    assert head(trap.root) == head(trap.root / "src") == (str(trap.root), RepositoryStatus(branch="main"))
    trap.plain("checkout", "-qb", "feature/log#1")
    assert head(trap.root) == (str(trap.root), RepositoryStatus(branch="feature/log#1"))
    assert head(trap.root.parent) is None
    assert changes_of(str(trap.root)) == ("feature/log#1", Changes())


def test_what_has_changed(trap: Trap) -> None:
    """Lines that were added and removed since the commit, staged or not; what git does not know is counted."""
    trap.write("src/b", "1\n2\n3\n")
    trap.commit()
    trap.write("src/a", "ONE\ntwo\n")
    trap.write("src/b", "1\n")
    trap.plain("add", "src/b")
    trap.write("src/new", "x\n")
    trap.write("more/1", "x\n")
    trap.write("more/2", "x\n")

    assert changes(trap.root) == Changes(added=2, removed=3, new=2)


def test_binary_files_have_no_lines(trap: Trap) -> None:
    """They are no reason to say nothing."""
    trap.write("src/a", "\0\1\2")
    assert changes(trap.root) == Changes()


def test_before_the_first_commit(tmp_path: Path, trap: Trap) -> None:
    """There is a branch, and nothing to compare with."""
    trap.plain("init", "-q", "-b", "trunk", str(tmp_path / "young"))
    young = tmp_path / "young"
    (young / "a").write_text("x\n")
    assert head(young) == (str(young), RepositoryStatus(branch="trunk"))
    assert changes(young) == Changes(new=1)
    trap.plain("add", "a", where=young)
    assert changes(young) == Changes()


def test_a_detached_head(trap: Trap) -> None:
    """The short name of the commit takes the place of the branch."""
    trap.plain("checkout", "-q", "--detach")
    found = head(trap.root)
    whole = subprocess.check_output(["git", "-C", str(trap.root), "rev-parse", "HEAD"], text=True)

    assert found == (str(trap.root), RepositoryStatus(branch=whole[:7], is_detached=True))
    assert changes_of(str(trap.root)) == ("", Changes())


def test_a_worktree(trap: Trap, tmp_path: Path) -> None:
    """A linked one has a name, a branch and changes of its own."""
    other = tmp_path / "other"
    trap.plain("worktree", "add", "-q", "-b", "side", str(other))
    (other / "src/a").write_text("one\ntwo\n")

    assert head(other / "src") == (str(other), RepositoryStatus(branch="side", worktree="other"))
    assert (changes(other), changes(trap.root)) == (Changes(added=1), Changes())
    assert read_one(str(other), "/") == (
        RepositoryStatus(branch="side", worktree="other", changes=Changes(added=1)),
        False,
    )


def test_ahead_and_behind(trap: Trap, tmp_path: Path) -> None:
    """Of the branch that it follows."""
    clone = tmp_path / "clone"
    trap.plain("clone", "-q", str(trap.root), str(clone))
    for n in range(2):
        (clone / "src/a").write_text(f"{n}\n")
        trap.commit(where=clone)
    trap.write("src/b", "x\n")
    trap.commit()
    trap.plain("fetch", "-q", where=clone)

    assert changes(clone) == Changes(ahead=2, behind=1)


@pytest.mark.slow
def test_a_submodule(trap: Trap, tmp_path: Path) -> None:
    """It is a repository of its own; of the one around it, what has changed in there is no change."""
    outer = tmp_path / "outer"
    trap.plain("init", "-q", "-b", "main", str(outer))
    trap.plain("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(trap.root), "lib", where=outer)
    trap.commit(where=outer)
    (outer / "lib/src/a").write_text("other\n")

    assert head(outer / "lib/src") == (str(outer / "lib"), RepositoryStatus(branch="main"))
    assert changes(outer / "lib") == Changes(added=1, removed=1)
    assert changes(outer) == Changes()


def test_references_in_tables(trap: Trap, tmp_path: Path) -> None:
    """Where no file says the branch, git does."""
    young = tmp_path / "young"
    done = subprocess.run(
        ["git", "init", "-q", "-b", "trunk", "--ref-format=reftable", str(young)], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip("this git has no reftables")
    assert head(young) == (str(young), RepositoryStatus())
    assert read_one(str(young), "/")[0] == RepositoryStatus(branch="trunk", changes=Changes())


def test_dotfiles_are_no_repository_of_what_is_below(trap: Trap) -> None:
    """A repository that holds the home says nothing of a project in it."""
    assert head_of(str(trap.root / "src"), str(trap.root)) is None
    assert head_of(str(trap.root / "src"), str(trap.root / "home/me")) is None
    assert head_of("relative", "/home/me") is None


@each("said", ["", "ref: refs/heads/", "\0\1\2", "ref: ../../etc/passwd", "x" * 3000, "0123"])
def test_a_head_that_is_none(said: str, tmp_path: Path) -> None:
    """The repository is there, its branch is not known."""
    folder = tmp_path / "odd"
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    (folder / ".git/HEAD").write_text(said)
    assert head(folder) == (str(folder), RepositoryStatus())
    assert read_one(str(folder), "/") == (NOTHING, False)


def test_files_that_are_none(tmp_path: Path) -> None:
    """A FIFO, a huge file or nothing in the place of HEAD, and a `.git` that names itself: nothing is waited for."""
    folder = tmp_path / "odd"
    (folder / ".git").mkdir(parents=True)
    with pytest.raises(FileNotFoundError):
        head(folder)
    os.mkfifo(folder / ".git/HEAD")
    with pytest.raises((OSError, TallyError)):
        head(folder)
    (folder / ".git/HEAD").unlink()
    (folder / ".git/HEAD").write_bytes(b"x" * 10_000)
    with pytest.raises(TallyError):
        head(folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text("gitdir: .git\n")
    with pytest.raises(OSError):
        head(other)
    assert read_one(str(folder), "/") == read_one(str(other), "/") == (NOTHING, False)


# What a repository could have git run ---------------------------------------------------------------------------


def test_a_repository_within_one(trap: Trap) -> None:
    """A bare one that a clone brought along, with settings of its own, is not asked for."""
    inner = embedded(trap)
    trap.ran()
    found = read_one(str(inner), "/")

    assert not trap.ran()
    assert found[0].branch in ("", "main") and found[0].worktree == ""


# A git that is slow ----------------------------------------------------------------------------------------------


def _fake_git(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", ["exec sleep 900", 'case "$*" in *status*) exec yes;; *) exec /usr/bin/git "$@";; esac']
)
def test_a_slow_git_is_killed(trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """One that does not answer, and one that never ends to: it is given up, and the branch is known all the same."""
    _fake_git(tmp_path / "slow", monkeypatch, script)
    with pytest.raises(StuckError):
        changes_of(str(trap.root), 0.5)
    found, was_slow = read_one(str(trap.root), "/", 0.5)

    assert (found, was_slow) == (RepositoryStatus(branch="main"), True)


def test_a_git_that_fails(trap: Trap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it cannot say is not known; that is no reason to leave it alone."""
    _fake_git(tmp_path / "broken", monkeypatch, "exit 1")
    assert read_one(str(trap.root), "/") == (RepositoryStatus(branch="main"), False)


def test_without_git(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """The branch is read from files."""
    monkeypatch.setenv("PATH", "/nonexistent")
    assert read_one(str(trap.root), "/") == (RepositoryStatus(branch="main"), False)


def test_numbers_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """What git writes is read as far as it is what git writes."""
    read = with_lines
    assert read(Changes(), " 1 file changed, 1 insertion(+)\n") == Changes(added=1)
    assert read(Changes(), " 2 files changed, 5 deletions(-)") == Changes(removed=5)
    assert read(Changes(new=1), " 3 files changed, 12 insertions(+), 3 deletions(-)") == Changes(
        added=12, removed=3, new=1
    )
    assert read(Changes(), "") == read(Changes(), " 1 file changed, x") == Changes()
    assert read(Changes(), f" 1 file changed, {'9' * 5000} insertions(+)").added == 999_999_999
