"""
A kitten that starts Tallylight in a running kitty: https://sw.kovidgoyal.net/kitty/kittens/custom/

    kitten @ kitten attach.py

`tally setup` has it run through remote control, so that kitty need not be restarted. kitty runs this text with its
folder at the front of sys.path, and only for a moment: everything is imported here.
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
def handle_result(_args, _answer, _target_window_id, boss):
    """Start Tallylight in kitty itself, unless it runs already."""
    _keys.attach(boss)
