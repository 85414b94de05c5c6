"""
What is on the screen of a window of kitty, by the window's own `screen`: its text, and the same with its colours.
"""

from __future__ import annotations

from typing import Any

import attrs

from tallylight.evidence.screen import Look
from tallylight.wire.styled import StyledScreen, read_screen


def look(window: Any) -> Look:
    """The visible text of *window*."""
    return Screens().look(window)


@attrs.define
class Screens:
    """The visible text of windows that are looked at again and again: of the same screen it is the same object."""

    #: By window id, what kitty gave for it.
    _seen: dict[int, tuple[str, Look]] = attrs.field(init=False, factory=dict)

    def look(self, window: Any) -> Look:
        """As `look`."""
        screen = window.screen
        chunks: list[str] = []
        screen.as_text(chunks.append, False, False)
        text, cursor = "".join(chunks), screen.cursor
        place = cursor.y, cursor.x, screen.columns, screen.cursor_visible
        known = self._seen.get(window.id)
        if known is not None and known[0] == text:
            before = known[1]
            if place == (before.cursor_row, before.cursor_column, before.columns, before.cursor_visible):
                return before
        found = Look(text.split("\n"), *place)
        self._seen[window.id] = text, found
        return found

    def forget(self, id_: int) -> None:
        """The window *id_* is gone."""
        self._seen.pop(id_, None)


def styled_rows(window: Any) -> list[str]:
    """
    The visible rows of *window* from the top, as text with sequences: each stands by itself, and begins with a reset.

    For `wire.styled`, which believes nothing of them; hyperlinks and marks of prompts are among the sequences.
    """
    chunks: list[str] = []
    # Without the marks of wrapped rows, a row that goes on in the next one and that would be one.
    window.screen.as_text(chunks.append, True, True)
    return "".join(chunks).replace("\r\n", "\r").split("\r")[: window.screen.lines]


def cursor_of(window: Any) -> tuple[int, int] | None:
    """The row and the column of the cursor of *window*, from 0; None if it is hidden."""
    screen = window.screen
    return (screen.cursor.y, screen.cursor.x) if screen.cursor_visible else None


def screen(window: Any) -> StyledScreen:
    """What stands on *window* now, with its colours."""
    return read_screen(styled_rows(window), window.screen.columns, cursor=cursor_of(window))
