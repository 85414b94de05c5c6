"""
The transcript of the agent in a pane: what to read of it, and the reports in it.

`Transcript` belongs to a run, and is used on its host's main thread. `TranscriptRequest.read` runs on a worker: it
finds the agent's transcript, reads what was added, and returns the new state. Nothing unchanged is read again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.others import rival_starts
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import Table, open_files, own_number
from tallylight.evidence.records.locate import SESSION_SLACK_S, Facts
from tallylight.evidence.records.places import (
    Growth,
    Place,
    Places,
    Stamp,
    StrangeError,
    added,
    ask,
    home_of,
    stamp,
    whole,
)
from tallylight.evidence.records.readers import Reader
from tallylight.evidence.records.readers import reader as reader_of
from tallylight.evidence.records.reading import Edit, Reading, Turn
from tallylight.model.details import NO_DETAILS, Details
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.pane.conversation import Conversation
from tallylight.tracker.tracker import Tracker

#: In the first so many ticks, and after the begin of a turn, a transcript is looked for in every `EAGER_EVERY`th tick.
#: After them it is `SELDOM_EVERY`th, and once there is one, `AGAIN_EVERY`th: the agent may have another one by now.
EAGER_TICKS, EAGER_EVERY, SELDOM_EVERY, AGAIN_EVERY = 40, 4, 16, 24
#: Once a transcript is known, the list of other agents in its directory may be so many seconds old: it is costly.
RIVALS_S = 2.0
#: Subagents with transcripts of their own that are read with one.
MAX_BELOW = 64
#: A transcript with so many lines, none of them understood, has a strange format. Some begin with a few.
STRANGE_LINES = 8
#: A file written less than so many nanoseconds ago may be written again with the same time.
_FRESH_NS = 100_000_000


@attrs.frozen(kw_only=True)
class TranscriptState:
    """All that workers have read of a transcript so far; the next read continues from it."""

    place: Place | None = None
    stamp: Stamp | None = None
    offset: int = 0
    #: When the agent was started, in seconds since the epoch; 0 if unknown.
    started: float = 0.0
    #: See `Reader.is_exact`.
    is_exact: bool = False
    reading: Reading | None = None
    #: The age in seconds of the last turn's end or begin, when that was read.
    age: float = 0.0
    #: When it was read, in the worker's monotonic seconds; and whether it is another turn than at the first read.
    read_at: float = 0.0
    is_new: bool = False
    #: The number of lines so far if none is understood; and whether that is enough to call the format strange.
    unknown: int = 0
    is_strange: bool = False
    seen: Mapping[str, Growth] = attrs.Factory(dict)
    was_alone: bool = False
    #: The states of the subagents of this turn, by id, and the name of one of them.
    below: Mapping[str, TranscriptState] = attrs.Factory(dict)
    name: str = ""

    @property
    def details(self) -> Details:
        """The details that it has in addition to the status."""
        return self.reading.details if self.reading is not None and self.reading.is_known else NO_DETAILS

    @property
    def published(self) -> tuple[object, ...]:
        """All values that a pane uses. The others matter only to the next read."""
        reading = self.reading
        turn = (reading.turn, reading.session, reading.asked, len(reading.background)) if reading is not None else ()
        return self.place, self.started, self.is_strange, self.details, *turn


@attrs.frozen(kw_only=True)
class TranscriptRequest:
    """A request to read what is new in *transcript*. *session*, *cwd* and *title* help to find it."""

    transcript: Transcript
    before: TranscriptState
    is_locating: bool
    session: str = ""
    cwd: str = ""
    title: str = ""

    @property
    def process(self) -> Process:
        return self.transcript.process

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths on the mounts that are read from: the transcript, or the folder of all the agent's transcripts."""
        place = self.before.place
        if place is not None:
            return tuple(Path(path) for path in (place.path, place.beside) if path)
        agent = self.transcript.agent
        environ = self.transcript.table.environ(self.process.pid)
        folder = environ.get(agent.hooks.folder_env, "") if agent.hooks is not None else ""
        return (Path(folder if folder.startswith("/") else f"{home_of(environ)}/.{agent.name}", "records"),)

    def read(self) -> TranscriptState | None:
        """Read what was added; return the new state, or None if a pane would show nothing new."""
        reader, found = reader_of(self.transcript.agent.record), self.before
        if reader is None:
            return None
        if self.is_locating:
            found = self._located(reader)
        if found.place is not None:
            read = _with_children(reader, found.reading, _read_new(reader, found))
            found = attrs.evolve(read, is_exact=reader.is_exact)
        if found == self.before:
            return None
        # A request that hung was dropped, and a later one may have read further meanwhile.
        if found.published == self.before.published and self.transcript.found is self.before:
            self.transcript.found = found
            return None
        return found

    def _located(self, reader: Reader) -> TranscriptState:
        """Return the state of the agent's transcript, which is looked for; unchanged if it is the known one."""
        agent, process, table, before = self.transcript.agent, self.process, self.transcript.table, self.before
        environ = table.environ(process.pid)
        # A daemon that it has started serves others as well, and is left out.
        below = tuple(child.pid for child in table.descendants(process.pid) if child.pgrp == process.pgrp)
        # Once a transcript is known, the list of other agents may be a little older.
        age_s, now = RIVALS_S if before.place is not None else 0.0, time.monotonic()
        others: tuple[float, ...] = ()
        if reader.wants_others and not reader.others_last:
            others = rival_starts(process, agent, table, now, age_s)
        places = Places(before=before.seen, is_alone=before.was_alone and not others)
        facts = Facts(
            pid=own_number(process.pid, table),
            pids=tuple(own_number(pid, table) for pid in below),
            started=table.start_time(process.pid) or 0.0,
            cwd=self.cwd or table.cwd(process.pid),
            home=home_of(environ),
            environ=environ,
            open_files=open_files((process.pid, *below), table) if reader.wants_files else (),
            others=others,
            session=self.session,
            title=self.title,
        )
        place = reader.locate(facts, places)
        if place is not None and reader.others_last:
            place = reader.locate(attrs.evolve(facts, others=rival_starts(process, agent, table, now, age_s)), places)
        if place is None or place == before.place:
            # A transcript that was certain once stays until another one is certain.
            is_strange = before.is_strange or places.is_strange
            return attrs.evolve(before, seen=places.seen, was_alone=not others, is_strange=is_strange)
        return TranscriptState(place=place, started=facts.started, seen=places.seen, was_alone=not others)


def _with_children(reader: Reader, before: Reading | None, found: TranscriptState) -> TranscriptState:
    """Return *found* with the transcripts of its subagents read, too. *before* is the reading before its own."""
    place, reading = found.place, found.reading
    if reader.children is None or place is None or reading is None:
        return found
    is_same = before is not None and before.since == reading.since
    known = {id_: (one.name, one.place) for id_, one in found.below.items() if is_same and one.place is not None}
    below = {}
    for id_, (name, where) in list(reader.children(place, reading, known, Places()).items())[-MAX_BELOW:]:
        below[id_] = _read_new(reader, found.below.get(id_) or TranscriptState(place=where, name=name))
    if reading is before and below == found.below:
        return found
    records = {id_: one.reading or Reading() for id_, one in below.items()}
    whole = reading.with_calls({id_: (below[id_].name, one) for id_, one in records.items()}).followed(records)
    found = found if whole is reading else _with_reading(found, reading, whole)
    return attrs.evolve(found, below=below)


def _with_reading(found: TranscriptState, before: Reading | None, reading: Reading) -> TranscriptState:
    """
    Return *found* with *reading* in place of *before*, and with the age of its turn's end or begin.

    The age comes from the wall clock, which may have been set, or have advanced during a suspend. So a turn that was
    missing in the read before is at most as old as that read, by the monotonic clock.
    """
    read_at, turn, known = time.monotonic(), reading.turn, before.turn if before is not None else None
    is_new = before is not None and turn is not None and (known is None or turn.at != known.at)
    age = max(0.0, time.time() - turn.at) if turn is not None else 0.0
    if is_new:
        age = min(age, read_at - found.read_at)
    elif known is not None:
        age = found.age + read_at - found.read_at
    return attrs.evolve(found, reading=reading, age=age, read_at=read_at, is_new=is_new or found.is_new)


def _read_new(reader: Reader, found: TranscriptState) -> TranscriptState:
    """Return *found* with all that was added to the transcript since."""
    place, state, offset, before = found.place, found.reading, found.offset, found.stamp
    now = stamp(place) if place is not None else None
    if place is None or now is None or now == before:
        return found
    if reader.queries:
        try:
            data = reader.rows(ask(place.path, reader.queries, (place.session,)))
        except StrangeError:
            return attrs.evolve(found, stamp=now, is_strange=True)
        if not data:
            return attrs.evolve(found, stamp=None)  # the database was busy
    else:
        if before is not None and (before[0] != now[0] or now[1] < offset):
            # Another file, or one that was started from the beginning.
            state, offset, found = None, 0, attrs.evolve(found, is_new=False)
        if reader.is_rewritten:
            data = whole(place)
        else:
            data, offset = added(place.path, offset, now[1])
    reading = reader.read(data, state)
    is_fresh = abs(time.time_ns() - now[2]) < _FRESH_NS
    unknown = 0 if reading.is_known else found.unknown + data.count(b"\n")
    return attrs.evolve(
        _with_reading(found, state, reading),
        stamp=None if is_fresh and reader.queries else now,
        offset=offset,
        unknown=unknown,
        is_strange=unknown >= STRANGE_LINES,
    )


@attrs.define(eq=False)
class Transcript:
    """The transcript of one run of *agent* as *process*. A worker that found nothing to publish sets *found* itself."""

    agent: Agent
    process: Process
    table: Table
    #: When this run was first seen, monotonic: a turn that ended before is old news.
    since: float
    found: TranscriptState = TranscriptState()
    #: The details as they were last made, with the state they are from: they are asked for often.
    _known: TranscriptState = TranscriptState()
    _details: Details = NO_DETAILS
    _ticks: int = 0
    _was_busy: bool = False
    _said: Report | None = None

    @property
    def details(self) -> Details:
        """The details that it has in addition to the status."""
        if self.found is not self._known:
            self._known, self._details = self.found, self.found.details
        return self._details

    @property
    def published(self) -> tuple[object, ...]:
        """The values that a host publishes: equal as long as none changes."""
        return self.details, self.is_strange

    @property
    def session(self) -> str:
        """The id of its session; empty while that is not known."""
        reading = self.found.reading
        return reading.session if reading is not None else ""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The recent edits of the agent and of its subagents."""
        found = self.found
        readings = [one.reading for one in (found, *found.below.values()) if one.reading is not None]
        return tuple(edit for reading in readings for edit in reading.edits)

    @property
    def is_strange(self) -> bool:
        """Return whether nothing in the transcript is understood: its format is of another version."""
        return self.found.is_strange

    def request(self, session: str, cwd: str, title: str, status: Status) -> TranscriptRequest | None:
        """Return the request for this tick, at which its agent shows *status*; None for none."""
        has_place, is_busy = self.found.place is not None, status in (Status.WORKING, Status.WAITING)
        if is_busy and not self._was_busy and not has_place:
            self._ticks = 0  # many agents create it with their first turn
        self._was_busy = is_busy
        ticks, self._ticks = self._ticks, self._ticks + 1
        every = AGAIN_EVERY if has_place else EAGER_EVERY if ticks < EAGER_TICKS else SELDOM_EVERY
        is_due = ticks % every == 0
        if not has_place and not is_due:
            return None
        return TranscriptRequest(
            transcript=self, before=self.found, is_locating=is_due, session=session, cwd=cwd, title=title
        )

    def apply(self, found: TranscriptState, tracker: Tracker, conversation: Conversation, now: float) -> None:
        """Take a worker's result at monotonic *now*, and pass its news to *tracker* and *conversation*."""
        before = self.published
        report = self.take(found, now)
        conversation.name_session(self.session)
        if report is not None:
            tracker.report(report, now, since=now - found.age)
        if self.published != before:
            tracker.touch()  # it is published even if the status does not change

    def take(self, found: TranscriptState, now: float) -> Report | None:
        """Take a worker's result at monotonic *now*; return the report to make of it, or None."""
        self.found = found
        turn = self._turn_to_report(now)
        report = Report(source=Source.RECORD, status=None, agent=self.agent.name, session=self.session)
        if turn is not None and found.reading is not None:
            report = attrs.evolve(
                report,
                status=turn.status,
                kind=turn.kind,
                rule=turn.rule or "its record: the turn continues",
                message=turn.message,
                what=found.reading.asked_for,
                background=len(found.reading.background) if turn.status is Status.BACKGROUND else 0,
            )
        # The same end again is no news, unless it is of another turn.
        key = attrs.evolve(report, title=str(turn.at) if turn is not None else "")
        if key == self._said or (self._said is None and turn is None):
            return None
        self._said = key
        return report

    def _turn_to_report(self, now: float) -> Turn | None:
        """
        Return the last turn if it ended since the program began, or still goes on in an exact transcript (see
        `Reader.is_exact`).
        """
        found = self.found
        if found.reading is None or (turn := found.reading.turn) is None:
            return None
        if turn.status is Status.WORKING or found.reading.asked:
            # A turn of an earlier process does not go on. After the clock was set back a new turn seems older.
            is_own = found.started > 0 and (found.is_new or found.started <= turn.at + SESSION_SLACK_S)
            return turn if is_own and found.is_exact else None
        return turn if now - found.age >= self.since else None
