"""
The own files of a pane's agent: the status file, a transcript, the transcript.

A pane asks for `requests` at every tick, its host has a worker read them, and each result comes back to `answered`.
Nothing in here reads a file.
"""

from __future__ import annotations

from pathlib import Path

import attrs

from tallylight.model.report import Report
from tallylight.pane.conversation import Conversation
from tallylight.pane.faults import Faults, isolates_faults
from tallylight.pane.file_request import FileRequest, Request
from tallylight.pane.run import EAGER_LOOKS, Run
from tallylight.pane.transcript import Transcript, TranscriptRequest, TranscriptState
from tallylight.tracker.tracker import Tracker

#: How long, in seconds, an agent that has ended may be waited for: whether it took its status file with it.
LAST_WORDS_S = 1.0


@attrs.define
class OwnFiles:
    """Those of the run in the foreground of one pane, and of the one before it. *now* is monotonic seconds."""

    faults: Faults
    tracker: Tracker
    conversation: Conversation
    run: Run | None = None
    #: An agent that has ended, while a worker looks whether its status file is still there.
    _ended: Run | None = None

    def replace(self, run: Run | None, now: float, *, is_gone: bool) -> None:
        """*run* holds the foreground, or no agent does; *is_gone*: the one before has ended."""
        before, self.run = self.run, run
        # An agent that removed its status file left in peace; one that did not was killed. What its shell runs for the
        # next prompt changes nothing about that.
        if before is not None or run is not None:
            self._ended, self.tracker.held_until = None, 0.0
        if is_gone and before is not None and before.known is not None:
            before.missed = 0
            self._ended, self.tracker.held_until = before, now + LAST_WORDS_S

    @property
    def transcript(self) -> Transcript | None:
        """The transcript of the agent in the foreground, if it keeps one."""
        return self.run.transcript if self.run is not None else None

    @property
    def _leaving(self) -> Run | None:
        """The agent that has ended, while it is worth looking up what it left."""
        return self._ended if self._ended is not None and self._ended.missed < EAGER_LOOKS else None

    @property
    def is_undecided(self) -> bool:
        """Whether a turn or an agent is over, and a file may still say how."""
        return self._leaving is not None or (self.run is not None and self.run.is_undecided)

    def requests(self, session: str, title: str) -> tuple[Request, ...]:
        """All that is to be read at this tick; *session* and *title* are what is known of it so far."""
        if self.run is None and self._ended is None:
            return ()
        status = self.tracker.decision.status
        transcript = self.run.transcript_request(session, title, status) if self.run is not None else None
        return tuple(request for request in (self.file_request(), transcript) if request is not None)

    def file_request(self) -> FileRequest | None:
        """What to read of its status file and its transcript at this tick."""
        if (leaving := self._leaving) is not None:
            return leaving.last_request()
        if self.run is None:
            return None  # what was asked for of one that has ended may be answered yet, by a disk that hung
        self._ended = None
        return self.run.request()

    def answered(self, request: Request, found: object, now: float) -> None:
        """What a worker has read for one of `requests`; None if nothing was new."""
        if isinstance(found, TranscriptState) and isinstance(request, TranscriptRequest):
            self._transcribed(request, found, now)
        elif isinstance(found, tuple) and isinstance(request, FileRequest):
            self.files(request.status_file, found[0], found[1], now, is_last=request.is_last)

    @isolates_faults("the agent's record")
    def _transcribed(self, request: TranscriptRequest, found: TranscriptState, now: float) -> None:
        # Else another agent has come to the foreground since.
        if (transcript := self.transcript) is not None and transcript.process == request.process:
            transcript.tell(found, self.tracker, self.conversation, now)

    @isolates_faults("the agent's own file")
    def files(self, path: Path, status_file: bytes | None, tail: bytes, now: float, *, is_last: bool = False) -> None:
        """The content of what `file_request` asked for; *path* is the status file's. *is_last*: asked after the end."""
        ended, run = self._ended, self.run
        if ended is not None and ended.status_file == path:
            # What was read before the end is no sign that the file has outlived its agent.
            if not is_last and status_file is not None:
                return
            # It is known now whether it took its status file with it.
            self._ended, self.tracker.held_until = None, 0.0
            if status_file is None:
                self.tracker.report(ended.goodbye(), now)
            else:
                self.tracker.tick(now)
        elif run is not None and run.status_file == path:  # else another agent has come to the foreground since
            report = run.read(status_file, tail, now)
            if report is not None:
                self.read_elsewhere(report, now)

    def read_elsewhere(self, report: Report, now: float) -> None:
        """The agent's own files say *report*, as they were read here or when they were recorded."""
        self.conversation.heard(report)
        self.tracker.report(report, now)
