"""Real Claude Code in the background, in a kitty that nobody told about it: listed, and one row where it is shown."""

from __future__ import annotations

import re
import time

import pytest

from tallylight.snapshot import rows, writer
from tallylight.snapshot.schema import Snapshot
from tests.real_agents.desk import Desk

#: Nothing of it differs between kittys.
IN_ONE_KITTY = "0.48"

pytestmark = pytest.mark.agents


def snapshots(desk: Desk) -> list[Snapshot]:
    """Return what every host in that kitty's runtime directory says."""
    folder = desk.kitty.runtime_dir / "tallylight"
    return [writer.read(path) for path in folder.glob("*-*.json")]


def listed(desk: Desk) -> dict[str, str]:
    """The light of each row in the list, by the id of its pane, or by what runs there."""
    return {row.pane.id: str(row.pane.status) for row in rows.build(snapshots(desk), "", time.time())}


def test_it_is_one_row_wherever_it_is_shown(desk: Desk) -> None:
    """kitty has the session watched as soon as there is one; a tab in which it is attached adds no row."""
    kitty, launch = desk.kitty, desk.launches["claude"]
    given = {n: v for n, v in launch.env.items() if n.startswith(("ANTHROPIC", "CLAUDE", "DISABLE"))}
    window = kitty.launch(env=given, cwd=str(launch.cwd), keep_focus=True)
    kitty.wait_until(lambda: kitty.window(window)["at_prompt"], 30, "the shell's prompt")
    kitty.send_text(window, "claude --bg --permission-mode manual 'TOOL touch made THEN AFTER 1 fine'\r")
    said = kitty.wait_until(lambda: re.search(r"backgrounded · (\w+)", kitty.get_text(window)), 30, "the session")
    id_ = f"claude/{said[1]}"
    kitty.wait_until(lambda: listed(desk).get(id_) == "waiting", 30, "its row")
    assert "waiting" not in {pane.status for one in snapshots(desk) if one.host == "kitty" for pane in one.panes}

    shown = kitty.launch("claude", "attach", said[1], env=given, cwd=str(launch.cwd), keep_focus=True)
    kitty.wait_text(shown, "Do you want to proceed", 30)
    kitty.wait_until(
        lambda: any(p.id == str(shown) and p.status == "waiting" for one in snapshots(desk) for p in one.panes),
        30,
        "the light of its tab",
    )
    kitty.wait_until(lambda: str(shown) not in listed(desk), 30, "one row")
    assert listed(desk)[id_] == "waiting"
    time.sleep(1)  # Claude leaves a key alone that comes with the dialog
    kitty.send_text(shown, "1")
    kitty.wait_until(lambda: listed(desk).get(id_) in ("done", "idle"), 30, "its end")
    kitty.send_text(window, f"claude stop {said[1]}\r")
    kitty.wait_until(lambda: id_ not in listed(desk), 30, "the end of its row")
