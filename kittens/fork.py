"""
A kitten that continues the conversation of the pane it is called over: https://sw.kovidgoyal.net/kitty/kittens/custom/

    map ctrl+shift+a>f kitten fork.py [--resume] [--worktree] [--location vsplit|hsplit|tab|os-window]

It runs inside kitty and opens a window that shows the command and asks. kitty runs this text with its folder at the
front of sys.path, and only for a moment: everything is imported here.
"""

import sys
from pathlib import Path

from kittens.tui.handler import result_handler

sys.path.append(str(Path(sys.path[0], "..", "lib")))
from tallylight.hosts.kitty import starter as _starter

_keys = _starter.finished("keys")


def main(args):
    """Do nothing: this kitten has no window of its own."""


@result_handler(no_ui=True)
def handle_result(args, _answer, target_window_id, boss):
    """Open the page, in kitty itself."""
    _keys.conversation(boss, target_window_id, args[1:])
