"""A real Claude Code behind what leads to it, in a real kitty: the same lights, its session and its project."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable

import pytest

from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane
from tests.real_agents.desk import CLAUDE, Tab

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

COMMAND = "claude --permission-mode manual"
WAYS = {
    "no job control": f"bash -c {shlex.quote(f'set +m; {COMMAND}; true')}",
    "a native wrapper": f"cp $(command -v timeout) /tmp/fence; /tmp/fence 900 {COMMAND}",
    "a terminal of its own": f"script -qc {shlex.quote(f'{COMMAND}; true')} /dev/null",
    "a wrapper in Python": f"python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' {COMMAND}",
    "processes of its own": f"unshare -pf --mount-proc {COMMAND}",
}


@pytest.mark.parametrize("desk", ["0.41"], indirect=True)
@pytest.mark.parametrize("name", WAYS)
def test_a_question_behind_a_leader(name: str, borrow: Callable[[str, str], Tab]) -> None:
    """Listed by its name at once; blue, amber at its question, green at the end; with session and project."""
    tab = borrow("claude", WAYS[name])
    listed = tab.wait("idle", since=tab.ready)
    tab.promptly(listed, tab.ready)
    assert listed.variables["tally_agent"] == "claude"

    tab.submit(f"TOOL touch {(made := tab.new())}; sleep 2 THEN fine")
    asked = tab.shows(CLAUDE.permission)
    waiting = tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    pane = _pane(tab)
    pressed = tab.answer(CLAUDE.permission, CLAUDE.approve)
    working = tab.wait("working", since=pressed)
    done = tab.wait("done", since=tab.truth("done"))

    tab.promptly(waiting, asked)
    tab.promptly(working, tab.made_at(made))
    tab.promptly(done, tab.truth("done"))
    assert pane.conversation.session
    assert pane.conversation.cwd == str(tab.project)


def _pane(tab: Tab) -> Pane:
    """Return what the host wrote of it, once it has a session."""
    deadline = time.monotonic() + 20
    while True:
        path = next(iter((tab.kitty.runtime_dir / "tallylight").glob("kitty-*.json")), None)
        read = writer.read(path) if path else None
        found = next((pane for pane in read.panes if pane.id == str(tab.window)), None) if read else None
        if found is not None and (found.conversation.session or time.monotonic() > deadline):
            return found
        assert time.monotonic() < deadline, "the host has not written it"
        time.sleep(0.1)
