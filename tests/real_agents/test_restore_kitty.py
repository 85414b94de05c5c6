"""Real Claude Code and Codex, resumed in a kitty after the one they ran in, and they themselves, were killed.

tests/real_kitty/test_restore.py has everything else about restoring, without an agent.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_agents.desk import Desk
from tests.real_kitty.roots import SUITES, root_of
from tests.real_kitty.test_restore import all_shown, cut_the_power, wait_kept

#: Agents that are no real ones are tried in the other kitty.
IN_ONE_KITTY = {"test_both_after_a_power_cut": "0.48"}

pytestmark = [pytest.mark.agents, pytest.mark.kitty]


@pytest.fixture(params=list(SUITES))
def desk(request: pytest.FixtureRequest, claude_program: Path, codex_program: Path, tmp_path: Path) -> Iterator[Desk]:
    """A kitty of its own for each test: it is killed."""
    if root_of(request.param) is None:
        pytest.skip(f"no root with kitty {request.param}: run tests/run once as root")
    # A file of its own: another process of the tests may link the common one at any time, which counts as a change.
    own = Path(shutil.copy2(claude_program, tmp_path / "claude"))
    desk = Desk(request.param, tmp_path, claude=own, codex=codex_program)
    own.unlink()  # it is linked in the home
    yield desk
    desk.close()


def test_both_after_a_power_cut(desk: Desk, codex_program: Path) -> None:
    """Both go on with what was said, in tabs of their old names; Codex's update is said; nothing is started twice."""
    kitty = desk.kitty
    words = {}
    for agent, command in (("claude", "claude --permission-mode manual"), ("codex", "codex --no-daemon")):
        tab = desk.borrow(agent, command)
        kitty.eval(f"boss.tab_for_id({kitty.tab_of(tab.window)}).set_title('the {agent} of old')")
        words[agent] = tab.new("remember")
        tab.submit(words[agent])
        tab.truth("done")
    wait_kept(kitty, ["the claude of old", "the codex of old"])

    def known() -> dict[str, str] | None:
        kept = next((kitty.home / ".local/state/tallylight/open").glob("kitty-*.json")).read_text()
        found = dict(re.findall(r'"conversation":\{"agent":"(\w+)","session":"([\w-]+)"', kept))
        return found if found.keys() == words.keys() else None

    sessions = kitty.wait_until(known, 30, "both session ids on disk")
    cut_the_power(kitty)

    newer = kitty.home / "codex-newer/codex"
    newer.parent.mkdir()
    # Of its own, as Claude's; it starts from nowhere else.
    own = Path(shutil.copy2(codex_program, codex_program.with_name("own")))
    own.replace(codex_program)
    newer.symlink_to(codex_program)
    (kitty.home / ".local/bin/codex").unlink()
    (kitty.home / ".local/bin/codex").symlink_to(newer)
    kitty.start_kitty()
    kitty.wait_until(lambda: any("2 conversations were open" in tab["title"] for tab in kitty.tabs()), what="the offer")
    before = {window["id"] for window in kitty.windows()}
    env = {name: value for launch in desk.launches.values() for name, value in launch.env.items()}
    page = kitty.launch("bash", "--norc", env=env)
    kitty.wait_until(lambda: kitty.get_text(page).strip(), what="the shell's prompt")
    kitty.send_text(page, "tally restore\r")
    kitty.wait_text(page, "resume 2")
    shown = re.sub(r"\s+", " ", all_shown(kitty, page))
    assert f"claude --resume {sessions['claude']}" in shown and f"codex resume {sessions['codex']}" in shown
    assert "Codex has been updated or replaced since then" in shown and "Code has been updated" not in shown
    kitty.send_key(page, "enter")

    def restored() -> dict[str, int] | None:
        found = {tab["title"]: tab["windows"][0]["id"] for tab in kitty.tabs() if tab["windows"][0]["id"] not in before}
        return found if {"the claude of old", "the codex of old"} <= found.keys() else None

    windows = kitty.wait_until(restored, 30, "two tabs of the old names")
    assert list(windows)[-2:] == ["the claude of old", "the codex of old"]
    for agent, word in words.items():
        kitty.wait_text(windows[f"the {agent} of old"], word, 60)
    again = kitty.launch("bash", "--norc", env=env)
    kitty.send_text(again, "tally restore\r")
    kitty.wait_text(again, "no conversation is left to resume")
    assert len(kitty.windows()) == len(before) + 4
