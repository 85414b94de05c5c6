"""
A run: one run of one agent in the foreground of a pane, with the files that it keeps.

The agent's process leads to the status file, and the status file to the transcript. Neither is read here:
`Run.request` names them, and `Run.read` takes their content.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import attrs

from tallylight.evidence.foreground import Identity
from tallylight.evidence.process_table import Table, own_number
from tallylight.evidence.progress import ProgressReader
from tallylight.evidence.records import claude_ending, claude_status
from tallylight.evidence.records.claude_turns import Turns
from tallylight.evidence.titles import TitleReader
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.pane.file_request import FileRequest, Growth
from tallylight.pane.transcript import Transcript, TranscriptRequest
from tallylight.tracker.foreground import Foreground

#: A missing status file is looked for in the first so many ticks, then in every `MISSING_FILE_EVERY`th.
MISSING_FILE_TICKS = 40
MISSING_FILE_EVERY = 8


@attrs.define
class Run:
    """One run of one agent in the foreground, with its files as they were last read."""

    identity: Identity
    titles: TitleReader
    #: The foreground that was passed to the tracker.
    foreground: Foreground
    turns: Turns | None = None
    #: The number of its process in its own namespace.
    number: int = 0
    status_file: Path | None = None
    #: The last content of the status file; None while it does not exist.
    known: bytes | None = None
    #: The number of ticks in which it did not exist.
    missed: int = 0
    progress: ProgressReader = attrs.Factory(ProgressReader)
    transcript: Transcript | None = None
    growth: Growth = attrs.Factory(Growth)

    @property
    def is_undecided(self) -> bool:
        """Return whether a turn is over, and a file may still say how."""
        return self.turns is not None and self.turns.is_undecided

    def find_files(self, table: Table, now: float) -> None:
        """Set the paths of the agent's status file and transcript, if it keeps any. Reads no disk."""
        agent, process = self.identity.agent, self.identity.process
        if agent is None or process is None or not agent.record:
            self.transcript = None
        elif self.transcript is None or self.transcript.process != process:
            self.transcript = Transcript(agent, process, table, now)
        if agent is None or process is None or agent.registry != "claude-sessions" or not self.identity.is_direct:
            return
        self.number = own_number(process.pid, table)
        path = claude_status.sessions_file(self.number, table.environ(process.pid), os.environ.get("HOME", ""))
        if path is not None and self.status_file != Path(path):
            self.status_file = Path(path)
            self.turns = Turns(agent.name)

    def transcript_request(self, session: str, title: str, status: Status) -> TranscriptRequest | None:
        """Return the request for its transcript at this tick; None for none. *session* and *title* help to find it."""
        if self.transcript is None:
            return None
        cwd = ""
        if self.turns is not None:
            # Its status file shows where its transcript is.
            cwd, session = self.turns.transcript or ("", "")
            if not session:
                return None
        return self.transcript.request(session, cwd, title, status)

    def request(self) -> FileRequest | None:
        """Return the request for its status file at this tick, while it holds the foreground; None for none."""
        if self.turns is None or self.status_file is None:
            return None
        self.missed = self.missed + 1 if self.known is None else 0
        if self.missed > MISSING_FILE_TICKS and self.missed % MISSING_FILE_EVERY:
            return None
        where = self.turns.transcript
        path = _transcript(self.status_file, *where) if where is not None else None
        growth = self.growth if self.turns.is_busy else None
        return FileRequest(self.status_file, path, self.known, self.turns.is_undecided, growth)

    def last_request(self) -> FileRequest | None:
        """Return the request that checks, after its end, whether its status file is still there."""
        self.missed += 1
        if self.status_file is None:
            return None
        return FileRequest(self.status_file, None, self.known, is_undecided=True, is_last=True)

    def read(self, status_file: bytes | None, tail: bytes, now: float) -> Report | None:
        """Return the report in the content of its files at monotonic *now*; None if nothing is new."""
        process = self.identity.process
        if self.turns is None or process is None:
            return None
        known, self.known = self.known, status_file
        if status_file is None:
            # A file that was never there says nothing about an exit.
            return self.goodbye() if known is not None else None
        if status_file == known and not tail and not self.turns.is_undecided:
            return None
        reading = claude_status.decode(status_file.decode("utf-8", "replace"), pid=self.number, start=process.start)
        try:
            return self.turns.read(reading, tail, now)
        except Exception:
            self.turns.give_up()
            raise

    def goodbye(self) -> Report:
        """Return the report of its exit: it has removed its status file."""
        agent = self.identity.agent
        name = agent.name if agent is not None else ""
        return Report(source=Source.REGISTRY, status=None, agent=name, rule="status file removed")


def same_run(before: Identity, after: Identity) -> bool:
    """Return whether both are the same agent started by the same command. *after* may have more details."""
    was, now = before.leader, after.leader
    if before.is_direct and after.is_direct and before.process is not None and after.process is not None:
        # A shell without job control, or an editor, may start one agent after the other.
        was, now = before.process, after.process
    return before.agent == after.agent and was is not None and now is not None and was.run == now.run


@functools.lru_cache(1024)
def _transcript(status_file: Path, cwd: str, session: str) -> Path | None:
    """
    Return the path of a session's transcript; None if a part of it would be unsafe. Cached: it is wanted at each tick.
    """
    parts = claude_ending.path_parts(cwd, session)
    return status_file.parents[1].joinpath(*parts) if parts is not None else None
