"""
tmux's control mode: replies and notifications, line by line. https://github.com/tmux/tmux/wiki/Control-Mode

A reply is between `%begin TIME NUMBER FLAGS` and `%end` (or `%error`) with the same three words; anything else that
starts with `%` is a notification. Lines go in, a `Reply`, a `Notice` or the `Output` of a pane comes out. What a reply
may hold is bounded.
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
#: With `pause-after` a line of output also says how old it is.
_OUTPUT = re.compile(r"%(?:output (%\d+) |extended-output (%\d+) [^:]*: )")
_PAUSE = re.compile(r"%pause (%\d+)\s*\Z")
_MOVED = re.compile(r"%session-changed (\$\d+) ")
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


@attrs.frozen
class Output:
    """Output of the program in *pane*; *data* is None for output that is missing from here on."""

    pane: str
    data: bytes | None


@attrs.define
class ControlReader:
    """
    Reads the lines of one control client.

    *session* is the one that it is attached to. A client that tmux moves to another one has to go.
    """

    session: str = ""
    _frame: str = ""
    _lines: list[str] = attrs.Factory(list)
    _size: int = 0

    def line(self, line: str) -> Reply | Notice | Output | None:
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
    """The output that tmux writes as *text*: controls and backslashes are octal."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("unicode_escape").encode("latin-1")
    except ValueError:
        return b""
