"""
The transcript of the agent in a pane: what to read of it, and what it has said.

`Transcript` belongs to a run and is its host's main thread's. `TranscriptRequest.read` is a worker's: it finds out
which transcript it is, reads what was added, and hands back what that says. Nothing is read again that has not changed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import attrs

from tallylight.agents.agent import Agent
from tallylight.evidence.others import others_of
from tallylight.evidence.process import Process
from tallylight.evidence.process_table import Table, open_files, own_number
from tallylight.evidence.records.locate import SLACK_S, Facts
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

#: In how many ticks a transcript is looked for: in every so many at first and when a turn begins, then in every so many
#: while there is none, and in every so many to see whether the agent has another one by now.
EAGER_TICKS, EAGER_EVERY, SELDOM_EVERY, AGAIN_EVERY = 40, 4, 16, 24
#: Where a transcript is known, the other processes in its directory may be those of so many seconds ago: to find them
#: takes a look at every process that runs.
RIVALS_S = 2.0
#: So many lines without anything that is known are of another format; a transcript may begin with some.
STRANGE_LINES = 8
#: A file that was written so short a time ago, in nanoseconds, may be written once more without another time.
_FRESH_NS = 100_000_000


@attrs.frozen(kw_only=True)
class TranscriptState:
    """What a worker has found out by now; the next one goes on with it."""

    place: Place | None = None
    stamp: Stamp | None = None
    offset: int = 0
    #: When the agent was started, in seconds since the epoch; 0 if unknown.
    started: float = 0.0
    #: As `Reader.is_exact`.
    is_exact: bool = False
    reading: Reading | None = None
    #: How long ago the last turn ended or began, in seconds, when that was read.
    age: float = 0.0
    #: When that was, in monotonic seconds of the worker; and whether that turn is another one than was read at first.
    read_at: float = 0.0
    is_new: bool = False
    #: Lines so far, if nothing in them is known; and whether there are enough of them to say so.
    unknown: int = 0
    is_strange: bool = False
    seen: Mapping[str, Growth] = attrs.Factory(dict)
    was_alone: bool = False
    #: The same of the subagents that go on after its turn, by id.
    below: Mapping[str, TranscriptState] = attrs.Factory(dict)

    @property
    def details(self) -> Details:
        """What it has beside the status."""
        return self.reading.details if self.reading is not None and self.reading.is_known else NO_DETAILS

    @property
    def told(self) -> tuple[object, ...]:
        """All that is of interest to anybody but the next reading."""
        reading = self.reading
        said = (reading.turn, reading.session, reading.asked, len(reading.background)) if reading is not None else ()
        return self.place, self.started, self.is_strange, self.details, *said


@attrs.frozen(kw_only=True)
class TranscriptRequest:
    """Something new of *transcript* to be read; *session* and *title* are what its agent has said so far."""

    transcript: Transcript
    before: TranscriptState
    is_locating: bool
    session: str = ""
    cwd: str = ""
    title: str = ""

    @property
    def process(self) -> Process:
        """The agent's."""
        return self.transcript.process

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where this hangs, if it does: the transcript, or where all of the agent's are."""
        place = self.before.place
        if place is not None:
            return tuple(Path(path) for path in (place.path, place.beside) if path)
        agent = self.transcript.agent
        environ = self.transcript.table.environ(self.process.pid)
        folder = environ.get(agent.hooks.folder_env, "") if agent.hooks is not None else ""
        return (Path(folder if folder.startswith("/") else f"{home_of(environ)}/.{agent.name}", "records"),)

    def read(self) -> TranscriptState | None:
        """What is new; None if nothing of it is shown anywhere: then the next reading goes on from here."""
        reader, found = reader_of(self.transcript.agent.record), self.before
        if reader is None:
            return None
        if self.is_locating:
            found = self._located(reader)
        if found.place is not None:
            found = attrs.evolve(_with_children(reader, _read_new(reader, found)), is_exact=reader.is_exact)
        if found == self.before:
            return None
        # Nobody waits for one that was given up, and others may have read on since.
        if found.told == self.before.told and self.transcript.found is self.before:
            self.transcript.found = found
            return None
        return found

    def _located(self, reader: Reader) -> TranscriptState:
        agent, process, table, before = self.transcript.agent, self.process, self.transcript.table, self.before
        environ = table.environ(process.pid)
        # A daemon that it has started serves others as well.
        below = tuple(child.pid for child in table.descendants(process.pid) if child.pgrp == process.pgrp)
        # Of a transcript that is known only another one of the same process is news.
        age_s, now = RIVALS_S if before.place is not None else 0.0, time.monotonic()
        others: tuple[float, ...] = ()
        if reader.wants_others and not reader.others_last:
            others = others_of(process, agent, table, now, age_s)
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
            place = reader.locate(attrs.evolve(facts, others=others_of(process, agent, table, now, age_s)), places)
        if place is None or place == before.place:
            # What was certain once stays so until another one is.
            is_strange = before.is_strange or places.is_strange
            return attrs.evolve(before, seen=places.seen, was_alone=not others, is_strange=is_strange)
        return TranscriptState(place=place, started=facts.started, seen=places.seen, was_alone=not others)


def _with_children(reader: Reader, found: TranscriptState) -> TranscriptState:
    """*found*, with what the transcripts of the subagents say that have gone on after the turn."""
    place, reading = found.place, found.reading
    if reader.child is None or place is None or reading is None or not reading.left:
        return found
    below = {}
    for id_ in reading.left:
        one = found.below.get(id_)
        if one is None:
            path = reader.child(place, id_, Places())
            one = TranscriptState(place=Place(path) if path else None)
        below[id_] = _read_new(reader, one)
    if below == found.below:
        return found
    reading = reading.followed({id_: one.reading or Reading() for id_, one in below.items() if one.place is not None})
    found = _with_reading(found, found.reading, reading)
    return attrs.evolve(found, below=below if reading.left else {})


def _with_reading(found: TranscriptState, before: Reading | None, reading: Reading) -> TranscriptState:
    """
    *found* with *reading* in the place of the one *before*, and how long ago its turn ended or began.

    The wall clock shows that, and may have been set since, or have gone on while the machine was suspended. But what
    was not there when it was read before is no older than that, by a clock of ours.
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
    """*found*, with what was added to the transcript since."""
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
            return attrs.evolve(found, stamp=None)  # it was busy
    else:
        if before is not None and (before[0] != now[0] or now[1] < offset):
            # Another file, or one that was begun again.
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
    """The transcript of one run of *agent* as *process*. A worker that has found no news sets *found* itself."""

    agent: Agent
    process: Process
    table: Table
    #: When this run was first seen, monotonic: what ended before is old news.
    since: float
    found: TranscriptState = TranscriptState()
    #: What was found when its details were last worked out, which is asked much more often, and these.
    _known: TranscriptState = TranscriptState()
    _details: Details = NO_DETAILS
    _ticks: int = 0
    _was_busy: bool = False
    _said: Report | None = None

    @property
    def details(self) -> Details:
        """What it has beside the status."""
        if self.found is not self._known:
            self._known, self._details = self.found, self.found.details
        return self._details

    @property
    def told(self) -> tuple[object, ...]:
        """The parts of it for others."""
        return self.details, self.is_strange

    @property
    def session(self) -> str:
        """The session that it is of; nothing while that is not known."""
        reading = self.found.reading
        return reading.session if reading is not None else ""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What it has written of late, and what its subagents have that go on after its turn."""
        found = self.found
        readings = [one.reading for one in (found, *found.below.values()) if one.reading is not None]
        return tuple(edit for reading in readings for edit in reading.edits)

    @property
    def is_strange(self) -> bool:
        """Whether there is one without anything known: a format of another version."""
        return self.found.is_strange

    def request(self, session: str, cwd: str, title: str, status: Status) -> TranscriptRequest | None:
        """What to read of it at this tick, at which its agent shows *status*."""
        has_place, is_busy = self.found.place is not None, status in (Status.WORKING, Status.WAITING)
        if is_busy and not self._was_busy and not has_place:
            self._ticks = 0  # many agents begin one with their first turn
        self._was_busy = is_busy
        ticks, self._ticks = self._ticks, self._ticks + 1
        every = AGAIN_EVERY if has_place else EAGER_EVERY if ticks < EAGER_TICKS else SELDOM_EVERY
        is_due = ticks % every == 0
        if not has_place and not is_due:
            return None
        return TranscriptRequest(
            transcript=self, before=self.found, is_locating=is_due, session=session, cwd=cwd, title=title
        )

    def tell(self, found: TranscriptState, tracker: Tracker, conversation: Conversation, now: float) -> None:
        """A worker has found something new, at monotonic *now*: pass it to those who decide by it, and who show it."""
        before = self.told
        report = self.take(found, now)
        conversation.recorded(self.session)
        if report is not None:
            tracker.report(report, now, since=now - found.age)
        if self.told != before:
            tracker.touch()  # others get it, whatever becomes of the status

    def take(self, found: TranscriptState, now: float) -> Report | None:
        """A worker has found something new, at monotonic *now*; return the report to make of it, if any."""
        self.found = found
        turn = self._told_turn(now)
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
        # The same end again is no news, except for one of another turn.
        key = attrs.evolve(report, title=str(turn.at) if turn is not None else "")
        if key == self._said or (self._said is None and turn is None):
            return None
        self._said = key
        return report

    def _told_turn(self, now: float) -> Turn | None:
        """The turn to report: one that ended since, and of an exact transcript one that goes on."""
        found = self.found
        if found.reading is None or (turn := found.reading.turn) is None:
            return None
        if turn.status is Status.WORKING or found.reading.asked:
            # What an earlier process left does not go on. If the clock was set back, a new turn seems older than it is.
            is_own = found.started > 0 and (found.is_new or found.started <= turn.at + SLACK_S)
            return turn if is_own and found.is_exact else None
        return turn if now - found.age >= self.since else None
