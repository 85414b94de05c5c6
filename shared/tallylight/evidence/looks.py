"""
Looks at the screen of one agent: whether there was output, and which status the screen surely shows.

A host and a replay look at a screen every quarter of a second. `Readings` finds the changes and the status of each
screen; this module reports a status once it is sure. The rules:

* An agent is idle if its screen shows so and that look and the one before found no output: an input box is below an
  answer that is still being written, too. Typing does not end that. Nor does a menu, a picker or a transcript that a
  person opens: it comes within `TYPED_LOOKS` of their typing or their command, or its last row names the key to leave
  it. After `/exit` nothing that is drawn ends it. But an input box that disappears while nobody types is the agent's
  doing.
* A question in a row, with the cursor right behind it, without a blank, is typed text where the agent is at rest. Else
  it is the agent's output until it has stayed for `STEADY_LOOKS`. Nobody answers far to the right of a question: where
  the cursor is there, it is always text, and the agent's own rules decide the rest.
* A login, or a dialog without a rule that wants no permission, is the person's own menu if they opened it. It comes to
  an idle screen within `TYPED_LOOKS` of a command in the row of the cursor: `/auth`, `/theme`. Without such a command
  it counts as the agent's question: a menu called a question costs a look, the reverse an answer.
* So is a dialog that comes to an agent at rest and is headed by a setting: `Select Model`. At work, an agent may ask
  so.
* A prompt that was sent (`evidence.sent`) is work for `SENT_LOOKS`; until then the agent should show that by itself.
* Idle after work is `done`. Work is a status of the screen, or output in `WORK_LOOKS` looks since it was idle. It is
  not `done` where the screen shows that a person stopped the turn (`is_stopped`): the person knows that.
* A status is sure when it was read twice, or if none was sure before. Sure at once are three. The rest of an agent
  without its sign of work, after two idle looks. A status that the look before showed as well, although it was not read
  because the screen moved. A sign of work at an agent at rest, or in place of a dialog that went as the whole screen
  changed: little is lost by it if the next look finds none.
* A dialog with only some choices left in sight by a new size of the screen still waits, until there is output again.
* A sure status is sent again in every `REPEAT_REPORT_LOOKS`th look, and after `REPEAT_REPORT_S`: fresh evidence weighs
more than old.
"""

from __future__ import annotations

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.dialogs import is_left_by_key, is_of_settings
from tallylight.evidence.prompts import ScreenReading, read_screen
from tallylight.evidence.readings import Readings
from tallylight.evidence.screen import Change, Look
from tallylight.evidence.sent import SENT_LOOKS, TYPED_LOOKS, InputWatch
from tallylight.evidence.streamed import StreamWatch
from tallylight.evidence.tail import read_tail
from tallylight.model.dialog import Dialog
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.wire.text import width

STEADY_LOOKS = 4
WORK_LOOKS = 4
#: A sure report is sent again after so many looks, and where these are rare, after so many seconds.
REPEAT_REPORT_LOOKS, REPEAT_REPORT_S = 4, 1.5
#: Blanks between a question in a row and its typed answer, at most.
_BEHIND_BLANKS = 2
_AT_REST = (Status.IDLE, Status.DONE)


class ScreenReader:
    """Reads the screen of one run of one *agent*, look by look; without an agent, only output is reported."""

    def __init__(self, agent: Agent | None = None) -> None:
        self.agent = agent
        #: The dialog that waits on the screen as of the last look.
        self.dialog: Dialog | None = None
        self._screen, self._input, self._stream = Readings(), InputWatch(), StreamWatch()
        #: Whether it is the person's own menu; and whether all has changed, not by them, since the agent was at rest.
        self._is_own_menu = self._is_parted = False
        #: Whether the screen has had no output since it got a new size.
        self._is_reflowed = False
        #: The rows of the choices of the last dialog with choices.
        self._rows: frozenset[str] = frozenset()
        #: Looks with output since it was last at rest, None before the first rest. With the status of that rest, and
        #: whether it has shown a sign of work since.
        self._worked: int | None = None
        self._rest: Status | None = None
        self._shows_work = False
        #: The sure report; the last report, in how many looks it was read, and since when.
        self._sure: Report | None = None
        self._last: Report | None = None
        self._times, self.since, self._sent_at = 0, 0.0, 0.0

    @property
    def is_stopped(self) -> bool:
        """Return whether the last look shows, below an agent at rest, that a person stopped its turn."""
        found = self._screen.found
        return found is not None and found.is_stopped and self._screen.quiet > 0

    @property
    def _status(self) -> Status | None:
        return self._sure.status if self._sure is not None else None

    def look(self, look: Look) -> Change:
        """Take in one look, and return the change since the last one."""
        screen, hand, before, found = self._screen, self._input, self._screen.before, self._screen.found
        change = screen.look(look)
        if self.agent is not None:
            self._stream.look(look)
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
        """Forget the screen; return the report that takes an earlier one back, if there was one."""
        sure, self._sure, self._last, self.dialog = self._sure, None, None, None
        self._screen.forget()
        self._input.to_show = 0
        return attrs.evolve(sure, status=None, kind=None, message="") if sure is not None else None

    def read(self, look: Look, now: float) -> Report | None:
        """
        Return the sure report of the *look* that was just taken in; None for no report.

        A report without status takes the earlier one back. Times are monotonic seconds.
        """
        if self.agent is None:
            return None
        self._screen.read(self.agent, look, is_doubted=self._times == 1 and self._last is not self._sure)
        found = self._screen.found
        if (
            found is not None
            and found.dialog is not None
            and (self._is_text(found.dialog, look) or self._stream.is_text(found.dialog, look))
        ):
            own = attrs.evolve(self.agent, screen_generic=False)
            found = read_screen(own, look.lines, look.cursor_row, columns=look.columns)
        self._is_own_menu = found is not None and found.dialog is not None and self._is_own_menu_of(found.dialog)
        self.dialog = found.dialog if found is not None and not self._is_own_menu else None
        self._rows = _choices_of(self.dialog, look) or self._rows
        meant, is_sure = self._meaning(None if self._is_own_menu else found, look)
        return self._if_sure(meant, is_sure, now) if meant is not None else None

    def _is_text(self, dialog: Dialog, look: Look) -> bool:
        """Return whether a question in a row is only the end of a text."""
        if dialog.is_known or dialog.is_list or dialog.place is None or dialog.place.asks != look.cursor_row:
            return False
        beyond = look.cursor_column - width(look.lines[dialog.place.asks].rstrip())
        is_bare = not beyond and (self._status in _AT_REST or self._screen.quiet < STEADY_LOOKS)
        return is_bare or beyond > _BEHIND_BLANKS

    def _is_own_menu_of(self, dialog: Dialog) -> bool:
        """Return whether *dialog* is a menu that the person has opened."""
        is_drawn = dialog.is_list or not dialog.choices
        may_be = dialog.kind is Kind.AUTH if dialog.is_known else dialog.kind is not Kind.PERMISSION and is_drawn
        is_commanded = may_be and self._input.uncommanded <= TYPED_LOOKS
        is_meant = is_commanded or is_of_settings(dialog)
        return (may_be and self._is_own_menu) or (is_meant and (self._is_own_menu or self._status in _AT_REST))

    def _meaning(self, found: ScreenReading | None, look: Look) -> tuple[Report | None, bool]:
        """Return the report of *found*, None while it is too early for one; and whether the report is sure at once."""
        hand = self._input
        if hand.to_show and not self._is_own_menu and (found is None or found.status is Status.IDLE):
            if hand.to_show == 1 and not hand.has_moved:
                self._rest = Status.IDLE  # it was not sent, or without effect
            return self._report_of(Status.WORKING, "a prompt was sent"), hand.to_show == SENT_LOOKS
        if found is None:
            return self._sure if self._keeps_status(look) else self._report_of(None, "nothing on the screen"), False
        return self._rest_report(found) if found.status in _AT_REST else self._work_report(found)

    def _keeps_status(self, look: Look) -> bool:
        """Return whether an unreadable screen keeps the last status: a person uses it, or it only changed its size."""
        if self._status is Status.WAITING:
            return self._is_reflowed and not self._rows.isdisjoint(map(str.strip, look.lines))
        # A person types at an agent at rest, or has opened something there.
        is_theirs = not self._is_parted or is_left_by_key(read_tail(look.lines))
        return self._status in _AT_REST and (self._screen.quiet > 0 or self._input.is_leaving) and is_theirs

    def _work_report(self, found: ScreenReading) -> tuple[Report | None, bool]:
        """Return the report of a screen that works or asks, and whether it is sure at once."""
        is_work = found.status is Status.WORKING
        self._input.to_show, self._shows_work = 0, is_work
        if is_work or found.status is Status.WAITING:
            self._rest = None
            if self._worked is not None:
                # A dialog that is dismissed is no turn that ended.
                self._worked = WORK_LOOKS if is_work else 0
        is_answered = self._status is Status.WAITING and self._screen.is_burst
        is_sure = self._screen.was_unread or (is_work and (self._status in _AT_REST or is_answered))
        return self._report_of(found.status, f"screen rule: {found.rule}", found.dialog), is_sure

    def _rest_report(self, found: ScreenReading) -> tuple[Report | None, bool]:
        """Return the report of a screen at rest, and whether it is sure at once."""
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
        """Return a report of *status*, with the kind and the question of *dialog*."""
        report = Report(source=Source.SCREEN, status=status, agent=self.agent.name if self.agent else "", rule=rule)
        if dialog is None:
            return report
        return attrs.evolve(report, kind=dialog.kind, message=dialog.question, what=dialog.what)

    def _if_sure(self, report: Report, is_sure: bool, now: float) -> Report | None:
        """Return *report*, which was read at *now*, if it is sure and due; else None."""
        sure = self._sure
        if report.status is None and sure is None:
            self._last = None
            return None
        if report != self._last:
            self._last, self._times, self.since = report, 0, now
        self._times += 1
        if self._last is sure:
            if self._times % REPEAT_REPORT_LOOKS and now - self._sent_at < REPEAT_REPORT_S:
                return None
            self._sent_at = now
            return sure
        is_same = sure is None or (sure.status, sure.kind) == (report.status, report.kind)
        if not (is_sure or is_same or self._times > 1):
            return None
        self._sure, self._sent_at = self._last if report.status is not None else None, now
        return report


def _choices_of(dialog: Dialog | None, look: Look) -> frozenset[str]:
    """Return the rows of a dialog's choices that have letters; frames are on other screens, too."""
    if dialog is None or dialog.place is None or not dialog.place.starts:
        return frozenset()
    rows = look.lines[dialog.place.starts[0] : dialog.place.end]
    return frozenset(row.strip() for row in rows if any(map(str.isalnum, row)))
