"""
A kitten that lists every agent, live, over the pane it is called in: https://sw.kovidgoyal.net/kitty/kittens/custom/

    map ctrl+shift+a>a kitten agents.py [--key KEY]

It runs inside kitty and opens a window with the list. kitty runs this text with its folder at the front of sys.path,
and only for a moment: everything is imported here.
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
    """Open the list, in kitty itself."""
    _keys.agents(boss, target_window_id, args[1:])
