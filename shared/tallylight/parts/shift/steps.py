"""
Steps of a text that waits for the end of a limit, from one look to the next.

`actions.queue` types it by its rules, once for each limit and for `MAX_LIMITS` limits in a row. A further limit counts
while the turn goes on that the text began, and `WATCH_S` longer. The text is dropped, and the pane shows why, when

* the agent has gone on by itself, or has ended;
* something was typed at its prompt;
* it was not at its prompt within `TRY_S` of the limit's end;
* it is at a limit again that has no known end, or at one more than `MAX_LIMITS`.

The wall clock decides, which continues while the machine sleeps. If it is set, the time since the boot decides, until
the wall clock has been stable for `SETTLED_S`.
"""

from __future__ import annotations

import attrs

from tallylight.actions import queue
from tallylight.actions.answer import Typist
from tallylight.actions.once import Once
from tallylight.actions.queue import Moment, typing_time
from tallylight.model.queued import Queued
from tallylight.model.status import Status

#: The text that is typed unless the person chooses another one.
WORDS = "continue"
#: How long to try, in seconds; how long to keep a typed text; and for how many limits.
TRY_S, WATCH_S, MAX_LIMITS = 300.0, 120.0, 3
#: The least jump in seconds that means a clock was set, and not slow or fast; and how long it must stay so.
MOVED_S, SETTLED_S = 2, 300.0

LATE = "it was not at its prompt when its limit had ended"
LIMITED = f"it was typed {MAX_LIMITS} times, and each time the next limit stopped its agent"
TIMELESS = "its next limit does not say when it ends"
WENT_ON = "its agent has gone on by itself"
#: The statuses of an agent during its turn.
_AT_IT = (Status.WORKING, Status.WAITING, Status.BACKGROUND)


@attrs.frozen(kw_only=True)
class Shift(Queued):
    """
    A queued text with its state for the limit number *count*. *has_stood*: the agent was seen at that limit.

    *typed_at*: when it was typed, or its turn was last seen to go on, in seconds since the epoch; 0 before. *due_at*:
    since when typing is tried, in monotonic seconds.

    *offset*: the wall clock less the time since the boot; None before the first look. *moved_at*: since when that is
    different, in seconds since the boot.
    """

    count: int = 1
    has_stood: bool = False
    typed_at: int = 0
    due_at: float | None = None
    offset: int | None = None
    moved_at: float | None = None


def of(queued: Queued) -> Shift:
    """Return *queued* with its state so far."""
    if isinstance(queued, Shift):
        return queued
    return Shift(pid=queued.pid, start=queued.start, text=queued.text, at=queued.at)


def step(typist: Typist, once: Once, queued: Queued, moment: Moment) -> Queued | None:
    """Return the next state of *queued*, None once it is done; see `actions.queue.step`."""
    if queued.problem or not queued.at or not moment.is_alive:
        return queue.step(typist, once, queued, moment)
    (shift, moment), until = _clocked(of(queued), moment), moment.limited_until
    # The same limit again means that the text was typed too early: the clock was wrong.
    if until > moment.wall and ((at := typing_time(until)) != shift.at or shift.typed_at):
        count = shift.count + (shift.typed_at > 0)
        if count > MAX_LIMITS:
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
    """
    Return *shift* with the clock's state, and *moment* with the former wall clock while a jump is younger than
    `SETTLED_S`.
    """
    offset, believed = round(moment.wall - moment.boot), shift.offset
    if believed is not None and abs(offset - believed) > MOVED_S:
        since = moment.boot if shift.moved_at is None else shift.moved_at
        if moment.boot - since < SETTLED_S:
            return attrs.evolve(shift, moved_at=since), moment._replace(wall=moment.boot + believed)
        believed = offset
    return attrs.evolve(shift, offset=offset if believed is None else believed, moved_at=None), moment


def _watched(shift: Shift, moment: Moment) -> Shift | None:
    """Return the next state of a typed text, by whether its turn goes on or another limit has come."""
    passed = abs(moment.wall - shift.typed_at)
    if moment.status in _AT_IT:
        return attrs.evolve(shift, typed_at=int(moment.wall)) if passed >= WATCH_S / 2 else shift
    if passed < WATCH_S:
        return shift
    return attrs.evolve(shift, problem=TIMELESS) if moment.status is Status.LIMITED else None


def _tried(typist: Typist, once: Once, shift: Shift, moment: Moment) -> Queued:
    """Type the text at the agent's prompt: the limit has ended."""
    if shift.due_at is None:
        shift = attrs.evolve(shift, due_at=moment.now)
    elif moment.now - shift.due_at >= TRY_S:
        return attrs.evolve(shift, problem=LATE)
    found = queue.step(typist, once, shift, moment)
    return found if found is not None else attrs.evolve(shift, ready_at=None, typed_at=int(moment.wall))
