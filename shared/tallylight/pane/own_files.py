"""
The files that a pane's agent keeps: status file and transcript.

A pane asks for `requests` at every tick. Its host has a worker read them, and each result comes back to `take_result`.
Nothing in here reads a file.
"""

from __future__ import annotations

from pathlib import Path

import attrs

from tallylight.model.report import Report
from tallylight.pane.conversation import Conversation
from tallylight.pane.faults import Faults, isolates_faults
from tallylight.pane.file_request import FileRequest, Request
from tallylight.pane.run import MISSING_FILE_TICKS, Run
from tallylight.pane.transcript import Transcript, TranscriptRequest, TranscriptState
from tallylight.tracker.tracker import Tracker

#: For so many seconds after its end it is checked whether an agent has removed its status file.
FILE_REMOVED_S = 1.0


@attrs.define
class OwnFiles:
    """The files of the agent in the foreground of one pane, and of the one before. *now* is monotonic seconds."""

    faults: Faults
    tracker: Tracker
    conversation: Conversation
    run: Run | None = None
    #: An agent that has ended, while a worker checks whether its status file is still there.
    _ended: Run | None = None

    def replace(self, run: Run | None, now: float, *, is_gone: bool) -> None:
        """Take in that *run* holds the foreground, or no agent (None). *is_gone*: the one before has ended."""
        before, self.run = self.run, run
        # An agent that removed its status file exited by itself; one that did not was killed. Commands that the shell
        # runs for its next prompt do not matter.
        if before is not None or run is not None:
            self._ended, self.tracker.held_until = None, 0.0
        if is_gone and before is not None and before.known is not None:
            before.missed = 0
            self._ended, self.tracker.held_until = before, now + FILE_REMOVED_S

    @property
    def transcript(self) -> Transcript | None:
        """The transcript of the agent in the foreground, if it keeps one."""
        return self.run.transcript if self.run is not None else None

    @property
    def _leaving(self) -> Run | None:
        """The agent that has ended, while its status file is worth another check."""
        return self._ended if self._ended is not None and self._ended.missed < MISSING_FILE_TICKS else None

    @property
    def is_undecided(self) -> bool:
        """Return whether a turn or an agent is over, and a file may still say how."""
        return self._leaving is not None or (self.run is not None and self.run.is_undecided)

    def requests(self, session: str, title: str) -> tuple[Request, ...]:
        """Return what to read at this tick. *session* and *title*, as far as known, help to find the transcript."""
        if self.run is None and self._ended is None:
            return ()
        status = self.tracker.decision.status
        transcript = self.run.transcript_request(session, title, status) if self.run is not None else None
        return tuple(request for request in (self.file_request(), transcript) if request is not None)

    def file_request(self) -> FileRequest | None:
        """Return the request for the status file, with the end of a transcript, at this tick; None for none."""
        if (leaving := self._leaving) is not None:
            return leaving.last_request()
        if self.run is None:
            return None  # the last request for an ended agent may still be answered, by a disk that hung
        self._ended = None
        return self.run.request()

    def take_result(self, request: Request, found: object, now: float) -> None:
        """Take *found*, a worker's result for one of `requests`; None if nothing was new."""
        if isinstance(found, TranscriptState) and isinstance(request, TranscriptRequest):
            self._take_transcript(request, found, now)
        elif isinstance(found, tuple) and isinstance(request, FileRequest):
            self.files(request.status_file, found[0], found[1], now, is_last=request.is_last)

    @isolates_faults("the agent's record")
    def _take_transcript(self, request: TranscriptRequest, found: TranscriptState, now: float) -> None:
        """Pass a worker's result on, if it is about the process that holds the foreground."""
        # Otherwise another agent has come to the foreground since.
        if (transcript := self.transcript) is not None and transcript.process == request.process:
            transcript.apply(found, self.tracker, self.conversation, now)

    @isolates_faults("the agent's own file")
    def files(self, path: Path, status_file: bytes | None, tail: bytes, now: float, *, is_last: bool = False) -> None:
        """
        Take the content of the status file at *path*, and of the end of its transcript.

        *is_last*: it was asked for after the agent's end.
        """
        ended, run = self._ended, self.run
        if ended is not None and ended.status_file == path:
            # A file that was read before the end does not prove that it has outlived its agent.
            if not is_last and status_file is not None:
                return
            # Now it is known whether the agent removed its status file.
            self._ended, self.tracker.held_until = None, 0.0
            if status_file is None:
                self.tracker.report(ended.goodbye(), now)
            else:
                self.tracker.tick(now)
        elif run is not None and run.status_file == path:  # else another agent has come to the foreground since
            report = run.read(status_file, tail, now)
            if report is not None:
                self.take_report(report, now)

    def take_report(self, report: Report, now: float) -> None:
        """Pass on *report*, which was made from the agent's own files now, or when a replayed recording was made."""
        self.conversation.take(report)
        self.tracker.report(report, now)
