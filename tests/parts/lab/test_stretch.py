"""A stretch: what a pane's light of the last minutes was made of, kept in memory, and replayed to the same lights."""

from __future__ import annotations

import io
import tracemalloc
import weakref
from pathlib import Path

import pytest
from benchmarks.accuracy import CORPUS, read

from tallylight.agents import agent_files
from tallylight.evidence.screen import Look
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.model.timing import Timing
from tallylight.pane import tape
from tallylight.pane.pane import Pane
from tallylight.pane.tape import Tape
from tallylight.parts.lab import lesson, stretch
from tallylight.parts.lab.asciicast import Encoder, Event
from tallylight.parts.lab.check import Change, changes
from tallylight.parts.lab.decoder import decode
from tallylight.parts.lab.events import Claimed
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.processes import RecordedProcesses
from tallylight.parts.lab.replay import Replay
from tallylight.parts.lab.scanner import Scanner
from tests.selective import SelectiveTracker
from tests.tables import each

AGENTS, _ = agent_files.load_agents({})


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pane of another test, which may not be collected yet, has a share in what all may keep."""
    monkeypatch.setattr(tape, "_ALL", weakref.WeakSet())


def lived(path: Path) -> tuple[list[Change], bytes]:
    """The lights of a pane that lived through a recording, and its tape."""
    recording = read(path)
    replay = Replay(recording.header, AGENTS, tracker=SelectiveTracker({Source.PROTOCOL}))
    return list(changes(replay, recording.events)), replay.tape.data


def shown(lights: list[Change], start: float) -> list[tuple[float, tuple[object, ...]]]:
    return [(round(light.time - start, 6), light.words) for light in lights if light.time >= start]


@pytest.mark.slow
@each(
    "name",
    ["claude-permission", "claude-question", "codex-denial", "copilot-permission", "gemini-error", "aider-permission"],
)
def test_the_same_lights(name: str) -> None:
    """Every light comes again at its time, to the digit, from memory and from a file."""
    lights, told = lived(CORPUS / f"{name}.cast.gz")
    start = next(tape.entries(told))[0]
    found = stretch.of_tape(told)
    encoder = Encoder()
    file = b"".join([encoder.header(found.header), *map(encoder.event, found.events)])
    header, *events = decode(io.BytesIO(file).readline)
    again = stretch.Stretch(header, tuple(event for event in events if isinstance(event, Event)))  # type: ignore[arg-type]

    wanted = shown(lights, start)
    assert len(wanted) > 3
    assert shown(stretch.lights(found, AGENTS), 0.0)[1:] == wanted  # the first is that nothing is known yet
    assert shown(stretch.lights(again, AGENTS), 0.0)[1:] == wanted


@pytest.mark.slow
@each("name", ["codex-denial", "copilot-denial"])
def test_what_began_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an agent that has run for longer, the lights are right from the first turn that begins in it."""
    monkeypatch.setattr(tape, "SPAN_S", 14.0)
    monkeypatch.setattr(tape, "_STRETCH_S", 3.0)
    lights, told = lived(CORPUS / f"{name}.cast.gz")
    start = next(tape.entries(told))[0]
    begins = next(at for at, words in shown(lights, start) if at > 3 and words[0] == "working")
    wanted = [light for light in shown(lights, start) if light[0] >= begins]
    found = shown(stretch.lights(stretch.of_tape(told), AGENTS), 0.0)

    assert start > 5
    assert len(wanted) >= 2
    assert found[-len(wanted) :] == wanted


def test_what_a_record_says_of_earlier() -> None:
    """Since when something is so is told as well: a record is read late."""
    processes = RecordedProcesses(AGENTS)
    pane = Pane(Timing(), processes, processes)
    pane.tracker.report(Report(source=Source.RECORD, status=Status.DONE, agent="codex"), 10.0, since=7.0)
    aged = [event.what for event in stretch.of_tape(pane.tape.data).events if isinstance(event.what, Claimed)]

    assert [(found.report.source, found.report.status, found.age) for found in aged] == [
        (Source.RECORD, Status.DONE, 3.0)
    ]


def test_a_flood_costs_the_tape_what_is_read() -> None:
    """The titles that are replaced before anybody reads them are not on it; the last one is."""
    processes = RecordedProcesses(AGENTS)
    pane = Pane(Timing(), processes, processes)
    for number in range(5000):
        pane.title(f"title {number}", 10.0)
    pane.tick(11.0)
    titles = [data[0] for _, kind, data in tape.entries(pane.tape.data) if kind == "title" and data[0]]

    assert len(titles) < 50
    assert titles[-1] == "title 4999"


def test_two_minutes_are_kept() -> None:
    """What is older goes, a stretch at a time, and what was so before is told first."""
    begun: list[float] = []

    def begin(now: float) -> None:
        begun.append(now)
        kept.note("was", now, "title", f"at {now:.0f}")

    kept = Tape(begin)
    for second in range(600):
        kept.note("title", float(second), f"second {second}")
    times = [(now, data) for now, _, data in tape.entries(kept.data)]

    assert times[0] == (begun[-9], [f"at {begun[-9]:.0f}"])
    assert [data for _, data in times[1:]] == [[f"second {second}"] for second in range(int(times[0][0]), 600)]
    assert tape.SPAN_S <= 599 - times[0][0] <= tape.SPAN_S + 20


@pytest.mark.slow
@each("changes", ["spinner", "flood"])
def test_a_pane_needs_no_more_than_its_bound(changes: str) -> None:
    """Whatever comes, a pane keeps 256 KB at most; an hour of a screen with a spinner keeps its two minutes."""
    words = [f"{number:x} the light of the studio {number * 7919:x}" for number in range(5000)]
    tracemalloc.start()
    kept = Tape(lambda _: None)
    before = tracemalloc.get_traced_memory()[0]
    for number in range(2400):
        first = number * 40 % 4900 if changes == "flood" else 0
        rows = [*words[first : first + 40], f"{'|/-'[number % 3]} working for {number} s"]
        kept.look(Look(rows, 40, 0, 100), number / 4)
    del rows
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()

    assert used <= tape.MAX_TAPE_BYTES * 1.1
    assert kept.size <= tape.MAX_TAPE_BYTES
    looks = [now for now, kind, _ in tape.entries(kept.data) if kind == "look"]
    assert looks[-1] == 2399 / 4
    assert looks[-1] - looks[0] >= (tape.SPAN_S if changes == "spinner" else 10)


@pytest.mark.slow
def test_what_was_so_before_is_too_much() -> None:
    """It costs itself, at every beginning of a stretch, and nothing is noted for ever."""
    told = "x" * tape.MAX_TAPE_BYTES

    def begin(now: float) -> None:
        for _ in range(3):
            kept.note("was", now, "title", told)

    kept = tape.Tape(begin)
    for now in range(200):
        kept.look(Look(["a line"], 0, 0, 80), float(now))
        assert kept.size <= tape.MAX_TAPE_BYTES
    told = "short"
    kept.look(Look(["another line"], 0, 0, 80), 500.0)
    assert [kind for _, kind, _ in tape.entries(kept.data)] == ["title"] * 3 + ["look"]


def test_all_panes_have_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many panes share what all of them may have."""
    monkeypatch.setattr(tape, "MAX_BYTES_OF_ALL", 64 * 1024)
    panes = [Tape(lambda _: None) for _ in range(32)]
    for number in range(200):
        for pane in panes:
            pane.note("title", float(number), f"{number} {'x' * 100}")

    assert sum(pane.size for pane in panes) <= 64 * 1024


@each("data", [b"x", b"\0" * 40, Tape(lambda _: None).data + b"\xff" * 14])
def test_what_is_no_tape(data: bytes) -> None:
    """Bytes that are no tape are refused."""
    with pytest.raises(ValueError, match="tape"):
        list(tape.entries(data))


@pytest.mark.slow
@each(
    "name", ["claude-permission", "codex-denial", "copilot-error", "aider-error", "opencode-permission", "qwen-denial"]
)
def test_words_are_crossed_out(name: str) -> None:
    """A redacted stretch keeps what rules name, and no other word, and gives the same lights."""
    _, told = lived(CORPUS / f"{name}.cast.gz")
    found = stretch.of_tape(told)
    bare = stretch.redacted(found, stretch.words_of(lesson.patterns(AGENTS.get(name.partition("-")[0]))))
    text = b"".join(Encoder().event(event) for event in bare.events).decode()

    assert "scripted" not in text and "/home" not in text and "/tmp" not in text
    lights = [[(light.time, light.decision.status) for light in stretch.lights(one, AGENTS)] for one in (found, bare)]
    assert len(lights[0]) > 5
    assert lights[0] == lights[1]


def test_a_look_is_drawn_as_it_was() -> None:
    """What a stretch draws is the screen that was looked at."""
    look = Look(["", "│ > 你好 │", "✻ Working…"], 1, 8, 80, False)
    grid = Grid(80, 3)
    grid.draw(Scanner().feed(stretch.drawn(look)))
    assert Look(grid.lines, grid.cursor_row, grid.cursor_column, 80, grid.cursor_visible) == look
