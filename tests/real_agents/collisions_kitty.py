"""
Real Claude Code and Codex that change one file, in a real kitty: both are told soon after the second write.

Twenty pairs of edits take minutes, so this is run by hand: `pytest -s tests/real_agents/collisions_kitty.py`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallylight.files import read_write
from tallylight.snapshot import writer
from tests.parts.work.test_looks import CART
from tests.real_agents.desk import Desk, Tab
from tests.real_agents.driver import wait_until
from tests.real_kitty.test_collisions import _git, give_git

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

IN_ONE_KITTY = {"test_twenty_pairs": "0.48"}
PAIRS, MOST_S = 20, 2.0
COMMANDS = {"claude": "claude --permission-mode manual", "codex": "codex --no-daemon"}


@pytest.fixture
def shops(desk: Desk) -> tuple[Path, Path]:
    """A repository with a file for each pair, and a second work tree; both agents trust them."""
    home = desk.kitty.home
    give_git(home)
    top, other = home / "shop", home / "shop-fix"
    top.mkdir()
    for number in range(PAIRS):
        (top / f"f{number}.py").write_text(CART)
    _git(top, "init", "-q", "-b", "main")
    _git(top, "add", "-A")
    _git(top, "commit", "-qm", "x")
    _git(top, "worktree", "add", "-q", "-b", "fix", str(other))
    known = json.loads((home / ".claude.json").read_text())
    trusted = next(iter(known["projects"].values()))
    known["projects"] |= {str(folder): trusted for folder in (top, other)}
    (home / ".claude.json").write_text(json.dumps(known))
    with (home / ".codex/config.toml").open("a") as config:
        config.writelines(f'\n[projects."{folder}"]\ntrust_level = "trusted"\n' for folder in (top, other))
    return top, other


@pytest.fixture
def tabs(desk: Desk, shops: tuple[Path, Path]) -> Iterator[list[Tab]]:
    """Claude in the first work tree; the others that it is paired with: each agent in each work tree."""
    with contextlib.ExitStack() as stack:
        found = []
        for agent, folder in (("claude", shops[0]), *itertools.product(COMMANDS, shops)):
            desk.launches[agent] = desk.launches[agent]._replace(cwd=folder)
            found.append(Tab(desk, agent, COMMANDS[agent]))
            stack.callback(found[-1].close)
        yield found


def _edit(tab: Tab, number: int, old: str, new: str) -> float:
    """Have an agent replace a line of the file of that number; when that was on the disk."""
    file = f"f{number}.py"
    # A prompt that begins as the last one did could not be told from it on the screen.
    path, begins = tab.project / file, f"AFTER 0.{100 + number}"
    if tab.agent == "claude":
        read = json.dumps({"file_path": str(path)})
        change = json.dumps({"file_path": str(path), "old_string": old, "new_string": new})
        tab.submit(f"{begins} CALL Read {read} THEN CALL Edit {change} THEN fine")
    else:
        patch = f"*** Begin Patch⏎*** Update File: {file}⏎@@⏎-{old}⏎+{new}⏎*** End Patch⏎EOF"
        tab.submit(f"{begins} TOOL apply_patch <<'EOF'⏎{patch} THEN fine")
    tab.answer(r"Do you want to make|Would you like to", tab.manner.approve)
    wait_until(lambda: new in path.read_text(), 40, f"{new!r} in {path}", 0.01)
    return time.monotonic()


def _told(desk: Desk, windows: tuple[int, int], file: str) -> list[bool] | None:
    """Whether each of two is told that the other has changed the same lines; None until both are told of *file*."""
    path = next((desk.kitty.runtime_dir / "tallylight").glob("kitty-*.json"))
    panes = {pane.id: pane for pane in writer.read(path).panes}
    found = [
        entry.same
        for one, other in (windows, windows[::-1])
        for entry in panes[str(one)].collisions
        if entry.file == file and entry.pane.endswith(f":{other}")
    ]
    return found if len(found) == 2 else None


def test_twenty_pairs(desk: Desk, tabs: list[Tab], shops: tuple[Path, Path]) -> None:
    """Told within two seconds in 95 of 100, whether the lines are the same ones or not."""
    late: list[float] = []
    first = tabs[0]
    for number in range(PAIRS):
        second, is_same = tabs[1 + number % 4], number // 4 % 2 == 0
        file, before = f"f{number}.py", "first word 40" if second.project == first.project else "line 40"
        _edit(first, number, "line 40", "first word 40")
        time.sleep(2.5)  # looks are made meanwhile, or not: nothing is awaited
        old = before if is_same else "line 10"
        written = _edit(second, number, old, f"second {old}")
        windows = first.window, second.window
        told = wait_until(lambda: _told(desk, windows, file), 60, f"what is told of {file}", 0.02)  # noqa: B023
        late.append(time.monotonic() - written)
        load = read_write.read_limited(Path("/proc/loadavg")).decode().split()[0]
        sys.stdout.write(f"{number} {second.agent} {second.project.name} {is_same} {late[-1]:.2f} s, load {load}\n")
        assert told == [is_same, is_same]
        for top in shops:
            _git(top, "checkout", "-q", "--", ".")
    assert sorted(late)[int(PAIRS * 0.95) - 1] < MOST_S, late
