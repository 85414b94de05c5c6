"""
Looks at the screen of one agent: whether there was output, and what the screen says.

A host and a replay look at a screen every quarter of a second. `ScreenWatch` tells whether what changed was output,
`read_screen` what the screen shows; this module puts the two together into what the tracker is to be told. The rules:

* The screen is read when it has come to rest or has just changed as a whole, and every `MOVING_LOOKS` looks while it
  goes on moving: a dialog stands still, and reading costs more than looking.
* An agent is idle if its screen says so and that look and the one before found no output: an input box stands below an
  answer that is still being written, too. Typing does not end that, whatever becomes of the input box; nor does a
  menu, a picker or a transcript that a person opens: it comes within `TYPED_LOOKS` of what they typed, or of a command
  in the row of the cursor, or its last row names the key to leave it by. But an input box that disappears while nobody
  types is the agent's doing.
* A question in a row, right behind which the cursor stands without a blank, is what a person has typed or pasted where
  the agent is at rest; else it is what an agent writes until it has stood for `STEADY_LOOKS`.
* A dialog that no rule of the agent knows, and that wants no permission, is the person's own menu where it comes to an
  idle screen within `TYPED_LOOKS` of a command that stood in the row of the cursor: `/auth`, `/theme`. Where no such
  command was seen, it is taken for the agent's question: a menu called a question costs a look, the reverse an answer.
* A prompt that was sent (`evidence.sent`) is work for `SENT_LOOKS`, in which the agent is to show that by itself.
* Idle after work is `done`. Work is what the screen called so, or output in `WORK_LOOKS` looks since it was idle. Not
  so where the screen shows that a person stopped the turn (`is_stopped`): who did that need not be told.
* What is read is told twice, because the tracker believes only the second reading that differs (trust rule 6), and then
  in every `AGAIN_LOOKS`th look, because what was seen just now weighs more than what was seen once. Certain
  when it is first told (`is_certain`) are: the rest of an agent whose sign of work is gone, and which two looks have
  found idle; what the look before showed as well, which was not read because the screen moved; and at once a sign of
  work where the agent was at rest, or in the place of a dialog that went as the screen changed as a whole: little is
  lost by it if the next look finds none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.dialogs import is_left_by_key
from tallylight.evidence.prompts import ScreenReading, read_screen
from tallylight.evidence.screen import Change, ScreenWatch
from tallylight.evidence.sent import Sent
from tallylight.evidence.tail import read_tail
from tallylight.model.dialog import Dialog
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.wire.text import width

MOVING_LOOKS = 4
TYPED_LOOKS = 4
STEADY_LOOKS = 4
WORK_LOOKS = 4
AGAIN_LOOKS = 4
SENT_LOOKS = 6
_AT_REST = (Status.IDLE, Status.DONE)

#: An input row that holds a command: edges and a pointer, then a slash and a word.
_COMMAND = re.compile(r"[^\w/]{0,8}/[\w:-]{0,40}(?: .*)?")


@attrs.frozen
class Look:
    """One look at a screen: its visible rows from the top, and the cursor. Rows and columns count from 0."""

    lines: Sequence[str]
    cursor_row: int
    cursor_column: int
    columns: int
    cursor_visible: bool = True


class ScreenReader:
    """The looks at the screen of one run of one *agent*; of None, only output is told."""

    def __init__(self, agent: Agent | None = None) -> None:
        self.agent = agent
        #: The dialog that waits on the screen as of the last look.
        self.dialog: Dialog | None = None
        self._watch = ScreenWatch()
        self._screen: tuple[Sequence[str], int] | None = None
        self._found: ScreenReading | None = None
        #: Looks since the screen was last read, and since there was output.
        self._unread = 0
        self._quiet = 0
        #: Looks since a person typed; none did so far. And since a command stood in the row of the cursor.
        self._untyped = TYPED_LOOKS + 1
        self._uncommanded = TYPED_LOOKS + 1
        #: Whether the screen has changed as a whole since it was at rest, and nobody had typed.
        self._is_parted = False
        #: Whether what it shows is a menu that the person has opened.
        self._is_own_menu = False
        #: Looks with output since it was last at rest; None before it was for the first time.
        self._worked: int | None = None
        #: What it was called when it was last at rest.
        self._rest: Status | None = None
        #: What was told last, in how many looks it was so; and what was told twice, which the tracker believes.
        self._told: Report | None = None
        self._times = 0
        self._believed: Report | None = None
        self._was_major = False
        self._is_burst = self._is_still = False
        self._sent = Sent()
        #: The look before, and the one before that.
        self._before: Look | None = None
        self._earlier: Look | None = None
        #: Whether the look before showed what was found in this one, and was not read then.
        self._stood = False
        #: Whether a command stands in the row of the cursor.
        self._is_commanded = False
        #: Looks in which a prompt that was sent is still taken for work; and whether there was output since.
        self._to_show = 0
        self._has_moved = False
        #: Whether the last reading but idle ones called it work.
        self._shows_work = False
        #: Whether what was told last was read twice before.
        self.is_certain = False

    @property
    def is_stopped(self) -> bool:
        """Whether the screen as of the last look shows, below an agent at rest, that a person stopped its turn."""
        return self._found is not None and self._found.is_stopped and self._quiet > 0

    def look(self, look: Look) -> Change:
        """Take in one look; what changed since the last one."""
        change = self._watch.look(
            look.lines,
            look.cursor_row,
            look.columns,
            cursor_column=look.cursor_column,
            cursor_visible=look.cursor_visible,
        )
        self._quiet = 0 if change.is_output else self._quiet + 1
        self._untyped = 0 if change is Change.TYPING else self._untyped + 1
        if self._to_show:
            self._to_show -= 1
            self._has_moved |= change.is_output
        before, self._before = self._before, look
        self._earlier = before
        if change is not Change.NONE or before is None or look.cursor_column != before.cursor_column:
            self._is_commanded = _has_command(look)
            if before is not None:
                self._look_at_input(look, before, change)
        self._uncommanded = 0 if self._is_commanded else self._uncommanded + 1
        if change is Change.MAJOR and min(self._untyped, self._uncommanded) > TYPED_LOOKS:
            self._is_parted = True
        self._is_still = change is Change.NONE
        self._is_burst = change is Change.MAJOR and not self._was_major
        self._was_major = change is Change.MAJOR
        if change.is_output and self._worked is not None:
            self._worked += 1
        return change

    def _look_at_input(self, look: Look, before: Look, change: Change) -> None:
        """See whether a prompt was sent."""
        if self._to_show or not self._is_at_rest:
            self._sent.forget()
        elif self._found is not None and self._found.status is Status.IDLE and not self._is_own_menu:
            # Else the cursor may be anywhere.
            above = look.lines[look.cursor_row - 1] if 0 < look.cursor_row <= len(look.lines) else ""
            is_typing = change is Change.TYPING
            if self._sent.look(_before_cursor(look), _before_cursor(before), above, is_typing=is_typing):
                self._to_show, self._has_moved = SENT_LOOKS, change.is_output

    @property
    def is_blank(self) -> bool:
        """Whether nothing is known of the screen that `forget` would forget."""
        return self._screen is None and self._found is None and self._told is None and not self._to_show

    def forget(self) -> Report | None:
        """What is on the screen is of no interest now; the report that takes back what was told, if anything was."""
        self._screen = self._found = self.dialog = None
        told, self._told, self._believed = self._told, None, None
        self._to_show = 0
        return attrs.evolve(told, status=None, kind=None, message="") if told is not None else None

    def read(self, look: Look) -> Report | None:
        """What the screen of the *look* that was just taken in says; None if there is nothing (new) to tell."""
        agent = self.agent
        if agent is None:
            return None
        self._unread += 1
        screen = (look.lines, look.cursor_row)
        is_time = self._quiet > 0 or self._is_burst or self._unread >= MOVING_LOOKS or self._screen is None
        is_new = screen != self._screen and is_time
        self._stood = False
        if is_new:
            is_first, self._unread = self._unread > 1, 0
            self._screen = screen
            self._found = read_screen(agent, look.lines, look.cursor_row, columns=look.columns)
            self._stood = is_first and self._stood_in(agent, self._earlier)
        found = self._found
        if found is not None and found.dialog is not None and self._is_text(found.dialog, look):
            found = None
        self._is_own_menu = self._is_opened(found)
        self.dialog = found.dialog if found is not None and not self._is_own_menu else None
        return self._tell(self._meant(agent, found, look), is_new=is_new)

    def _stood_in(self, agent: Agent, earlier: Look | None) -> bool:
        """Whether a new reading, but for one of rest, could have been made in the *earlier* look as well."""
        found, told = self._found, self._told
        if found is None or earlier is None or found.status is Status.IDLE:
            return False
        if told is not None and (told.status, told.kind) == (found.status, found.kind):
            return False
        other = read_screen(agent, earlier.lines, earlier.cursor_row, columns=earlier.columns)
        return other is not None and (other.status, other.kind) == (found.status, found.kind)

    @property
    def _is_at_rest(self) -> bool:
        return self._believed is not None and self._believed.status in _AT_REST

    def _is_text(self, dialog: Dialog, look: Look) -> bool:
        """Whether a question in a row is but the end of a text."""
        if dialog.is_known or dialog.is_list or dialog.place is None:
            return False
        is_bare = look.cursor_column == width(look.lines[dialog.place.asks].rstrip())
        return is_bare and (self._is_at_rest or self._quiet < STEADY_LOOKS)

    def _is_opened(self, found: ScreenReading | None) -> bool:
        """Whether *found* is a menu that the person has opened."""
        dialog = found.dialog if found is not None else None
        if dialog is None or dialog.is_known or dialog.kind is Kind.PERMISSION or not dialog.is_list:
            return False
        return self._is_own_menu or (self._is_at_rest and self._uncommanded <= TYPED_LOOKS)

    def _meant(self, agent: Agent, found: ScreenReading | None, look: Look) -> Report | None:
        """The report that *found* is worth; None if it is too early to say. One without status: nothing is shown."""
        believed = self._believed.status if self._believed is not None else None
        self.is_certain = False
        if self._to_show and not self._is_own_menu and (found is None or found.status is Status.IDLE):
            self.is_certain = self._to_show == SENT_LOOKS  # it stood there in the look before
            if self._to_show == 1 and not self._has_moved:
                self._rest = Status.IDLE  # it was not sent, or nothing came of it
            return Report(source=Source.SCREEN, status=Status.WORKING, agent=agent.name, rule="a prompt was sent")
        if found is None or self._is_own_menu:
            if self._is_at_rest and self._quiet and (not self._is_parted or is_left_by_key(read_tail(look.lines))):
                return self._believed  # a person types, or has opened something
            return self._nothing(agent, "nothing on the screen")
        status = found.status
        if status is not Status.IDLE:
            is_answered = believed is Status.WAITING and self._is_burst
            self.is_certain = self._stood or (status is Status.WORKING and (self._is_at_rest or is_answered))
            self._to_show = 0
            self._shows_work = status is Status.WORKING
        if status in (Status.WORKING, Status.WAITING):
            self._rest = None
            if self._worked is not None:
                # A dialog that is dismissed is no turn that ended.
                self._worked = WORK_LOOKS if status is Status.WORKING else 0
        if status is Status.IDLE:
            if not self._quiet:
                return self._believed if believed is Status.WORKING else self._nothing(agent, "output above the input")
            if (self._rest is Status.DONE or (self._worked or 0) >= WORK_LOOKS) and not found.is_stopped:
                status = Status.DONE
        if status in _AT_REST:
            self.is_certain = self._shows_work and self._is_still and believed is Status.WORKING
            self._worked, self._rest = 0, status
            self._is_parted = self._shows_work = False
        return Report(
            source=Source.SCREEN,
            status=status,
            kind=found.kind,
            agent=agent.name,
            message=found.dialog.question if found.dialog is not None else "",
            what=found.dialog.what if found.dialog is not None else "",
            rule=f"screen rule: {found.rule}",
        )

    def _nothing(self, agent: Agent, rule: str) -> Report:
        return Report(source=Source.SCREEN, status=None, agent=agent.name, rule=rule)

    def _tell(self, report: Report | None, *, is_new: bool) -> Report | None:
        if report is None or (report.status is None and self._told is None):
            return None
        if report != self._told:
            self._told, self._times = report, 0
        self._times = max(self._times + 1, 2 * self.is_certain)
        if self._times == 2 or self._believed is None:
            self._believed = report if report.status is not None else None
        is_again = report.status is not None and self._times % AGAIN_LOOKS == 0
        if self._times <= 2 or (is_new and report.status is Status.WORKING) or is_again:
            return report
        return None


def _before_cursor(look: Look) -> str:
    """The row of the cursor, up to it."""
    return look.lines[look.cursor_row][: look.cursor_column] if 0 <= look.cursor_row < len(look.lines) else ""


def _has_command(look: Look) -> bool:
    """Whether a command, or the beginning of one, stands in front of the cursor: `❯ /theme`."""
    return _COMMAND.fullmatch(_before_cursor(look).rstrip()) is not None
