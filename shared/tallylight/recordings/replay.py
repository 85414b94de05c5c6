"""
A replay: the events of a recording taken through the codecs and the tracker, as a host would have.

Events go in, in the order of their time; `decision` is what the pane showed then. Time is the recording's. Output is
scanned, decoded, and drawn on a `Grid`, at which a `ScreenWatch` looks every `poll_s`: a decision comes as early and as
late as it does in a terminal. Nobody looks at the pane: what is *done* stays so.

What a host asks its processes and files for is in the recording as evidence. Of the output a host hears only what a
terminal tells (`TOLD`); of all else only what a relay, if one is given, makes of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

from tallylight import wire
from tallylight.agents.agent import Agents
from tallylight.evidence.looks import Look, ScreenReader
from tallylight.evidence.progress import ProgressReader
from tallylight.evidence.screen import WINDOW
from tallylight.evidence.titles import TitleReader
from tallylight.model.decision import Decision
from tallylight.model.report import Report, Source
from tallylight.recordings.asciicast import Event, Header, Output, Resize
from tallylight.recordings.events import Exit, ForegroundChange
from tallylight.recordings.grid import Grid
from tallylight.tracker.claims import Timing
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import ADOPT_S, Tracker
from tallylight.wire import osc1338
from tallylight.wire.envelope import CARRIER
from tallylight.wire.osc9_4 import ProgressReport, ProgressState
from tallylight.wire.osc133 import Mark, MarkKind
from tallylight.wire.scanner import Scanner, Sequence
from tallylight.wire.title import Title
from tallylight.wire.user_var import UserVar

#: The OSC numbers that terminals tell their hosts of.
TOLD = frozenset({0, 2, 9, 99, 133, 777, 1337})
#: By which a shell tells that a signal ended a command.
_SIGNALLED = 128


class Relay(Protocol):
    """What may stand between the program and the terminal: `tallylight.relay.core.RelayCore`."""

    def from_child(self, data: bytes, now: float) -> None: ...
    def tick(self, now: float) -> None: ...
    def resized(self, now: float) -> None: ...
    def finished(self, now: float, exit_code: int | None = 0, signal: int | None = None) -> None: ...
    def deadline(self) -> float | None: ...
    def to_terminal(self) -> bytes: ...


class Replay:
    """One recording, behind a *relay* or not. Sources in *without* are not heard."""

    def __init__(
        self,
        header: Header,
        agents: Agents,
        timing: Timing | None = None,
        *,
        relay: Relay | None = None,
        poll_s: float = 0.25,
        without: Collection[Source] = (),
    ) -> None:
        self.now = 0.0
        self.tracker = Tracker(timing)
        self._agents = agents
        self._relay = relay
        self._poll_s = poll_s
        self._without = frozenset(without)
        self._scanner = Scanner()
        self._grid = Grid(header.columns, header.rows)
        self._screen = ScreenReader()
        self._has_foreground = False
        self._progress = ProgressReader()
        self._titles: TitleReader | None = None
        self._title = ""
        self._title_at: float | None = None
        #: Looks at the screen so far, and how many more there are to be while nothing is drawn.
        self._looks = 0
        self._looks_left = 0
        #: How the command ended, until its foreground is known to be gone.
        self._exit: Exit | None = None

    @property
    def decision(self) -> Decision:
        """What the pane shows."""
        return self.tracker.decision

    def play(self, event: Event) -> Iterator[Decision]:
        """Let time pass until *event* and take it in; yield the decision after each step on the way."""
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
                self._watch_again()
                if self._relay is not None:
                    self._relay.resized(now)
            case ForegroundChange(foreground, is_gone):
                self._foreground(foreground, is_gone)
            case Exit():
                self._exit = event.what
                if self._relay is not None:
                    self._relay.finished(now, event.what.code, event.what.signal)
            case Report() as report:
                self._report(report)
        self._hear_relay()
        if self._exit is not None and not self._has_foreground:
            code, signal = self._exit.code, self._exit.signal
            self._exit = None
            self.tracker.command_end(code if signal is None else _SIGNALLED + signal, now)
        yield self.decision

    def finish(self) -> Iterator[Decision]:
        """Yield what was decided last and is held back only because it came so soon after another change."""
        yield from self.advance(self.now + self.tracker.timing.debounce_s)

    def advance(self, until: float) -> Iterator[Decision]:
        """Let time pass; yield the decision at every time at which it may change."""
        ticked_at: float | None = None
        while True:
            deadline = self.tracker.deadline()
            if deadline is not None and deadline <= self.now:
                # One that stands although its time has come is not waited for again.
                deadline = self.now if ticked_at != self.now else None
            look = (self._looks + 1) * self._poll_s if self._looks_left else None
            relay = self._relay.deadline() if self._relay is not None else None
            if relay is not None:
                relay = max(relay, self.now)
            due = min((at for at in (deadline, look, relay) if at is not None), default=None)
            if due is None or due > until:
                break
            self.now = max(self.now, due)
            if due == relay and self._relay is not None:
                self._relay.tick(self.now)
                self._hear_relay()
            if due == look:
                self._look()
            if due == deadline:
                self.tracker.tick(self.now)
                ticked_at = self.now
            yield self.decision
        self.now = max(self.now, until)

    def _hear_relay(self) -> None:
        if self._relay is not None and (data := self._relay.to_terminal()):
            self._output(data)

    def _output(self, data: bytes) -> None:
        items = self._scanner.feed(data)
        for item in items:
            if isinstance(item, Sequence) and item.number in TOLD:
                self._event(wire.decode(item))
        self._grid.draw(items)
        self._watch_again()

    def _foreground(self, foreground: Foreground | None, is_gone: bool) -> None:
        agent = self._agents.get(foreground.name) if foreground is not None and foreground.is_agent else None
        self._has_foreground = foreground is not None
        self._titles = TitleReader(agent, self.now) if agent is not None else None
        self._screen = ScreenReader(agent)
        self._progress = ProgressReader(agent)
        self._watch_again()
        self.tracker.foreground(foreground, self.now, is_gone=is_gone)
        if self._title_at is not None and self.now - self._title_at <= ADOPT_S:
            self._read_title()

    def _watch_again(self) -> None:
        """Look for as long as what was drawn until now is remembered; later looks would find nothing."""
        if not self._looks_left:
            self._looks = max(self._looks, int(self.now / self._poll_s))
        self._looks_left = WINDOW

    def _look(self) -> None:
        self._looks += 1
        self._looks_left -= 1
        tracker = self.tracker
        wants_output, wants_screen = tracker.wants_output, tracker.wants_screen
        if not wants_screen:
            self._read(self._screen.forget())
        if not wants_output and not wants_screen:
            return
        grid = self._grid
        look = Look(grid.lines, grid.cursor_row, grid.cursor_column, grid.columns, grid.cursor_visible)
        change = self._screen.look(look)
        if change.is_output and wants_output and Source.HEURISTIC not in self._without:
            tracker.output(self.now)
        if wants_screen:
            self._read(self._screen.read(look))

    def _read(self, report: Report | None) -> None:
        """Take in what the screen says. That is no reason to look again."""
        if report is not None and Source.SCREEN not in self._without:
            self.tracker.report(report, self.now)

    def _event(self, event: object) -> None:
        match event:
            case Report():
                self._report(event)
            case UserVar(name, value) if name == CARRIER:
                self._carrier(value)
            case Title(text):
                self._title, self._title_at = text, self.now
                self._read_title()
            case ProgressReport(state) if Source.PROGRESS not in self._without:
                report = self._progress.read(is_shown=state is not ProgressState.CLEAR)
                if report is not None:
                    if report.status is None:
                        self.tracker.stirs(self.now)
                    self._report(report)
            case Mark() if Source.SHELL not in self._without:
                if event.kind is MarkKind.PROMPT_START:
                    self.tracker.prompt(self.now)
                elif event.kind is MarkKind.COMMAND_START:
                    self.tracker.command_start(self.now)
                elif event.kind is MarkKind.COMMAND_END:
                    self.tracker.command_end(event.exit_code, self.now)

    def _carrier(self, value: str | None) -> None:
        report = osc1338.decode_variable(value)
        if report is not None:
            self._report(report)

    def _read_title(self) -> None:
        report = self._titles.read(self._title, self.now) if self._titles is not None else None
        if report is not None:
            self._report(report)

    def _report(self, report: Report) -> None:
        if report.source not in self._without:
            self.tracker.report(report, self.now)
            self._watch_again()
