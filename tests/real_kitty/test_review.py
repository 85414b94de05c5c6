"""From a green light to a comment in a real kitty: the changes of a turn in the pager, comments in the editor, sent."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.real_kitty.test_agents_list import Board, play, typed
from tests.real_kitty.test_collisions import WHO, give_git

#: What decides is the same in all.
IN_ONE_KITTY = "0.48"
_CONFIG = """
map ctrl+shift+a>v kitten {kittens}/agents.py --key d
env PAGER=cat
env EDITOR={home}/editor
"""
_EDITOR = """#!/bin/sh
sed -i 's/^+two$/&\\n>> why two?/' "$1"
"""


@pytest.fixture
def board(kitty_version: str) -> Iterator[Board]:
    found = Board(kitty_version)
    give_git(found.kitty.home)
    yield found
    found.close()


def test_from_green_to_a_comment(board: Board) -> None:
    """Five keys and an editor; the person's own line, of before the turn, is not in the diff."""
    home = board.kitty.home
    top = home / "shop"
    top.mkdir()
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *words], cwd=top, check=True, env={**os.environ, **WHO})
    (home / "editor").write_text(_EDITOR)
    (home / "editor").chmod(0o755)
    board.configure(_CONFIG.format(kittens=board.kittens, home=home))
    (top / "mine").write_text("person\n")

    window = play(board, "claude-text", "truth working", "truth done", cwd=str(top))
    board.wait_status(window, "working")
    store = home / ".local/state/tallylight/work"
    # The file of the person, and the tree with it.
    board.kitty.wait_until(lambda: len([*store.glob("*/*/objects/??/*")]) == 2, what="the tree of the beginning")
    (top / "new").write_text("two\n")
    board.kitty.send_text(window, "\x02")
    board.kitty.wait_until(lambda: any(store.glob("*/turns.jsonl")), what="the end of the turn")
    (home / "typed").write_bytes(b"")

    board.kitty.focus_window(window)
    board.press("ctrl+shift+a", "v")
    board.kitty.wait_until(board.lists_now, what="the list")
    (list_,) = board.lists_now()
    shown = board.kitty.wait_text(list_, "c comment")
    assert "+two" in shown and "person" not in shown
    board.press("c")
    board.kitty.wait_text(list_, "new:1 `two`: why two?")
    board.press("Return")
    sent = b"\x1b[200~new:1 `two`: why two?\x1b[201~\r"
    board.kitty.wait_until(lambda: sent in typed(board), what="the comment in the agent")
