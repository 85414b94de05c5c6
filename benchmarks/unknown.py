"""Agents that nobody has described: `python -m benchmarks.unknown` measures their light, without and with a made file.

`since` tells from when on a program is a candidate, and by what (`tallylight.evidence.unknown`); `events` is the
recording in which it holds the foreground as no more than that, from then on.
"""

from __future__ import annotations

import concurrent.futures
import functools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
from benchmarks import accuracy

from tallylight import wire
from tallylight.agents.agent import Agent, Agents
from tallylight.evidence.process import Process
from tallylight.evidence.unknown import Unknown
from tallylight.model.report import Source
from tallylight.recordings import asciicast as recorded
from tallylight.recordings import scoring
from tallylight.recordings.asciicast import Event, Header, Output, Resize
from tallylight.recordings.check import check
from tallylight.recordings.draft import Naming, agent_of, draft, proved
from tallylight.recordings.events import ForegroundChange
from tallylight.recordings.grid import Grid
from tallylight.recordings.replay import Replay
from tallylight.recordings.sightings import answered, frames, of_recording
from tallylight.wire import osc9_4, osc133
from tallylight.wire.osc9_4 import ProgressReport
from tallylight.wire.osc133 import Mark
from tallylight.wire.scanner import Scanner, Sequence
from tallylight.wire.title import Title

#: Every agent, and the scenes that its file is made from.
NAMES = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "kilo", "aider", "kimi", "pi", "cline")
LEARNT = ("permission", "question", "text")
FOLDERS = (accuracy.CORPUS, accuracy.HELD_OUT, accuracy.CORPUS / "untimed")
#: How often a host looks at a screen.
_POLL_S = 0.25


def since(header: Header, given: Iterable[Event], name: str = "mystery") -> tuple[float | None, Unknown]:
    """The time from which on the program is a candidate, None for never; and what it has done."""
    found = Unknown(name, Process(1, argv=(name,)))
    scanner, grid = Scanner(), Grid(header.columns, header.rows)
    due = _POLL_S
    for event in given:
        while due <= event.time:
            if found.wants_look():
                found.look(grid.lines, grid.cursor_row)
            if found.agent is not None:
                return due, found
            due += _POLL_S
        if isinstance(event.what, Resize):
            grid.resize(event.what.columns, event.what.rows)
        elif isinstance(event.what, Output):
            items = scanner.feed(event.what.data)
            for item in items:
                if isinstance(item, Sequence):
                    _tell(found, wire.decode(item))
            grid.draw(items)
        if found.agent is not None:
            return event.time, found
    return None, found


def _tell(found: Unknown, event: object) -> None:
    match event:
        case Title(text):
            found.titled(text)
        case ProgressReport(state):
            found.barred(is_shown=state != osc9_4.CLEAR)
        case Mark() if event.kind == osc133.COMMAND_START:
            found.marked()


def events(header: Header, given: list[Event]) -> Iterator[Event]:
    """*given* without the agent in the foreground, until it is a candidate."""
    begins, _ = since(header, given)
    held: ForegroundChange | None = None
    is_shown = False
    for event in given:
        if begins is not None and event.time >= begins and held is not None and not is_shown:
            is_shown = True
            yield Event(begins, held)
        if isinstance(event.what, ForegroundChange):
            foreground = event.what.foreground
            if foreground is not None:
                held = attrs.evolve(
                    event.what, foreground=attrs.evolve(foreground, is_agent=True, speaks=False, is_candidate=True)
                )
                if not is_shown:
                    continue
                yield Event(event.time, held)
                continue
            held = None
        yield event


# The measurement -----------------------------------------------------------------------------------------------------


def undescribed(recording: accuracy.Recording) -> scoring.Track:
    """What is shown of an agent whose file is not there."""
    _, found = since(recording.header, recording.events, recording.agent)
    agents = Agents([found.agent] if found.agent is not None else ())
    replay = Replay(recording.header, agents, without={Source.PROTOCOL, Source.REGISTRY})
    track: list[tuple[float, str]] = []
    for event in events(recording.header, recording.events):
        for decision in replay.play(event):
            if not track or track[-1][1] != decision.status:
                track.append((replay.now, str(decision.status)))
    return track


def made(name: str) -> Agent:
    """The agent of the file that `tally agent new` makes of three recordings of it, and of at most five answers."""
    given = [accuracy.read(recordings(name)[f"{name}-{scene}"]) for scene in LEARNT]
    plain = [
        (one.header, [event for event in one.events if not isinstance(event.what, recorded.Mark)]) for one in given
    ]
    seen = [of_recording(header, events) for header, events in plain]
    said = [(look, answer(given[number].truth, look.time)) for number, look in frames(seen)]
    seen = [answered(one, [(look, label) for look, label in said if label]) for one in seen]
    named = Naming((name,))
    found, _ = proved(draft(seen), lambda one: agent_of(one, name, named), plain, seen)
    return agent_of(found, name, named)


def answer(truth: scoring.Track, time: float) -> str:
    """What a person would say of a screen: what was true then; nothing of a start."""
    word = next((word for at, word in reversed(truth) if at <= time), "starting")
    known = {"waiting": "asking", "working": "busy", "error": "failed", "starting": "", "gone": "", "background": ""}
    return known.get(word.partition(":")[0], "idle")


def recordings(name: str) -> dict[str, Path]:
    """The recordings of an agent for which nothing was set up."""
    found = [path for folder in FOLDERS for path in sorted(folder.glob(f"{name}-*.cast.gz"))]
    stems = {path.name.partition(".")[0]: path for path in found}
    return {stem: path for stem, path in stems.items() if not stem.endswith(("-relay", "-hooks", "-tmux"))}


def measure(name: str) -> tuple[scoring.Score, scoring.Score]:
    """How right the light of an agent is without a file, and with a made one on what it was not made from."""
    without, with_file = scoring.Score(), scoring.Score()
    agent = made(name)
    for stem, path in recordings(name).items():
        recording = accuracy.read(path)
        without = without.plus(scoring.score(recording.truth, undescribed(recording), recording.end))
        if stem.removeprefix(f"{name}-") not in LEARNT:
            found = check(recording.header, recording.events, agent).score
            assert found is not None
            with_file = with_file.plus(found)
    return without, with_file


def main() -> int:
    """Print two tables, a row an agent."""
    with concurrent.futures.ProcessPoolExecutor() as pool:
        found = dict(zip(NAMES, pool.map(measure, NAMES), strict=True))
    for number, title in enumerate(("No file", "A file by `tally agent new`")):
        rows = [(name, scores[number]) for name, scores in found.items()]
        total = functools.reduce(scoring.Score.plus, (score for _, score in rows), scoring.Score())
        print(f"{title}:\n\n{accuracy.table([*rows, ('all', total)])}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
