"""
tmux's control mode: replies and notifications, line by line. https://github.com/tmux/tmux/wiki/Control-Mode

A reply is between `%begin TIME NUMBER FLAGS` and `%end` (or `%error`) with the same three words. Any other line that
starts with `%` is a notification. The reader takes lines and returns a `Reply`, a `Notice` or the `Output` of a pane.
The size of a reply is limited.
"""

from __future__ import annotations

import enum
import re

import attrs

#: The most lines and characters of one reply; a longer one is cut.
MAX_REPLY_LINES = 20_000
MAX_REPLY_CHARS = 4 * 1024 * 1024
#: Notifications of a change in the list of panes, or in its fields.
_CHANGES = re.compile(
    r"%(?:sessions-changed|session-(?:renamed|changed|window-changed)|client-(?:session-changed|detached)"
    r"|(?:unlinked-)?window-(?:add|close|renamed|pane-changed)|layout-change|pane-mode-changed|subscription-changed)\b"
)
#: With `pause-after`, a line of output also has its age.
_OUTPUT = re.compile(r"%(?:output (%\d+) |extended-output (%\d+) [^:]*: )")
_PAUSE = re.compile(r"%pause (%\d+)\s*\Z")
_MOVED = re.compile(r"%session-changed (\$\d+) ")
_FRAME = re.compile(r"%(begin|end|error) (\d+ \d+ \d+)\s*\Z")


@attrs.frozen
class Reply:
    """The reply to a command; *is_error* if it failed."""

    text: str
    is_error: bool


class Notice(enum.Enum):
    """Other notifications: something changed, or the session or server ended or detached this client."""

    CHANGE = "change"
    END = "end"


@attrs.frozen
class Output:
    """Output of the program in *pane*; *data* is None where output is missing."""

    pane: str
    data: bytes | None


@attrs.define
class ControlReader:
    """
    Reads the lines of one control client.

    *session* is the one that it is attached to. A client that tmux moves to another one must leave.
    """

    session: str = ""
    _frame: str = ""
    _lines: list[str] = attrs.Factory(list)
    _size: int = 0

    def line(self, line: str) -> Reply | Notice | Output | None:
        """Return the event that *line* completes, given without its line end; None if it completes none."""
        match = _FRAME.match(line)
        if self._frame:
            if match is not None and match[1] != "begin" and match[2] == self._frame:
                reply = Reply("\n".join(self._lines), match[1] == "error")
                self._frame, self._lines, self._size = "", [], 0
                return reply
            if len(self._lines) < MAX_REPLY_LINES and self._size + len(line) <= MAX_REPLY_CHARS:
                self._lines.append(line)
                self._size += len(line) + 1
            return None
        if match is not None and match[1] == "begin":
            self._frame = match[2]
            return None
        return self._notice(line)

    def _notice(self, line: str) -> Notice | Output | None:
        if found := _OUTPUT.match(line):
            return Output(found[1] or found[2], _bytes(line[found.end() :]))
        if found := _PAUSE.match(line):
            return Output(found[1], None)
        moved = _MOVED.match(line)
        if line.startswith("%exit") or (moved is not None and self.session not in ("", moved[1])):
            return Notice.END
        return Notice.CHANGE if _CHANGES.match(line) else None


def _bytes(text: str) -> bytes:
    """Return the output in *text*, where tmux writes controls and backslashes as octal numbers."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("unicode_escape").encode("latin-1")
    except ValueError:
        return b""
