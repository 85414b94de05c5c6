"""
Looks at the screen of one agent: whether there was output, and what the screen says.

A host and a replay look at a screen every quarter of a second. `Readings` finds what changed and what the screen shows;
this module hands over what is sure of that. The rules:

* An agent is idle if its screen says so and that look and the one before found no output: an input box is below an
  answer that is still being written, too. Typing does not end that, whatever becomes of the input box; nor does a
  menu, a picker or a transcript that a person opens: it comes within `TYPED_LOOKS` of what they typed, or of a command
  in the row of the cursor, or its last row names the key to leave it by. After `/exit` the same holds of all that is
  drawn. But an input box that disappears while nobody
  types is the agent's doing.
* A question in a row, with the cursor right behind it, without a blank, is what a person has typed or pasted where
  the agent is at rest; else it is what an agent writes until it has stayed for `STEADY_LOOKS`. Nobody answers far to
  the right of a question: where the cursor is there, it is always text, and the agent's own rules decide the rest.
* A dialog that no rule of the agent knows, and that wants no permission, and any login, is the person's own menu where
  it comes to an idle screen within `TYPED_LOOKS` of a command that was in the row of the cursor: `/auth`, `/theme`.
  Where no such command was seen, it is taken for the agent's question: a menu called a question costs a look, the
  reverse an answer.
* So is one that comes to an agent at rest and is headed by what it sets: `Select Model`. At work, an agent may ask so.
* A prompt that was sent (`evidence.sent`) is work for `SENT_LOOKS`; until then the agent should show that by itself.
* Idle after work is `done`. Work is what the screen called so, or output in `WORK_LOOKS` looks since it was idle. Not
  so where the screen shows that a person stopped the turn (`is_stopped`): the person knows that.
* What is read is sure when it was read twice, or if nothing was sure before. At once sure are: the rest of an agent
  whose sign of work is gone, and which two looks have found idle; what the look before showed as well, which was not
  read because the screen moved; a sign of work where the agent was at rest, or in the place of a dialog that went as
  the screen changed as a whole: little is lost by it if the next look finds none.
* A dialog with only some choices left in sight by a new size of the screen still waits, until there is output again.
* What is sure is sent again in every `AGAIN_LOOKS`th look, and after `AGAIN_S`: what was seen just now weighs more than
  what was seen once.
"""

from __future__ import annotations

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.dialogs import is_left_by_key, is_of_settings
from tallylight.evidence.prompts import ScreenReading, read_screen
from tallylight.evidence.readings import Readings
from tallylight.evidence.screen import Change, Look
from tallylight.evidence.sent import SENT_LOOKS, TYPED_LOOKS, Input
from tallylight.evidence.tail import read_tail
from tallylight.model.dialog import Dialog
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.wire.text import width

STEADY_LOOKS = 4
WORK_LOOKS = 4
#: In every so many looks, and where these are seldom, at the latest after so many seconds.
AGAIN_LOOKS, AGAIN_S = 4, 1.5
#: Blanks between a question in a row and what is typed for it, at the most.
_BEHIND = 2
_AT_REST = (Status.IDLE, Status.DONE)


class ScreenReader:
    """The looks at the screen of one run of one *agent*; of None, only output is reported."""

    def __init__(self, agent: Agent | None = None) -> None:
        self.agent = agent
        #: The dialog that waits on the screen as of the last look.
        self.dialog: Dialog | None = None
        self._screen, self._input = Readings(), Input()
        #: Whether it is a menu that the person has opened; whether all has changed since it was at rest without them.
        self._is_own_menu = self._is_parted = False
        #: Whether the screen has got a new size, and there was no output since.
        self._is_reflowed = False
        #: The rows of the choices of the last dialog that had any.
        self._rows: frozenset[str] = frozenset()
        #: Looks with output since it was last at rest; None before it was for the first time. What that rest was
        #: called, and whether it has shown a sign of work since.
        self._worked: int | None = None
        self._rest: Status | None = None
        self._shows_work = False
        #: What is sure. What was read last, in how many looks, and since when.
        self._sure: Report | None = None
        self._last: Report | None = None
        self._times, self.since, self._told_at = 0, 0.0, 0.0

    @property
    def is_stopped(self) -> bool:
        """Whether the screen as of the last look shows, below an agent at rest, that a person stopped its turn."""
        found = self._screen.found
        return found is not None and found.is_stopped and self._screen.quiet > 0

    @property
    def _status(self) -> Status | None:
        return self._sure.status if self._sure is not None else None

    def look(self, look: Look) -> Change:
        """Take in one look; what changed since the last one."""
        screen, hand, before, found = self._screen, self._input, self._screen.before, self._screen.found
        change = screen.look(look)
        is_menu = self._is_own_menu or (found is not None and found.is_menu)
        is_shown = found is not None and found.status is Status.IDLE and not is_menu
        hand.look(look, before, change, is_at_rest=self._status in _AT_REST, is_shown=is_shown)
        is_its_own = min(hand.untyped, hand.uncommanded) > TYPED_LOOKS and not hand.is_leaving
        self._is_parted |= change is Change.MAJOR and is_its_own
        self._is_reflowed = change is Change.REFLOW or (self._is_reflowed and not change.is_output)
        if change.is_output and self._worked is not None:
            self._worked += 1
        return change

    def forget(self) -> Report | None:
        """What is on the screen is of no interest now; the report that takes back an earlier one, if there was one."""
        sure, self._sure, self._last, self.dialog = self._sure, None, None, None
        self._screen.forget()
        self._input.to_show = 0
        return attrs.evolve(sure, status=None, kind=None, message="") if sure is not None else None

    def read(self, look: Look, now: float) -> Report | None:
        """
        What the screen of the *look* that was just taken in says for sure, *since* when; None for no report.

        A report without status: it says nothing any more. Times are monotonic seconds.
        """
        if self.agent is None:
            return None
        self._screen.read(self.agent, look, is_doubted=self._times == 1 and self._last is not self._sure)
        found = self._screen.found
        if found is not None and found.dialog is not None and self._is_text(found.dialog, look):
            own = attrs.evolve(self.agent, screen_generic=False)
            found = read_screen(own, look.lines, look.cursor_row, columns=look.columns)
        self._is_own_menu = found is not None and found.dialog is not None and self._is_opened(found.dialog)
        self.dialog = found.dialog if found is not None and not self._is_own_menu else None
        self._rows = _choices_of(self.dialog, look) or self._rows
        meant, is_sure = self._meant(None if self._is_own_menu else found, look)
        return self._settled(meant, is_sure, now) if meant is not None else None

    def _is_text(self, dialog: Dialog, look: Look) -> bool:
        """Whether a question in a row is but the end of a text."""
        if dialog.is_known or dialog.is_list or dialog.place is None or dialog.place.asks != look.cursor_row:
            return False
        beyond = look.cursor_column - width(look.lines[dialog.place.asks].rstrip())
        is_bare = not beyond and (self._status in _AT_REST or self._screen.quiet < STEADY_LOOKS)
        return is_bare or beyond > _BEHIND

    def _is_opened(self, dialog: Dialog) -> bool:
        """Whether it is a menu that the person has opened."""
        is_drawn = dialog.is_list or not dialog.choices
        may_be = dialog.kind is Kind.AUTH if dialog.is_known else dialog.kind is not Kind.PERMISSION and is_drawn
        is_commanded = may_be and self._input.uncommanded <= TYPED_LOOKS
        is_meant = is_commanded or is_of_settings(dialog)
        return (may_be and self._is_own_menu) or (is_meant and (self._is_own_menu or self._status in _AT_REST))

    def _meant(self, found: ScreenReading | None, look: Look) -> tuple[Report | None, bool]:
        """The report that *found* is worth, None if it is too early to say; and whether that is sure at once."""
        hand = self._input
        if hand.to_show and not self._is_own_menu and (found is None or found.status is Status.IDLE):
            if hand.to_show == 1 and not hand.has_moved:
                self._rest = Status.IDLE  # it was not sent, or nothing came of it
            return self._report_of(Status.WORKING, "a prompt was sent"), hand.to_show == SENT_LOOKS
        if found is None:
            return self._sure if self._is_used(look) else self._report_of(None, "nothing on the screen"), False
        return self._at_rest(found) if found.status in _AT_REST else self._at_work(found)

    def _is_used(self, look: Look) -> bool:
        """Whether a screen that says nothing takes back nothing: of a person's doing, or only of another size."""
        if self._status is Status.WAITING:
            return self._is_reflowed and not self._rows.isdisjoint(map(str.strip, look.lines))
        # Whether a person types at an agent at rest, or has opened something there.
        is_theirs = not self._is_parted or is_left_by_key(read_tail(look.lines))
        return self._status in _AT_REST and (self._screen.quiet > 0 or self._input.is_leaving) and is_theirs

    def _at_work(self, found: ScreenReading) -> tuple[Report | None, bool]:
        is_work = found.status is Status.WORKING
        self._input.to_show, self._shows_work = 0, is_work
        if is_work or found.status is Status.WAITING:
            self._rest = None
            if self._worked is not None:
                # A dialog that is dismissed is no turn that ended.
                self._worked = WORK_LOOKS if is_work else 0
        is_answered = self._status is Status.WAITING and self._screen.is_burst
        is_sure = self._screen.stood or (is_work and (self._status in _AT_REST or is_answered))
        return self._report_of(found.status, f"screen rule: {found.rule}", found.dialog), is_sure

    def _at_rest(self, found: ScreenReading) -> tuple[Report | None, bool]:
        if found.status is Status.IDLE and not self._screen.quiet:
            return (
                self._sure if self._status is Status.WORKING else self._report_of(None, "output above the input")
            ), False
        is_done = (self._rest is Status.DONE or (self._worked or 0) >= WORK_LOOKS) and not found.is_stopped
        is_sure = self._shows_work and self._screen.change is Change.NONE and self._status is Status.WORKING
        self._worked, self._rest = 0, Status.DONE if is_done else found.status
        self._is_parted = self._shows_work = False
        return self._report_of(self._rest, f"screen rule: {found.rule}"), is_sure

    def _report_of(self, status: Status | None, rule: str, dialog: Dialog | None = None) -> Report:
        report = Report(source=Source.SCREEN, status=status, agent=self.agent.name if self.agent else "", rule=rule)
        if dialog is None:
            return report
        return attrs.evolve(report, kind=dialog.kind, message=dialog.question, what=dialog.what)

    def _settled(self, report: Report, is_sure: bool, now: float) -> Report | None:
        """*report*, which was read at *now*, if it is sure and to be reported."""
        sure = self._sure
        if report.status is None and sure is None:
            self._last = None
            return None
        if report != self._last:
            self._last, self._times, self.since = report, 0, now
        self._times += 1
        if self._last is sure:
            if self._times % AGAIN_LOOKS and now - self._told_at < AGAIN_S:
                return None
            self._told_at = now
            return sure
        is_same = sure is None or (sure.status, sure.kind) == (report.status, report.kind)
        if not (is_sure or is_same or self._times > 1):
            return None
        self._sure, self._told_at = self._last if report.status is not None else None, now
        return report


def _choices_of(dialog: Dialog | None, look: Look) -> frozenset[str]:
    """The rows of a dialog's choices; of what is drawn around them, which other pictures have as well, none."""
    if dialog is None or dialog.place is None or not dialog.place.starts:
        return frozenset()
    rows = look.lines[dialog.place.starts[0] : dialog.place.end]
    return frozenset(row.strip() for row in rows if any(map(str.isalnum, row)))
