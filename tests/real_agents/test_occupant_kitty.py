"""
A real Claude Code behind what leads to it, in a real kitty: the same lights, its session and its project.

Neovim, which the root of that kitty does not have, is taken along with the libraries that it lacks there.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tallylight.snapshot import writer
from tallylight.snapshot.schema import Pane
from tests.real_agents.desk import CLAUDE, Tab
from tests.real_kitty.roots import root_of

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

#: How `tally` ends where a rule refuses.
REFUSED = 7
COMMAND = "claude --permission-mode manual"
#: One of each kind: tests/evidence/test_occupants.py tries forty of them with a program that does nothing.
WAYS = {
    "no job control": f"bash -c {shlex.quote(f'set +m; {COMMAND}; true')}",
    "a terminal of its own": f"script -qc {shlex.quote(f'{COMMAND}; true')} /dev/null",
    "processes of its own": f"unshare -pf --mount-proc {COMMAND}",
    "Neovim": f"sh {{bin}}/nvim.sh -u NONE -i NONE -c 'set shell=/bin/sh' -c 'terminal {COMMAND}' -c startinsert",
}


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Neovim of this machine, where the kitty's root sees it."""
    root, folder = root_of("0.41"), tmp_path_factory.mktemp("carried")
    program = shutil.which("nvim")
    if program is None or root is None:
        pytest.skip("NOT TESTED: there is no nvim")
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    libraries = [Path(word) for word in said.split() if word.startswith("/")]
    for path in (Path(program), *(one for one in libraries if not (root / one.relative_to("/")).exists())):
        shutil.copy(path, folder)
    (folder / "nvim.sh").write_text(f'LD_LIBRARY_PATH={folder} exec {folder}/nvim "$@"\n')
    return folder


@pytest.mark.parametrize("desk", ["0.41"], indirect=True)
@pytest.mark.parametrize("name", WAYS)
def test_a_question_behind_a_leader(name: str, borrow: Callable[[str, str], Tab], carried: Path) -> None:
    """Listed by its name at once; blue, amber at its question, green at the end; with session and project."""
    tab = borrow("claude", WAYS[name].format(bin=carried))
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


@pytest.mark.parametrize("desk", ["0.41"], indirect=True)
def test_nothing_is_typed_into_an_editor(borrow: Callable[[str, str], Tab], carried: Path) -> None:
    """It says why and what to do; who goes there answers there."""
    tab = borrow("claude", WAYS["Neovim"].format(bin=carried))
    tab.wait("idle", since=tab.ready)
    tab.submit("TOOL touch into-an-editor THEN fine")
    tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    told = tab.kitty.home / "told"
    tried = (f"tally read {tab.window} --question", f"tally send {tab.window} 'go on'")
    lines = (f"{words} 2>> {told}; echo $? >> {told}" for words in tried)
    tab.kitty.launch("sh", "-c", f"{'; '.join(lines)}; echo end >> {told}", keep_focus=True)
    tab.kitty.wait_until(lambda: told.exists() and told.read_text().endswith("end\n"), 30, "the refusals")
    first, code, second, other, _ = told.read_text().splitlines()
    assert (int(code), int(other)) == (REFUSED, REFUSED)
    assert all("in a terminal that nvim draws" in said and "go to that pane" in said for said in (first, second))
    tab.answer(CLAUDE.permission, CLAUDE.approve)
    tab.wait("done", since=tab.truth("done"))


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
