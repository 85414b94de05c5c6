"""
A replay: feeds the events of a recording to a pane, as a host would have.

It takes events in the order of time; `decision` is the pane's light then. Time is the recording's. The pane is the
engine of every host (`pane.pane`). The replay is its host, and works like kitty's. It passes on at once what a terminal
reports (`TOLD`). Every `REPLAY_TICK_S` there is a tick, with a look at the screen that the output has drawn on a
`Grid`. No person looks at the pane: *done* stays.

Evidence from processes and files is in the recording. Of the output, a pane gets only what a terminal reports; the rest
reaches it only through a relay, if one is given. If a recording has its host's moments (`events.Moment`), nothing is
done between them, so that it gives the same lights as then.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from tallylight import wire
from tallylight.agents.agent import Agents
from tallylight.evidence import notified
from tallylight.evidence.screen import Look
from tallylight.model.decision import Decision
from tallylight.model.report import Report
from tallylight.model.timing import Timing
from tallylight.pane.pane import Pane
from tallylight.pane.screen_looks import CALM_EVERY
from tallylight.pane.tape import Tape
from tallylight.parts.lab.asciicast import Event, Header, Output, Resize
from tallylight.parts.lab.events import Claimed, Exit, ForegroundChange, Moment
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.processes import RecordedProcesses
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import RelayCore
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tallylight.wire import osc9_4, osc133
from tallylight.wire.envelope import CARRIER
from tallylight.wire.notification import Chunk, Notification, Notifications
from tallylight.wire.osc9_4 import ProgressReport
from tallylight.wire.osc133 import Mark
from tallylight.wire.scanner import Sequence
from tallylight.wire.title import Title
from tallylight.wire.user_var import UserVar

#: The OSC numbers that terminals report to their hosts.
TOLD = frozenset({0, 2, 9, 99, 133, 777, 1337})
#: A shell adds it to the signal that ended a command.
_SIGNALLED = 128
#: A pane without events is looked at for so many seconds: all that time alone decides is over by then. The rest of such
#: a gap is skipped, as a host does after its machine was suspended.
SKIPPED_GAP_S = 900.0
#: How often, in seconds, a host ticks.
REPLAY_TICK_S = 0.25


def with_program(header: Header, events: Iterable[Event], agent: str) -> Iterator[Event]:
    """
    Yield *events*, with *agent* in the foreground from the first one on.

    This is for other recorders, which keep only the command, in the *header*; our own recordings are unchanged.
    """
    given = iter(events)
    first = next(given, None)
    if first is None:
        return
    if agent and not header.started and not isinstance(first.what, ForegroundChange):
        yield Event(first.time, ForegroundChange(Foreground(agent, 1)))
    yield from itertools.chain([first], given)


class Replay:
    """Replays one recording, with a *relay* or without. *tracker* decides its lights."""

    def __init__(
        self,
        header: Header,
        agents: Agents,
        *,
        relay: RelayCore | None = None,
        tracker: Tracker | None = None,
    ) -> None:
        self.now = 0.0
        #: One line for each input that our code failed to process.
        self.faults: list[str] = []
        timing = tracker.timing if tracker is not None else Timing()
        self._processes = RecordedProcesses(agents)
        self._pane = Pane(timing, self._processes, self._processes, self.faults.append, tracker=tracker)
        self._relay = relay
        self._scanner = Scanner()
        self._grid = Grid(header.columns, header.rows)
        #: The look at the grid, until something is drawn.
        self._look: Look | None = None
        self._notifications = Notifications()
        self._has_bar = False
        #: Whether the recording has the moments of its host.
        self._is_told = False
        self._ticks = 0
        #: The command's end, until its foreground program is known to be gone.
        self._exit: Exit | None = None

    @property
    def decision(self) -> Decision:
        """The decision of the pane."""
        return self._pane.decision

    @property
    def has_program(self) -> bool:
        """Return whether the foreground program is known."""
        return self._processes.has_foreground

    @property
    def tape(self) -> Tape:
        """The tape of the pane."""
        return self._pane.tape

    def play(self, event: Event) -> Iterator[Decision]:
        """Let time pass until *event*, and process it; yield the decision after each step."""
        yield from self.advance(event.time)
        now = self.now
        match event.what:
            case Output(data):
                if self._relay is None:
                    self._output(data)
                else:
                    self._relay.from_child(data, now)
            case Resize(columns, rows):
                self._grid.resize(columns, rows)
                self._look = None
                if self._relay is not None:
                    self._relay.resized(now)
            case ForegroundChange() as change:
                self._pane.foreground(self._processes.change(change), now)
            case Exit():
                self._exit = event.what
                if self._relay is not None:
                    self._relay.finished(now, event.what.code, event.what.signal)
            case Report() as report:
                self._pane.own_files.take_report(report, now)
            case Claimed(report, age):
                self._pane.conversation.take(report)
                self._pane.tracker.report(report, now, now - age)
            case Moment(what):
                self._is_told = True
                self._do(what, now)
        self._take_from_relay()
        if self._exit is not None and not self._processes.has_foreground:
            code, signal = self._exit.code, self._exit.signal
            self._exit = None
            self._pane.marked(False, code if signal is None else _SIGNALLED + signal, now)
        yield self.decision

    def _do(self, what: str, now: float) -> None:
        """Repeat the host's action at this moment."""
        pane = self._pane
        match what:
            case "look":
                pane.screen(self._read_screen, now)
            case "tick":
                pane.tick(now)
            case "bar" | "no bar":
                pane.progress(what == "bar", now)
            case "seen":
                pane.tracker.seen(now)

    def finish(self) -> Iterator[Decision]:
        """Yield the last decision, which may be delayed after another change."""
        yield from self.advance(self.now + self._pane.tracker.timing.debounce_s)

    def advance(self, until: float) -> Iterator[Decision]:
        """Let time pass; yield the decision at every time at which it may change."""
        if self._is_told:
            self.now = max(self.now, until)
            return
        rest = max(SKIPPED_GAP_S, 2 * self._pane.tracker.timing.fuse_s)
        if until - self.now <= rest:
            yield from self._pass(until)
            return
        yield from self._pass(self.now + rest)
        self._pane.tracker.pause(until - self.now)
        self.now = until
        self._ticks = int(until / REPLAY_TICK_S)

    def _pass(self, until: float) -> Iterator[Decision]:
        """Let time pass until then, with the ticks of a host; yield the decision after each step."""
        ticked_at: float | None = None
        while True:
            deadline = self._pane.deadline()
            if deadline is not None and deadline <= self.now:
                # A deadline that stays although it has passed is not waited for again.
                deadline = self.now if ticked_at != self.now else None
            tick = (self._ticks + 1) * REPLAY_TICK_S
            relay = self._relay.deadline() if self._relay is not None else None
            if relay is not None:
                relay = max(relay, self.now)
            due = min(at for at in (deadline, tick, relay) if at is not None)
            if due > until:
                break
            self.now = max(self.now, due)
            if due == relay and self._relay is not None:
                self._relay.tick(self.now)
                self._take_from_relay()
            if due == tick:
                self._tick()
                ticked_at = self.now
            elif due == deadline:
                self._pane.tick(self.now)
                ticked_at = self.now
            yield self.decision
        self.now = max(self.now, until)

    def _tick(self) -> None:
        """Run a host's tick."""
        self._ticks += 1
        pane = self._pane
        if not pane.looks.is_calm or self._ticks % CALM_EVERY == 0:
            pane.screen(self._read_screen, self.now)
        pane.progress(self._has_bar, self.now)
        pane.tick(self.now)

    def _read_screen(self) -> Look:
        if self._look is None:
            grid = self._grid
            self._look = Look(grid.lines, grid.cursor_row, grid.cursor_column, grid.columns, grid.cursor_visible)
        return self._look

    def _take_from_relay(self) -> None:
        if self._relay is not None and (data := self._relay.to_terminal()):
            self._output(data)

    def _output(self, data: bytes) -> None:
        """Draw *data*, and pass on what a terminal reports of it."""
        items = self._scanner.feed(data)
        for item in items:
            if isinstance(item, Sequence) and item.number in TOLD:
                self._receive(item)
        self._grid.draw(items)
        self._look = None

    def _receive(self, sequence: Sequence) -> None:
        """Pass *sequence* to the pane, as a terminal reports it to its host."""
        pane, now = self._pane, self.now
        match wire.decode(sequence):
            case UserVar(name, value) if name == CARRIER:
                pane.user_variable(value, now)
            case Title(text):
                pane.title(text, now)
            case ProgressReport(state):
                self._has_bar = state != osc9_4.CLEAR
            case Mark() as mark:
                if mark.kind == osc133.COMMAND_START:
                    pane.marked(True, None, now)
                elif mark.kind in (osc133.PROMPT_START, osc133.COMMAND_END):
                    # For a shell without an end mark, kitty uses its prompt instead.
                    pane.marked(False, mark.exit_code, now)
            case _ if pane.agent is not None and sequence.number in (9, 99, 777):
                self._receive_notification(sequence)

    def _receive_notification(self, sequence: Sequence) -> None:
        """Pass the notification in *sequence* to the pane, once it is whole."""
        number, event = sequence.number or 0, wire.decode(sequence)
        payload = sequence.body.decode("utf-8", "replace")
        report = None
        if number == 777 and notified.is_machine_talk(number, payload):
            report = notified.message_report(number, payload, self.decision.status)
        elif isinstance(event, (Chunk, Notification)) and (whole := self._notifications.merge(event)) is not None:
            report = notified.notice_report(number, whole.title, whole.body)
        if report is not None:
            self._pane.notified(report, self.now)
