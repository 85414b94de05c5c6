"""
A kitten that continues the conversation of the pane it is called over: https://sw.kovidgoyal.net/kitty/kittens/custom/

    map ctrl+shift+a>f kitten fork.py [--resume] [--worktree] [--location vsplit|hsplit|tab|os-window]

kitty runs this text with its folder at the front of sys.path, and only for a moment: everything is imported here.
"""

import sys
from pathlib import Path

from kitty.fast_data_types import get_boss

if get_boss() is None:
    # This is the window over the pane, and the imports take their time.
    print("\x1b[H\x1b[2J\r\n  Reading what runs in this pane …", end="", flush=True)

sys.path.append(str(Path(sys.path[0], "..", "lib")))
from tallylight.hosts.kitty import starter as _starter

_fork = _starter.finished("fork")


def main(args):
    """Show the command in the window over the pane, and ask."""
    return _fork.main(args)


def handle_result(_args, answer, target_window_id, boss):
    """Start the command, in kitty itself."""
    _fork.handle_result(answer, target_window_id, boss)
