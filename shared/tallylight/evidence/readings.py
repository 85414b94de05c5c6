"""
The readings of one agent's screen: its contents when it was last worth reading.

Looks go in, four a second. The screen is read when it has come to rest, has just changed as a whole, or the last
reading is in doubt. While it moves, every `MOVING_LOOKS`th look is read. A dialog does not move, and reading costs more
than looking.
"""

from __future__ import annotations

from tallylight.agents.agent import Agent
from tallylight.evidence.prompts import ScreenReading, read_screen
from tallylight.evidence.screen import Change, Look, ScreenWatch
from tallylight.model.status import Status

MOVING_LOOKS = 4


class Readings:
    """Reads the screen of one run of one agent, as rarely as is enough."""

    def __init__(self) -> None:
        #: The last reading; and whether the look before had the same contents and was not read.
        self.found: ScreenReading | None = None
        self.was_unread = False
        #: The change of the last look, whether it changed the whole screen at once, and looks since there was output.
        self.change = Change.NONE
        self.is_burst = False
        self.quiet = 0
        self._watch = ScreenWatch()
        self._looks: tuple[Look | None, Look | None] = (None, None)
        self._read: Look | None = None
        self._unread = 0

    @property
    def before(self) -> Look | None:
        """The look before the last one."""
        return self._looks[1]

    def look(self, look: Look) -> Change:
        """Take in one look, and return the change since the last one."""
        before, change = self.change, self._watch.look(look)
        self.change = change
        self.quiet = 0 if change.is_output else self.quiet + 1
        self.is_burst = change is Change.MAJOR and before is not Change.MAJOR
        self._looks = self._looks[1], look
        return change

    def forget(self) -> None:
        """Forget the last reading."""
        self.found = self._read = None

    def read(self, agent: Agent, look: Look, *, is_doubted: bool) -> None:
        """Read the *look* that was just taken in, if it is time; *is_doubted*: the last reading is to be confirmed."""
        self._unread += 1
        self.was_unread = False
        read = self._read
        is_time = self.quiet > 0 or self.is_burst or is_doubted or self._unread >= MOVING_LOOKS or read is None
        if not is_time or (read is not None and (read.lines, read.cursor_row) == (look.lines, look.cursor_row)):
            return
        was_read, self._unread, before = self._unread == 1, 0, self.found
        self._read, self.found = look, _read(agent, look)
        earlier, said = self._looks[0], _status_and_kind(self.found)
        if (
            not was_read
            and earlier is not None
            and said not in (None, _status_and_kind(before))
            and said[0] is not Status.IDLE
        ):
            self.was_unread = _status_and_kind(_read(agent, earlier)) == said


def _read(agent: Agent, look: Look) -> ScreenReading | None:
    return read_screen(agent, look.lines, look.cursor_row, columns=look.columns, cursor_visible=look.cursor_visible)


def _status_and_kind(found: ScreenReading | None) -> tuple[object, ...] | None:
    return (found.status, found.kind) if found is not None else None
