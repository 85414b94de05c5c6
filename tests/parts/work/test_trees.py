"""Trees of a real work tree: all that is new is in them, the repository stays as it is, and nothing of it runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tallylight.files.program import StuckError
from tallylight.parts.work import trees
from tallylight.parts.work.trees import Store, Tree
from tests.actions import test_git
from tests.actions.test_git import Trap, embedded
from tests.actions.test_git import trap as trap  # a fixture
from tests.tables import each

NOW = 1_790_000_000.0


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state directory, beside the repository."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "state"


def store_of(directory: Path) -> Store:
    found = Store.of(str(directory), {**os.environ, "HOME": "/home/nobody"})
    assert found is not None
    return found


def contents(root: Path) -> dict[str, tuple[bytes, int]]:
    """
    All that lies below *root*: the bytes and the time of each file.

    git sets the time of an object, and of a shared part of an index, when it meets it again.
    """
    return {
        str(path): (
            path.read_bytes() if path.is_file() else b"",
            0 if "objects" in path.parts or path.name.startswith("sharedindex") else path.lstat().st_mtime_ns,
        )
        for path in sorted(root.rglob("*"))
    }


def test_what_is_new(trap: Trap) -> None:
    """Changed, new, removed and executable files, links, odd names; nothing that is ignored. The repository stays."""
    trap.write(".gitignore", "built/\n")
    trap.write("gone", "x\n")
    trap.commit()
    before_git = contents(trap.root / ".git")
    store = store_of(trap.root / "src")
    first = store.take(NOW)
    trap.write("src/a", "two\n")
    trap.write("built/out", "x\n")
    trap.write("new/-x \n'ü", "1\n")
    trap.write("new/run", "#!/bin/sh\n").chmod(0o755)
    (trap.root / "new/link").symlink_to("/etc/passwd")
    (trap.root / "gone").unlink()
    second = store.take(NOW)

    assert store.changed(first.id, second.id) == {
        "gone": "D", "new/-x \n'ü": "A", "new/link": "A", "new/run": "A", "src/a": "M",
    }  # fmt: skip
    assert store.take(NOW) == second
    assert "+two\n" in store.diff(first.id, second.id)
    assert contents(trap.root / ".git") == before_git


def test_what_is_staged_or_in_conflict(trap: Trap) -> None:
    """A tree has the files as they are, whatever the index says of them."""
    trap.plain("checkout", "-qb", "other")
    trap.write("src/a", "theirs\n")
    trap.commit()
    trap.plain("checkout", "-q", "main")
    trap.write("src/a", "ours\n")
    trap.commit()
    trap.plain("merge", "other")
    trap.write("staged", "1\n")
    trap.plain("add", "staged")
    trap.plain("add", "-N", "src")
    store = store_of(trap.root)
    first = store.take(NOW)
    assert "<<<<<<<" in store.diff(_empty(store), first.id)
    assert set(store.changed(_empty(store), first.id)) == {"src/a", "staged"}


def _empty(store: Store) -> str:
    return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_before_the_first_commit(tmp_path: Path, trap: Trap) -> None:
    """There is no index yet."""
    young = tmp_path / "young"
    trap.plain("init", "-q", str(young))
    (young / "a").write_text("x\n")
    store = store_of(young)
    assert store.changed(_empty(store), store.take(NOW).id) == {"a": "A"}


def test_a_worktree_has_trees_of_its_own(trap: Trap, tmp_path: Path) -> None:
    other = tmp_path / "other"
    trap.plain("worktree", "add", "-q", "-b", "side", str(other))
    before = contents(trap.root / ".git")
    first = store_of(other).take(NOW)
    (other / "src/a").write_text("two\n")
    second = store_of(other).take(NOW)
    assert store_of(other).changed(first.id, second.id) == {"src/a": "M"}
    assert store_of(trap.root).take(NOW) == first and contents(trap.root / ".git") == before


def test_too_large_and_not_readable(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a file is left out, and counted; the others are there."""
    monkeypatch.setattr(trees, "MAX_NEW_FILE_BYTES", 10)
    trap.write("large", "x" * 11)
    trap.write("small", "x")
    os.mkfifo(trap.root / "fifo")
    found = store_of(trap.root).take(NOW)
    assert found.left == 1
    assert set(store_of(trap.root).changed(_empty(store_of(trap.root)), found.id)) == {"small", "src/a"}


@each("limit", ["MAX_NEW_FILES", "MAX_NEW_FILES_BYTES", "MAX_GIT_INDEX_BYTES", "MAX_STORE_BYTES"])
def test_too_much(limit: str, trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then this repository is left alone."""
    monkeypatch.setattr(trees, limit, 0)
    trap.write("new", "1\n")
    with pytest.raises(StuckError):
        store_of(trap.root).take(NOW)


def test_a_week_later(trap: Trap, state: Path) -> None:
    """Trees of the day before are known, and a change over midnight is seen; those of a week ago are gone."""
    store = store_of(trap.root)
    trap.write("src/a", "two\n")
    first = store.take(NOW)
    trap.write("src/a", "three\n")
    second = store.take(NOW + 86_400)
    assert "-two\n+three\n" in store.diff(first.id, second.id)
    store.take(NOW + 8 * 86_400)
    assert len(store.days()) == 2
    other = store.folder.with_name("0123456789abcdef")
    (other / str(int(NOW // 86_400)) / "objects").mkdir(parents=True)
    (other / "tmp.diff").touch()
    os.utime(other / "tmp.diff", (NOW, NOW))
    store.take(NOW + 30 * 86_400)
    assert len(store.days()) == 1 and not other.exists()
    assert oct((state / "tallylight/work").stat().st_mode)[-3:] == "700"


def test_a_git_that_was_killed(trap: Trap) -> None:
    """Its lock is in nobody's way."""
    store = store_of(trap.root)
    first = store.take(NOW)
    (store.days()[0] / "index.lock").touch()
    trap.write("src/a", "two\n")
    assert store.take(NOW) != first


def test_a_split_index(trap: Trap) -> None:
    """A part of ours is not written beside the repository's."""
    trap.plain("update-index", "--split-index")
    before = contents(trap.root / ".git")
    store = store_of(trap.root)
    first = store.take(NOW)
    trap.write("src/a", "two\n")
    assert store.changed(first.id, store.take(NOW).id) == {"src/a": "M"}
    assert contents(trap.root / ".git") == before


# What a repository could have git run ---------------------------------------------------------------------------

ARMED = ("fsmonitor", "clean", "nameless", "of_a_worktree", "process")


@pytest.mark.slow
@pytest.mark.parametrize("how", ARMED)
def test_hostile_repositories(how: str, trap: Trap) -> None:
    """Trees, diffs and what is put back run nothing that the repository names; git as people type it does."""
    root = getattr(test_git, how)(trap)
    trap.ran()
    said = (root / "src/a").read_text()
    store = store_of(root)
    first = store.take(NOW)
    (root / "src/a").write_text("2\n")
    (root / "src/new").write_text("2\n")
    second = store.take(NOW)
    assert store.changed(first.id, second.id) == {"src/a": "M", "src/new": "A"}
    assert "+2\n" in store.diff(first.id, second.id)
    store.restore(first.id, ["src/a"])
    assert not trap.ran() and (root / "src/a").read_text() == said
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=False, capture_output=True)
    assert trap.ran()


@pytest.mark.slow
def test_a_repository_within(trap: Trap) -> None:
    """It is not looked into, whatever it says."""
    inner = embedded(trap)
    trap.ran()
    root = inner.parents[1]
    trap.plain("init", "-q", str(root / "nested"))
    trap.set("core.fsmonitor", str(trap.program), root / "nested")
    (root / "nested/x").write_text("1\n")
    found = store_of(root).take(NOW)
    assert isinstance(found, Tree) and not trap.ran()
    assert not any(path.startswith("nested") for path in store_of(root).changed(_empty(store_of(root)), found.id))
