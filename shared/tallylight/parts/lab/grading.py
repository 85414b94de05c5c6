"""
Grades titles and screens by sources that know better, often later.

The truth is what a record, a status file or a protocol reports about a pane, or work that its connections show. It is
compared with the light that title and screen alone would give; silence and output read nothing, and are left out. Each
turn gets the seconds in which both are known and differ. Pure: the time is an argument.
"""

from __future__ import annotations

import math

import attrs

from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.tracker.claims import Claim
from tallylight.tracker.questions import Answers, light
from tallylight.tracker.tracker import Tracker

#: Nothing counts for GRACE_S seconds after a change of the truth, and at most GRADED_REST_S seconds of one rest.
GRACE_S, GRADED_REST_S = 0.5, 60.0
KNOW = frozenset({Source.PROCESS, Source.RECORD, Source.REGISTRY, Source.PROTOCOL})
READ = frozenset({Source.SCREEN, Source.TITLE})

_WORKING, _WAITING, _OVER = "working", "waiting", "over"
_WORDS = {Status.WORKING: _WORKING, Status.WAITING: _WAITING}


@attrs.define
class Seconds:
    """The graded seconds of one turn, those of waiting among them, and those with a wrong reading."""

    graded_s: float = 0.0
    waiting_s: float = 0.0
    #: Waiting that was not read; waiting that was read wrongly; work that was read at rest, or the reverse.
    missed_s: float = 0.0
    false_s: float = 0.0
    work_s: float = 0.0

    @property
    def wrong_s(self) -> float:
        return self.missed_s + self.false_s + self.work_s

    def add(self, true: str, read: str, seconds: float) -> None:
        """Add *seconds* in which *read* was shown and *true* was the truth."""
        self.graded_s += seconds
        if true == _WAITING:
            self.waiting_s += seconds
            self.missed_s += seconds * (read != _WAITING)
        elif read == _WAITING:
            self.false_s += seconds
        elif read and read != true:
            self.work_s += seconds


@attrs.define
class Grader:
    """Grades one run of one agent. *now* is monotonic seconds."""

    #: The truth and the reading, empty if unknown; since when the truth is so; and until when seconds are added up.
    _true: str = ""
    _read: str = ""
    _true_at: float = -math.inf
    _at: float = -math.inf
    #: Whether a source of the truth has reported a question.
    _has_asked: bool = False
    #: Whether its connections showed the turn: they show no end.
    _is_seen: bool = False
    _seconds: Seconds = attrs.Factory(Seconds)

    def see(self, tracker: Tracker, now: float) -> Seconds | None:
        """Add up until *now* after a change in *tracker*; return the seconds of the turn if it is over by that."""
        found = tracker.answers
        if not (self._true or self._is_seen) and KNOW.isdisjoint(found.claims):
            return None
        known = self._known(tracker, found)
        true, read = _word(known), _read(tracker, found)
        if (true, read) == (self._true, self._read):
            return None
        at = now
        if known is not None and self._true not in ("", true):
            at = max(self._at, min(now, known[1].since))  # a file reports late
        self._add(at)
        self._read = read
        is_new = true != self._true
        if is_new:
            self._true, self._true_at = true, at
        turn = self._take_turn() if (is_new and true == _OVER) or self._is_left(true, read) else None
        if known is not None:
            self._is_seen = known[1].report.source is Source.PROCESS
        return turn

    def _is_left(self, true: str, read: str) -> bool:
        """Return whether its connections showed a turn, and neither they nor the screen do any more."""
        return self._is_seen and not true and read not in (_WAITING, _WORKING)

    def _take_turn(self) -> Seconds | None:
        """Return the seconds of the turn that is over, and begin another one; None if nothing of it was graded."""
        if not self._seconds.graded_s:
            return None
        turn, self._seconds, self._is_seen = self._seconds, Seconds(), False
        return turn

    def _add(self, end: float) -> None:
        """Add up until *end*."""
        start, self._at = max(self._at, self._true_at + GRACE_S), end
        if self._true == _OVER:
            end = min(end, self._true_at + GRADED_REST_S)
        if self._true and end > start:
            self._seconds.add(self._true, self._read, end - start)

    def _known(self, tracker: Tracker, found: Answers) -> tuple[Status, Claim] | None:
        """
        Return the truth from a source about the pane itself; None without one, or if another source has reported since.
        """
        if tracker.decision.child_name:
            return None
        shown = light(found)
        if shown is None or shown[1].report.source in KNOW:
            self._has_asked |= _word(shown) == _WAITING
            return shown
        if _word(shown) != _WAITING:
            return None
        # The dialog that was read is none if one of these sources would have reported it.
        known = tracker.shown_by(KNOW)
        is_told = self._has_asked or (known is not None and _tells_of_questions(*known))
        return known if is_told else None


def _tells_of_questions(status: Status, claim: Claim) -> bool:
    """Return whether this source is sure to report questions, too. A record that reports work does."""
    source = claim.report.source
    return source is Source.REGISTRY or (source is Source.RECORD and status is Status.WORKING)


def _word(shown: tuple[Status, Claim] | None) -> str:
    """Return the class of the light *shown*; empty for none."""
    if shown is None:
        return ""
    return _WORDS.get(shown[0], _OVER)


def _read(tracker: Tracker, found: Answers) -> str:
    """Return the word of title and screen; a title alone is too little if other sources report."""
    read = _word(tracker.shown_by(READ))
    return read if read == _WAITING or Source.SCREEN in found.claims else ""
