"""
A window of kitty, for `actions.answer` and `actions.say`: read and typed into in the process, on its main thread.

kitty reads output on a thread of its own, and parses it later. So before typing, all output is parsed here and the
screen is compared once more. The parser runs on this thread, so it cannot intervene. Only output during those 0.1 ms is
missed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import attrs

from tallylight.actions.answer import Seen
from tallylight.actions.gate import Refusal
from tallylight.hosts.kitty import screens
from tallylight.model.errors import SessionError
from tallylight.pane.pane import Pane
from tallylight.wire.styled import StyledScreen, read_screen

if TYPE_CHECKING:
    from tallylight.hosts.kitty.host import KittyHost

#: The comparison and typing must take no longer, or the screen is compared again, up to so many times.
AT_ONCE_S, COMPARE_TRIES = 0.0002, 5
_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"


@attrs.define
class WindowTypist:
    """The window *window* of *host*, with its pane *pane*."""

    host: KittyHost
    window: Any
    pane: Pane
    #: The rows that `screen` read last.
    _drawn: list[str] = attrs.field(init=False, factory=list)

    def see(self) -> Seen | Refusal:
        """Read the screen, and the foreground process from the process table."""
        if self.window.id not in self.host.boss.window_id_map or self.window.child.child_fd is None:
            return Refusal("gone", "that pane is gone; nothing was typed")
        look = self.host.look_at(self.window, self.pane)
        decision = self.pane.decision
        return Seen(
            pane=str(self.window.id),
            foreground=self.pane.holder(),
            look=look,
            status=decision.status,
            kind=decision.kind,
            confirmed_kind=decision.confirmed_kind,
            takes_paste=bool(self.window.screen.in_bracketed_paste_mode),
        )

    def screen(self) -> StyledScreen:
        """Return the screen that `see` read: nothing is read in between."""
        self._drawn, columns = screens.styled_rows(self.window), self.window.screen.columns
        return read_screen(self._drawn, columns, cursor=screens.cursor_of(self.window))

    def press(self, keys: str, seen: Seen | None = None) -> bool:
        """Type *keys*, if the screen is still that of *seen* once all output is parsed; return whether it was."""
        if self.window.id not in self.host.boss.window_id_map:
            raise SessionError("that pane is gone")
        if seen is not None and not self._still_shows(seen):
            return False
        self.window.write_to_child(keys)
        return True

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:
        """Type *text*, as a bracketed paste if the program uses that; then Enter if *enter*."""
        if self.window.screen.in_bracketed_paste_mode:
            text = f"{_PASTE}{text}{_PASTE_END}"
        return self.press(f"{text}\r" if enter else text, seen)

    def _still_shows(self, seen: Seen) -> bool:
        """Return whether the screen equals *seen*, with all output up to now."""
        for _ in range(COMPARE_TRIES):
            began = time.monotonic()
            if not (
                self.host.parse(self.window)
                and self.window.screen.in_bracketed_paste_mode == seen.takes_paste
                and self.host.look_at(self.window, self.pane) == seen.look
                and (seen.styled is None or screens.styled_rows(self.window) == self._drawn)
            ):
                return False
            # The system may have run other programs meanwhile, such as the agent.
            if time.monotonic() - began < AT_ONCE_S:
                return True
        return False

    def close(self) -> None:
        """Close the window as a key of kitty's does, without a question: the person was asked."""
        if self.window.id not in self.host.boss.window_id_map:
            raise SessionError("that pane is gone")
        self.host.boss.mark_window_for_close(self.window.id)
