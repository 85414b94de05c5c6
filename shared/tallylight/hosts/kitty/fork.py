"""Starts an agent beside a window, by kitty's own launch and without a shell. It serves `kittens/fork.py`, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallylight.actions.page import Place
from tallylight.actions.start import Runs
from tallylight.hosts.kitty import starter
from tallylight.parts import index


def _part() -> Any:
    return index.need("in_kitty", "forks and resumes")


def main(args: Sequence[str]) -> Any:
    """Show the page over the pane and ask; return what is to be started, or nothing."""
    return _part().main(args)


def handle_result(answer: object, window_id: int, boss: Any) -> None:
    """Start the agent that the person agreed to, unless something has changed since."""
    from kitty.fast_data_types import add_timer

    start = _part().Start(boss, window_id, add_timer, launch)
    # kitty is about to close the page; a lookup before that may find it half closed.
    add_timer(lambda _timer: start.guarded(lambda: start.begin(answer, starter.running())), 0.0, False)


def launch(
    boss: Any,
    window: Any,
    plan: Runs,
    cwd: str,
    place: Place,
    more: Mapping[str, str],
    *,
    has_its_environment: bool = False,
) -> Any:
    """
    Start *plan* next to *window*; return the new window.

    Its environment is kitty's for every window, or that of the program in *window*; and *more*.
    """
    from kitty.launch import launch as kitty_launch
    from kitty.launch import parse_launch_args
    from kitty.options.utils import DELETE_ENV_VAR

    options = parse_launch_args(["--copy-env"] if has_its_environment else []).opts
    # `$$` means one dollar sign: kitty replaces a name after a single one by a variable.
    options.env = [
        name if value == DELETE_ENV_VAR else f"{name}={value.replace('$', '$$')}" for name, value in more.items()
    ]
    options.type = {Place.TAB: "tab", Place.OS_WINDOW: "os-window"}.get(place, "window")
    if place in (Place.VSPLIT, Place.HSPLIT):
        options.location = str(place)
    options.source_window = options.next_to = f"id:{window.id}"
    options.cwd = cwd
    options.window_title = plan.title
    if place is Place.TAB:
        options.tab_title = plan.title
    return kitty_launch(boss, options, list(plan.argv))
