"""
The relay's core: it passes bytes between program and terminal, and reads and removes the protocols of agents.

It has no input, no output and no clock: `relay.loop` moves the bytes, passes `now` in monotonic seconds, and sleeps
until `deadline`. Its contract, each line held by a test:

* The terminal gets the program's bytes at once and in order, without consumed sequences. Our own writes go between
  them, never inside a sequence or a character. The program gets the terminal's bytes and our constant answers to
  `OSC 7501;?` and `OSC 88;query`, at most `ANSWERS_A_SECOND`, before any answer of the terminal.
* Protocols that neither kitty nor WezTerm understands are consumed. These are OSC 1338, 26, 88, 7501 and Warp's JSON,
  with any content. For the numbers that other programs use, too (21337, 3008, 777), a codec decides. All else is passed
  on. So is a sequence that aborts another by its ESC: without it the terminal would stay inside that one. With
  *passthrough* nothing is consumed; sequences are read and answered all the same.
* An unfinished sequence of that kind is held, for `SEQUENCE_HELD_S` at most. Its rest is then passed on unread. The
terminal's
  parser is followed through it, so that nothing of ours is written into it.
* The state is sent as the `tally` user variable, one write for each changed record. There are at most
  `WRITES_A_SECOND` rounds of `BATCH_WRITES` writes; the last state is never lost. A variable that the program writes
  itself is passed on and noted, in an envelope, too. `resized` sends everything again.
* The first `PACE.at_once` sequences of each `PACE.every` seconds are read as they come. Faster ones are consumed or
  passed on in the same way, but read later, only the newest of each record: see `relay.deferred`. Sequences that must
  be read to know their protocol are no part of that. So a flood costs little more than the search for its sequences.
* With *heartbeat* the state is sent again that often, marked as a repetition: WezTerm forgets variables when it is
  attached again. Without one, and with nothing to send, nothing wakes the relay.
"""

from __future__ import annotations

from collections.abc import Callable

from tallylight.model import attributes
from tallylight.model.bucket import Bucket
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.relay.deferred import DeferredSequences
from tallylight.relay.mirror import Mirror
from tallylight.relay.passing import Core
from tallylight.relay.passthrough import Unwrapper
from tallylight.relay.position import Position
from tallylight.relay.protocol_reader import ProtocolReader
from tallylight.relay.splitter import Splitter
from tallylight.wire import cli_agent, envelope, osc26, osc88, osc1338, osc7501, user_var
from tallylight.wire.frame import Update
from tallylight.wire.inbox import Limits
from tallylight.wire.notification import Notification
from tallylight.wire.registry import OURS
from tallylight.wire.scanner import BEL, ST, Sequence, whole

#: The seconds to wait for the rest of a sequence. Over ssh a lost packet comes again after 1 to 3 s
#: (https://www.rfc-editor.org/rfc/rfc6298), and no terminal draws anything for half a sequence.
SEQUENCE_HELD_S = 3.0
#: The seconds for which an answer waits for the rest of a key that a person pressed.
KEY_S = 0.030
WRITES_A_SECOND = 10
BATCH_WRITES = 32
ANSWERS_A_SECOND = 64

PACE = Limits(at_once=64, every=0.1, a_go=128, go_bytes=65_536, kept_bytes=131_072)

#: Numbers that other programs use, too: only a codec can decide on a sequence.
_SHARED = (21337, 3008)
#: The answers to queries, sent with the query's own terminator: constant bytes, nothing that the program wrote.
_ANSWERS = {osc7501.QUERY: osc7501.QUERY, osc88.QUERY: osc88.SUPPORTED}
_QUERIES = {raw: whole(raw) for query in _ANSWERS for end in (BEL, ST) if (raw := b"\x1b]" + query + end)}


class RelayCore(Core):
    """
    The core for one program in one terminal.

    *agent* is the name of a known agent, or a function for it, called at the program's first report. The host sees for
    itself how a known agent ends. *may_arm*: the program can be resumed by OSC 88; if not, its query is not answered.
    *wrap* puts our own writes into the envelope of the multiplexer around us. *hand* is called with all payloads that
    are sent, and with whether the program has ended.
    """

    def __init__(
        self,
        *,
        passthrough: bool = False,
        agent: str | Callable[[], str] = "",
        may_arm: Callable[[], bool] = lambda: True,
        wrap: Callable[[bytes], bytes] | None = None,
        screen: bool = False,
        heartbeat: float | None = None,
        hand: Callable[[list[str], bool], object] = lambda *_: None,
    ) -> None:
        super().__init__()
        self._hand = hand
        self._passthrough = passthrough
        self._agent = agent if callable(agent) else lambda: agent
        self._may_arm = may_arm
        self._wrap = wrap
        self._mirror = Mirror()
        self._inbox = DeferredSequences(PACE, self._read)
        self._splitter = Splitter(
            self._take,
            self._reset,
            self._open if wrap else None,
            flood=(self._is_flooded, self._defer),
            screen=screen,
        )
        self._protocols = ProtocolReader(self._agent)
        self._records = self._protocols.records
        #: The payload for a notification that has yet to be sent.
        self._attention = ""
        self._unwrapper = Unwrapper(screen=screen)
        self._keys = Position()
        #: Answers that wait for the end of a sequence from the terminal, and since when.
        self._pending_answers: list[bytes] = []
        self._answers_since = 0.0
        self._is_fresh = True  # nothing was read since the last reset
        #: Nothing is due, and only a sequence of interest changes that. So a key and its echo cost little.
        self._is_idle = False
        self._now = 0.0
        self._has_ended = False
        self._held_at = 0.0
        self._next_write = 0.0
        self._heartbeat = heartbeat
        #: When to send everything again; None if there is nothing to send.
        self._next_beat: float | None = None
        self._answers = Bucket(ANSWERS_A_SECOND, ANSWERS_A_SECOND)

    # Bytes in ------------------------------------------------------------------------------------------------

    def from_child(self, data: bytes, now: float) -> None:
        """Take in *data*, written by the program."""
        self._now = now
        splitter = self._splitter
        holds = splitter.holds
        if self._is_idle:
            if splitter.feed(data, self._terminal):
                return  # nearly always
            self._is_idle = False
        else:
            if len(self._inbox):
                self._read_on()
            splitter.feed(data, self._terminal)
        if splitter.holds != holds:
            self._held_at = now
        if self._is_changed:
            self._write(now, splitter.gap)

    def from_user(self, data: bytes, now: float) -> None:
        """Take in *data* from the terminal: keys, pastes, answers to the program's own queries."""
        self._now = now
        if not data:
            return
        # An ESC shows that the unfinished sequence before it was the Escape key.
        if self._pending_answers and data.startswith(b"\x1b"):
            self._send_answers()
        self._child.append(data)
        self._keys.note_later(data, data.rfind(b"\x1b"))
        if self._pending_answers and self._keys.is_safe:
            self._send_answers()

    def tick(self, now: float) -> None:
        """Let time pass: release a sequence that was held too long, and send what had to wait."""
        if self._splitter.held and now >= self._held_at + SEQUENCE_HELD_S:
            self._splitter.release(self._terminal)
        if self._pending_answers and now >= self._answers_since + KEY_S:
            self._send_answers()
        self._now = now
        self._is_idle = False
        self._read_on()
        if self._is_changed:
            self._write(now)
        if self._next_beat is not None and now >= self._next_beat and self._splitter.position.is_safe:
            # Send the host's state again, or stop if there is none.
            payloads = self._records.repeated(BATCH_WRITES)
            self._next_beat = now + self._heartbeat if self._heartbeat and payloads else None
            if payloads:
                self._terminal.append(self._as_user_variables(payloads))

    def resized(self, now: float) -> None:
        """
        Send everything again: the terminal has another size, or the program was resumed in what may be another one.
        """
        self._is_idle = False
        self._records.renew()
        self._mirror.renew()
        self._write(now)

    def finished(self, now: float, exit_code: int | None = 0, signal: int | None = None) -> None:
        """
        Take in that the program has ended, and write the last reports.

        `done` and `error` stay, for a person to see. A program that ended well while `working` is `done`. All else is
        withdrawn; for a `waiting` the host learns that the program did not withdraw it, and shows it until seen. For a
        known agent that did not end well nothing is withdrawn. The host has its last report and sees it leave the
        foreground with us: it concludes `down` from `working`, and `waiting` stays until seen.
        """
        self._splitter.release(self._terminal)
        self._now = now
        self._has_ended = True
        self._is_idle = False
        self._read_on(everything=True)
        is_good = exit_code == 0 and not signal
        reports = self._records.current()
        is_waiting = any(report.status is Status.WAITING for report in reports)
        for report in () if reports and not is_good and self._agent() else reports:
            if is_good and not report.id and report.status in (Status.WORKING, Status.BACKGROUND):
                done = attributes.evolve(report, status=Status.DONE, kind=None, progress=None)
                self._records.replace(done, now)
            elif report.status not in (Status.DONE, Status.ERROR):
                self._records.end(report.id, is_waiting=is_waiting)
        self._mirror.clear()
        self._send_answers()
        # An unfinished sequence of the program would swallow our reports.
        end = b"" if self._splitter.position.is_safe else envelope.ST
        while self._is_changed and (data := self._due_writes(now)):
            self._terminal.append(end + data)
            end = b""

    def deadline(self) -> float | None:
        if self._is_idle:
            return None  # nearly always
        if not (
            self._splitter.held or self._pending_answers or self._next_beat or len(self._inbox) or self._is_changed
        ):
            self._is_idle = True
            return None
        held = self._held_at + SEQUENCE_HELD_S if self._splitter.held else None
        owed = self._answers_since + KEY_S if self._pending_answers else None
        # Inside a sequence nothing is written before its end has come.
        write = self._next_write if self._is_changed and self._splitter.position.is_safe else None
        beat = self._next_beat if self._splitter.position.is_safe else None
        return min((at for at in (held, owed, write, beat, self._inbox.due()) if at is not None), default=None)

    # State ---------------------------------------------------------------------------------------------------

    def reports(self) -> list[Report]:
        """Return the program's current reports, one for each record."""
        return self._records.current()

    # Sequences -----------------------------------------------------------------------------------------------

    def _take(self, sequence: Sequence) -> bool:
        """Read one sequence; return whether it is consumed."""
        number, payload = sequence.number, sequence.payload
        if payload in _ANSWERS:
            self._answer(sequence)
            is_read = True
        elif number in _SHARED:
            self._inbox.admits(self._now)  # it counts, and is read in any case
            is_read = self._read(sequence)
        else:
            is_read = self._read_in_turn(sequence)
        is_ours = is_read or number in OURS or payload.startswith(cli_agent.PREFIX, payload.index(b";") + 1)
        return is_ours and not self._passthrough and self._splitter.position.is_safe

    def _open(self, sequence: Sequence) -> None:
        """Open an envelope for the terminal around our multiplexer: a hook's variable may be in it."""
        self._is_fresh = False
        for inner in self._unwrapper.feed(sequence):
            if inner.number == user_var.NUMBER:
                self._read_in_turn(inner)

    def _read_in_turn(self, sequence: Sequence) -> bool:
        """Read one sequence, or defer it if it comes too fast; return whether it was read and is ours."""
        if not self._inbox.is_full(self._now) and self._inbox.admits(self._now, len(sequence.raw)):
            return self._read(sequence)
        self._defer([sequence.raw], len(sequence.raw))
        return False

    def _defer(self, raws: list[bytes], size: int) -> bool:
        """Defer *raws*, sequences of *size* bytes in all; return whether those of our protocols are consumed."""
        self._is_fresh = False
        if any(query in raws for query in _QUERIES):
            for raw in [raw for raw in raws if raw in _QUERIES][:ANSWERS_A_SECOND]:
                self._answer(_QUERIES[raw])
        self._inbox.defer(raws, size)
        return not self._passthrough

    def _read_on(self, *, everything: bool = False) -> None:
        """Read deferred sequences if their time has come."""
        due = self._inbox.due()
        if due is not None and (everything or self._now >= due):
            for call in self._inbox.take(self._now, is_last=everything):
                call(self._now)

    def _read(self, sequence: Sequence) -> bool:
        """Take in one sequence; return whether it is of our protocols."""
        self._is_fresh = False
        event, report = self._protocols.take(sequence, self._now)
        if report is not None and report.rule == osc26.RULE:
            self._mirror.report(report, self._now)
        elif isinstance(event, Notification):
            self._notify(event)
        elif isinstance(event, user_var.UserVar) and event.name == envelope.CARRIER and event.value is not None:
            self._hand([event.value], self._has_ended)
        if self._heartbeat and self._next_beat is None and len(self._records):
            self._next_beat = self._now + self._heartbeat
        return isinstance(event, Report | Update | cli_agent.CliAgentEvent | osc1338.Recipe)

    def _notify(self, whole: Notification) -> None:
        """Report a notification of an agent without other reports: it raises attention, no more."""
        # An agent that reports its status by a protocol needs no such hint.
        is_told = any(report.status is not Status.ACTIVE for report in self._records.current())
        if not is_told and (agent := self._agent()):
            text = f"{whole.title}: {whole.body}" if whole.body else whole.title
            report = Report(
                source=Source.NOTIFICATION, status=Status.WAITING, rule="notification", agent=agent, message=text
            )
            self._attention = osc1338.encode_payload(report)

    def _is_flooded(self) -> bool:
        """Return whether more has come than is read, or answered, at this time."""
        return self._inbox.is_full(self._now) or (self._answers.left < 1 and self._now == self._answers.at)

    def _answer(self, sequence: Sequence) -> None:
        """Note the constant answer to a query; beyond the limit a query gets none."""
        is_heard = sequence.payload != osc88.QUERY or self._may_arm()
        if is_heard and self._answers.take(self._now):
            if not self._pending_answers:
                self._answers_since = self._now
            self._pending_answers.append(b"\x1b]" + _ANSWERS[sequence.payload] + sequence.terminator)
            if self._keys.is_safe:
                self._send_answers()

    def _send_answers(self) -> None:
        """Give the program the answers to its own queries, which wait while a key is half sent."""
        self._child += self._pending_answers
        self._pending_answers.clear()

    def _reset(self) -> None:
        """Forget all reports: the program has reset the terminal (RIS)."""
        if self._is_fresh:  # a flood of them is cheap
            return
        self._is_fresh = True
        self._inbox.forget_all_but_recipes()
        self._protocols.clear()
        self._mirror.clear()

    # Our own writes ------------------------------------------------------------------------------------------

    @property
    def _is_changed(self) -> bool:
        return bool(self._attention) or self._records.is_changed or self._mirror.is_changed

    def _write(self, now: float, gap: int | None = None) -> None:
        """Write what is due: at the end of the output, or at *gap* in it while the program has begun a sequence."""
        # A clock that went back must not stop our writes.
        self._next_write = min(self._next_write, now + 1 / WRITES_A_SECOND)
        # At the end; or in place of the last consumed sequence, if the program has begun another one since.
        place = len(self._terminal) if self._splitter.position.is_safe else gap
        if now >= self._next_write and place is not None and (data := self._due_writes(now)):
            self._terminal.insert(place, data)
            self._next_write = now + 1 / WRITES_A_SECOND

    def _due_writes(self, now: float) -> bytes:
        """Return the bytes of the changed records and of the bar, at most one batch."""
        payloads = [self._attention] if self._attention else []
        self._attention = ""
        return self._as_user_variables([*payloads, *self._records.take(BATCH_WRITES, now)], self._mirror.take(now))

    def _as_user_variables(self, payloads: list[str], rest: bytes = b"") -> bytes:
        """Return *payloads* as user variables, then *rest*, all in the envelope of the multiplexer around us."""
        if payloads:
            self._hand(payloads, self._has_ended)
        data = b"".join([envelope.user_var(envelope.CARRIER, payload) for payload in payloads]) + rest
        return self._wrap(data) if data and self._wrap else data
