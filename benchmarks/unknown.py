"""Agents that nobody has described: `python -m benchmarks.unknown` measures their light, without and with a made file.

Each agent is read by weights that were made without its recordings (`benchmarks.structure`). Its result is the one to
expect of an agent that nobody has seen. The rules of `evidence.dialogs` were made with all of them.

`since` returns from when on a program is a candidate, and by what (`tallylight.evidence.unknown`). `events` is the
recording with the program as a mere candidate in the foreground from then on.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import sys
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Several
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import attrs
from benchmarks import accuracy
from benchmarks import structure as fitting
from tests.selective import SelectiveTracker

from tallylight import wire
from tallylight.agents.agent import Agent, Agents
from tallylight.evidence import structure
from tallylight.evidence.process import Process
from tallylight.evidence.unknown import UnknownProgram
from tallylight.model.report import Source
from tallylight.parts.lab import asciicast as recorded
from tallylight.parts.lab import scoring
from tallylight.parts.lab.asciicast import Event, Header, Output, Resize
from tallylight.parts.lab.check import check
from tallylight.parts.lab.draft import Naming, agent_of, draft, proved
from tallylight.parts.lab.events import ForegroundChange
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.replay import Replay
from tallylight.parts.lab.scanner import Scanner
from tallylight.parts.lab.sightings import answered, frames, of_recording
from tallylight.wire import osc9_4, osc133
from tallylight.wire.osc9_4 import ProgressReport
from tallylight.wire.osc133 import Mark
from tallylight.wire.scanner import Sequence
from tallylight.wire.title import Title

#: The agents, and the scenes that their files are made from; then the agents with fewer recordings, the newest last.
MANY = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "kilo", "aider", "kimi", "pi", "cline")
FEW = ("cn", "gptme", "kolega", "tunacode", "mini")
LAST = ("dcode", "hermes", "interpreter", "mastracode", "openhands")
LEARNT, FEW_LEARNT = ("permission", "question", "text"), ("turns",)
NAMES = (*MANY, *FEW, *LAST)
#: Programs that are not called as their recordings are.
PROGRAMS = {"kolega": "kolega-code"}
FOLDERS = (accuracy.CORPUS, accuracy.HELD_OUT, accuracy.CORPUS / "untimed", *accuracy.LATER)
#: Around a turn: starts that ask, sizes, menus.
AROUND = (accuracy.SITUATIONS, accuracy.SITUATIONS / "held-out")
#: How often a host looks at a screen.
_POLL_S = 0.25


def since(header: Header, given: Iterable[Event], name: str = "mystery") -> tuple[float | None, UnknownProgram]:
    """Return the time at which the program becomes a candidate, None for never; and what it has done."""
    found = UnknownProgram(name, Process(1, argv=(name,)))
    if name in NAMES:
        # All of them tell what they are, by their package or by their own bytes (`pane.package`).
        found.note_package("its package", found.process.run)
    scanner, grid = Scanner(), Grid(header.columns, header.rows)
    due = _POLL_S
    for event in given:
        while due <= event.time:
            if found.wants_look():
                found.look(grid.lines, grid.cursor_row, cursor_visible=grid.cursor_visible)
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


def _tell(found: UnknownProgram, event: object) -> None:
    match event:
        case Title(text):
            found.note_title(text)
        case ProgressReport(state):
            found.note_progress_bar(is_shown=state != osc9_4.CLEAR)
        case Mark() if event.kind == osc133.COMMAND_START:
            found.note_prompt_mark()


def events(given: list[Event], begins: float | None) -> Iterator[Event]:
    """*given* without the agent in the foreground, until it is a candidate."""
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
    """Return what is shown of an agent without its file."""
    begins, found = since(recording.header, recording.events, recording.agent)
    agents = Agents([found.agent] if found.agent is not None else ())
    replay = Replay(recording.header, agents, tracker=SelectiveTracker({Source.PROTOCOL, Source.REGISTRY}))
    track: list[tuple[float, str]] = []
    for event in events(recording.events, begins):
        for decision in replay.play(event):
            if not track or track[-1][1] != decision.status:
                track.append((replay.now, str(decision.status)))
    return track


def starts_with_a_dialog(recording: accuracy.Recording) -> bool:
    """Whether it asks before it has ever worked."""
    words = [scoring.class_of(word) for _, word in recording.truth]
    return "waiting" in words and "working" not in words[: words.index("waiting")]


def made(name: str, folders: Several[Path] = FOLDERS, learnt: Several[str] = ()) -> Agent:
    """The agent of the file that `tally agent new` makes of recordings of it, and of at most five answers."""
    given = [accuracy.read(recordings(name, folders)[f"{name}-{scene}"]) for scene in learnt or learnt_of(name)]
    plain = [
        (one.header, [event for event in one.events if not isinstance(event.what, recorded.Mark)]) for one in given
    ]
    seen = [of_recording(header, events) for header, events in plain]
    said = [(look, answer(given[number].truth, look.time)) for number, look in frames(seen)]
    seen = [answered(one, [(look, label) for look, label in said if label]) for one in seen]
    named = Naming((PROGRAMS.get(name, name),))
    found, _ = proved(draft(seen), lambda one: agent_of(one, name, named), plain, seen)
    return agent_of(found, name, named)


def answer(truth: scoring.Track, time: float) -> str:
    """Return what a person would say of a screen: what was true then; nothing of a start."""
    word = next((word for at, word in reversed(truth) if at <= time), "starting")
    known = {"waiting": "asking", "working": "busy", "error": "failed", "starting": "", "gone": "", "background": ""}
    return known.get(word.partition(":")[0], "idle")


def learnt_of(name: str) -> tuple[str, ...]:
    """The scenes that the file of an agent is made from."""
    return LEARNT if name in MANY else FEW_LEARNT


def recordings(name: str, folders: Several[Path] = FOLDERS) -> dict[str, Path]:
    """The recordings of an agent for which nothing was set up."""
    found = [path for folder in folders for path in sorted(folder.glob(f"{name}-*.cast.gz"))]
    stems = {path.name.partition(".")[0]: path for path in found}
    return {stem: path for stem, path in stems.items() if not stem.endswith(("-relay", "-hooks", "-tmux"))}


class Measured(NamedTuple):
    """How right the light of an agent is: without a file, of what it asks at its start, and with a made file."""

    without: scoring.Score
    starts: scoring.Score
    made: scoring.Score


def measure(name: str, weights: dict[str, float], folders: Several[Path] = (*FOLDERS, *AROUND)) -> Measured:
    """The light of an agent, read by *weights* that were made without it; by a made file on what that is not from."""
    found = Measured(*[scoring.Score()] * 3)
    agent = made(name, folders)
    with mock.patch.dict(structure.WEIGHTS, weights):
        for stem, path in recordings(name, folders).items():
            recording = accuracy.read(path)
            score = scoring.score(recording.truth, undescribed(recording), recording.end)
            found = found._replace(without=found.without.plus(score))
            if starts_with_a_dialog(recording):
                found = found._replace(starts=found.starts.plus(score))
            if path.parent not in AROUND and stem.removeprefix(f"{name}-") not in learnt_of(name):
                score = check(recording.header, recording.events, agent).score or scoring.Score()
                found = found._replace(made=found.made.plus(score))
    return found


def show(title: str, found: dict[str, Measured]) -> None:
    """Print three tables, a row an agent."""
    for kind, part in (("no file", "without"), ("no file, starts that ask", "starts"), ("a made file", "made")):
        rows = [(name, getattr(measured, part)) for name, measured in found.items()]
        total = functools.reduce(scoring.Score.plus, (score for _, score in rows), scoring.Score())
        print(f"{title}, {kind}:\n\n{accuracy.table([*rows, ('all', total)])}\n")


def main(argv: list[str] | None = None) -> int:
    """Print what came of each agent, read by weights that were made without it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unknown", description="The light of unknown agents.")
    parser.parse_args(argv)
    weights = [fitting.without(name) for name in NAMES]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        found = dict(zip(NAMES, pool.map(measure, NAMES, weights), strict=True))
    show("Left out", {name: measured for name, measured in found.items() if name not in LAST})
    show("Left out, recorded last", {name: found[name] for name in LAST})
    return 0


if __name__ == "__main__":
    sys.exit(main())
