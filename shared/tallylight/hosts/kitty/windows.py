"""
Facts that kitty itself has of its windows: their names, and which ones a person can see.

`screens` has their contents, and `looks` their foreground programs.
"""

from __future__ import annotations

import functools
from typing import Any

from kitty.fast_data_types import current_focused_os_window_id

from tallylight.evidence.titles import clean_title
from tallylight.ui.agent_list.channel import PANEL
from tallylight.wire.values import digits

#: Called for each window in each tick.
_clean = functools.lru_cache(maxsize=1024)(clean_title)


def is_watched(window: Any) -> bool:
    """Return whether *window* may show an agent: it is no panel of ours, which shows the questions of all others."""
    return not window.user_vars.get(PANEL)


def id_of(word: str) -> int:
    """Return *word* as a window's id; 0, which no window has, if it is none."""
    return digits(word, 19)


def visible(boss: Any) -> set[int]:
    """Return the windows that a person could see: their tab is selected and their OS window has the focus."""
    manager = boss.os_window_map.get(current_focused_os_window_id())
    tab = manager.active_tab if manager is not None else None
    return {w.id for w in tab if w.is_visible_in_layout} if tab is not None else set()


def shows_tab_bar(manager: Any) -> bool:
    """
    Return whether the OS window of *manager* shows a tab bar: not below `tab_bar_min_tabs`, nor where it is hidden.
    """
    return bool(manager.tab_bar_should_be_visible and not manager.tab_bar_hidden)


def name(window: Any) -> str:
    """Return the name of *window* for messages; empty if there is none."""
    return _clean(window.title) if window is not None else ""
