"""
The age of a pane's status across a restart of its host: a question that waited before the restart keeps its time.

An earlier run of the host published each pane's status and its begin (`snapshot.former`). The begin is taken over if
the same process of the same agent soon shows the same status and kind again. A question or reply that is known to
differ prevents that. The status itself never changes by this: only its begin, and whether a person has seen it.
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
from tallylight.snapshot.former import FormerPanes
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.snapshot.values import text
from tallylight.tracker.attention import Attention

#: A status must begin within so many seconds after the pane was first seen to count as the old one.
FORMER_STATUS_S = 15.0
#: The error, in seconds, that the system may make about when a process began.
EXACT_S = 2.0


@attrs.define(eq=False)
class Former:
    """
    Compares the pane *id* with its entries in snapshots of earlier runs. *known*, which may be filled later, has them.

    The pane was first seen at monotonic *began*; *origin* is monotonic 0 in seconds since the epoch.
    """

    id: str
    known: FormerPanes
    attention: Attention
    table: Table
    origin: float
    began: float
    #: The entry that gave the age, and since when this run shows the same.
    _entry: PaneEntry | None = None
    _own: float = 0.0
    #: Whether it is decided if the status is the old one.
    _is_sure: bool = False
    #: Whether the agent has worked since the restart.
    _has_worked: bool = False
    _starts: dict[int, float | None] = attrs.field(factory=dict)
    _last: tuple[Decision, Decision] | None = None

    def with_original_time(
        self, decision: Decision, pid: int | None, dialog: Dialog | None, transcript: Transcript | None
    ) -> Decision:
        """
        Return *decision* with the begin that it had before the restart, if it is the same status.

        *pid* is the process in the foreground, *dialog* the one on the screen, and *transcript* the agent's.
        """
        if self.id not in self.known:
            return decision
        if self._entry is not None and decision.since != self._own:
            # The status has changed since: the same one again is new.
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
        """Return whether *decision* is a turn's end that a person had seen before the restart."""
        self._has_worked |= decision.status is Status.WORKING and decision.reason.source is not Source.HEURISTIC
        if decision.status is not Status.DONE or self._has_worked:
            return False
        at_rest = attrs.evolve(decision, status=Status.IDLE, kind=None)
        return any(one.attention.seen and self._is_of(one, at_rest, pid) for one in self.known.get(self.id, ()))

    def goes_on(self, now: float) -> bool:
        """Return whether this object is still of use at *now*: a status may get an older begin, or has one."""
        if now <= self.began + FORMER_STATUS_S:
            return True
        self._is_sure = True
        if self._entry is None:
            self.known.pop(self.id, None)
        return self.id in self.known

    def _compare(self, decision: Decision, pid: int | None, marks: Sequence[tuple[str, str]]) -> None:
        """Set `_entry` if *decision*, identified by *marks*, was shown before the restart."""
        before, self._entry, self._last = self._entry, None, None
        entry = next((one for one in self.known[self.id] if self._is_of(one, decision, pid)), None)
        if entry is not None:
            told = [(was, now) for field, now in marks if (was := getattr(entry, field))]
            # The first field that both have decides. If it is not the very first, a better one may still come.
            was, now = next((pair for pair in told if pair[1]), ("", ""))
            if was == now:
                self._entry, self._own = entry, decision.since
                self._is_sure = not told or bool(told[0][1])
        if self._entry is not before:
            waits = decision.status is Status.WAITING
            began = self._entry.since - self.origin if self._entry is not None and waits else decision.since
            waited_s = self._entry.attention.waited_s if self._entry is not None else 0.0
            self.attention.add_former(waited_s, decision.since - began)

    def _is_of(self, entry: PaneEntry, decision: Decision, pid: int | None) -> bool:
        """Return whether *entry* shows the same status of the same run of the same agent, at a possible time."""
        report = decision.report
        if (entry.status, entry.kind, entry.agent) != (decision.status, decision.kind, report.agent):
            return False
        if not entry.since - self.origin <= decision.since <= self.began + FORMER_STATUS_S:
            return False
        if entry.session and report.session and entry.session != report.session:
            return False
        if entry.pid is not None and pid is not None:
            if entry.pid != pid:
                return False
            if pid not in self._starts:
                self._starts[pid] = self.table.start_time(pid)
            if (start := self._starts[pid]) is not None:
                # A process that began after the entry has reused the number.
                return entry.since >= start - EXACT_S
        return bool(entry.session) and entry.session == report.session


def asked(decision: Decision, dialog: Dialog | None) -> str:
    """Return the question on the screen, after the name of the subagent that asks it; empty if there is none."""
    if dialog is None or decision.status is not Status.WAITING:
        return ""
    child_name, question = decision.child_name, dialog.question
    return f"{child_name}: {question}" if child_name and question and not question.startswith(child_name) else question


def _marks_of(decision: Decision, dialog: Dialog | None, transcript: Transcript | None) -> list[tuple[str, str]]:
    """Return the fields that identify a question or a turn's end, each with its text, the best first."""
    report = decision.report
    if decision.status in (Status.WORKING, Status.BACKGROUND):
        return []  # its messages change all the time while it works
    if decision.status is Status.WAITING:
        told = [("what", report.what), ("question", asked(decision, dialog))]
    else:
        told = [("reply", transcript.details.reply if transcript is not None else "")]
    return [(field, text(words)) for field, words in (*told, ("message", report.message))]
