"""
Turns: what the agents of one host did: how long each turn worked, how long it waited for a person, what it asked.

`Turns` is shown the panes of a host again and again, as its snapshot has them, and gives back what is to be written
down: a turn that has ended, one that has reached midnight, and now and then one that goes on, so that little is lost
with a host that is killed. It reads no clock. Times of the wall are seconds since the epoch; durations are measured on
the monotonic clock, so that the sleep of a machine is neither work nor waiting.

A turn begins with `working`, or with a question; it ends with `done`, `background`, `error`, `down` or `idle`, with its
agent, or with its pane. A limit is neither work nor waiting: it waits for nobody.
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
    MAX_ID,
    MAX_TEXT,
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

#: Seconds between two writings of a turn that goes on; and until the first, and one of what is new in it: a reader
#: counts on from there.
CHECKPOINT_S, FIRST_S = 300.0, 5.0
#: Of what was asked in one turn the first so many are kept, each cut to so many cells; a title is cut to the same.
MAX_ASKED = 8
TEXT_CELLS = 120
#: Seconds that the end of a turn is held back: sources may yet agree how it ended.
SETTLE_S = 2.0
#: A turn that is stopped sooner, in seconds, and asked nothing, was none: a look at the screen took it for one.
LEAST_S = 2.0
#: No turn is longer, in seconds: it is cut at midnight, and a day may have 25 hours.
MAX_S = 25 * 3600.0
_NAME_CELLS = 60


class Ending(enum.StrEnum):
    """How a turn ended."""

    #: It has not ended, or its end is unknown: its host was killed.
    OPEN = ""
    DONE = "done"
    ERROR = "error"
    #: The agent vanished while it worked.
    DOWN = "down"
    #: A person interrupted it, or refused what it asked for.
    STOPPED = "stopped"
    #: The agent left the foreground, or its pane was closed.
    LEFT = "left"
    #: It goes on after midnight, as another entry.
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
_ASKED = Form(lambda value: texts(value, MAX_ASKED), STRINGS, list)
_LENGTH = Form(lambda value: min(number(value), MAX_S), NUMBER.schema)
#: When it began: without that it is no turn.
_MOMENT = Form(lambda value: number(value) or None, NUMBER.schema)


@attributes.frozen(kw_only=True)
class Turn:
    """
    One turn of an agent, or the part of it that lies in one day. Every text is from a program, and is cut.

    *id* is the same in everything that is written of one turn; the last of it counts. *ended* is as of when it was
    written while the turn goes on. *goes_on*: the turn began the day before, or before its host was started again, and
    that part of it is another entry.
    """

    id: str = attributes.field(metadata=declared("", ID))
    agent: str = attributes.field(metadata=declared("", short(MAX_TEXT)))
    project: str = key("", is_always=False)
    session: str = key("", is_always=False)
    title: str = key("", is_always=False)
    began: float = attributes.field(metadata=declared("", _MOMENT))
    ended: float = key(0.0)
    worked_s: float = key(0.0, form=_LENGTH, is_always=False)
    waited_s: float = key(0.0, form=_LENGTH, is_always=False)
    questions: int = key(0, is_always=False)
    #: What was asked, the first ones, each in one line.
    asked: tuple[str, ...] = key((), form=_ASKED, is_always=False)
    ending: Ending = key(Ending.OPEN, form=_ENDING, is_always=False)
    goes_on: bool = key(False, is_always=False)
    #: Whether its host saw no process of the agent: it ran elsewhere, or in a multiplexer that another host looks into.
    is_remote: bool = key(False, is_always=False)
    #: What it did when it was written: it works, or it waits for a person; nothing once it is over.
    doing: str = key("", form=one_of(("", Status.WORKING.value, Status.WAITING.value)), is_always=False)

    def at(self, clock: float) -> Turn:
        """The same at *clock*, by the wall, if its host lives and has told nothing since."""
        passed = min(max(0.0, clock - self.ended), 2 * CHECKPOINT_S)
        if self.doing == Status.WORKING.value:
            return attrs.evolve(self, ended=self.ended + passed, worked_s=self.worked_s + passed)
        if self.doing == Status.WAITING.value:
            return attrs.evolve(self, ended=self.ended + passed, waited_s=self.waited_s + passed)
        return self

    @property
    def is_error(self) -> bool:
        """Whether it failed or vanished."""
        return self.ending in (Ending.ERROR, Ending.DOWN)

    @classmethod
    def from_json(cls, value: object) -> Turn | None:
        """Read what `to_json` made; None if it is something else."""
        found: Turn | None = read(cls, value)
        return attributes.evolve(found, ended=max(found.began, found.ended)) if found is not None else None

    def to_json(self) -> Json:
        """What is written; what says nothing is left out."""
        return write(self)


@attrs.define
class _Going:
    """A turn that goes on in a pane. *at* is up to when it is summed up, monotonic; *phase* what it does since then."""

    turn: Turn
    phase: Status
    at: float
    written_at: float
    #: Whether the words of the question that is open are known.
    is_asked: bool = False
    #: Whether it is written what it does.
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
        """What is to be written of it at *now*, up to *at*, which is *clock* by the wall."""
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
    #: When the first look was, and by the wall: what was before that was written by an earlier run of the host.
    _began: tuple[float, float] | None = None
    _going: dict[str, _Going] = attrs.field(factory=dict)
    #: Turns that have ended, by pane, and when.
    _ended: dict[str, tuple[Turn, float]] = attrs.field(factory=dict)
    #: What each pane showed at the last look.
    _shown: dict[str, Status] = attrs.field(factory=dict)
    #: The panes of the last look: one that is the very same, without a turn, has nothing new.
    _looked_at: dict[str, Pane] = attrs.field(factory=dict)

    def take(self, panes: Iterable[Pane], now: float, clock: float) -> list[Turn]:
        """The host shows *panes* at *now*, which is *clock* by the wall. What is to be written."""
        self._began = self._began or (now, clock)
        found: list[Turn] = []
        there: dict[str, Pane] = {}
        for pane in panes:
            if len(there) >= MAX_PANES:
                break
            there[pane.id] = pane
            if pane.id in self._going or self._looked_at.get(pane.id) is not pane:
                found += self._look(pane, now, clock)
        self._looked_at = there
        for id_ in self._shown.keys() - there.keys():
            del self._shown[id_]
            if id_ in self._going:
                self._end(id_, Ending.LEFT, now, now, clock)
            found += self._settled(id_)
        return found

    def tick(self, day: str, now: float, clock: float) -> list[Turn]:
        """Time has passed; *day* is the local date. What is to be written: of turns that go on, too."""
        settled = [id_ for id_, (_, at) in self._ended.items() if now - at >= SETTLE_S]
        found = [turn for id_ in settled for turn in self._settled(id_)]
        if day != self._day:
            is_midnight, self._day = bool(self._day), day
            return found + [self._cut(id_, now, clock) for id_ in self._going if is_midnight]
        due = [
            going
            for going in self._going.values()
            if now - going.written_at >= (CHECKPOINT_S if going.is_told else FIRST_S)
        ]
        return found + [going.written(now, now, clock) for going in due]

    def close(self, now: float, clock: float) -> list[Turn]:
        """The host ends, and what runs in its panes goes on without it: all turns up to now."""
        ended = [turn for id_ in list(self._ended) for turn in self._settled(id_)]
        return ended + [going.written(now, now, clock) for going in self._going.values()]

    def _look(self, pane: Pane, now: float, clock: float) -> list[Turn]:
        """What to write because of what *pane* shows."""
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
        Since when, on the monotonic clock, *pane* shows what it shows; and whether that was before the first look.

        No time is counted twice: nothing before the first look, nor what a turn that goes on has summed up.
        """
        since = now - max(0.0, clock - pane.since)
        began, began_clock = self._began or (now, clock)
        # By both: the sleep of a machine, and a clock that is set, make one of them look older.
        is_older = since < began - SETTLE_S and pane.since < began_clock - SETTLE_S
        going = self._going.get(pane.id)
        return min(now, max(since, began if is_older else 0.0, going.at if going is not None else 0.0)), is_older

    def _correct(self, pane: Pane, status: Status) -> None:
        """A turn that has just ended ended another way. That a person has seen it is no other way."""
        turn, at = self._ended[pane.id]
        if status is not Status.ACTIVE and not pane.reason.rule.endswith("; seen") and turn.ending is not Ending.LEFT:
            self._ended[pane.id] = attrs.evolve(turn, ending=_ENDS[status]), at

    def _settled(self, id_: str) -> list[Turn]:
        """The turn that has ended in the pane, if it is one."""
        turn, _ = self._ended.pop(id_, (None, 0.0))
        if turn is None or (turn.ending is Ending.STOPPED and not turn.questions and turn.worked_s < LEAST_S):
            return []
        return [turn]

    def _begin(
        self, pane: Pane, status: Status, since: float, now: float, clock: float, *, is_older: bool = False
    ) -> None:
        began = round(clock - (now - since), 3)
        turn = Turn(
            id=f"{self.host}:{pane.id}:{began:.3f}"[:MAX_ID],
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
        What *pane* says of its turn, which does *status* since then.

        *is_older*: it has done so since before the first look. Then an earlier run of the host has counted it.
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
        # What it asks is often known a moment after that it asks.
        if what and not going.is_asked:
            turn, going.is_asked = attrs.evolve(turn, asked=(*turn.asked, what)[:MAX_ASKED]), True
        going.turn = turn

    def _end(self, id_: str, ending: Ending, at: float, now: float, clock: float, pane: Pane | None = None) -> None:
        going = self._going.pop(id_)
        if pane is not None:
            going.turn = _described(going.turn, pane)
        self._ended[id_] = going.written(now, at, clock - (now - at), ending), now

    def _cut(self, id_: str, now: float, clock: float) -> Turn:
        """Midnight: what was until now, and from now on another entry."""
        going = self._going[id_]
        before = going.written(now, now, clock, Ending.MIDNIGHT)
        began = round(clock, 3)
        going.turn = attrs.evolve(
            going.turn,
            id=f"{self.host}:{id_}:{began:.3f}"[:MAX_ID],
            began=began,
            worked_s=0.0,
            waited_s=0.0,
            questions=0,
            asked=(),
            goes_on=True,
        )
        return before


def _own_status(pane: Pane) -> Status:
    """What *pane* shows, except for a finished turn that a person has asked to be shown as one that waits."""
    if pane.status is Status.WAITING and pane.kind is Kind.INPUT:
        if any(record.id and record.status is Status.WAITING for record in pane.records):
            return pane.status
        own = next((record for record in pane.records if not record.id), None)
        if own is not None and own.status in (Status.DONE, Status.IDLE):
            return own.status
    return pane.status


def _described(turn: Turn, pane: Pane) -> Turn:
    """*turn* with what *pane* says about it now, if anything."""
    return attrs.evolve(
        turn,
        project=sanitise(pane.project, cells=_NAME_CELLS) or turn.project,
        session=text(pane.session or pane.conversation.session, MAX_ID) or turn.session,
        title=_line(pane.topic or pane.title) or turn.title,
        is_remote=turn.is_remote and pane.agent_pid is None,
    )


def _name(pane: Pane) -> str:
    return sanitise(pane.agent or (pane.unknown if pane.signs else ""), cells=_NAME_CELLS)


def _line(words: str) -> str:
    return sanitise(words, cells=TEXT_CELLS).strip()
