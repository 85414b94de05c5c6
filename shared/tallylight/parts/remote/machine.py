"""
One other machine: whether it is connected, what its agents do, and the requests to it.

It takes bytes of a bridge, with the time, and returns rows, messages for a person and bytes for the bridge. It has no
clock and no process: a `link` has those. Nothing is trusted: unsuitable messages are dropped, and rows and replies are
limited. A machine can report about its own rows only.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs

from tallylight.actions import request
from tallylight.actions.answer import Done, Occupant, Question
from tallylight.actions.gate import Refusal
from tallylight.actions.request import Lines, LookRequest, Rows, TooLongError
from tallylight.config.machines import Machine as Setting
from tallylight.hosts.jobs import backoff
from tallylight.parts.remote import commands
from tallylight.parts.remote.messages import (
    BEAT_S,
    CAN,
    HELLO,
    MAX_LINE_BYTES,
    PROTOCOL,
    SILENT_S,
    Ask,
    Beat,
    Carried,
    Hello,
    Message,
    PaneGone,
    PaneState,
    Reply,
    decode,
    encode,
)
from tallylight.parts.remote.panes import Panes, Row
from tallylight.snapshot.elsewhere import harmless, is_elsewhere, local_id
from tallylight.snapshot.schema import CommandsEntry, Pane
from tallylight.snapshot.values import MAX_NUMBER
from tallylight.wire.text import sanitise

#: Seconds that a bridge has for its first message: the machine or its proxy may be slow.
HELLO_S = 30.0
#: Bytes that may arrive before that: a shell may print something at its start.
MAX_GREETING = 64 * 1024
#: A connection that lasted so many seconds has not failed when it ends.
CONNECTION_HELD_S = 10.0
#: The most requests that wait for a reply.
MAX_UNANSWERED = 16
#: The most bytes that wait to be sent.
MAX_UNSENT = 256 * 1024
#: Clocks that differ by less, in seconds, count as equal: the message was on its way.
SAME_CLOCK_S = 2.0
#: The longest report of a machine about itself, in cells.
_REPORT_CELLS = 160
#: The longest quote of another output instead of a hello, in cells.
_SHOWN_OUTPUT_CELLS = 60
_UPDATE = "run `tally setup` there with the version of this machine"
_INSTALL = "has no tally: install it there as here, with its `install.sh`"
_LOST = Refusal("unreachable", "the connection ended before it was answered; check whether it was done")
_UNSENT = Refusal("unreachable", "the connection ended before the request; nothing was done")
_STRANGE = Refusal("unreachable", "that machine sent a wrong reply; check whether it was done")
#: The kinds of `LookRequest`; requests that type or mark are answered with `Done`.
_FITS = {request.SCREEN: Rows, request.QUESTION: Question, request.HOLDER: Occupant}
#: Exit codes of sh(1) for a program that cannot be run, and of ssh(1) for an unreachable machine.
_NOT_FOUND, _NOT_EXECUTABLE, _UNREACHED = 127, 126, 255


@attrs.define
class Machine:
    """
    The machine that *setting* names. *panes* are its rows, with their names and looks here.

    *says* is its message for a person. Times are monotonic, except *wall* in `received`.
    """

    setting: Setting
    panes: Panes
    says: str = "not connected yet"
    is_up: bool = False
    #: Whether rows or *says* changed. The code that shows them resets it.
    is_changed: bool = True
    #: When to try again, and the failures since it was last connected for long.
    retry_at: float = -math.inf
    failures: int = 0
    _hello: Hello | None = None
    _lines: Lines = attrs.field(factory=lambda: Lines(MAX_LINE_BYTES))
    _greeted: int = 0
    #: The first bytes before its hello.
    _before: bytes = b""
    _began_at: float = 0.0
    _received_at: float = 0.0
    _sent_at: float = 0.0
    _offset: float = 0.0
    _unsent: bytearray = attrs.field(factory=bytearray)
    #: Requests without a reply: when each expires, the function for its reply, and the number of its last byte in all
    #: output.
    _asked: dict[int, tuple[float, Callable[[request.Reply], None], int]] = attrs.field(factory=dict)
    _queued: int = 0
    _number: int = 0
    #: Why the link is to be ended.
    _fault: str = ""

    @property
    def name(self) -> str:
        return self.setting.name

    @property
    def rows(self) -> list[Pane]:
        """Its panes, with their names and looks here."""
        return [row.pane for row in self.panes.rows.values()]

    # A link ---------------------------------------------------------------------------------------------------

    def began(self, now: float) -> None:
        """Begin a connection: a process was started that should become a bridge."""
        self._began_at = self._received_at = self._sent_at = now
        self._lines, self._greeted, self._hello, self._fault = Lines(MAX_LINE_BYTES), 0, None, ""
        self._before = b""
        self._unsent.clear()

    def ended(self, code: int | None, complaint: str, now: float) -> None:
        """End the connection: its process ended with *code* (None: no such program) and this error output."""
        why = self._fault or self._why(code, complaint)
        has_held = self._hello is not None and now - self._began_at >= CONNECTION_HELD_S
        self.failures = 1 if has_held else self.failures + 1
        self.retry_at = now + backoff(self.failures)
        self.panes.clear()
        self._hello = None
        sent = self._queued - len(self._unsent)
        self._unsent.clear()
        asked, self._asked = self._asked, {}
        for _, done, last in asked.values():
            done(_LOST if last <= sent else _UNSENT)
        self._set(why, is_up=False)

    def _why(self, code: int | None, complaint: str) -> str:
        """Return why the connection has ended, by the exit code and the last line of the error output."""
        command = self.setting.command
        last = sanitise(complaint.strip().rpartition("\n")[2], cells=_REPORT_CELLS)
        if code is None:
            return f"there is no program {sanitise(command[0], cells=40)!r} on this machine"
        if self._hello is not None:
            return "the connection was lost"
        if "unknown verb" in complaint:
            return f"its tally is too old for [machines]: {_UPDATE}"
        if code in (_NOT_FOUND, _NOT_EXECUTABLE):
            return _INSTALL
        if code == _UNREACHED and commands.is_ssh(command):
            return f"cannot be reached: {last or 'ssh failed'}"
        return f"its command ended with code {code}" + (f": {last}" if last else "")

    def overdue(self, now: float) -> bool:
        """Return whether the link must be ended: it is silent, or sent nonsense."""
        if not self._fault and now - self._received_at > (SILENT_S if self._hello is not None else HELLO_S):
            self._fault = f"does not answer{self._quoted()}" if self._hello is None else "has stopped answering"
        return bool(self._fault)

    def due(self) -> float:
        """Return when `overdue`, `expire` or `output` may change next without a message."""
        hung = self._received_at + (SILENT_S if self._hello is not None else HELLO_S)
        return min([hung, self._sent_at + BEAT_S, *(until for until, *_ in self._asked.values())])

    # Its messages --------------------------------------------------------------------------------------------

    def received(self, data: bytes, now: float, wall: float) -> None:
        """Read *data* of its bridge, at *now*, when the clock of this machine shows *wall*."""
        if self._fault:
            return
        if self._hello is None:
            self._before = (self._before + data)[:_REPORT_CELLS]
        try:
            lines = self._lines.feed(data)
        except TooLongError:
            self._fault = f"sent an unknown message{self._quoted()}"
            return
        for line in lines:
            if self._hello is None:
                # A shell may have printed something before it, without a line end.
                self._greeting(decode(line[max(0, line.find(HELLO)) :]), len(line), now, wall)
                if self._fault:
                    return
            elif (found := decode(line)) is not None:
                self._received_at = now
                self._take(found, len(line))

    def _greeting(self, found: Message | None, size: int, now: float, wall: float) -> None:
        """Take the first message of the bridge, which must be a `Hello`."""
        self._greeted += size
        if not isinstance(found, Hello):
            if self._greeted > MAX_GREETING:
                self._fault = f"sent an unknown message{self._quoted()}"
            return
        version = sanitise(found.version, cells=20) or "of no version"
        if found.protocol != PROTOCOL:
            where = f"is older: {_UPDATE}" if found.protocol < PROTOCOL else "is newer: run `tally setup` here with it"
            self._fault = f"its tally {version} {where}"
            return
        self._hello, self._received_at = found, now
        offset = wall - found.at if found.at else 0.0
        self._offset = offset if abs(offset) > SAME_CLOCK_S else 0.0
        missing = sorted(CAN - found.can)
        older = f"; it is older and cannot do this: {', '.join(missing)}; {_UPDATE}" if missing else ""
        self._set(f"connected, tally {version}{older}", is_up=True)

    def _quoted(self) -> str:
        """Return its output before the hello, as the end of a sentence; empty without any."""
        words = sanitise(self._before.decode("utf-8", "replace").strip(), cells=_SHOWN_OUTPUT_CELLS)
        return f": {words!r}" if words else ""

    def _take(self, found: Message, size: int) -> None:
        """Apply a later message: a pane, a pane that is gone, or a reply."""
        match found:
            case PaneState(host, pane):
                if not is_elsewhere(host):
                    was_cut = self.panes.is_cut
                    is_new = self.panes.put((host, pane.id), Row(self._shown(host, pane), size))
                    self.is_changed = self.is_changed or is_new
                    if self.panes.is_cut and not was_cut:
                        self._set(f"{self.says}; some of its panes are not shown", is_up=True)
            case PaneGone(host, id_):
                self.is_changed = self.panes.drop((host, id_)) or self.is_changed
            case Reply(number, reply) if number in self._asked:
                _, done, _ = self._asked.pop(number)
                done(reply)

    def _shown(self, host: str, pane: Pane) -> Pane:
        """Return *pane* with its name here, and with times of this machine's clock."""
        id_ = local_id(self.name, host, pane.id)
        title = f"{self.name}: {pane.place.host_title}" if pane.place.host_title else self.name
        shown, attention = harmless(pane), pane.attention
        return attrs.evolve(
            shown,
            id=id_,
            place=attrs.evolve(shown.place, host_title=title),
            # Attaching uses this name only, and no text of the machine.
            commands=CommandsEntry(attach=("tally", "attach", id_) if pane.commands.attach else ()),
            since=self._here(pane.since),
            attention=attrs.evolve(
                shown.attention,
                snoozed_until=self._here(attention.snoozed_until),
                muted_until=self._here(attention.muted_until),
            ),
            limited_until=self._here(pane.limited_until),
            unanswered_since=self._here(pane.unanswered_since),
        )

    def _here(self, at: float) -> float:
        """Return the time *at* of its clock by this machine's clock; 0 and infinite times stay."""
        return min(MAX_NUMBER, max(1.0, at + self._offset)) if 0 < at < MAX_NUMBER else at

    def _set(self, says: str, *, is_up: bool) -> None:
        """Set the message for a person, and whether the machine is connected."""
        self.is_changed = self.is_changed or (says, is_up) != (self.says, self.is_up)
        self.says, self.is_up = says, is_up

    # Its requests --------------------------------------------------------------------------------------------

    def ask(self, host: str, asked: Carried, until: float, done: Callable[[request.Reply], None]) -> None:
        """Send a request for a pane of *host* there; *done* gets the reply, or a refusal at *until* at the latest."""
        if self._hello is None:
            done(Refusal("unreachable", f"{self.name} is not connected: {self.says}; nothing was done"))
        elif request.type_of(type(asked)) not in self._hello.can:
            done(Refusal("version", f"the tally of {self.name} is older and cannot do that: {_UPDATE}"))
        elif (host, asked.pane) not in self.panes.rows:
            done(Refusal("gone", "that pane is gone; nothing was done"))
        else:
            self._number += 1
            line = encode(Ask(self._number, host, asked))
            if not line or len(self._asked) >= MAX_UNANSWERED or len(self._unsent) + len(line) > MAX_UNSENT:
                done(Refusal("busy", f"{self.name} has not answered an earlier request; nothing was done"))
                return
            near_id = local_id(self.name, host, asked.pane)
            self._queue(line)
            self._asked[self._number] = until, lambda reply: done(_fitting(asked, near_id, reply)), self._queued

    def expire(self, now: float) -> None:
        """Fail the requests with overdue replies."""
        for number in [number for number, (until, *_) in self._asked.items() if now >= until]:
            _, done, _ = self._asked.pop(number)
            done(Refusal("unreachable", f"{self.name} does not answer; check whether it was done"))

    def output(self, now: float) -> bytearray:
        """Return the bytes to send; the caller removes those that it has sent."""
        if self._hello is not None and not self._unsent and now - self._sent_at >= BEAT_S:
            self._queue(encode(Beat()))
        if self._unsent:
            self._sent_at = now
        return self._unsent

    def _queue(self, line: bytes) -> None:
        self._unsent += line
        self._queued += len(line)


def _fitting(asked: Carried, near_id: str, reply: request.Reply) -> request.Reply:
    """Return *reply* with the pane's name here, *near_id*; `_STRANGE` if it does not fit the request *asked*."""
    if isinstance(reply, Refusal):
        return reply
    if not isinstance(reply, _FITS.get(asked.what, Done) if isinstance(asked, LookRequest) else Done):
        return _STRANGE
    if isinstance(reply, Done | Question | Occupant):
        return attrs.evolve(reply, pane=near_id) if reply.pane == asked.pane else _STRANGE
    return reply
