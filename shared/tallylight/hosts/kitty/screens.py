"""The screen of a kitty window with its colours. `looks` has the text alone."""

from __future__ import annotations

from typing import Any


def styled_rows(window: Any) -> list[str]:
    """
    Return the visible rows of the program in *window*, from the top, even if a person has scrolled back.

    They are text with sequences: each row is complete, and begins with a reset. Pass them to `wire.styled`, which
    trusts nothing in them; hyperlinks and marks of prompts are among the sequences.
    """
    chunks: list[str] = []
    # With marks of wrapped rows, a row and its continuation would become one.
    window.screen.as_text_non_visual(chunks.append, True, True)
    return "".join(chunks).replace("\r\n", "\r").split("\r")[: window.screen.lines]


def cursor_of(window: Any) -> tuple[int, int] | None:
    """Return the row and the column of the cursor of *window*, from 0; None if it is hidden."""
    screen = window.screen
    return (screen.cursor.y, screen.cursor.x) if screen.cursor_visible else None
