"""
A window of kitty, as `actions.answer` and `actions.say` look at it and type into it: in process, on its main thread.

kitty reads in a thread of its own, and parses later. So before anything is typed, all that the program has written is
parsed here, and the screen compared once more: its parser runs on this thread, and cannot come between. What the
program writes while that is done, some 0.1 ms, is what remains.
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

#: Within so many seconds the screen is compared and typed to, or it is compared again, so many times.
AT_ONCE_S, TRIES = 0.0002, 5
_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"


@attrs.define
class WindowTypist:
    """The window *window* of *host*, with its pane *pane*."""

    host: KittyHost
    window: Any
    pane: Pane
    #: The rows that `screen` has read last.
    _drawn: list[str] = attrs.field(init=False, factory=list)

    def see(self) -> Seen | Refusal:
        """The screen as it is, and the process in the foreground from the process table."""
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
        """The same screen as `see` has seen, for nothing is read in between."""
        self._drawn, columns = screens.styled_rows(self.window), self.window.screen.columns
        return read_screen(self._drawn, columns, cursor=screens.cursor_of(self.window))

    def press(self, keys: str, seen: Seen | None = None) -> bool:
        """Type *keys*, if the screen is still that of *seen* once all is parsed."""
        if self.window.id not in self.host.boss.window_id_map:
            raise SessionError("that pane is gone")
        if seen is not None and not self._still_shows(seen):
            return False
        self.window.write_to_child(keys)
        return True

    def paste(self, text: str, *, enter: bool, seen: Seen | None = None) -> bool:
        """Type *text*, between the marks of a paste if the program has asked for them; Enter behind it if *enter*."""
        if self.window.screen.in_bracketed_paste_mode:
            text = f"{_PASTE}{text}{_PASTE_END}"
        return self.press(f"{text}\r" if enter else text, seen)

    def _still_shows(self, seen: Seen) -> bool:
        """Return whether all is as it was *seen*, with all that was written up to now."""
        for _ in range(TRIES):
            began = time.monotonic()
            if not (
                self.host.parse(self.window)
                and self.window.screen.in_bracketed_paste_mode == seen.takes_paste
                and self.host.look_at(self.window, self.pane) == seen.look
                and (seen.styled is None or screens.styled_rows(self.window) == self._drawn)
            ):
                return False
            # The system may have had other programs run meanwhile, the agent for one.
            if time.monotonic() - began < AT_ONCE_S:
                return True
        return False

    def close(self) -> None:
        """As kitty does for a key of its own, without a question: the person was asked."""
        if self.window.id not in self.host.boss.window_id_map:
            raise SessionError("that pane is gone")
        self.host.boss.mark_window_for_close(self.window.id)
