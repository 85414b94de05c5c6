"""
`tally demo`: the real engine on scripted agents, drawn in this terminal; it needs no kitty.

The script is data. Its clock runs at the chosen speed, and the tracker gets its time. So the demo shows the real trust
rules and not a film of them. Without a terminal the same decisions are printed at once, as a plain time-line.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator

import attrs

from tallylight.cli.output import Output, clean, pad, status_words
from tallylight.cli.parser import Parser, within
from tallylight.model import lights
from tallylight.model.report import Report, Source
from tallylight.model.status import Kind, Status
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tallylight.ui.layout import wrap

#: Real seconds between two drawings: the pulse moves ten times a second.
FRAME = 1 / lights.PULSE_HZ
#: Script seconds between two pieces of an agent's output.
OUTPUT_EVERY = 0.25
TABS = ("zsh", "scout", "pilot")
SHELL, SCOUT, PILOT = TABS
#: Script seconds of rest before the script starts again.
REST_S = 4.0
QUESTION = "May I run `make install`?"
#: The key that answers, and for how many script seconds to wait for it.
ANSWER, ASKING_S = "1", 6.0

Act = Callable[[Tracker, float], None]


@attrs.frozen
class Step:
    """At *at* seconds of the script, *act* happens in *tab*; *caption* explains it to the person."""

    at: float
    tab: str
    act: Act
    caption: str = ""
    #: Seconds that the clock skips just before, without waiting.
    skip: float = 0.0
    #: The person has so many script seconds to press `ANSWER`; on a terminal only.
    asks: float = 0.0


def starts(name: str) -> Act:
    """Return the step in which the agent *name* comes to the foreground."""
    return lambda tracker, now: tracker.foreground(Foreground(name, 1), now)


def ends(tracker: Tracker, now: float) -> None:
    """Apply the end of an agent: nothing is in the foreground."""
    tracker.foreground(None, now)


def shows_prompt(tracker: Tracker, now: float) -> None:
    """Apply the prompt of a shell."""
    tracker.command_end(None, now)


def reports(status: Status, kind: Kind | None = None, message: str = "") -> Act:
    """Return the step in which an agent reports *status*."""
    report = Report(source=Source.PROTOCOL, rule="osc-1338", status=status, kind=kind, agent=PILOT, message=message)
    return lambda tracker, now: tracker.report(report, now)


def writes(tab: str, start: float, end: float) -> Iterator[Step]:
    """Yield the steps of an agent that draws on its screen from *start* to *end*."""
    for number in range(int((end - start) / OUTPUT_EVERY) + 1):
        yield Step(start + number * OUTPUT_EVERY, tab, Tracker.output)


SCRIPT: tuple[Step, ...] = tuple(
    sorted(
        [
            Step(0.0, PILOT, starts(PILOT), "Three tabs. `pilot` is an agent that reports its status: it works."),
            Step(0.2, PILOT, reports(Status.WORKING)),
            Step(1.2, PILOT, reports(Status.WAITING, Kind.PERMISSION, QUESTION), f"It asks: {QUESTION}", asks=ASKING_S),
            Step(1.5, PILOT, reports(Status.WORKING), "The answer is typed into its dialog, once. It goes on."),
            Step(3.0, PILOT, reports(Status.DONE, message="Installed."), "Its turn is over: green, until you look."),
            Step(4.5, PILOT, Tracker.seen, "You look at its answer: grey, ready for the next turn."),
            Step(5.5, PILOT, reports(Status.WORKING), "A new turn …"),
            Step(6.5, PILOT, reports(Status.WAITING, Kind.PERMISSION, QUESTION), "… and another question."),
            *writes(PILOT, 7.0, 8.0),
            Step(8.5, PILOT, Tracker.tick, "The clock on its screen changes, but that does not make it busy."),
            Step(10.0, PILOT, Tracker.tick, "Ten minutes later. No timer ends waiting: still amber.", skip=600.0),
            Step(12.0, PILOT, reports(Status.WORKING), "You approve …"),
            Step(13.0, PILOT, ends, "… and it is killed in the middle of its turn. Down, without any report."),
            Step(15.0, PILOT, Tracker.seen, "You look: the light goes out."),
            Step(16.0, SHELL, shows_prompt, "A shell at its prompt has no light."),
            Step(17.0, SCOUT, starts(SCOUT), "`scout` is an agent that reports nothing. It prints output: blue."),
            *writes(SCOUT, 17.25, 19.5),
            Step(20.0, SCOUT, Tracker.tick, "It falls silent and asks nothing: quiet, after four seconds."),
            Step(27.0, SCOUT, Tracker.output, "You type, and it continues."),
            *writes(SCOUT, 27.25, 28.5),
            Step(29.0, SCOUT, ends, "It exits after its last output: green, until you have seen it."),
            Step(31.0, SCOUT, Tracker.seen, "You look: the light goes out."),
        ],
        key=lambda step: step.at,
    )
)


@attrs.define
class Demo:
    """
    One run of the script.

    *wait* passes real seconds, and does nothing in a test. It returns whether `ANSWER` was pressed.
    """

    output: Output
    speed: float
    is_live: bool
    wait: Callable[[float], object]
    _trackers: dict[str, Tracker] = attrs.field(init=False, factory=lambda: {tab: Tracker() for tab in TABS})
    _shown: dict[str, tuple[Status, str]] = attrs.field(init=False, factory=dict)
    _now: float = attrs.field(init=False, default=0.0)
    #: Seconds that the script's clock has skipped so far.
    _skipped: float = attrs.field(init=False, default=0.0)
    #: The tab of the last caption.
    _tab: str = attrs.field(init=False, default=SHELL)
    #: Whether the person has answered the open question.
    _is_answered: bool = attrs.field(init=False, default=False)

    def run(self) -> None:
        """Play the script to its end."""
        for step in SCRIPT:
            self._advance(step.at + self._skipped)
            if step.skip:
                self._skipped += step.skip
                self._advance(self._now + step.skip, is_skipped=True)
            if step.caption:
                self._tab = step.tab
                self._erase()
                for line in wrap(step.caption, self.output.columns - 1):
                    self.output.line(self.output.strong(line))
            step.act(self._trackers[step.tab], self._now)
            self._write_changes()
            if step.asks and self.is_live:
                self._ask(step.asks)
        self._advance(self._now + REST_S)
        self._erase()

    def _ask(self, seconds: float) -> None:
        """Wait for the answer, at most so many seconds; later steps are delayed as long."""
        self._erase()
        self.output.line(f"Press {ANSWER} to allow it, as in the list that `tally agents` shows.")
        began, self._is_answered = self._now, False
        self._advance(self._now + seconds, is_asking=True)
        self._skipped += self._now - began

    def _advance(self, until: float, *, is_skipped: bool = False, is_asking: bool = False) -> None:
        """Let the script's clock run to *until*, or to an answer, and report each decision at its time."""
        frame = until if is_skipped or not self.is_live else self._now + FRAME * self.speed
        while self._now < until and not (is_asking and self._is_answered):
            deadlines = [tracker.deadline() for tracker in self._trackers.values()]
            due = min((d for d in deadlines if d is not None and d > self._now), default=until)
            before, self._now = self._now, min(due, frame, until)
            if self.is_live and not is_skipped:
                self._is_answered |= self.wait((self._now - before) / self.speed) is True
            for tracker in self._trackers.values():
                tracker.tick(self._now)
            self._write_changes()
            if self._now >= frame:
                self._draw()
                frame = self._now + FRAME * self.speed

    def _write_changes(self) -> None:
        """Write a line for each tab with a changed light."""
        for tab, tracker in self._trackers.items():
            decision = tracker.decision
            words = status_words(decision.status, decision.kind) if decision.is_lit else "no light"
            if self._shown.get(tab, (Status.ACTIVE, "no light"))[1] == words:
                continue
            self._shown[tab] = (decision.status, words)
            self._erase()
            self.output.decision(f"{self._now:6.1f} s  {pad(tab, 5)}", decision, words)
        self._draw()

    def _draw(self) -> None:
        """Draw the tab bar, and below it what would change the light, at the place of the next line."""
        if not self.is_live:
            return
        cells = []
        for tab, tracker in self._trackers.items():
            decision = tracker.decision
            if not decision.is_lit:
                cells.append(f"   {tab} ")
                continue
            colour = lights.COLOURS[decision.status]
            if decision.status is Status.WAITING:
                colour = lights.pulsed(colour, self._now / self.speed)
            mark = f" {lights.mark(decision.status, decision.kind)} "
            if decision.status in lights.FILLED:
                cells.append(self.output.filled(colour, f"{mark}{tab} "))
            else:
                draw = self.output.filled if decision.status is Status.DONE else self.output.coloured
                cells.append(f"{draw(colour, mark)}{tab} ")
        changes = self._trackers[self._tab].decision.reason.changes
        until = clean(f"until: {changes}", self.output.columns - 1)
        self.output.stream.write(f"\r\x1b[J\n{'  '.join(cells)}\n{until}\x1b[2A\r")
        self.output.stream.flush()

    def _erase(self) -> None:
        if self.is_live:
            self.output.stream.write("\r\x1b[J")


def make_parser() -> Parser:
    parser = Parser(
        prog="tally demo",
        description="Show the lights on scripted agents in this terminal. Press q to stop.",
        examples={
            "tally demo": "until you press q",
            "tally demo --once --speed 4": "one run, four times as fast",
        },
        codes={130: "you pressed ctrl-C"},
    )
    parser.add_argument(
        "--speed", type=within(0.1, 1000, float), default=1.0, metavar="N", help="run this many times as fast"
    )
    parser.add_argument("--once", action="store_true", help="stop after one run instead of starting again")
    parser.add_color()
    return parser


class _LeftError(Exception):
    """The person has pressed `q`."""


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


@contextlib.contextmanager
def keys() -> Iterator[Callable[[float], bool]]:
    """
    Yield a function that passes seconds and returns whether `ANSWER` was pressed; without a terminal never.

    It raises `_LeftError` once `q` is pressed.
    """
    if not sys.stdin.isatty():
        yield _sleep
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def wait(seconds: float) -> bool:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([descriptor], [], [], left)[0]:
                pressed = os.read(descriptor, 64)
                if b"q" in pressed:
                    raise _LeftError
                if ANSWER.encode() in pressed:
                    return True
                if not pressed:
                    time.sleep(max(0.0, end - time.monotonic()))
        return False

    try:
        tty.setcbreak(descriptor)
        yield wait
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def main(argv: list[str]) -> int:
    """Play the demo: again and again on a terminal, once elsewhere."""
    options = make_parser().parse_args(argv)
    output = Output.chosen(options.color)
    is_live = sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    try:
        if is_live:
            output.stream.write("\x1b[?25l")
            output.line("This runs again and again until you press q." if not options.once else "q stops it.")
        with keys() if is_live else contextlib.nullcontext(_sleep) as wait:
            while True:
                Demo(output, options.speed, is_live, wait).run()
                if options.once or not is_live:
                    return 0
                output.line()
    except _LeftError:
        return 0
    finally:
        if is_live:
            output.stream.write("\r\x1b[J\x1b[?25h")
            output.stream.flush()
