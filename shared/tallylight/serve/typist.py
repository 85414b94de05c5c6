"""
The typist: what reads a detached session's screen and types into it, at a person's word.

An interface: `tallylight.hosts` has those of tmux and GNU Screen. Text is typed as it is, with every control character
refused but tab and newline: nobody presses Ctrl-C or Escape by way of a text.
"""

from __future__ import annotations

from typing import Protocol

from tallylight.snapshot_schema import Pane

#: Characters of one text.
MAX_TEXT = 4096
_ALLOWED = "\t\n"


class Typist(Protocol):
    """Reads and types. Each call takes as long as the multiplexer does; `errors.SessionError` says what went wrong."""

    def can_type(self, host: str, pane: Pane) -> bool: ...
    def read(self, host: str, pane: Pane) -> list[str]: ...
    def type(self, host: str, pane: Pane, text: str, *, enter: bool) -> None: ...
    def interrupt(self, host: str, pane: Pane) -> None: ...


def forbidden(text: str) -> str:
    """The first character of *text* that is never typed, as a person reads it; nothing if there is none."""
    found = next((c for c in text if (not c.isprintable() and c not in _ALLOWED) or c in "\u2028\u2029"), "")
    return f"U+{ord(found):04X}" if found else ""
