"""
Others: the agents of this machine's other hosts, from their snapshots, and the edits in their records.

Two jobs read them now and then: an unreadable record costs its edits, and not its agent.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Mapping

import attrs

from tallylight.evidence.process_table import ForegroundReader
from tallylight.evidence.records.reading import Edit
from tallylight.model.jobs import Submit
from tallylight.pane.transcript import Transcript
from tallylight.snapshot import writer
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import Pane as PaneEntry

#: Seconds between two looks at the snapshots, and at the records.
SNAPSHOTS_S, RECORDS_S = 2.0, 1.0
#: The most records to read.
MAX_RECORDS_READ = 32


@attrs.define
class Others:
    """The agents of hosts other than *name*. *reader* knows the agents, *submit* runs one job per key on a thread."""

    name: str
    environ: Mapping[str, str]
    submit: Submit
    reader: ForegroundReader
    #: The agents by address, and the recent edits in the records that are read.
    panes: Mapping[str, PaneEntry] = attrs.field(factory=dict)
    edits: Mapping[str, tuple[Edit, ...]] = attrs.field(factory=dict)
    _feed: Feed | None = None
    _asked_at: float = float("-inf")
    _read_at: float = float("-inf")
    #: Used by the job only: the records that it reads.
    _transcripts: dict[str, Transcript] = attrs.field(factory=dict)

    def follow(self, near: Collection[str], now: float) -> None:
        """Start reading snapshots if it is time, and the records of the agents *near*."""
        panes = {at: self.panes[at] for at in itertools.islice(near, MAX_RECORDS_READ)}
        if now - self._asked_at >= SNAPSHOTS_S and self.submit("collisions with others", self._look, self._were_seen):
            self._asked_at = now
        if now - self._read_at >= RECORDS_S and (panes or self.edits):
            self._read_at = now
            self.submit("records of others", lambda: self._written(panes), self._were_read)

    def _look(self) -> dict[str, PaneEntry]:
        if self._feed is None:
            self._feed = Feed(writer.directory(self.environ))
        self._feed.poll(time.monotonic())
        return {
            f"{host.name}:{pane.id}": pane
            for host in self._feed.snapshots
            if host.name != self.name
            for pane in host.panes
            if pane.works_in
        }

    def _were_seen(self, panes: Mapping[str, PaneEntry]) -> None:
        self.panes = panes

    def _written(self, panes: Mapping[str, PaneEntry]) -> dict[str, tuple[Edit, ...]]:
        """Return the edits in the records of the agents of *panes*."""
        before, self._transcripts = self._transcripts, {}
        for address, pane in panes.items():
            agent, process = self.reader.agents.get(pane.agent), self.reader.table.get(pane.agent_pid or 0)
            if agent is None or process is None or not agent.record:
                continue
            known = before.get(address)
            if known is None or known.process.run != process.run or known.agent is not agent:
                known = Transcript(agent, process, self.reader.table, time.monotonic())
            self._transcripts[address] = known
            request = known.request(pane.session, pane.cwd, pane.title, pane.status)
            known.found = (request.read() if request is not None else None) or known.found
        return {address: known.edits for address, known in self._transcripts.items()}

    def _were_read(self, edits: Mapping[str, tuple[Edit, ...]]) -> None:
        self.edits = edits
