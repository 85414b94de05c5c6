"""The build that `tally --version` names: its commit in a checkout, a worktree and a package, and its release."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest

import tallylight
from tallylight import __version__
from tallylight.files import build

PYTHON = f"Python {platform.python_version()}"


def git(folder: Path, *words: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(
        ["git", *who, *words], cwd=folder, env=environ, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with our layout and one commit."""
    package = tmp_path / "checkout" / "shared" / "tallylight"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    git(tmp_path / "checkout", "init", "-q", "-b", "a/branch")
    git(tmp_path / "checkout", "add", ".")
    git(tmp_path / "checkout", "commit", "-qm", "first")
    return tmp_path / "checkout"


def test_a_checkout(checkout: Path) -> None:
    """The commit that is checked out: of a branch, of one whose name was packed away, and of none."""
    package = checkout / "shared" / "tallylight"
    head = git(checkout, "rev-parse", "HEAD").strip()

    assert build.commit(package) == head
    git(checkout, "pack-refs", "--all")
    assert build.commit(package) == head
    git(checkout, "checkout", "-q", "--detach")
    assert build.commit(package) == head


def test_a_worktree(checkout: Path, tmp_path: Path) -> None:
    """A worktree has its own head and shares the rest."""
    git(checkout, "worktree", "add", "-q", "-b", "other", str(tmp_path / "beside"))
    git(tmp_path / "beside", "commit", "-q", "--allow-empty", "-m", "second")

    assert build.commit(tmp_path / "beside" / "shared" / "tallylight") == git(checkout, "rev-parse", "other").strip()


def test_a_package(tmp_path: Path) -> None:
    """A published package says its commit; what is no commit is not told, nor is anything made up."""
    package = tmp_path / "site-packages" / "tallylight"
    package.mkdir(parents=True)
    assert build.commit(package) == ""
    (package / "COMMIT").write_text("0123456789" * 4 + "\n")
    assert build.commit(package) == "0123456789" * 4
    for wrong in ("", "main", "0" * 39, "\xff", "g" * 40):
        (package / "COMMIT").write_text(wrong)
        assert build.commit(package) == ""


def test_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version, commit where it is known, else the release that was installed, and Python."""
    package = tmp_path / "releases" / "0.1.0-abc" / "lib" / "tallylight"
    package.mkdir(parents=True)
    monkeypatch.setattr(tallylight, "__file__", str(package / "__init__.py"))
    assert build.name() == f"{__version__} (build 0.1.0-abc, {PYTHON})"
    (package / "COMMIT").write_text("0123456789" * 4)
    assert build.name() == f"{__version__} (commit 012345678901, {PYTHON})"
    monkeypatch.setattr(tallylight, "__file__", str(tmp_path / "a" / "b" / "tallylight" / "__init__.py"))
    assert build.name() == f"{__version__} ({PYTHON})"
