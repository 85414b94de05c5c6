"""
A process by the connections of its tree: whether it asks a model and is answered. Linux only.

Every coding agent sends the whole conversation to its model when a turn begins and after each tool, and reads a stream
back. `Sample`s of one tree go in, four facts come out:

1. *A request*: `REQUEST_BYTES` bytes in one burst on one connection. With a change at the end of the screen it begins a
   turn; a slow program may change its screen only with the answer.
2. *Unanswered*, or bytes within `STREAM_S`: it works. Headers come at once and words up to `ANSWER_PAUSE_S` later, so
the
   first bytes are no stream. A stream that pauses continues while the screen moves.
3. *A child* younger than the last byte of an answer: a tool runs. Servers that it keeps are older.
4. Quiet proves nothing: a process without visible traffic is unknown, never at rest.

No request is believed for longer than `MOST_S`. A few bytes now and then keep a connection alive and are no answer, and
incoming bytes alone are no turn. Pure: samples have their time.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Container
from typing import NamedTuple

import attrs

#: Bytes of a burst that is a request; bytes more for the first one over TLS, with its greeting; the port of TLS.
REQUEST_BYTES, GREETING_BYTES, TLS_PORT = 1500, 2000, 443
#: Seconds without anything sent that end a burst, and seconds over which it is counted.
BURST_ENDS_S, BURST_S = 1.0, 2.0
#: Seconds between a change at the end of the screen and the request of a turn or its answer. A slow program may take
#: longer to send it.
SCREEN_S, SLOW_S = 1.5, 10.0
#: Seconds after the last fact in which a request belongs to the same turn: the screen need not change.
GOES_ON_S = 2.0
#: Seconds since the last byte while an answer streams in.
STREAM_S = 0.75
#: Bytes of the beginning of an answer; and seconds for which it may pause after it, or in the middle.
OPENING_BYTES, ANSWER_PAUSE_S = 700, 12.0
#: Changes within so many seconds of a screen that moves.
MOVES, MOVES_S = 2, 1.5
#: Bytes that only keep a connection alive, after so many seconds without any.
KEEP_ALIVE_BYTES, KEEP_ALIVE_S = 128, 2.0
#: Seconds of silence after which a few bytes, sent while a request is unanswered, cancel it.
CANCEL_S = 1.0
#: Seconds after the first look in which it may be starting: it sends other requests then.
AGENT_START_S = 5.0
#: Seconds that a child must have lived, unless a turn goes on; and seconds for which anything is believed.
CHILD_S, MOST_S = 0.5, 600.0
#: Seconds after which an unanswered request is worth a message.
LATE_ANSWER_S = 60.0
#: Seconds in which another request is a retry.
RETRIES_S = 45.0
#: Changes of the screen, and models, that are kept.
_MAX_CHANGES, _MAX_MODELS = 16, 64


class Connection(NamedTuple):
    """
    A connection at one moment, with its bytes so far.

    *id* names it; times are monotonic seconds; *port* is the port of *far*.
    """

    id: object
    sent: int
    received: int
    sent_at: float
    received_at: float
    port: int = 0
    is_over: bool = False
    #: The other end.
    far: object = None


class Sample(NamedTuple):
    """The connections of one process tree at monotonic *at*, and the start of each process below its first one."""

    at: float
    connections: tuple[Connection, ...] = ()
    children: tuple[float, ...] = ()


@attrs.define
class _TrackedConnection:
    """One connection over time."""

    sent: int = 0
    received: int = 0
    received_at: float = -math.inf
    port: int = 0
    #: The present or last burst: its bytes, its beginning and its end, and whether it is a request.
    burst: int = 0
    begun_at: float = -math.inf
    ended_at: float = -math.inf
    is_first: bool = True
    is_request: bool = False
    #: When the last request was sent, and whether the screen changed with it.
    asked_at: float | None = None
    is_turn: bool = False
    #: Bytes of its answer, and when the last of them came.
    answer: int = 0
    arrived_at: float = -math.inf
    #: When a few bytes were sent before any answer.
    cancelled_at: float = math.inf
    is_over: bool = False
    far: object = None

    def take(self, found: Connection) -> None:
        """Count the bytes sent and received since the last sample."""
        grown, came, self.port = found.sent - self.sent, found.received - self.received, found.port
        self.far = found.far
        if came > 0 and found.received_at < found.sent_at:
            self._add_received(came, found.received_at)
            came = 0
        if grown > 0:
            self._add_sent(grown, found.sent_at)
        if came > 0:
            self._add_received(came, found.received_at)
        self.sent, self.received, self.is_over = found.sent, found.received, found.is_over

    def _add_sent(self, grown: int, at: float) -> None:
        """Count *grown* more bytes sent *at* a time, and note whether they are a request."""
        if at - self.ended_at > BURST_ENDS_S or (not self.is_request and at - self.begun_at > BURST_S):
            self.burst, self.begun_at, self.is_request, self.is_first = 0, at, False, self.sent == 0
        self.burst, self.ended_at = self.burst + grown, at
        least = REQUEST_BYTES + (GREETING_BYTES if self.is_first and self.port == TLS_PORT else 0)
        if self.is_request:
            self.asked_at = at
        elif self.burst >= least:
            self.is_request, self.is_turn, self.asked_at = True, False, at
            self.answer, self.cancelled_at = 0, math.inf
        elif self.asked_at is not None and not self.answer:
            self.cancelled_at = min(self.cancelled_at, at)

    def _add_received(self, came: int, at: float) -> None:
        """Count *came* more bytes received *at* a time, as an answer if a request is open."""
        is_alive = came <= KEEP_ALIVE_BYTES and at - self.received_at > KEEP_ALIVE_S
        self.received_at, self.cancelled_at = at, math.inf
        if self.asked_at is not None and not is_alive:
            self.answer, self.arrived_at = self.answer + came, at

    def closed(self, now: float) -> bool:
        """Note that the connection is closed; return whether its answer may still prove to be one of a turn."""
        if self.asked_at is None or self.is_turn:
            return False
        if not self.is_over:
            self.is_over, self.arrived_at = True, now
        return now - self.arrived_at <= SCREEN_S

    @property
    def answered_at(self) -> float:
        """When an answer came, or the connection was closed after a while; infinite for neither."""
        took = self.arrived_at - self.asked_at if self.asked_at is not None else 0.0
        return self.arrived_at if self.answer >= OPENING_BYTES or (self.is_over and took >= BURST_ENDS_S) else math.inf

    def is_open(self, now: float) -> bool:
        """Return whether its request still counts."""
        return self.asked_at is not None and now - self.asked_at < MOST_S and now < self.cancelled_at + CANCEL_S

    def fact(self, now: float, *, moves: bool, opens: bool) -> str:
        """
        Return the fact that holds for this connection, or "".

        *moves*: the screen moves. *opens*: few bytes do not end it.
        """
        if not self.is_open(now) or self.is_over:
            return ""
        if not self.answer:
            return UNANSWERED
        quiet = now - self.arrived_at
        pauses = (moves or (opens and self.answer < OPENING_BYTES)) and quiet < ANSWER_PAUSE_S
        return ANSWERED if pauses or quiet <= STREAM_S else ""


UNANSWERED, ANSWERED, CHILD = "its request is unanswered", "an answer comes in", "a process that it started works"


class Fact(NamedTuple):
    """The rule that holds, and since when, in monotonic seconds."""

    rule: str
    since: float


@attrs.define
class Traffic:
    """The connections of one process tree over time. *now* is monotonic seconds."""

    #: Whether the tree has had a connection.
    is_known: bool = False
    _connections: dict[object, _TrackedConnection] = attrs.field(factory=dict)
    #: When the first sample was taken.
    _first_at: float = math.inf
    _children: tuple[float, ...] = ()
    _changes: deque[float] = attrs.field(factory=lambda: deque(maxlen=_MAX_CHANGES))
    #: The far ends that an answer of a turn has come from.
    _models: set[object] = attrs.field(factory=set)
    #: The end of the last screen.
    _end: object = None
    #: When the last request of a turn was sent, and when something last held.
    _begun_at: float | None = None
    _held_at: float = -math.inf
    #: Since when the requests are unanswered, and when one of them last was.
    _unanswered: float | None = None
    _silent_at: float = -math.inf
    #: When the last byte of an answer came.
    _arrived_at: float = -math.inf

    def is_pending(self, now: float) -> bool:
        """Return whether a new fact may come soon: the screen just changed, a turn goes on, or a request may be one."""
        changed = bool(self._changes) and now - self._changes[-1] <= SLOW_S
        changed |= now - self._held_at <= 2 * SCREEN_S
        asked = (line.asked_at for line in self._connections.values() if not line.is_turn)
        return changed or any(at is not None and now - at <= LATE_ANSWER_S for at in asked)

    def look(self, end: object, now: float) -> None:
        """Compare the *end* of the screen with that of the last look."""
        if end != self._end:
            if self._end is not None:
                self._changes.append(now)
            self._end = end

    def take(self, sample: Sample) -> None:
        """Take in the connections that the tree has now."""
        for found in sample.connections:
            line = self._connections.get(found.id)
            if line is None:
                line = self._connections[found.id] = _TrackedConnection()
                if self._first_at == math.inf and sample.at - found.sent_at > BURST_ENDS_S:
                    line.sent, line.received, line.received_at = found.sent, found.received, found.received_at
            line.take(found)
            self._arrived_at = max(self._arrived_at, line.arrived_at)
            if line.is_turn and line.answer >= OPENING_BYTES and len(self._models) < _MAX_MODELS:
                self._models.add(line.far)
        present = {found.id for found in sample.connections}
        self._connections = {
            id_: line for id_, line in self._connections.items() if id_ in present or line.closed(sample.at)
        }
        self.is_known |= bool(present)
        self._first_at, self._children = min(self._first_at, sample.at), sample.children

    def fact(self, now: float, *, is_running: bool = False) -> Fact | None:
        """
        Return the fact that holds, None for none; quiet proves nothing.

        *is_running*: the agent itself reports that its turn runs.
        """
        for line in self._connections.values():
            self._mark_if_turn(line, is_running=is_running)
        moves = sum(now - at <= MOVES_S for at in self._changes) >= MOVES
        turns = [line for line in self._connections.values() if line.is_turn]
        said = [
            (line.fact(now, moves=moves, opens=self._may_lead_to_model(line)), line.asked_at or now) for line in turns
        ]
        words = {word for word, _ in said}
        self._note_unanswered(words, [at for word, at in said if word == UNANSWERED], now)
        if self._begun_at is None:
            return None
        rules = [rule for rule in (ANSWERED, UNANSWERED) if rule in words] or [CHILD] * self._has_working_child(now)
        if not rules:
            return None
        self._held_at = now
        return Fact(rules[0], self._begun_at)

    def _mark_if_turn(self, line: _TrackedConnection, *, is_running: bool) -> None:
        """Mark the request on *line* as one of a turn, if it is."""
        asked = line.asked_at
        if line.is_turn or asked is None:
            return
        goes_on = asked - self._held_at <= GOES_ON_S and (not self._models or line.far in self._models)
        if is_running or goes_on or self._has_screen_changed(asked) or self._has_screen_changed(line.answered_at):
            line.is_turn, self._begun_at = True, max(asked, self._begun_at or asked)

    def _has_screen_changed(self, when: float) -> bool:
        return any(abs(at - when) <= SCREEN_S for at in self._changes)

    def _may_lead_to_model(self, line: _TrackedConnection) -> bool:
        """
        Return whether *line* may lead to a model: not just after the start, and to a known one if any has streamed.
        """
        is_early = line.asked_at is not None and line.asked_at - self._first_at <= AGENT_START_S
        return not is_early and (not self._models or line.far in self._models)

    def _note_unanswered(self, said: Container[str], silent: list[float], now: float) -> None:
        """
        Note since when the model has not answered.

        A request that is sent again after a while counts from the first one.
        """
        if ANSWERED in said or now - self._silent_at > RETRIES_S:
            self._unanswered = None
        if silent:
            self._silent_at = now
            self._unanswered = min(silent) if self._unanswered is None else self._unanswered

    @property
    def has_asked(self) -> bool:
        """Return whether a request of a turn was sent."""
        return self._begun_at is not None

    def unanswered_since(self, now: float) -> float | None:
        """Return since when a request of the turn is unanswered; None while that is not late."""
        since = self._unanswered
        return since if since is not None and now - since >= LATE_ANSWER_S else None

    def _has_working_child(self, now: float) -> bool:
        """Return whether a process younger than the last byte of an answer runs."""
        began = max(self._arrived_at, self._begun_at or self._arrived_at)
        if now - began >= MOST_S:
            return False
        least = 0.0 if now - self._held_at <= GOES_ON_S else CHILD_S
        return any(started > began and now - started >= least for started in self._children)
