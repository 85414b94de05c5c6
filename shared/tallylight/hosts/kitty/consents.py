"""
Asks a person for consent in kitty: a window over a pane, which runs `ui.consent`.

The answer arrives over a private channel: a program that can write to that window's terminal cannot answer. A window
that closes without an answer means no.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from kitty.constants import kitty_exe
from kitty.tabs import SpecialWindow

from tallylight.actions.consent import GOOD_COLUMNS, YES, Consent
from tallylight.actions.gate import Refusal
from tallylight.hosts.kitty import channel


def ask(window: Any, page: Consent, answered: Callable[[bool], None]) -> Refusal | None:
    """
    Ask over *window*; *answered* gets the answer. Return a refusal if the window is too small to show all of *page*.
    """
    columns, rows = window.screen.columns, window.screen.lines
    if not page.fits(columns, rows):
        size = f"window {window.id} has {columns} columns and {rows} lines"
        enough = f"make it larger ({GOOD_COLUMNS} columns and {page.lines(GOOD_COLUMNS)} lines do), and try again"
        text = f"the question does not fit: {size}; {enough}; nothing was done"
        return Refusal("room", text)
    tab = window.tabref()
    if tab is None:
        return Refusal("gone", "the pane for the question is gone; nothing was done")

    def make(fd: int) -> Any:
        run = channel.own_code("tallylight.ui.consent", f"main({page.what!r}, {fd})")
        special = SpecialWindow([kitty_exe(), "+runpy", run], override_title=page.title, cwd="/", overlay_for=window.id)
        return tab.new_special_window(special, copy_colors_from=window, pass_fds=(fd,))

    made, near = channel.opened(make)

    def removed(_window: Any) -> None:
        received = b""
        with near, contextlib.suppress(OSError):
            received = near.recv(len(YES) + 1)
        answered(received == YES.encode())

    made.actions_on_removal.append(removed)
    return None
