"""
Steps: what becomes of a text that waits for the end of a limit, from one look to the next.

`actions.queue` types it by its rules, once for each limit and for `MOST` limits in a row: the next limit is waited for
as long as the turn goes on that the text began, and `WATCH_S` longer. It is dropped, and the pane says why, when

* the agent has gone on by itself, or has ended;
* something was typed at its prompt;
* it was not at its prompt within `TRY_S` of the limit's end;
* it is at a limit again that does not say when it ends, or at one more than `MOST`.

What decides is the wall clock, which goes on while the machine sleeps. If somebody moves it, the time since the boot
decides, until the wall clock has stayed so for `SETTLED_S`.
"""

from __future__ import annotations

import attrs

from tallylight.actions import queue
from tallylight.actions.answer import Typist
from tallylight.actions.once import Once
from tallylight.actions.queue import Moment, typing_time
from tallylight.model.queued import Queued
from tallylight.model.status import Status

#: What is typed if the person chooses nothing else.
WORDS = "continue"
#: For how long, in seconds, it is tried; for how long a text is kept that was typed; and for how many limits.
TRY_S, WATCH_S, MOST = 300.0, 120.0, 3
#: From how many seconds on a clock was moved, and is not slow or fast; and for how long that must stay so.
MOVED_S, SETTLED_S = 2, 300.0

LATE = "it was not at its prompt when its limit had ended"
LIMITED = f"it was typed {MOST} times, and each time the next limit stopped its agent"
TIMELESS = "its next limit does not say when it ends"
WENT_ON = "its agent has gone on by itself"
#: What an agent shows whose turn goes on.
_AT_IT = (Status.WORKING, Status.WAITING, Status.BACKGROUND)


@attrs.frozen(kw_only=True)
class Shift(Queued):
    """
    The same for the limit with the number *count*. *has_stood*: whether the agent was seen at that limit.

    *typed_at*: when it was typed after it, or its turn was last seen to go on, in seconds since the epoch; 0 before.
    *due_at*: since when it is tried, in monotonic seconds.

    *offset*: the wall clock less the time since the boot; None before the first look. *moved_at*: since when that is
    another one, in seconds since the boot.
    """

    count: int = 1
    has_stood: bool = False
    typed_at: int = 0
    due_at: float | None = None
    offset: int | None = None
    moved_at: float | None = None


def of(queued: Queued) -> Shift:
    """What has become so far of a text that waits for the end of a limit."""
    if isinstance(queued, Shift):
        return queued
    return Shift(pid=queued.pid, start=queued.start, text=queued.text, at=queued.at)


def step(typist: Typist, once: Once, queued: Queued, moment: Moment) -> Queued | None:
    """As `actions.queue.step`."""
    if queued.problem or not queued.at or not moment.is_alive:
        return queue.step(typist, once, queued, moment)
    (shift, moment), until = _clocked(of(queued), moment), moment.limited_until
    # The same one again is one that was typed into before it ended: the clock was wrong.
    if until > moment.wall and ((at := typing_time(until)) != shift.at or shift.typed_at):
        count = shift.count + (shift.typed_at > 0)
        if count > MOST:
            return attrs.evolve(shift, problem=LIMITED)
        return Shift(pid=shift.pid, start=shift.start, text=shift.text, at=at, count=count, offset=shift.offset)
    if shift.typed_at:
        return _watched(shift, moment)
    if shift.has_stood and not until and moment.status not in (Status.LIMITED, Status.WAITING):
        return attrs.evolve(shift, problem=WENT_ON)
    if until and not shift.has_stood:
        shift = attrs.evolve(shift, has_stood=True)
    return _tried(typist, once, shift, moment) if moment.wall >= shift.at else shift


def _clocked(shift: Shift, moment: Moment) -> tuple[Shift, Moment]:
    """Both by a wall clock that is not believed to have been moved before it has stayed so."""
    offset, believed = round(moment.wall - moment.boot), shift.offset
    if believed is not None and abs(offset - believed) > MOVED_S:
        since = moment.boot if shift.moved_at is None else shift.moved_at
        if moment.boot - since < SETTLED_S:
            return attrs.evolve(shift, moved_at=since), moment._replace(wall=moment.boot + believed)
        believed = offset
    return attrs.evolve(shift, offset=offset if believed is None else believed, moved_at=None), moment


def _watched(shift: Shift, moment: Moment) -> Shift | None:
    """It was typed: whether its turn goes on, or another limit has come."""
    passed = abs(moment.wall - shift.typed_at)
    if moment.status in _AT_IT:
        return attrs.evolve(shift, typed_at=int(moment.wall)) if passed >= WATCH_S / 2 else shift
    if passed < WATCH_S:
        return shift
    return attrs.evolve(shift, problem=TIMELESS) if moment.status is Status.LIMITED else None


def _tried(typist: Typist, once: Once, shift: Shift, moment: Moment) -> Queued:
    """The limit has ended: type it at the agent's prompt."""
    if shift.due_at is None:
        shift = attrs.evolve(shift, due_at=moment.now)
    elif moment.now - shift.due_at >= TRY_S:
        return attrs.evolve(shift, problem=LATE)
    found = queue.step(typist, once, shift, moment)
    return found if found is not None else attrs.evolve(shift, ready_at=None, typed_at=int(moment.wall))
