"""Screens in a recording: a replay reads them as a pane of a host does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.report import Source
from tallylight.model.timing import Timing
from tallylight.pane.pane import Look, Pane
from tallylight.parts.lab.asciicast import Event, Header, Mark, Output
from tallylight.parts.lab.events import ForegroundChange
from tallylight.parts.lab.replay import Replay
from tallylight.tracker.foreground import Foreground
from tests.evidence.agents import AGENTS
from tests.hosts.test_pane import COPILOT, HandTable
from tests.selective import SelectiveTracker
from tests.tables import each

SCREENS = Path(__file__).parents[2] / "evidence/screens"
#: What a person sees, one after the other, and for how long in seconds.
TURN = [("copilot/idle-80", 6.0), ("copilot/working-1-80", 5.0), ("copilot/permission-80", 6.0)]
TURN += [("copilot/tool-running-80", 4.0), ("copilot/done-after-tool-80", 6.0)]


def screen(name: str) -> tuple[list[str], int]:
    head, _, text = (SCREENS / f"{name}.txt").read_text("utf-8").partition("---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    return text.removesuffix("\n").split("\n"), int(facts["cursor"])


def drawn(lines: list[str], cursor: int) -> bytes:
    rows = "".join(f"\x1b[{number};1H\x1b[K{line}" for number, line in enumerate(lines, 1))
    return f"\x1b[H\x1b[J{rows}\x1b[{cursor + 1};1H".encode()


def replayed(without: tuple[Source, ...] = (), progress: bytes = b"") -> list[tuple[float, str]]:
    """The lights of the turn, played through a replay, with the second each began in."""
    replay = Replay(Header(80, 40), AGENTS, tracker=SelectiveTracker(without))
    lights: list[tuple[float, str]] = []

    def note(status: str) -> None:
        if not lights or lights[-1][1] != status:
            lights.append((replay.now, status))

    events = [Event(0.0, ForegroundChange(Foreground("copilot", 1)))]
    at = 0.1
    for name, seconds in TURN:
        events.append(Event(at, Output(drawn(*screen(name)))))
        at += seconds
    events.append(Event(at, Output(progress)))
    for event in events:
        for decision in replay.play(event):
            note(str(decision.status))
    for decision in replay.finish():
        note(str(decision.status))
    return lights


def test_a_turn_read_off_the_screen() -> None:
    """Idle, working, waiting, working, done: each within a second of what is on the screen."""
    lights = [light for light in replayed() if light[0] > 1.0 or light[1] == "idle"]

    assert [status for _, status in lights] == ["idle", "working", "waiting", "working", "done"]
    begins = [0.1, 6.1, 11.1, 17.1, 21.1]
    assert all(0 <= at - began <= 1.25 for (at, _), began in zip(lights, begins, strict=True)), lights


@pytest.mark.slow
@each("delay", [-4.0, -1.0, -0.5, -0.25, -0.1, 0.0, 0.1, 0.25, 0.5, 1.0, 4.0])
def test_an_error_is_shown_whenever_the_title_says_that_it_is_ready(delay: float) -> None:
    """On a busy machine Gemini's screen and its title may come seconds apart."""
    shown = {at: drawn(*screen(f"gemini/working-{at % 2 + 1}-80")) for at in range(3, 9)}
    shown |= {0.5: drawn(*screen("gemini/idle-80")), 8.6: drawn(*screen("gemini/error-80"))}
    titles = {0.6: "◇  Ready (api)", 3.1: "✦  Working (api)", 8.6 + delay: "◇  Ready (api)"}
    events = [*shown.items(), *((at, f"\x1b]2;{title}\x07".encode()) for at, title in titles.items()), (20.0, b" ")]
    replay = Replay(Header(80, 40), AGENTS)
    [*replay.play(Event(0.0, ForegroundChange(Foreground("gemini", 1, speaks=True))))]
    lights = [light for at, data in sorted(events) for light in replay.play(Event(at, Output(data)))]
    assert lights[-1].status == "error"


def test_without_the_screen_silence_is_all_there_is() -> None:
    """The same recording with the screen not heard: every pause is quiet, and nothing is ever idle."""
    assert {status for _, status in replayed(without=(Source.SCREEN,))} == {"working", "quiet"}


def test_a_pane_shows_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pane of a host, looked at four times a second, comes to the same lights as the replay."""
    monkeypatch.setenv("HOME", str(tmp_path))
    table = HandTable(str(tmp_path))
    pane = Pane(Timing(), ForegroundReader(AGENTS, table), table)  # type: ignore[arg-type]
    pane.foreground(COPILOT.pid, 0)
    seen: list[str] = []
    now = 0.25
    for name, seconds in TURN:
        lines, cursor = screen(name)
        look = Look(lines + [""] * (40 - len(lines)), cursor, 0, 80)
        for _ in range(int(seconds / 0.25)):
            pane.screen(lambda look=look: look, now)  # type: ignore[misc]
            pane.tick(now)
            if not seen or seen[-1] != pane.decision.status:
                seen.append(str(pane.decision.status))
            now += 0.25

    assert seen == ["idle", "working", "waiting", "working", "done"]


def test_a_progress_bar_in_a_recording() -> None:
    """That an agent takes its bar away ends its turn, as in kitty, which is asked for it at each tick."""
    replay = Replay(Header(80, 24), AGENTS)
    list(replay.play(Event(0.0, ForegroundChange(Foreground("copilot", 1)))))
    list(replay.play(Event(1.0, Output(b"\x1b]9;4;3;0\x07"))))
    list(replay.advance(1.9))
    assert replay.decision.status == "working"
    list(replay.play(Event(2.0, Output(b"\x1b]9;4;0;0\x07"))))
    list(replay.advance(2.25))
    assert (replay.decision.status, replay.decision.reason.rule) == ("done", "progress bar removed")


def aider(*events: Event) -> list[tuple[float, str]]:
    """The lights of aider, which draws `events` after it has stood at its prompt for four seconds."""
    replay = Replay(Header(80, 40), AGENTS)
    start = [Event(0.0, ForegroundChange(Foreground("aider", 1, speaks=True)))]
    start.append(Event(0.5, Output(drawn(*screen("aider/idle-80")))))
    lights: list[tuple[float, str]] = []
    for event in (*start, *events):
        for decision in replay.play(event):
            if not lights or lights[-1][1] != decision.status:
                lights.append((replay.now, str(decision.status)))
    assert replay.faults == []
    return lights


def test_a_silent_command_is_work_for_as_long_as_its_screen_says_so() -> None:
    """A replay goes on looking at a screen that does not change, as a host does: after 30 s it still works."""
    running = Event(5.0, Output(drawn(*screen("aider/tool-running-80"))))

    assert [status for _, status in aider(running, Event(90.0, Mark("")))] == ["idle", "working"]


@pytest.mark.slow
def test_a_gap_of_a_year_is_passed_over() -> None:
    """Nothing that time alone decides is lost in a gap, and it costs no more than a quarter of an hour."""
    running = Event(5.0, Output(drawn(*screen("aider/tool-running-80"))))
    at_rest = Event(3e7, Output(drawn(*screen("aider/done-after-tool-80"))))

    assert [status for _, status in aider(running, at_rest, Event(3e7 + 3, Mark("")))] == ["idle", "working", "done"]
