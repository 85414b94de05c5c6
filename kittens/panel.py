"""
A kitten that opens and closes the list of agents as a panel: https://sw.kovidgoyal.net/kitty/kittens/custom/

    map ctrl+shift+a>p kitten panel.py

It runs inside kitty. kitty runs this text with its folder at the front of sys.path, and only for a moment: everything
is imported here.
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
def handle_result(_args, _answer, target_window_id, boss):
    """Open or close the panel, in kitty itself."""
    _keys.panel(boss, target_window_id)
