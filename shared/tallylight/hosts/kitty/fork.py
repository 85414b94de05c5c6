"""
Starts an agent beside a window, by kitty's own launch and without a shell; and the page of a fork or resume before it.

A kitten with a window of its own would be a kitty of its own, which starts slowly. So the page is our program, in a
window over the pane, and it has a channel for its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kitty.fast_data_types import add_timer
from kitty.tabs import SpecialWindow

from tallylight.actions.page import Place
from tallylight.actions.start import Runs
from tallylight.hosts.kitty import channel
from tallylight.parts import index
from tallylight.ui.confirm import announcement


def page(host: Any, window_id: int, words: Sequence[str]) -> None:
    """Open the page over window *window_id* of *host*; *words* are those of the kitten. Start what is agreed to."""
    part = index.need("in_kitty", "forks and resumes")
    window = host.boss.window_id_map.get(window_id)
    tab = window.tabref() if window is not None else None
    if window is None or tab is None:
        return
    verb = "resume" if "--resume" in words else "fork"
    command = channel.command(host.command, verb, *(word for word in words if word not in ("--fork", "--resume")))

    def make(fd: int) -> Any:
        env = {part.CHANNEL: str(fd), part.ROOT: str(window.child.pid or 0)}
        special = SpecialWindow(command, override_title=verb, env=env, cwd="/", overlay_for=window_id)
        return tab.new_special_window(special, copy_colors_from=window, pass_fds=(fd,))

    opened, near = channel.opened(make)
    opened.screen.draw(f"\r\n  {announcement(verb)}")
    opened.screen.cursor_visible = False
    start = part.Start(host.boss, window_id, add_timer, launch)

    def ended(_window: Any) -> None:
        # The page is about to close; a lookup before that may find it half closed.
        answer = part.received(near)
        if answer is not None:
            add_timer(lambda _timer: start.guarded(lambda: start.begin(answer, host)), 0.0, False)

    opened.actions_on_removal.append(ended)


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
