"""
The turns of one host's agents: how long each worked and waited for a person, and its questions.

`Turns` gets the panes of each snapshot, and returns the turns to write. They have ended, or reached midnight, or have
run for a while: so little is lost if a host is killed. It reads no clock. Wall times are seconds since the epoch.
Durations are monotonic, so that a machine's sleep is neither work nor waiting.

A turn begins with `working`, or with a question. It ends with `done`, `background`, `error`, `down` or `idle`, with its
agent, or with its pane. A limit is neither work nor waiting: it waits for no person.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from operator import attrgetter

import attrs

from tallylight.model import attributes
from tallylight.model.limits import MAX_PANES as MAX_PANES
from tallylight.model.status import Kind, Status
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.values import (
    ID,
    MAX_ID_CELLS,
    MAX_TEXT_CHARS,
    NUMBER,
    STRINGS,
    Form,
    Json,
    declared,
    key,
    number,
    one_of,
    read,
    short,
    text,
    texts,
    write,
)
from tallylight.wire.text import sanitise

#: Seconds between two writings of an open turn; and until the first, and one with news: a reader counts on from there.
CHECKPOINT_S, FIRST_SAVE_S = 300.0, 5.0
#: The first questions of a turn that are kept, and the cells of each; a title is cut to the same.
MAX_QUESTIONS = 8
QUESTION_CELLS = 120
#: Seconds that the end of a turn is held back: sources may yet agree how it ended.
END_SETTLES_S = 2.0
#: A shorter turn, in seconds, that was stopped and asked nothing was none: the screen was misread.
LEAST_S = 2.0
#: The longest turn, in seconds: it is cut at midnight, and a day may have 25 hours.
MAX_TURN_S = 25 * 3600.0
_TURN_NAME_CELLS = 60


class Ending(enum.StrEnum):
    """How a turn ended."""

    #: It has not ended, or its end is unknown: its host was killed.
    OPEN = ""
    DONE = "done"
    ERROR = "error"
    #: The agent vanished while it worked.
    DOWN = "down"
    #: A person interrupted it, or refused its request.
    STOPPED = "stopped"
    #: The agent left the foreground, or its pane was closed.
    LEFT = "left"
    #: It continues after midnight, as another entry.
    MIDNIGHT = "midnight"


_ENDS = {
    Status.DONE: Ending.DONE,
    Status.BACKGROUND: Ending.DONE,
    Status.QUIET: Ending.DONE,
    Status.ERROR: Ending.ERROR,
    Status.DOWN: Ending.DOWN,
    Status.IDLE: Ending.STOPPED,
    Status.ACTIVE: Ending.LEFT,
}


_ENDINGS = {ending.value: ending for ending in Ending}
_ENDING = Form(lambda value: _ENDINGS.get(text(value)), {"enum": list(_ENDINGS)}, attrgetter("value"))
_ASKED = Form(lambda value: texts(value, MAX_QUESTIONS), STRINGS, list)
_LENGTH = Form(lambda value: min(number(value), MAX_TURN_S), NUMBER.schema)
#: When it began: without that it is no turn.
_MOMENT = Form(lambda value: number(value) or None, NUMBER.schema)


@attributes.frozen(kw_only=True)
class Turn:
    """
    One turn of an agent, or the part of it on one day. Every text is from a program, and is cut.

    *id* is the same in all entries of one turn; the last of them counts. *ended* is the time of writing while the turn
    is open. *goes_on*: the turn began the day before, or before its host was restarted, and that part is another entry.
    """

    id: str = attributes.field(metadata=declared("", ID))
    agent: str = attributes.field(metadata=declared("", short(MAX_TEXT_CHARS)))
    project: str = key("", is_always=False)
    session: str = key("", is_always=False)
    title: str = key("", is_always=False)
    began: float = attributes.field(metadata=declared("", _MOMENT))
    ended: float = key(0.0)
    worked_s: float = key(0.0, form=_LENGTH, is_always=False)
    waited_s: float = key(0.0, form=_LENGTH, is_always=False)
    questions: int = key(0, is_always=False)
    #: The first questions, each in one line.
    asked: tuple[str, ...] = key((), form=_ASKED, is_always=False)
    ending: Ending = key(Ending.OPEN, form=_ENDING, is_always=False)
    goes_on: bool = key(False, is_always=False)
    #: Whether its host saw no process of the agent: it ran elsewhere, or in a multiplexer that another host watches.
    is_remote: bool = key(False, is_always=False)
    #: Its status when it was written: working or waiting; empty once it is over.
    doing: str = key("", form=one_of(("", Status.WORKING.value, Status.WAITING.value)), is_always=False)

    def at(self, clock: float) -> Turn:
        """Return the turn as of the wall time *clock*, if its host is alive and has written nothing since."""
        passed = min(max(0.0, clock - self.ended), 2 * CHECKPOINT_S)
        if self.doing == Status.WORKING.value:
            return attrs.evolve(self, ended=self.ended + passed, worked_s=self.worked_s + passed)
        if self.doing == Status.WAITING.value:
            return attrs.evolve(self, ended=self.ended + passed, waited_s=self.waited_s + passed)
        return self

    @property
    def is_error(self) -> bool:
        """Return whether the turn failed, or its agent vanished."""
        return self.ending in (Ending.ERROR, Ending.DOWN)

    @classmethod
    def from_json(cls, value: object) -> Turn | None:
        """Return the turn that `to_json` wrote; None if *value* is something else."""
        found: Turn | None = read(cls, value)
        return attributes.evolve(found, ended=max(found.began, found.ended)) if found is not None else None

    def to_json(self) -> Json:
        """Return the JSON value; empty fields are left out."""
        return write(self)


@attrs.define
class _Going:
    """An open turn in a pane. Its times are summed up until *at*, monotonic; *phase* is its status since then."""

    turn: Turn
    phase: Status
    at: float
    written_at: float
    #: Whether the text of the open question is known.
    is_asked: bool = False
    #: Whether its status has been written.
    is_told: bool = False

    def advance(self, at: float) -> None:
        """Sum up until *at*."""
        passed = max(0.0, at - self.at)
        if self.phase is Status.WORKING:
            self.turn = attrs.evolve(self.turn, worked_s=self.turn.worked_s + passed)
        elif self.phase is Status.WAITING:
            self.turn = attrs.evolve(self.turn, waited_s=self.turn.waited_s + passed)
        self.at = max(self.at, at)

    def written(self, now: float, at: float, clock: float, ending: Ending = Ending.OPEN) -> Turn:
        """Return the entry to write at *now*, summed up to *at*, which is *clock* by the wall."""
        self.advance(at)
        self.written_at, self.is_told = now, True
        turn = self.turn
        return attrs.evolve(
            turn,
            ended=round(max(turn.began, clock), 1),
            worked_s=round(turn.worked_s, 1),
            waited_s=round(turn.waited_s, 1),
            ending=ending,
            doing="" if ending or self.phase is Status.LIMITED else self.phase.value,
        )


@attrs.define
class Turns:
    """The turns of the host *host*, a name that no other process has at the same time. *now* is monotonic seconds."""

    host: str
    _day: str = ""
    #: The monotonic and wall time of the first look: an earlier run of the host has written all before that.
    _began: tuple[float, float] | None = None
    _going: dict[str, _Going] = attrs.field(factory=dict)
    #: Turns that have ended, by pane, and when.
    _ended: dict[str, tuple[Turn, float]] = attrs.field(factory=dict)
    #: The status of each pane at the last look.
    _shown: dict[str, Status] = attrs.field(factory=dict)
    #: The panes of the last look: one that is the very same, without a turn, has nothing new.
    _looked_at: dict[str, Pane] = attrs.field(factory=dict)

    def take(self, panes: Iterable[Pane], now: float, clock: float) -> list[Turn]:
        """Process the host's *panes* at *now*, which is *clock* by the wall; return the turns to write."""
        self._began = self._began or (now, clock)
        found: list[Turn] = []
        there: dict[str, Pane] = {}
        for pane in panes:
            if len(there) >= MAX_PANES:
                break
            there[pane.id] = pane
            if pane.id in self._going or self._looked_at.get(pane.id) is not pane:
                found += self._take_pane(pane, now, clock)
        self._looked_at = there
        for id_ in self._shown.keys() - there.keys():
            del self._shown[id_]
            if id_ in self._going:
                self._end(id_, Ending.LEFT, now, now, clock)
            found += self._settled(id_)
        return found

    def tick(self, day: str, now: float, clock: float) -> list[Turn]:
        """Process the passing of time; *day* is the local date. Return the turns to write, open ones too."""
        settled = [id_ for id_, (_, at) in self._ended.items() if now - at >= END_SETTLES_S]
        found = [turn for id_ in settled for turn in self._settled(id_)]
        if day != self._day:
            is_midnight, self._day = bool(self._day), day
            return found + [self._cut(id_, now, clock) for id_ in self._going if is_midnight]
        due = [
            going
            for going in self._going.values()
            if now - going.written_at >= (CHECKPOINT_S if going.is_told else FIRST_SAVE_S)
        ]
        return found + [going.written(now, now, clock) for going in due]

    def close(self, now: float, clock: float) -> list[Turn]:
        """Return all turns up to now: the host ends, but the programs in its panes continue."""
        ended = [turn for id_ in list(self._ended) for turn in self._settled(id_)]
        return ended + [going.written(now, now, clock) for going in self._going.values()]

    def _take_pane(self, pane: Pane, now: float, clock: float) -> list[Turn]:
        """Process *pane*; return the turns to write."""
        status = _own_status(pane)
        before, self._shown[pane.id] = self._shown.get(pane.id), status
        going = self._going.get(pane.id)
        since, is_older = self._since(pane, now, clock)
        is_at_it = status in (Status.WORKING, Status.WAITING, Status.LIMITED)
        if going is not None:
            has_left = not going.turn.is_remote and pane.agent_pid is None
            if has_left and is_at_it:
                self._end(pane.id, Ending.LEFT, now, now, clock)
            elif not is_at_it:
                ending = Ending.LEFT if has_left and status is Status.IDLE else _ENDS[status]
                self._end(pane.id, ending, since, now, clock, pane)
            else:
                self._go_on(going, pane, status, since, is_older=is_older)
            return []
        if not _name(pane) or before is status:
            return []
        if is_at_it:
            self._begin(pane, status, since, now, clock, is_older=is_older)
            return self._settled(pane.id)
        if pane.id in self._ended:
            self._correct(pane, status)
        elif status in (Status.DONE, Status.ERROR) and before in (Status.IDLE, Status.DONE, Status.ERROR):
            # The end of a turn that was not seen otherwise, after an agent that was at rest.
            self._begin(pane, Status.WORKING, now, now, clock)
            self._end(pane.id, _ENDS[status], now, now, clock, pane)
        return []

    def _since(self, pane: Pane, now: float, clock: float) -> tuple[float, bool]:
        """
        Return since when, on the monotonic clock, *pane* has its status; and whether that began before the first look.

        No time is counted twice: nothing before the first look, nor what an open turn has summed up.
        """
        since = now - max(0.0, clock - pane.since)
        began, began_clock = self._began or (now, clock)
        # By both: the sleep of a machine, and a clock that is set, make one of them look older.
        is_older = since < began - END_SETTLES_S and pane.since < began_clock - END_SETTLES_S
        going = self._going.get(pane.id)
        return min(now, max(since, began if is_older else 0.0, going.at if going is not None else 0.0)), is_older

    def _correct(self, pane: Pane, status: Status) -> None:
        """Correct how a turn ended that has just ended. A look of a person changes nothing."""
        turn, at = self._ended[pane.id]
        if status is not Status.ACTIVE and not pane.reason.rule.endswith("; seen") and turn.ending is not Ending.LEFT:
            self._ended[pane.id] = attrs.evolve(turn, ending=_ENDS[status]), at

    def _settled(self, id_: str) -> list[Turn]:
        """Return the turn that has ended in the pane, if it was a real one."""
        turn, _ = self._ended.pop(id_, (None, 0.0))
        if turn is None or (turn.ending is Ending.STOPPED and not turn.questions and turn.worked_s < LEAST_S):
            return []
        return [turn]

    def _begin(
        self, pane: Pane, status: Status, since: float, now: float, clock: float, *, is_older: bool = False
    ) -> None:
        """Begin a turn in *pane*, which has its *status* *since* then."""
        began = round(clock - (now - since), 3)
        turn = Turn(
            id=f"{self.host}:{pane.id}:{began:.3f}"[:MAX_ID_CELLS],
            agent=_name(pane),
            began=began,
            ended=began,
            is_remote=pane.agent_pid is None,
        )
        going = _Going(turn, Status.WORKING, at=since, written_at=now)
        self._going[pane.id] = going
        self._go_on(going, pane, status, since, is_older=is_older)

    def _go_on(self, going: _Going, pane: Pane, status: Status, since: float, *, is_older: bool) -> None:
        """
        Update an open turn from *pane*, with *status* since then.

        *is_older*: the status began before the first look. Then an earlier run of the host has counted it.
        """
        is_new = status is not going.phase
        if is_older:
            going.turn, going.is_asked = attrs.evolve(going.turn, goes_on=True), True
        if is_new:
            going.advance(since)
            going.is_told = False
        going.phase = status
        going.turn = _described(going.turn, pane)
        if status is not Status.WAITING:
            return
        turn, what = going.turn, _line(pane.asks or pane.message)
        if is_new and not is_older:
            turn, going.is_asked = attrs.evolve(turn, questions=turn.questions + 1), False
        # The text of a question often arrives a moment later.
        if what and not going.is_asked:
            turn, going.is_asked = attrs.evolve(turn, asked=(*turn.asked, what)[:MAX_QUESTIONS]), True
        going.turn = turn

    def _end(self, id_: str, ending: Ending, at: float, now: float, clock: float, pane: Pane | None = None) -> None:
        """End the turn of the pane *id_*, summed up until *at*; its end is held back for `END_SETTLES_S`."""
        going = self._going.pop(id_)
        if pane is not None:
            going.turn = _described(going.turn, pane)
        self._ended[id_] = going.written(now, at, clock - (now - at), ending), now

    def _cut(self, id_: str, now: float, clock: float) -> Turn:
        """Split a turn at midnight: return the entry until now, and continue as another entry."""
        going = self._going[id_]
        before = going.written(now, now, clock, Ending.MIDNIGHT)
        began = round(clock, 3)
        going.turn = attrs.evolve(
            going.turn,
            id=f"{self.host}:{id_}:{began:.3f}"[:MAX_ID_CELLS],
            began=began,
            worked_s=0.0,
            waited_s=0.0,
            questions=0,
            asked=(),
            goes_on=True,
        )
        return before


def _own_status(pane: Pane) -> Status:
    """Return the pane's status, except that a finished turn marked as waiting by the user counts as finished."""
    if pane.status is Status.WAITING and pane.kind is Kind.INPUT:
        if any(record.id and record.status is Status.WAITING for record in pane.evidence.records):
            return pane.status
        own = next((record for record in pane.evidence.records if not record.id), None)
        if own is not None and own.status in (Status.DONE, Status.IDLE):
            return own.status
    return pane.status


def _described(turn: Turn, pane: Pane) -> Turn:
    """Return *turn* with the new texts of *pane*, if it has some."""
    return attrs.evolve(
        turn,
        project=sanitise(pane.project, cells=_TURN_NAME_CELLS) or turn.project,
        session=text(pane.session or pane.conversation.session, MAX_ID_CELLS) or turn.session,
        title=_line(pane.topic or pane.title) or turn.title,
        is_remote=turn.is_remote and pane.agent_pid is None,
    )


def _name(pane: Pane) -> str:
    return sanitise(pane.agent or (pane.program.name if pane.program.signs else ""), cells=_TURN_NAME_CELLS)


def _line(words: str) -> str:
    return sanitise(words, cells=QUESTION_CELLS).strip()
