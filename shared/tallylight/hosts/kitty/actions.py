"""Actions in kitty: focus a window, open a tab, and jump to the next window that needs a person."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tallylight.snapshot import next_pane as order
from tallylight.snapshot.schema import Pane

#: Shells that read their settings, and then run a command, with `-i -c`.
_SHELLS = ("bash", "zsh", "fish", "ksh", "dash", "sh")
_NOTHING: Mapping[int, Sequence[Pane]] = {}
#: The state of the user's jumps. One kitty has one user.
_journey: order.Journey | None = None


def focus(boss: Any, id_: int) -> bool:
    """Bring window *id_*, its tab and its OS window to the front; return False if it does not exist."""
    window = boss.window_id_map.get(id_)
    if window is None:
        return False
    boss.set_active_window(window, switch_os_window_if_needed=True)
    return True


def offer(boss: Any, command: Sequence[str], title: str) -> bool:
    """
    Run *command* in a new tab behind the current one, which keeps the keyboard; return False if no window is open.

    The user's shell starts it, so that programs are found as usual. The command may open tabs.
    """
    if boss.active_window is None:
        return False
    from kitty.launch import launch, parse_launch_args
    from kitty.utils import resolved_shell

    shell = resolved_shell()
    if shell[0].rpartition("/")[2] in _SHELLS:
        command = [*shell, "-i", "-c", f"exec {shlex.join(command)}"]
    options = ["--type=tab", "--keep-focus", "--allow-remote-control", f"--tab-title={title}"]
    launch(boss, parse_launch_args(options).opts, list(command))
    return True


def jump(
    boss: Any, panes: Sequence[Pane], options: Sequence[str], inside: Mapping[int, Sequence[Pane]] = _NOTHING
) -> str:
    """
    Go to the next pane that needs a person, or back after the last one; return its id, empty if there is none.

    *panes* are all panes; *options* those of `tally jump`: `--previous`, `--any`. *inside* has, by window, the panes of
    an attached session, which take the window's place.
    """
    global _journey
    here = boss.active_window.id if boss.active_window is not None else 0
    windows = {pane.id: id_ for id_, found in inside.items() for pane in found}
    existing = {str(id_) for id_ in boss.window_id_map} | windows.keys()
    own = [pane for pane in panes if pane.id in existing and int(pane.id) not in inside]
    last = _journey.visits[-1][0] if _journey is not None else ""
    _journey, goal = order.jump(
        _journey,
        order.stops(
            [*own, *(pane for found in inside.values() for pane in found)], time.time(), is_any="--any" in options
        ),
        # The terminal does not know which pane of the session is in front.
        last if windows.get(last) == here else str(here),
        existing=existing,
        is_backward="--previous" in options,
    )
    if goal is None or not focus(boss, windows.get(goal) or int(goal)):
        return ""
    return goal
