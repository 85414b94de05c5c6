"""
The part of a pane that has its agent's own files read: the status file, a transcript, the record.

A host asks for `requests` at every tick, has a worker read them, and hands each result to `answered`. Nothing in here
reads a file.
"""

from __future__ import annotations

from pathlib import Path

from tallylight.model.report import Report
from tallylight.pane.conversation import Conversation
from tallylight.pane.faults import Faults, kept
from tallylight.pane.file_request import FileRequest, Request
from tallylight.pane.record import Found, Record, RecordRequest
from tallylight.pane.run import EAGER_LOOKS, Run
from tallylight.pane.screen_looks import ScreenLooks
from tallylight.tracker.tracker import Tracker

#: While the screen is calm, its agent's record is looked at in every so many ticks, in the same ones in all panes: what
#: ends is drawn.
CALM_EVERY = 4


class OwnFiles:
    """What a `Pane` knows of its agent's own files. *now* is monotonic seconds throughout."""

    faults: Faults
    tracker: Tracker
    conversation: Conversation
    _run: Run | None
    #: An agent that has ended, of which it is being looked up whether its status file is still there.
    _ended: Run | None
    #: What was last said of the pane itself.
    _said: Report | None
    _title: str
    _screen: ScreenLooks

    @property
    def is_calm(self) -> bool:
        """Whether the screen has not changed recently: then it need not be looked at in every tick."""
        return self._screen.is_calm

    @property
    def record(self) -> Record | None:
        """The record of the agent in the foreground, if it keeps one."""
        return self._run.record if self._run is not None else None

    @property
    def has_files(self) -> bool:
        """Whether there may be something to be read for this pane."""
        return self._run is not None or self._ended is not None

    @property
    def unnamed(self) -> str:
        """The directory of its agent, if it is to be looked up what the project in it is called."""
        return self.conversation.unnamed and (self.conversation.unnamed if self.tracker.decision.is_lit else "")

    def name_project(self, name: str) -> None:
        """What was looked up."""
        self.conversation.name_project(name)
        self.tracker.touch()

    def requests(self, tick: int = 0) -> tuple[Request, ...]:
        """All that is to be read for this pane at this *tick*, by a worker; `answered` takes each result."""
        run, record = self._run, None
        if run is not None and run.record is not None and not (tick % CALM_EVERY and self.is_calm):
            record = run.record_request(self._said.session if self._said is not None else "", self._title)
        file = self.file_request()
        if file is None:
            return () if record is None else (record,)
        return (file,) if record is None else (file, record)

    def answered(self, request: Request, found: object, now: float) -> None:
        """What a worker has read for one of `requests`; None if nothing was new."""
        if isinstance(found, Found) and isinstance(request, RecordRequest):
            self._recorded(request, found, now)
        elif isinstance(found, tuple) and isinstance(request, FileRequest):
            self.files(request.status_file, found[0], found[1], now, is_last=request.is_last)

    @kept("the agent's record")
    def _recorded(self, request: RecordRequest, found: Found, now: float) -> None:
        # Else another agent has come to the foreground since.
        if (record := self.record) is not None and record.process == request.process:
            record.tell(found, self.tracker, self.conversation, now)

    def file_request(self) -> FileRequest | None:
        """What to read for this pane at this tick."""
        if self._ended is not None and self._ended.missed < EAGER_LOOKS:
            return self._ended.last_request()
        if self._run is None:
            return None  # what was asked for of one that has ended may be answered yet, by a disk that hung
        self._ended = None
        return self._run.request()

    @property
    def is_undecided(self) -> bool:
        """Whether a turn or an agent is over, and a file has yet to tell how."""
        if self._ended is not None and self._ended.missed < EAGER_LOOKS:
            return True
        return self._run is not None and self._run.is_undecided

    @kept("the agent's own file")
    def files(self, path: Path, status_file: bytes | None, tail: bytes, now: float, *, is_last: bool = False) -> None:
        """The content of what `file_request` asked for; *path* is the status file's. *is_last*: asked after the end."""
        if self._ended is not None and self._ended.status_file == path:
            # What was read before the end is no sign that the file has outlived its agent.
            if is_last or status_file is None:
                self._last_words(self._ended, is_removed=status_file is None, now=now)
            return
        run = self._run
        if run is None or run.status_file != path:
            return  # another agent has come to the foreground since
        report = run.read(status_file, tail, now)
        if report is not None:
            self.read_elsewhere(report, now)

    def read_elsewhere(self, report: Report, now: float) -> None:
        """The agent's own files say *report*, as they were read here or when they were recorded."""
        self.conversation.heard(report)
        self.tracker.report(report, now)

    def _last_words(self, run: Run, *, is_removed: bool, now: float) -> None:
        """It is known now whether an agent that has ended took its status file with it."""
        self._ended = None
        self.tracker.held_until = 0.0
        if is_removed:
            self.tracker.report(run.goodbye(), now)
        else:
            self.tracker.tick(now)
