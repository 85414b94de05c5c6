"""
The age of what a pane shows, across a restart of its host: a question that waited before it has waited since then.

An earlier run told since when the pane showed what (`snapshot.former`). If the same process of the same agent comes to
the same status and kind again soon after the pane was first seen, and nothing that is known says that it is another
question, that is since when it is so. It is no evidence: it changes no status, only since when it has been shown, and
whether a person has looked at it.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from tallylight.evidence.process_table import Table
from tallylight.model.decision import Decision
from tallylight.model.dialog import Dialog
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.pane.transcript import Transcript
from tallylight.snapshot.former import Known
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.values import text
from tallylight.tracker.attention import Attention

#: How soon, in seconds after a pane was first seen, what it shows must begin in order to have been so before.
SETTLE_S = 15.0
#: By how many seconds the system may be wrong about when a process began.
EXACT_S = 2.0


@attrs.define(eq=False)
class Former:
    """
    What earlier runs reported of the pane *id*; *known*, which may be filled later, has every pane of theirs.

    The pane was first seen at monotonic *began*; *origin* is monotonic 0 in seconds since the epoch.
    """

    id: str
    known: Known
    attention: Attention
    table: Table
    origin: float
    began: float
    #: What the age was taken from, and since when this run shows it.
    _entry: PaneEntry | None = None
    _own: float = 0.0
    #: Whether it is decided that it is the same, or is not.
    _is_sure: bool = False
    #: Whether it has worked since.
    _has_worked: bool = False
    _starts: dict[int, float | None] = attrs.field(factory=dict)
    _last: tuple[Decision, Decision] | None = None

    def with_original_time(
        self, decision: Decision, pid: int | None, dialog: Dialog | None, transcript: Transcript | None
    ) -> Decision:
        """
        *decision* with the age that it had before, if it was so before.

        *pid* is the process in the foreground, *dialog* what is on the screen, and *transcript* the agent's.
        """
        if self.id not in self.known:
            return decision
        if self._entry is not None and decision.since != self._own:
            # It has gone on since: the same again is new.
            del self.known[self.id]
            return decision
        if not self._is_sure:
            self._compare(decision, pid, _marks_of(decision, dialog, transcript))
        if self._entry is None:
            return decision
        if self._last is None or self._last[0] is not decision:
            self._last = decision, attrs.evolve(decision, since=self._entry.since - self.origin)
        return self._last[1]

    def was_seen(self, decision: Decision, pid: int | None) -> bool:
        """Whether *decision* is the end of a turn that a person had looked at: its reports arrive again."""
        self._has_worked |= decision.status is Status.WORKING and decision.reason.source is not Source.HEURISTIC
        if decision.status is not Status.DONE or self._has_worked:
            return False
        at_rest = attrs.evolve(decision, status=Status.IDLE, kind=None)
        return any(one.seen and self._is_of(one, at_rest, pid) for one in self.known.get(self.id, ()))

    def goes_on(self, now: float) -> bool:
        """Whether it may still have the age of anything at *now*."""
        if now <= self.began + SETTLE_S:
            return True
        self._is_sure = True
        if self._entry is None:
            self.known.pop(self.id, None)
        return self.id in self.known

    def _compare(self, decision: Decision, pid: int | None, marks: Sequence[tuple[str, str]]) -> None:
        """Look whether what is shown, and asked in the words of *marks*, was shown before."""
        before, self._entry, self._last = self._entry, None, None
        entry = next((one for one in self.known[self.id] if self._is_of(one, decision, pid)), None)
        if entry is not None:
            told = [(was, now) for field, now in marks if (was := getattr(entry, field))]
            # The first one of which both are known tells; where it is not the first of all, that one may yet.
            was, now = next((pair for pair in told if pair[1]), ("", ""))
            if was == now:
                self._entry, self._own = entry, decision.since
                self._is_sure = not told or bool(told[0][1])
        if self._entry is not before:
            waits = decision.status is Status.WAITING
            began = self._entry.since - self.origin if self._entry is not None and waits else decision.since
            self.attention.took_over(self._entry.waited_s if self._entry is not None else 0.0, decision.since - began)

    def _is_of(self, entry: PaneEntry, decision: Decision, pid: int | None) -> bool:
        """Whether *entry* says the same of the same run of the same agent, and can be true."""
        report = decision.report
        if (entry.status, entry.kind, entry.agent) != (decision.status, decision.kind, report.agent):
            return False
        if not entry.since - self.origin <= decision.since <= self.began + SETTLE_S:
            return False
        if entry.session and report.session and entry.session != report.session:
            return False
        if entry.pid is not None and pid is not None:
            if entry.pid != pid:
                return False
            if pid not in self._starts:
                self._starts[pid] = self.table.start_time(pid)
            if (start := self._starts[pid]) is not None:
                # What began later has the number of one that is gone.
                return entry.since >= start - EXACT_S
        return bool(entry.session) and entry.session == report.session


def asked(decision: Decision, dialog: Dialog | None) -> str:
    """The question that is on the screen, with the name of the subagent that asks it; nothing if none does."""
    if dialog is None or decision.status is not Status.WAITING:
        return ""
    whose, question = decision.whose, dialog.question
    return f"{whose}: {question}" if whose and question and not question.startswith(whose) else question


def _marks_of(decision: Decision, dialog: Dialog | None, transcript: Transcript | None) -> list[tuple[str, str]]:
    """The identity of a question, or of the end of a turn: fields with their words, the best first."""
    report = decision.report
    if decision.status in (Status.WORKING, Status.BACKGROUND):
        return []  # what it says while it works changes all the time
    if decision.status is Status.WAITING:
        told = [("what", report.what), ("question", asked(decision, dialog))]
    else:
        told = [("reply", transcript.details.reply if transcript is not None else "")]
    return [(field, text(words)) for field, words in (*told, ("message", report.message))]
