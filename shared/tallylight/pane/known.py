"""
The state of a pane, and the questions that others may ask of it. Input comes in `occupied` and `pane`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.foreground import NOBODY
from tallylight.evidence.process import Process, base_name
from tallylight.evidence.process_table import Table
from tallylight.evidence.records import usage_limits
from tallylight.evidence.unknown import UnknownProgramWatch
from tallylight.hooks.order import HookOrder
from tallylight.model.decision import Decision
from tallylight.model.dialog import Dialog
from tallylight.model.prose import last_sentence
from tallylight.model.queued import Queued
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane.conversation import Conversation
from tallylight.pane.faults import Faults
from tallylight.pane.former import Former
from tallylight.pane.own_files import OwnFiles
from tallylight.pane.process_watch import ProcessWatch
from tallylight.pane.processes import Foregrounds
from tallylight.pane.run import Run
from tallylight.pane.screen_looks import ScreenLooks
from tallylight.pane.tape import Tape, report_fields
from tallylight.pane.transcript import Transcript
from tallylight.snapshot.entries import CollisionEntry
from tallylight.tracker.attention import Attention
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tallylight.wire.inbox import Inbox, Pace
from tallylight.wire.text import sanitise

#: Sources that a replay takes from the tape; it derives the others from screens and titles again.
_READ_ELSEWHERE = (Source.REGISTRY, Source.RECORD, Source.PROCESS, Source.NOTIFICATION)
#: The multiplexers, by the name of their program: a terminal does not see into their sessions.
MULTIPLEXERS = {"tmux": "tmux", "screen": "GNU Screen"}
#: A program in the foreground is new for so many looks: a shell may yet become an agent.
NEW_PROGRAM_LOOKS = 16


class BasePane:
    """
    The state of one pane. *now* is monotonic seconds throughout; *tell* gets the faults, see `pane.faults`.

    *tracker* is one that a recorder listens to; without one the pane makes its own.
    """

    def __init__(
        self,
        timing: Timing,
        reader: Foregrounds,
        table: Table,
        tell: Callable[[str], None] = lambda _: None,
        *,
        tracker: Tracker | None = None,
    ) -> None:
        self.faults = Faults(tell)
        self.tracker = tracker if tracker is not None else Tracker(timing)
        self.tracker.on_report = self._record_report
        #: The recent inputs of its light.
        self.tape = Tape(self._record_state)
        self.attention = Attention()
        #: Its status before the host was restarted. The host sets it.
        self.former: Former | None = None
        self._order = HookOrder()
        self._inbox = Inbox()
        self.conversation = Conversation(table)
        self._reader = reader
        self._table = table
        self.looks = ScreenLooks(self.tracker)
        self._has_begun = False
        self._pgid = 0
        #: The process group in the foreground at the last report through the terminal, and its time.
        self._said: tuple[int | None, float] = None, -math.inf
        #: Whether a shell in this pane marks its commands (OSC 133).
        self._is_marked = False
        self._identity = NOBODY
        #: Whether it had a progress bar at the last look.
        self.has_bar = False
        #: The number of looks in which the same program was in the foreground.
        self._unmoved = 0
        self.own_files = OwnFiles(self.faults, self.tracker, self.conversation)
        #: The program in the foreground, if no agent file names it.
        self.unknown = UnknownProgramWatch()
        #: The activity of the processes in the foreground.
        self.processes = ProcessWatch(self.tracker)
        self._title = ""
        #: The title in words, without glyphs and spinners.
        self.clean_title = ""
        self._title_at: float | None = None
        #: The text that waits for the end of its agent's turn.
        self.queued: Queued | None = None
        #: Values from parts, by the names of the fields that they declare. The parts set them.
        self.more: dict[str, Any] = {}
        #: The time of the last turn's end that a part has finished counting.
        self.counted_at = -math.inf
        #: Files that other agents have changed, too. The host sets them.
        self.collisions: tuple[CollisionEntry, ...] = ()
        #: A reported limit and its end, as read from the message; and a decision with the end of its limit.
        self._limit: tuple[object, float] = None, 0.0
        self._limited: tuple[Decision, Decision] | None = None
        #: The session that the registry of its agent lists for it; its host's to set.
        self.session_listed = ""
        #: The last report about the pane itself, and its time.
        self._last_report: Report | None = None
        self._last_report_at = -math.inf

    @property
    def decision(self) -> Decision:
        """Return the status that the pane shows, with its reason."""
        shown = self.tracker.decision
        if self.former is not None:
            shown = self.former.with_original_time(shown, self.pid, self.dialog, self.transcript)
        return self._with_end(shown) if shown.status is Status.LIMITED else shown

    def _with_end(self, shown: Decision) -> Decision:
        """Return *shown*, a usage limit, with the limit's end from the agent's record, else from its message."""
        until = self._recorded_limit_end
        if not until:
            said = shown.since, shown.report.message
            if self._limit[0] != said:
                self._limit = said, usage_limits.ends(said[1], time.time())
            until = self._limit[1]
        if self._limited is None or self._limited[0] is not shown or self._limited[1].limited_until != until:
            self._limited = shown, attrs.evolve(shown, limited_until=until)
        return self._limited[1]

    @property
    def _recorded_limit_end(self) -> float:
        """When the agent's last usage limit ends according to its record, in epoch seconds; 0 for none."""
        return self.transcript.details.limited_until if self.transcript is not None else 0.0

    @property
    def _run(self) -> Run | None:
        return self.own_files.run

    @property
    def agent(self) -> Agent | None:
        """The agent in the foreground; None if there is none."""
        return self._run.identity.agent if self._run is not None else None

    @property
    def pid(self) -> int | None:
        """The number of the process in the foreground, or of its group; None if neither is known."""
        process = self._identity.process
        return process.pid if process is not None else self._pgid or None

    @property
    def agent_process(self) -> Process | None:
        """The process of the agent in the foreground; None if it is unknown or on another machine."""
        found = self._run.identity if self._run is not None else NOBODY
        return found.process if not found.is_remote else None

    @property
    def agent_pid(self) -> int | None:
        """The number of `agent_process`, or of the process of an agent without an agent file."""
        process = self.agent_process
        return process.pid if process is not None else self.conversation.strangers_pid

    @property
    def shows_sessions(self) -> bool:
        """Return whether the foreground shows a session of tmux or GNU Screen."""
        process = self._identity.process
        return process is not None and base_name(process.exe) in MULTIPLEXERS

    @property
    def project(self) -> str:
        """The project that its agent reports, else by its directory; for ssh the name of the other machine."""
        report = self.decision.report
        known = self.conversation.project
        if self._identity.is_remote:
            known = "" if report.cwd else sanitise(self._identity.far, cells=40)
        return report.project or known or report.cwd.rstrip("/").rpartition("/")[2]

    def queue(self, queued: Queued | None) -> None:
        """Set the text that waits in this pane to *queued*; None removes it."""
        self.queued = queued
        self.tracker.touch()

    @property
    def is_quiet(self) -> bool:
        """Return whether no change is likely soon: there is no agent, or its screen does not change."""
        if self._unmoved < NEW_PROGRAM_LOOKS or self.is_undecided:
            return False
        if self._run is None and self.unknown.program is None and not self.decision.is_lit:
            return True
        return self.looks.is_calm or not (self.tracker.wants_output or self.tracker.wants_screen)

    @property
    def is_undecided(self) -> bool:
        """Return whether a turn or an agent is over, and a file may still say how."""
        return self.own_files.is_undecided

    @property
    def has_files(self) -> bool:
        """Return whether `requests` may have one: there is an agent, a program that may be one, or an end to learn."""
        return self._run is not None or self.unknown.program is not None or self.is_undecided

    @property
    def transcript(self) -> Transcript | None:
        """The transcript of the agent in the foreground, if it keeps one."""
        return self.own_files.transcript

    @property
    def limited_until(self) -> float:
        """When the last usage limit that its agent reported ends, in seconds since the epoch; 0 if there is none."""
        return self._recorded_limit_end or self.decision.limited_until

    @property
    def unanswered(self) -> float | None:
        """Since when the model has been late to answer an agent that works; None if it is not."""
        return self.processes.unanswered if self.decision.status is Status.WORKING else None

    @property
    def outcome(self) -> str:
        """The last sentence of the agent's reply while the pane shows the end of its turn, else empty."""
        decision, transcript = self.decision, self.transcript
        if decision.status is not Status.DONE:
            return ""
        return (transcript.details.outcome if transcript is not None else "") or last_sentence(decision.report.message)

    @property
    def collides(self) -> bool:
        """Return whether another agent has changed the same lines of a file."""
        return any(one.same for one in self.collisions)

    @property
    def is_counted(self) -> bool:
        """Return whether parts have finished counting the turn that has ended, if one has."""
        decision = self.decision
        return decision.status is not Status.DONE or self.counted_at == decision.since

    @property
    def unnamed(self) -> str:
        """The agent's directory while its project has yet to be looked up, else empty."""
        return self.conversation.unnamed if self.tracker.decision.is_lit else ""

    def name_project(self, name: str) -> None:
        """Set the name of the project in the agent's directory."""
        self.conversation.name_project(name)
        self.tracker.touch()

    @property
    def pace(self) -> Pace | None:
        """Return how much arrives and how much is read; None if all of it was read recently."""
        return self._inbox.pace

    @property
    def is_behind(self) -> bool:
        """Return whether input waits to be read, because more arrived than could be read at once."""
        return bool(self._inbox)

    @property
    def dialog(self) -> Dialog | None:
        """The dialog on the screen at the last look, for display and for a person's answer; None for none."""
        return self.looks.dialog

    def deadline(self) -> float | None:
        """Return when the next `tick` could change something; None if none could."""
        due, deadline = self._inbox.due(), self.tracker.deadline()
        return deadline if due is None else due if deadline is None else min(due, deadline)

    def _record_report(self, report: Report, now: float, since: float) -> None:
        """Add *report* to the tape, unless a replay can derive it again."""
        if report.source in _READ_ELSEWHERE:
            self.tape.note("report", now, report_fields(report), max(0.0, now - since))

    def _foreground_facts(self, foreground: Foreground | None) -> tuple[object, object]:
        """Return the foreground, and the path and arguments of its process, as the tape keeps them."""
        process = self._identity.process
        named = [process.exe, *process.argv[:8]] if process is not None else None
        return (attrs.asdict(foreground) if foreground is not None else None), named

    def _record_state(self, now: float) -> None:
        """Add the present state to the tape, at the begin of a stretch."""
        if self._run is None:
            return
        self.tape.note("was", now, "foreground", *self._foreground_facts(self._run.foreground), True)
        self.tape.note("was", now, "title", self._title)
        if self.has_bar:
            self.tape.note("was", now, "bar", True)
        for claim in sorted(self.tracker.answers.claims.values(), key=lambda claim: claim.at):
            self.tape.note("was", now, "claim", report_fields(claim.report), claim.at - now, claim.since - now)
