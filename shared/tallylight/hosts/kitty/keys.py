"""
The actions of kitty's keys that need no window: for all kittens but the watcher.

If one fails, the person and kitty's log get the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kitty.utils import log_error

from tallylight.hosts.kitty import agent_list, fork, panels, watcher
from tallylight.hosts.kitty.host import KittyHost
from tallylight.snapshot.requests import Request

_OFF = "Tallylight does not run in this kitty; run `tally doctor` to see why."
_OF_A_ROW = "This window is the list. Select an agent in it, then press f to fork it, or r to resume it."
_NOT_SNOOZED = "Nothing in this window needs you, so there is nothing to snooze."
_IN_LIST = "This window shows a session with panes of its own. Snooze one of them in the list of agents, with s."


def jump(boss: Any, options: Sequence[str]) -> None:
    """Go to the next window that needs a person, if there is one; *options* are those of `tally jump`."""
    _guarded(boss, lambda host: host.carry_out([Request("jump", "", tuple(options))]))


def agents(boss: Any, window_id: int, options: Sequence[str] = ()) -> None:
    """Open the list over window *window_id*, with `--key d` for that key there."""
    key = options[1] if options[:1] == ["--key"] and len(options) == 2 else ""
    _guarded(boss, lambda host: agent_list.show(host, window_id, key))


def panel(boss: Any, window_id: int) -> None:
    """Open or close the panel beside window *window_id*."""
    _guarded(boss, lambda host: panels.toggle(host, window_id))


def conversation(boss: Any, window_id: int, words: Sequence[str]) -> None:
    """Open the page that forks or resumes the conversation in window *window_id*; *words* are the kitten's."""
    if agent_list.is_list(window_id):
        boss.show_error("Tallylight", _OF_A_ROW)
        return
    _guarded(boss, lambda host: fork.page(host, window_id, words))


def snooze(boss: Any, window_id: int, args: Sequence[str]) -> None:
    """Snooze window *window_id* for the minutes in *args*, or wake it if it is snoozed."""

    def turn(host: KittyHost) -> None:
        pane = host.panes.get(window_id)
        is_snoozed = pane is not None and pane.attention.snoozed
        if pane is None or not (is_snoozed or pane.decision.needs_person):
            is_outer = pane is not None and pane.shows_sessions
            boss.show_error("Tallylight", _IN_LIST if is_outer else _NOT_SNOOZED)
            return
        host.carry_out([Request("snooze", str(window_id), ("0",) if is_snoozed else tuple(args))])

    _guarded(boss, turn)


def attach(boss: Any) -> None:
    """Start the host unless it runs; raise `RuntimeError` if it cannot start."""
    if watcher.start(boss) is None:
        raise RuntimeError(_OFF)


def _guarded(boss: Any, call: Callable[[KittyHost], object]) -> None:
    # After a reload of its configuration, kitty knows our keys before a new window loads the watcher.
    host = watcher.start(boss)
    if host is None:
        boss.show_error("Tallylight", _OFF)
        return
    try:
        call(host)
    except Exception as error:  # kitty must not see our faults
        log_error(f"tallylight: {type(error).__name__}: {error}")
        boss.show_error("Tallylight", f"It failed: {type(error).__name__}: {error}"[:500])
