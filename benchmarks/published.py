"""Two published rules for what an agent does, silence and patterns on a hardcopy, for the same recordings. Pure.

`Silence`: after four seconds of silence in its terminal an agent waits for its person, else it works. `Patterns`: every
two seconds the visible text is matched, the first state that fits is read, and a new one must be read twice. The
patterns are those of a workflow that watches agents in GNU Screen, in their last published form. They get the text as a
terminal has it. That is better than Screen's own hardcopy, which keeps only the low byte of every character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SILENCE_S = 4.0
PATTERNS_EVERY_S = 2.0

_PROMPT = re.compile(r"^>\s*$|^> $|>█$|^>[\xa0\ufffd]\s*$")
_DIALOG = re.compile(
    r"Esc to cancel|^\s*[❯o]\s*\d+\.\s+|^\s*\d+\.\s+(Yes|No|Skip|Cancel|Continue|Allow)|Do you want to "
    r"|Would you like to |Should I |Type here to tell Claude"
)
_THINKING = re.compile(r"[●◐◑◒◓]|Thinking")
_WORKING = re.compile(
    r"^[✓✗⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|^\s*(Bash|Read|Write|Edit|Grep|Glob|Task|WebFetch)\(|Running in (the )?background"
)
_ERROR = re.compile(r"(^|\s)(Error:|error:|FAILED|Exception:)")


class Silence:
    """The rule of four silent seconds, while an agent is there."""

    def __init__(self) -> None:
        self._is_there = False
        self._last = 0.0

    def agent(self, is_there: bool, now: float) -> None:
        """An agent came to the foreground, or left it."""
        self._is_there, self._last = is_there, now

    def output(self, now: float) -> None:
        """The terminal was written to."""
        self._last = now

    def state(self, now: float) -> str:
        """Return the light at `now`."""
        if not self._is_there:
            return "idle"
        return "waiting" if now - self._last >= SILENCE_S else "working"

    def due(self) -> float | None:
        """When the state changes if nothing else happens."""
        return self._last + SILENCE_S if self._is_there else None


class Patterns:
    """The rule of patterns, asked every two seconds."""

    def __init__(self) -> None:
        self.state = ""
        self._once = ""

    def look(self, lines: Sequence[str]) -> str:
        """Read the visible text; what the light says from now on."""
        found = read(lines)
        if not self.state or found == self.state or found == self._once:
            self.state, self._once = found, ""
        else:
            self._once = found
        return self.state


def read(lines: Sequence[str]) -> str:
    """The state of one text, in the order in which the patterns are tried."""
    shown = list(lines)
    while shown and not shown[-1].strip():
        shown.pop()
    if not shown:
        return "active"
    if any(_PROMPT.search(line) for line in shown[-5:]) or any(_DIALOG.search(line) for line in shown[-10:]):
        return "waiting"
    if any(_THINKING.search(line) for line in shown[-15:]) or any(_WORKING.search(line) for line in shown[-10:]):
        return "working"
    return "error" if any(_ERROR.search(line) for line in shown[-5:]) else "idle"
