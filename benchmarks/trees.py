"""
Trees: what the tree at the end of a turn costs in a repository of 50,000 files, and what it takes on the disk.

    python -m benchmarks.trees

The times are those of one changed file while git knows the others already, beside a `git status` of the same work tree.
The disk is that of a hundred turns; each changes a file of 4 KiB.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.aims import Aim
from benchmarks.collisions import git

from tallylight.parts.work.trees import Store, _size

COST = Aim("review: a tree of 50,000 files, one of them changed", "`git status`", most=2.0)
FIRST = Aim("review: the first tree of a day, 50,000 files", "`git status`", most=2.0)
DISK = Aim("review: the disk that a hundred turns take, without the index", "a megabyte", most=5.0, unit="MB")
AIMS = (COST, FIRST, DISK)
QUICK = ()

FOLDERS, FILES, ROUNDS, TURNS = 500, 100, 9, 100


def repository(top: Path) -> None:
    """Make a repository with so many files in one commit."""
    for folder in range(FOLDERS):
        (top / f"src{folder}").mkdir(parents=True)
        for number in range(FILES):
            (top / f"src{folder}/f{number}.py").write_text(f"line {folder} {number}\n")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "x")


def seconds(call: Callable[[], object]) -> float:
    began = time.monotonic()
    call()
    return time.monotonic() - began


def main(_argv: list[str]) -> None:
    """Measure all of it."""
    with tempfile.TemporaryDirectory(prefix="tally-") as name:
        folder = Path(name)
        top, environ = folder / "shop", {**os.environ, "HOME": "/", "XDG_STATE_HOME": str(folder / "state")}
        os.environ["XDG_RUNTIME_DIR"] = str(folder)
        repository(top)
        status = ["git", "-C", str(top), "status", "--porcelain"]
        subprocess.run(status, check=True, capture_output=True)
        plain = sorted(seconds(lambda: subprocess.run(status, check=True, capture_output=True)) for _ in range(ROUNDS))
        store = Store.of(str(top), environ)
        assert store is not None
        now = time.time()
        first = seconds(lambda: store.take(now, 60.0))
        index = (store.days()[0] / "index").stat().st_size
        before, found = _size(store.folder) - index, []
        for number in range(TURNS):
            (top / f"src{number}/f0.py").write_text(f"{number}\n" * 1000)
            found.append(seconds(lambda: store.take(now, 60.0)))
        warm = sorted(found)[TURNS // 2]
        print(f"  git status {1000 * plain[ROUNDS // 2]:.0f} ms, a tree {1000 * warm:.0f} ms; index {index >> 10} KiB")
        COST.say(warm / plain[ROUNDS // 2])
        FIRST.say(first / plain[ROUNDS // 2])
        DISK.say((_size(store.folder) - index - before) / 1e6)


if __name__ == "__main__":
    main([])
