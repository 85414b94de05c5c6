"""
tmux's control mode: replies and notifications, line by line. https://github.com/tmux/tmux/wiki/Control-Mode

A reply is between `%begin TIME NUMBER FLAGS` and `%end` (or `%error`) with the same three words; anything else that
starts with `%` is a notification. Lines go in, a `Reply` or a `Notice` comes out. What a reply may hold is bounded.
"""

from __future__ import annotations

import enum
import re

import attrs

#: Of one reply, in lines and in characters; a longer one is cut.
MAX_LINES = 20_000
MAX_CHARS = 4 * 1024 * 1024
#: The events after which the list of panes, or what is in it, has changed.
_CHANGES = re.compile(
    r"%(?:sessions-changed|session-(?:renamed|changed|window-changed)|client-(?:session-changed|detached)"
    r"|(?:unlinked-)?window-(?:add|close|renamed|pane-changed)|layout-change|pane-mode-changed|subscription-changed)\b"
)
_FRAME = re.compile(r"%(begin|end|error) (\d+ \d+ \d+)\s*\Z")


@attrs.frozen
class Reply:
    """The answer to a command; *is_error* if it failed."""

    text: str
    is_error: bool


class Notice(enum.Enum):
    """The other events: that something has changed, or that the session or the server has gone, or sent us away."""

    CHANGE = "change"
    END = "end"


@attrs.define
class ControlReader:
    """Reads the lines of one control client."""

    _frame: str = ""
    _lines: list[str] = attrs.Factory(list)
    _size: int = 0

    def line(self, line: str) -> Reply | Notice | None:
        """What *line*, without its end, completes; None if nothing."""
        match = _FRAME.match(line)
        if self._frame:
            if match is not None and match[1] != "begin" and match[2] == self._frame:
                reply = Reply("\n".join(self._lines), match[1] == "error")
                self._frame, self._lines, self._size = "", [], 0
                return reply
            if len(self._lines) < MAX_LINES and self._size + len(line) <= MAX_CHARS:
                self._lines.append(line)
                self._size += len(line) + 1
            return None
        if match is not None and match[1] == "begin":
            self._frame = match[2]
            return None
        if line.startswith("%exit"):
            return Notice.END
        return Notice.CHANGE if _CHANGES.match(line) else None
