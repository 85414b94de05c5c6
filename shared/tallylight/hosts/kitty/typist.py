"""
A window of kitty, as `actions.answer` and `actions.say` look at it and type into it: in process, on its main thread.

Nothing of what the program draws is read by kitty between the look and the keys, for that happens on the same thread.
What the program has drawn and kitty has not read yet is what remains.
"""

from __future__ import annotations

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

_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"


@attrs.define
class WindowTypist:
    """The window *window* of *host*, with its pane *pane*."""

    host: KittyHost
    window: Any
    pane: Pane

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
        rows, columns = screens.styled_rows(self.window), self.window.screen.columns
        return read_screen(rows, columns, cursor=screens.cursor_of(self.window))

    def press(self, keys: str) -> None:
        """Type *keys*."""
        if self.window.id not in self.host.boss.window_id_map:
            raise SessionError("that pane is gone")
        self.window.write_to_child(keys)

    def paste(self, text: str, *, enter: bool) -> None:
        """Type *text*, between the marks of a paste if the program has asked for them; Enter behind it if *enter*."""
        if self.window.screen.in_bracketed_paste_mode:
            text = f"{_PASTE}{text}{_PASTE_END}"
        self.press(f"{text}\r" if enter else text)

    def close(self) -> None:
        """As kitty does for a key of its own, without a question: the person was asked."""
        if self.window.id not in self.host.boss.window_id_map:
            raise SessionError("that pane is gone")
        self.host.boss.mark_window_for_close(self.window.id)
