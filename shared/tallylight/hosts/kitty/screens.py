"""
What is on the screen of a window of kitty, by the window's own `screen`: its text, and the same with its colours.
"""

from __future__ import annotations

from typing import Any

from tallylight.evidence.looks import Look
from tallylight.wire.styled import StyledScreen, read_screen


def look(window: Any) -> Look:
    """The visible text of *window*."""
    screen = window.screen
    chunks: list[str] = []
    screen.as_text(chunks.append, False, False)
    cursor = screen.cursor
    return Look(
        "".join(chunks).split("\n"),
        cursor_row=cursor.y,
        cursor_column=cursor.x,
        columns=screen.columns,
        cursor_visible=screen.cursor_visible,
    )


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
