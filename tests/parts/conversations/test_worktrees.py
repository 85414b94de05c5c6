"""Worktrees for forks, with a real git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tallylight.actions.gate import Refusal
from tallylight.parts.conversations import worktrees
from tallylight.parts.conversations.worktrees import Base
from tests.tables import each


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that knows nothing of this machine's user, and is misled by its surroundings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "n")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "n@example.org")


def git(where: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(where), *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository `api` with one commit on `main`, with a directory `src` in it."""
    root = tmp_path / "api"
    (root / "src").mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    (root / "src/a").write_text("one\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    return root


def base_of(directory: Path) -> Base:
    found = worktrees.inspect(str(directory))
    assert isinstance(found, Base), found
    return found


def refused(directory: Path) -> str:
    found = worktrees.inspect(str(directory))
    assert isinstance(found, Refusal)
    assert found.rule == "worktree"
    return found.text


def test_a_worktree_beside_the_repository(repo: Path) -> None:
    """It is named for the repository and the branch, at the same commit; the fork runs in the same directory of it."""
    base = base_of(repo / "src")
    made = worktrees.make(base)

    assert made == str(repo.parent / "api-fork-1/src")
    assert git(Path(made), "rev-parse", "--abbrev-ref", "HEAD") == "main-fork-1"
    assert git(Path(made), "rev-parse", "HEAD") == git(repo, "rev-parse", "HEAD")
    assert git(repo, "rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_inspecting_changes_nothing(repo: Path) -> None:
    """Asking leaves the repository byte for byte as it was."""

    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(repo.parent.rglob("*")) if path.is_file()}

    before = everything()
    base_of(repo)

    assert everything() == before


def test_the_next_one_has_another_name(repo: Path) -> None:
    """A name that is taken, by a directory, a link to nowhere or a branch, is left alone."""
    (repo.parent / "api-fork-1").symlink_to("nowhere")
    git(repo, "branch", "main-fork-2")
    (repo.parent / "api-fork-3").mkdir()

    assert base_of(repo).path == repo.parent / "api-fork-4"
    assert base_of(repo).branch == "main-fork-4"


def test_a_fork_of_a_fork(repo: Path) -> None:
    """A fork made in a worktree of ours lies beside it and not in it, and its name does not grow."""
    first = Path(str(worktrees.make(base_of(repo))))
    second = base_of(first)

    assert (second.path, second.branch) == (repo.parent / "api-fork-2", "main-fork-2")


def test_changes_stay_behind_and_are_counted(repo: Path) -> None:
    """What is not committed is no obstacle, is counted, and stays where it is."""
    (repo / "src/a").write_text("two\n")
    (repo / "new file").write_text("x")
    base = base_of(repo)
    made = Path(str(worktrees.make(base)))

    assert base.changed == 2
    assert (made / "src/a").read_text() == "one\n"
    assert (repo / "src/a").read_text() == "two\n"
    assert (repo / "new file").exists()


def test_a_directory_that_is_not_in_the_commit(repo: Path) -> None:
    """Where the agent's directory is not committed the fork runs at the top of the worktree."""
    (repo / "build").mkdir()

    assert worktrees.make(base_of(repo / "build")) == str(repo.parent / "api-fork-1")


def test_outside_a_repository(tmp_path: Path) -> None:
    """No repository, no worktree."""
    assert "is not in a git repository" in refused(tmp_path)


def test_inside_the_repository_itself(repo: Path) -> None:
    """Nor in the .git directory, which is no place to work."""
    assert "is not in a git repository" in refused(repo / ".git")


def test_no_commit(tmp_path: Path) -> None:
    """A repository with nothing in it yet has nothing to begin from."""
    git(tmp_path, "init", "-q", str(tmp_path / "new"))

    assert "no commit yet" in refused(tmp_path / "new")


def test_half_a_merge(repo: Path) -> None:
    """In the middle of a merge, with conflicts or without, it is refused by its name."""
    git(repo, "checkout", "-qb", "other")
    (repo / "src/a").write_text("theirs\n")
    git(repo, "commit", "-qam", "theirs")
    git(repo, "checkout", "-q", "main")
    (repo / "src/a").write_text("ours\n")
    git(repo, "commit", "-qam", "ours")
    subprocess.run(["git", "-C", str(repo), "merge", "other"], check=False, capture_output=True)
    assert "a merge is not finished" in refused(repo)

    (repo / ".git/MERGE_HEAD").unlink()
    assert "there are conflicts" in refused(repo)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
        ("BISECT_LOG", "a bisect"),
    ],
)
def test_something_half_done(repo: Path, name: str, what: str) -> None:
    """So it is for whatever else git has in progress."""
    (repo / ".git" / name).write_text("x")

    assert f"{what} is not finished" in refused(repo)


@each(
    ("branch", "slug"),
    [
        ("feature/log-in", "feature-log-in"),
        ("--force", "force"),
        ("a..b", "a.b"),
        ("$(touch x);é", "touch-x"),
        ("x" * 200, "x" * 60),
        ("...", "detached"),
        ("a.lock", "a"),
    ],
)
def test_names_are_safe(branch: str, slug: str) -> None:
    """A branch's name becomes one that git takes, and that is one harmless word to everything else."""
    assert worktrees.slug(branch) == slug


def test_a_detached_head(repo: Path) -> None:
    """Without a branch the new one is called so."""
    git(repo, "checkout", "-q", "--detach")

    assert base_of(repo).branch == "detached-fork-1"


def test_surroundings_do_not_mislead(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GIT_DIR of the program that called us names no other repository."""
    git(tmp_path, "init", "-q", str(tmp_path / "evil"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "evil/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "evil"))

    assert base_of(repo).root == repo


def test_what_git_says_is_passed_on(repo: Path) -> None:
    """If git refuses after all, its last word is the reason, and nothing is removed."""
    base = base_of(repo)
    base.path.mkdir()
    (base.path / "mine").write_text("x")
    found = worktrees.make(base)

    assert isinstance(found, Refusal)
    assert "already exists" in found.text
    assert (base.path / "mine").read_text() == "x"


def test_without_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a git there is a reason too."""
    monkeypatch.setenv("PATH", os.devnull)

    assert refused(repo) == "git was not found"
