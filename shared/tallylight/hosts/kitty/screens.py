"""
What is on the screen of a window of kitty, with its colours, by the window's own `screen`. `looks` has the text alone.
"""

from __future__ import annotations

from typing import Any


def styled_rows(window: Any) -> list[str]:
    """
    The rows that the program in *window* shows, from the top, also where a person has scrolled back.

    They are text with sequences: each row is complete, and begins with a reset. For `wire.styled`, which believes
    nothing of them; hyperlinks and marks of prompts are among the sequences.
    """
    chunks: list[str] = []
    # Without the marks of wrapped rows, a row that goes on in the next one and that would be one.
    window.screen.as_text_non_visual(chunks.append, True, True)
    return "".join(chunks).replace("\r\n", "\r").split("\r")[: window.screen.lines]


def cursor_of(window: Any) -> tuple[int, int] | None:
    """The row and the column of the cursor of *window*, from 0; None if it is hidden."""
    screen = window.screen
    return (screen.cursor.y, screen.cursor.x) if screen.cursor_visible else None
