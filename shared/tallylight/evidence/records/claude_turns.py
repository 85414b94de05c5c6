"""
The turns of one Claude Code process: successive readings of its status file, and the ends of its transcript.

The status file alone says `idle` after a finished, a failed and an interrupted turn. So when it changes to `idle`, the
last report counts until the transcript shows how the turn ended, for at most `TRANSCRIPT_LAG_S`. A turn without an
ending was broken off before anything was written. A dismissed dialog is no end of a turn. While agents of a turn that
is over still run, the file says `busy` as before. The transcript shows it (`left_running`), and is therefore read again
while it grows. It also shows that call after call is denied (`refused`): the agent may be stuck.

Some of its own dialogs and the menus that a person opens have one word, `dialog open`. Nobody opens a menu within
`NEAR_S` of its start. A menu that is opened in a turn is in the file only after the end of that turn. So a dialog at
the start, or in a turn without an end in the transcript, is Claude's own. At the first look that is unknown. A session
in the background has no person in front of it who would open one.

While it asks for a permission the transcript shows its call, if it does within `CALL_S`: by a call that is newer than
the file's last change before. The dialog may be known before its call is, while the call before has no result yet. A
turn can be shorter than the time between two looks at the file, and so can its rest behind a dialog. Its own time stamp
shows that there was one.
"""

from __future__ import annotations

import math
from typing import Any

import attrs

from tallylight.evidence.records.claude_ending import Ending, ending, left_running, pending_call, refused
from tallylight.evidence.records.claude_status import Reading
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status

#: Seconds to wait for the transcript. It is written in batches of 0.1 s.
TRANSCRIPT_LAG_S = 0.6
#: Seconds to wait for the call that a permission is asked for.
CALL_S = 2.0
#: Seconds from the call to the question, at most: an older call ran, and its result is yet to be written.
CLOSE_S = 1.0
#: Seconds between the file's and the transcript's time of one event, at most, where the clock has been set back.
NEAR_S = 3.0
#: The kinds of its `waitingFor`, by its own table.
_KINDS = {
    "permission prompt": Kind.PERMISSION,
    "sandbox request": Kind.PERMISSION,
    "worker request": Kind.PERMISSION,
    "goal proposal": Kind.PERMISSION,
    "input needed": Kind.QUESTION,
}
#: A menu that a person has opened, such as `/help`, and many a dialog of its own. The events before it tell them apart.
_DIALOG = "dialog open"


@attrs.define
class Turns:
    """The turns of one process. *now* is monotonic; the time stamps in the files are the agent's wall clock."""

    agent: str = "claude"
    _last: Reading | None = None
    #: When the file came to `idle` with the ending still unknown (monotonic), and when that turn began (epoch).
    _undecided: tuple[float, float] | None = None
    _turn_began: float = 0.0
    #: When it began to ask for a permission (until the call is known); the call; and from when on (epoch) it was
    #: called: an older call is not asked for now.
    _asked: float | None = None
    _what: str = ""
    _went_on: float = 0.0
    #: The time (epoch) up to which the end of a turn can have been written, if the clock was set back.
    _until: float = math.inf
    _was_set_back: bool = False
    _report: Report | None = None
    #: The time (epoch) up to which the turn of this dialog went on; and whether the dialog is Claude's own.
    _went_till: float | None = None
    _is_its_own: bool = False
    #: Agents left running by a turn that is over, while the file says `busy`; and denials in a row in one that goes on.
    _left: int = 0
    _refused: str = ""

    @property
    def is_busy(self) -> bool:
        """Return whether the file says `busy`: then the end of the transcript is read whenever it has grown."""
        return self._last is not None and self._last.raw == "busy"

    @property
    def is_undecided(self) -> bool:
        """Return whether the transcript is worth reading although the status file did not change."""
        return self._undecided is not None or self._asked is not None

    @property
    def transcript(self) -> tuple[str, str] | None:
        """The working directory and session id that name the transcript; None while unknown."""
        return (self._last.cwd, self._last.session) if self._last is not None else None

    def read(self, reading: Reading | None, tail: bytes, now: float) -> Report | None:
        """
        Return the report to make of *reading* and the *tail* of the transcript.

        None if it equals the last one, in the same turn and dialog.
        """
        if reading is None:
            return None
        last = self._last
        is_another = last is not None and last.raw == reading.raw == "waiting" and last.at != reading.at
        if reading != last:
            self._note_turns(reading, now)
            self._last = reading
            self._left, self._refused = 0, ""
        elif tail and reading.raw == "busy":
            self._left, self._refused = left_running(tail, self._turn_began), refused(tail, self._turn_began)
        is_undecided = self._undecided is not None
        report = self._report_for(reading, tail, now)
        is_end = is_undecided and self._undecided is None
        if report is None or (report == self._report and not is_end and not is_another):
            return None
        self._report = report
        return report

    def give_up(self) -> None:
        """Stop waiting for the ending, which could not be read, until the status file changes."""
        self._undecided = self._asked = None

    def _note_turns(self, reading: Reading, now: float) -> None:
        """Note where turns begin and end between the last reading and this one."""
        last = self._last
        is_asked = reading.raw == "waiting" and _KINDS.get(reading.waiting_for) is Kind.PERMISSION
        self._asked, self._what = (now if is_asked else None), ""
        before = self._last_reading_at(reading)
        if last is not None and last.at != reading.at:
            self._went_on = before
        if reading.raw in ("busy", "shell") and (last is None or last.raw in ("idle", "waiting", reading.raw)):
            # A dialog belongs to its turn, but what it left behind before is older than the answer to it. From busy to
            # busy it was idle in between, for less than the time between two looks.
            self._turn_began = reading.at / 1000
        was_asked = self._is_own_question(last)
        is_first = last is None or last.raw == "idle"
        self._went_till = before if last is not None and (last.raw == "busy" or was_asked) else None
        is_soon = 0 < reading.at < reading.began + NEAR_S * 1000
        self._is_its_own = is_first and (is_soon or (last is None and reading.is_background))
        self._undecided = self._undecided_rest(reading, now, before, was_asked=was_asked)

    def _is_own_question(self, reading: Reading | None) -> bool:
        """Return whether *reading*, the last one, is of a dialog that no person has opened."""
        is_dialog = reading is not None and reading.waiting_for == _DIALOG
        return reading is not None and reading.raw == "waiting" and (self._is_its_own or not is_dialog)

    def _undecided_rest(
        self, reading: Reading, now: float, before: float, *, was_asked: bool
    ) -> tuple[float, float] | None:
        """
        Return when it came to rest with its ending unknown, and when that turn began; None while that is not so.

        *before* is the time of the last reading.
        """
        last = self._last
        if reading.waiting_for == _DIALOG and last is not None:
            # After a limit it asks what to do, at the end of a moment's work for that.
            is_soon = self._went_till is not None or (last.raw == "idle" and reading.at - last.at < NEAR_S * 1000)
            return (now, self._turn_began - NEAR_S) if is_soon else None
        if reading.raw != "idle":
            return None
        if last is not None and last.session == reading.session:
            if last.raw in ("busy", "shell"):
                return now, self._turn_began
            if (last.raw == "idle" and reading.at != last.at) or was_asked:
                return now, before
        return self._undecided

    def _last_reading_at(self, reading: Reading) -> float:
        """Return the time of the last reading (epoch) by the present clock, which may have been set back since."""
        at, before = reading.at / 1000, self._last.at / 1000 if self._last is not None else 0.0
        if 0 < at < before:
            self._was_set_back = True
            self._turn_began = before = at - NEAR_S
        if self._was_set_back and at:
            self._until = at + NEAR_S
        return before

    def _report_for(self, reading: Reading, tail: bytes, now: float) -> Report | None:
        """Return the report for the state in *reading*; None for no news."""
        if reading.raw == "busy" and self._left:
            rule = f"transcript: the turn is over, {self._left} of its agents still run"
            return self._report_of(reading, Status.BACKGROUND, rule, background=self._left)
        if reading.raw == "busy" and self._refused:
            rule = "transcript: calls in a row were denied"
            return self._report_of(reading, Status.WAITING, rule, kind=Kind.QUESTION, message=self._refused)
        if reading.raw == "busy":
            return self._report_of(reading, Status.WORKING, "status file: busy")
        if reading.raw == "waiting":
            if not self._is_own_question(reading):
                return self._rest_report(reading, tail, now)
            return self._question_report(reading, tail, now)
        if reading.raw == "shell":
            return self._report_of(reading, Status.BACKGROUND, "status file: a background shell runs")
        return self._rest_report(reading, tail, now)

    def _question_report(self, reading: Reading, tail: bytes, now: float) -> Report:
        """Return the report of a question, with the call that it is about once that is known."""
        if self._asked is not None:
            self._what = pending_call(tail, reading.cwd, max(self._went_on, reading.at / 1000 - CLOSE_S))
            if self._what or now - self._asked >= CALL_S:
                self._asked = None
        kind = _KINDS.get(reading.waiting_for, Kind.INPUT)
        rule = f"status file: waiting, {reading.waiting_for}"
        return self._report_of(reading, Status.WAITING, rule, kind=kind, what=self._what)

    def _rest_report(self, reading: Reading, tail: bytes, now: float) -> Report | None:
        """
        Return the report of how its turn ended; None while that is unknown.

        A dialog may be in front of it, or have come in the turn.
        """
        is_menu = reading.raw == "waiting"
        rule = "status file: a menu is open" if is_menu else "status file: idle"
        if self._undecided is None:
            # The end of the last turn still holds; a dismissed dialog ended nothing.
            is_unknown = self._is_settled or (is_menu and self._report is None)
            return None if is_unknown else self._report_of(reading, Status.IDLE, rule)
        since, began = self._undecided
        found = ending(tail, began, self._until)
        if found is not None and (found.kind is Kind.LIMIT or not is_menu):
            self._undecided = None
            return self._ending_report(reading, found)
        if now - since < TRANSCRIPT_LAG_S:
            return None
        self._undecided = None
        if is_menu and self._went_till is not None:
            found = ending(tail, self._went_till, self._until)
            if found is None:
                self._is_its_own = True
                return self._question_report(reading, tail, now)
            return self._ending_report(reading, found)
        more = "" if is_menu else ", without an end of the turn in its transcript"
        return self._report_of(reading, Status.IDLE, rule + more)

    def _ending_report(self, reading: Reading, found: Ending) -> Report:
        rule = f"transcript: the turn ended {'at a limit' if found.kind is Kind.LIMIT else f'as {found.status}'}"
        about = {"kind": found.kind, "message": found.message, "background": found.background}
        return self._report_of(reading, found.status, rule, **about)

    @property
    def _is_settled(self) -> bool:
        """Return whether the last turn left a status that stays true while nothing happens."""
        left = (Status.DONE, Status.ERROR, Status.BACKGROUND)
        report = self._report
        return report is not None and (report.status in left or report.kind in (Kind.AUTH, Kind.LIMIT))

    def _report_of(self, reading: Reading, status: Status, rule: str, **about: Any) -> Report:
        return Report(
            source=Source.REGISTRY,
            status=status,
            agent=self.agent,
            session=reading.session,
            cwd=reading.cwd,
            title=reading.name,
            rule=rule,
            **about,
        )
