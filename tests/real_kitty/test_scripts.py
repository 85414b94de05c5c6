"""What scripts may do in a real kitty: whom a person is asked about, and what is started for whom."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real_kitty.test_agents_list import Board

pytestmark = pytest.mark.timeout(240)

_CODEX = """#!/bin/sh
tally start claude > ~/started 2>&1
echo $? >> ~/started
"""


@pytest.fixture(scope="module")
def board(kitty_version: str) -> Iterator[Board]:
    board = Board(kitty_version)
    yield board
    board.close()


def test_a_script_that_calls_itself_an_agent_starts_what_kitty_finds(board: Board) -> None:
    """Neither the program nor the environment of the new pane is from the script's PATH and variables."""
    home, kitty = board.kitty.home, board.kitty
    forged = home / "forged"
    forged.mkdir()
    for name, text in (("codex", _CODEX), ("claude", "#!/bin/sh\ntouch ~/forged/ran\nexec sleep 1000\n")):
        (forged / name).write_text(text)
        (forged / name).chmod(0o755)
    before = {window["id"] for window in kitty.windows()}
    kitty.send_text(board.in_front(), 'PATH="$HOME/forged:$PATH" ANTHROPIC_BASE_URL=http://forged codex\r')
    kitty.wait_until(lambda: (home / "started").exists(), what="the end of the script")
    kitty.wait_until(lambda: (home / "started").read_text().endswith("\n0\n"), what="what was started")
    (made,) = {window["id"] for window in kitty.windows()} - before
    board.wait_status(made, "waiting")

    environ = kitty.eval(f"return boss.window_id_map[{made}].child.environ")
    assert "forged" not in str(environ)
    assert kitty.eval(f"return boss.window_id_map[{made}].child.argv") == [f"{home}/.local/bin/claude"]
    assert not (forged / "ran").exists()
