"""Two agents of one repository in a real kitty: a mark on both tabs as soon as they have changed the same lines."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.model.lights import COLLISION
from tests.parts.work.test_looks import CART, changed
from tests.real_kitty.test_fake_agent import Bench

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

#: Where to put a picture for a person to look at.
PICTURES = "TALLYLIGHT_PICTURES"
WHO = {f"GIT_{who}_{what}": "n@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture
def bench(kitty_version: str) -> Iterator[Bench]:
    """A desk with a fake agent on its PATH."""
    found = Bench(kitty_version)
    give_git(found.kitty.home)
    yield found
    found.close()


def give_git(home: Path) -> None:
    """Put git on the PATH of a kitty with this home."""
    git = shutil.which("git")
    assert git is not None
    shutil.copy(git, home / ".local/bin/git")


def _git(top: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True, env={**os.environ, **WHO})


def _agent(bench: Bench, top: Path) -> None:
    """A tab, not shown, with an agent that works in *top*."""
    notes = bench.kitty.home / f"notes-{top.name}"
    notes.mkdir()
    (notes / "talk").touch()
    program = str(bench.kitty.home / ".local/bin/claude")
    window = bench.kitty.launch(program, env={"FAKE": str(notes)}, keep_focus=True, cwd=str(top))
    bench.wait_status(window, "working")


def test_the_same_lines(bench: Bench) -> None:
    """The mark comes by itself, and goes when one of the two has undone what it did."""
    top, other = bench.kitty.home / "shop", bench.kitty.home / "shop-fix"
    top.mkdir()
    _git(top, "init", "-q", "-b", "main")
    (top / "cart.py").write_text(CART)
    _git(top, "add", "-A")
    _git(top, "commit", "-qm", "x")
    _git(top, "worktree", "add", "-q", "-b", "fix", str(other))
    (top / "cart.py").write_text(changed(40, 41))
    (other / "cart.py").write_text(changed(41, word="theirs"))
    for folder in (top, other):
        _agent(bench, folder)

    bench.kitty.wait_until(lambda: bench.bar().count(f"● {COLLISION} shop") == 2, 60, "both marks")
    if folder := os.environ.get(PICTURES):
        bench.kitty.screenshot(Path(folder) / f"{bench.kitty.version}-collision.png")
    entry = next(pane for pane in (bench.snapshot() or pytest.fail("no snapshot")).panes if pane.collides)
    assert (entry.collisions[0].file, entry.collisions[0].same) == ("cart.py", True)
    (other / "cart.py").write_text(CART)
    bench.kitty.wait_until(lambda: COLLISION not in bench.bar(), 60, "the end of the marks")
