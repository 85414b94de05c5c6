"""`tally worktree` makes one and says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.cli.exit_codes import REFUSED
from tallylight.cli.main import main
from tests.cli.conftest import runtime as runtime  # a fixture
from tests.parts.conversations.test_worktrees import git
from tests.parts.conversations.test_worktrees import nobody as nobody  # a fixture
from tests.parts.conversations.test_worktrees import repo as repo  # a fixture


@pytest.mark.slow
def test_it_is_made(
    runtime: Path, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where it is said, from this repository or another; with a note on the user's own filters."""
    (tmp_path / ".gitconfig").write_text('[filter "own"]\nsmudge = cat\n')
    (repo / ".gitattributes").write_text("a filter=own\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "attributes")
    monkeypatch.chdir(repo / "src")
    assert main(["worktree", "../../parser", "--branch", "parser"]) == 0
    told = capsys.readouterr()
    assert told.out == f"{tmp_path / 'parser'}\n"
    assert "own filter own" in told.err
    assert git(tmp_path / "parser", "rev-parse", "--abbrev-ref", "HEAD") == "parser"
    assert main(["worktree", str(tmp_path / "more"), "--branch", "more", "--of", str(tmp_path / "parser")]) == 0
    assert (tmp_path / "more").is_dir()


@pytest.mark.parametrize(
    ("path", "branch", "of", "why"),
    [
        ("api", "new", "api", "is there already"),
        ("new", "main", "api", "there is a branch main"),
        ("new", "--force", "api", "a name has letters"),
        ("new", "new", ".", "is not in a git repository"),
    ],
)
def test_it_is_refused(
    repo: Path, tmp_path: Path, path: str, branch: str, of: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In words, with nothing changed."""
    words = ["worktree", str(tmp_path / path), f"--branch={branch}", f"--of={tmp_path / of}"]
    assert main(words) == REFUSED
    assert why in capsys.readouterr().err
    assert git(repo, "branch", "--format=%(refname:short)") == "main"
