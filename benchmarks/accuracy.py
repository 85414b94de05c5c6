"""How often the light is right, on recordings of real agents: `python -m benchmarks.accuracy [OPTION …] [FILE …]`.

There are four tables: of the recordings that the rules were made with, of those that were held out, of what happens
around a turn (`--situations`: this alone), and of scenes that a seed has chosen (`--unseen`). Each has a row an agent,
in three classes and by the exact words of a status. Below each is what was known of each wait for a permission.
`--modes` has a row for each mode and appearance, with `--worst` every difference there.

The engine, and two rules that others have published, read every recording of the corpus. Each result is compared with
the truth that is marked in the recording. docs/measurements.md says what is counted. `--worst` lists, for each row, the
recordings that spoil it, with the times at which light and truth differ.

The engine reads a recording as a host would have read the pane. It draws the output on a screen and looks at that four
times a second; it knows nothing that was not recorded. Each decision comes when it would have come.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import gzip
import io
import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import asked, colours, exact_words, published
from tests.selective import SelectiveTracker

from tallylight.agents.agent import Agents
from tallylight.agents.agent_files import load_agents
from tallylight.evidence.foreground import identify
from tallylight.evidence.process import Process
from tallylight.evidence.prompts import read_screen
from tallylight.model.report import Source
from tallylight.model.status import Status
from tallylight.parts.lab import scoring
from tallylight.parts.lab.asciicast import Event, Header, Output, Resize
from tallylight.parts.lab.decoder import Problem, decode
from tallylight.parts.lab.events import ForegroundChange
from tallylight.parts.lab.grid import Grid
from tallylight.parts.lab.replay import Replay
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import RelayCore

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "corpus"
#: Recordings of other scenes and other versions, which no rule was made with.
HELD_OUT = CORPUS / "held-out"
#: Recordings of what happens around a turn; and a quarter of them, which no rule was made with.
SITUATIONS = CORPUS / "situations"
#: Scenes that a seed dealt out, which no rule was made with: `walk` in a turn, `around` around one.
UNSEEN = CORPUS / "unseen"
#: Agents in their modes and appearances, one recording each.
MODES = CORPUS / "modes"
#: Twice five agents that were recorded later. They were measured once; the first folder helps to make weights since.
LATER = CORPUS / "frozen", CORPUS / "frozen2"
#: The modes, by their names in the recordings, with their names in the table.
_MODES = {
    "as it starts": ("start",),
    "asks before each command": ("manual", "asking"),
    "plan": ("plan",),
    "accepts edits": ("edits",),
    "asks little or nothing": ("full", "auto", "needed", "never"),
    "motion off": ("still",),
    "light theme": ("light",),
    "45 columns": ("narrow",),
    "for screen readers": ("reader",),
    "no status in the title": ("untitled", "fixed"),
    "another renderer": ("classic", "focus", "inline", "buffer", "regular", "raw", "mini"),
    "draws less, or more": ("status", "bare", "compact", "plain", "quiet", "progress"),
    "a release of a year ago": ("old",),
}
_PERMISSION = "waiting:permission"
#: The sources that need set-up, by relay or hooks.
_SET_UP = frozenset({Source.PROTOCOL})
_NO_GUESS = frozenset(Source) - {Source.HEURISTIC}


class Recording(NamedTuple):
    """One recording of the corpus: what happened, and the truth about it."""

    name: str
    header: Header
    events: list[Event]
    truth: list[tuple[float, str]]
    #: The parts of it that could not be read.
    problems: list[Problem]

    @property
    def agent(self) -> str:
        """Whose recording it is."""
        return self.name.partition("-")[0]

    @property
    def is_set_up(self) -> bool:
        """Whether a relay answered the agent, or its hooks were installed, when it was recorded."""
        return self.name.endswith(("-relay", "-hooks"))

    @property
    def end(self) -> float:
        """The time of its last event."""
        return self.events[-1].time


def read(path: Path) -> Recording:
    """Read one recording, compressed or not."""
    raw = path.read_bytes()
    items = decode(io.BytesIO(gzip.decompress(raw) if path.suffix == ".gz" else raw).readline)
    header = next(items)
    assert isinstance(header, Header)
    events: list[Event] = []
    problems: list[Problem] = []
    for item in items:
        if isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Event):
            events.append(item)
    return Recording(path.name.partition(".")[0], header, events, scoring.truth_of(events), problems)


# The rows -----------------------------------------------------------------------------------------------------------


def engine(recording: Recording, *, relay: bool, without: Collection[Source] = ()) -> list[tuple[float, str]]:
    """
    Return the lights that Tallylight shows, behind its relay or not, as if it did not know the sources in `without`.
    """
    agents, problems = load_agents(os.environ)
    assert not problems, problems
    core = RelayCore(agent=name_of(recording.header.command, agents)) if relay else None
    replay = Replay(recording.header, agents, relay=core, tracker=SelectiveTracker(without))
    track: list[tuple[float, str]] = []
    for event in recording.events:
        for decision in replay.play(event):
            if not track or track[-1][1] != decision.status:
                track.append((replay.now, str(decision.status)))
    assert not replay.faults, replay.faults
    return track


def asked_in(recording: Recording, *, relay: bool, without: Collection[Source] = ()) -> asked.Asked:
    """Return what is known of its waits for a permission, in the middle of each."""
    agents, _ = load_agents(os.environ)
    core = RelayCore(agent=name_of(recording.header.command, agents)) if relay else None
    replay = Replay(recording.header, agents, relay=core, tracker=SelectiveTracker(without))
    scanner, grid = Scanner(), Grid(recording.header.columns, recording.header.rows)
    ends = [at for at, _ in recording.truth[1:]] + [recording.end]
    waits = [(at + until) / 2 for (at, word), until in zip(recording.truth, ends, strict=True) if word == _PERMISSION]
    name = recording.name.removesuffix("-relay").removesuffix("-hooks").removesuffix("-older")
    found = asked.Asked()
    number, what = 0, ""
    for index, event in enumerate(recording.events):
        if number < len(waits) and event.time >= waits[number]:
            for decision in replay.advance(waits[number]):
                what = decision.report.what if decision.status is Status.WAITING else what
            agent = agents.get(recording.agent)
            read = read_screen(agent, grid.lines, grid.cursor_row)
            if read is not None and read.wants_style:
                # As a host does when a person is shown the choices.
                styled = colours.drawn(recording.header, recording.events[:index])
                read = read_screen(agent, grid.lines, grid.cursor_row, styled)
            dialog = read.dialog if read is not None else None
            found = found.plus(asked.judge(recording.agent, name.partition("-")[2], number, what, dialog))
            number, what = number + 1, ""
        for decision in replay.play(event):
            what = decision.report.what if decision.status is Status.WAITING else what
        if isinstance(event.what, Output):
            grid.draw(scanner.feed(event.what.data))
        elif isinstance(event.what, Resize):
            grid.resize(event.what.columns, event.what.rows)
    return found


def name_of(command: str, agents: Agents) -> str:
    """The agent that a command starts, as the relay knows it."""
    agent = identify([Process(1, argv=tuple(shlex.split(command)))], agents).agent
    return agent.name if agent is not None else ""


def silence(recording: Recording) -> list[tuple[float, str]]:
    """Return the lights by the rule of four seconds of silence."""
    rule = published.Silence()
    track: list[tuple[float, str]] = []

    def note(now: float) -> None:
        if not track or track[-1][1] != rule.state(now):
            track.append((now, rule.state(now)))

    for event in recording.events:
        if (due := rule.due()) is not None and due <= event.time:
            note(due)
        if isinstance(event.what, Output) and event.what.data:
            rule.output(event.time)
        elif isinstance(event.what, ForegroundChange):
            rule.agent(event.what.foreground is not None and event.what.foreground.is_agent, event.time)
        note(event.time)
    return track


def patterns(recording: Recording) -> list[tuple[float, str]]:
    """Return the lights by the rule of patterns on a hardcopy every two seconds."""
    rule = published.Patterns()
    scanner, grid = Scanner(), Grid(recording.header.columns, recording.header.rows)
    track: list[tuple[float, str]] = []
    due = published.PATTERNS_EVERY_S
    for event in recording.events:
        while due <= event.time:
            state = rule.look(grid.lines)
            if not track or track[-1][1] != state:
                track.append((due, state))
            due += published.PATTERNS_EVERY_S
        if isinstance(event.what, Output):
            grid.draw(scanner.feed(event.what.data))
        elif isinstance(event.what, Resize):
            grid.resize(event.what.columns, event.what.rows)
    return track


class Row(NamedTuple):
    """One way to know, and the recordings it is tried on: those in which the agent was, or was not, set up for it."""

    name: str
    light: Callable[[Recording], list[tuple[float, str]]]
    wants_set_up: bool = False


ROWS = (
    Row("all sources", functools.partial(engine, relay=True), wants_set_up=True),
    Row("zero configuration", functools.partial(engine, relay=False, without=_SET_UP)),
    Row("heuristic alone", functools.partial(engine, relay=False, without=_NO_GUESS)),
    Row("4 seconds of silence", silence),
    Row("GNU Screen patterns", patterns),
)

#: So many rows are compared by exact words: the others know only three.
EXACT_ROWS = 2


def recordings_for(row: Row, names: Iterable[str]) -> list[str]:
    """
    Return the names of the recordings that a row is tried on.

    Without set-up: all in which nothing was set up. With set-up: the same scenes. Where the agent behaves otherwise
    with the relay or the hooks, it is their recording, else the one without them.
    """
    plain = {name for name in names if not name.endswith(("-relay", "-hooks"))}
    if not row.wants_set_up:
        return sorted(plain)
    others = set(names) - plain
    return sorted(others | {name for name in plain if not any(other.rpartition("-")[0] == name for other in others)})


# The table ----------------------------------------------------------------------------------------------------------


def table(scores: Sequence[tuple[str, scoring.Score]]) -> str:
    """The scores as Markdown."""
    head = ("", "missed waiting", "false waiting", "wrong working", "stuck after an end", "p50", "p95")
    lines: list[tuple[str, ...]] = [head, ("---",) + ("---:",) * 6]
    for name, found in scores:
        shares = (f"{100 * share:.1f} %" for share in (found.missed_waiting, found.false_waiting, found.wrong_working))
        latencies = [exact_words.quantile(found.latencies_s, part) for part in (0.5, 0.95)]
        times = map(_seconds, (found.stuck, *latencies))
        lines.append((name, *shares, *times))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def exact_table(scores: Sequence[tuple[str, exact_words.Exact]]) -> str:
    """The share of the time of each truth in which exactly that was shown, as Markdown; a row an agent."""
    lines = [("", *exact_words.EXACT), ("---",) + ("---:",) * len(exact_words.EXACT)]
    for name, found in scores:
        shares = (found.right(word) for word in exact_words.EXACT)
        lines.append((name, *("" if share is None else f"{100 * share:.1f} %" for share in shares)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _seconds(value: float) -> str:
    return "never" if value == float("inf") else f"{value:.2f} s"


class Judged(NamedTuple):
    """The result of one row for one recording."""

    name: str
    score: scoring.Score
    exact: exact_words.Exact
    partings: list[str]

    @property
    def agent(self) -> str:
        """Whose recording it is."""
        return self.name.partition("-")[0]


def _judge(task: tuple[Path, int]) -> Judged:
    path, index = task
    recording = read(path)
    light = ROWS[index].light(recording)
    truth, end = recording.truth, recording.end
    return Judged(
        recording.name,
        scoring.score(truth, light, end),
        exact_words.exact(truth, light, end),
        scoring.partings(truth, light, end),
    )


def main(argv: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How often the light is right, on recordings of real agents.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: the corpus")
    parser.add_argument("--worst", action="store_true", help="what spoils each row, too")
    parser.add_argument("--rows", type=int, default=len(ROWS), help="only the first so many")
    parser.add_argument("--held-out", action="store_true", help="only the recordings that were held out")
    parser.add_argument("--situations", action="store_true", help="only those of what goes on around a turn")
    parser.add_argument("--unseen", action="store_true", help="only those that a seed dealt out")
    parser.add_argument("--modes", action="store_true", help="a row for each mode and appearance of an agent")
    options = parser.parse_args(argv)
    if options.modes:
        return _print_modes(options.files or sorted(MODES.glob("*.cast*")), is_whole=options.worst)
    wanted = {"The rules were made with these": sorted(CORPUS.glob("*.cast*"))}
    held_out = {"Held out": sorted(HELD_OUT.glob("*.cast*"))}
    around = {
        "What goes on around a turn": sorted(SITUATIONS.glob("*.cast*")),
        "What goes on around a turn, held out": sorted((SITUATIONS / "held-out").glob("*.cast*")),
    }
    unseen = {
        "Dealt out by a seed, in a turn": sorted(UNSEEN.glob("*-walk*.cast*")),
        "Dealt out by a seed, around a turn": sorted(UNSEEN.glob("*-around*.cast*")),
    }
    if options.files:
        wanted = {"These": options.files}
    elif options.held_out:
        wanted = held_out
    elif options.situations:
        wanted = around
    elif options.unseen:
        wanted = unseen
    else:
        wanted |= held_out | around | unseen
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for title, files in wanted.items():
            judged = [_measure(pool, files, index) for index in range(len(ROWS[: options.rows]))]
            if options.worst:
                for row, found in zip(ROWS, judged, strict=False):
                    _print_worst(row, found)
            scores = [
                (f"{row.name} ({len(found)})", exact_words.total([one.score for one in found]))
                for row, found in zip(ROWS, judged, strict=False)
            ]
            print(f"{title} ({len(files)} recordings):\n\n{table(scores)}\n")
            for row, found in zip(ROWS[:EXACT_ROWS], judged, strict=False):
                print(f"Exactly, {row.name}:\n\n{exact_table(exact_rows(found))}\n")
            print(f"What is asked there:\n\n{asked.table(_measure_asked(pool, files))}\n")
    return 0


def _print_modes(files: Sequence[Path], *, is_whole: bool) -> int:
    """Print what a mode comes to with nothing set up, and an agent in all of its modes; and what parted there."""
    with concurrent.futures.ProcessPoolExecutor() as pool:
        judged = list(pool.map(_judge, [(path, 1) for path in files]))
    agents = dict.fromkeys(one.agent for one in judged)
    for groups in (
        {label: [one for one in judged if one.name.split("-")[2] in names] for label, names in _MODES.items()},
        {agent: [one for one in judged if one.agent == agent] for agent in agents},
    ):
        rows = [(f"{name} ({len(of)})", exact_words.total([one.score for one in of])) for name, of in groups.items()]
        print(f"{table(rows)}\n")
    if is_whole:
        print("\n".join(f"{one.name} {line}" for one in judged for line in one.partings))
    return 0


def _measure(pool: concurrent.futures.Executor, files: Iterable[Path], index: int) -> list[Judged]:
    """Return the results of a row for each of `files` that it is tried on."""
    paths = {path.name.partition(".")[0]: path for path in files}
    return list(pool.map(_judge, [(paths[name], index) for name in recordings_for(ROWS[index], paths)]))


def exact_rows(judged: Sequence[Judged]) -> list[tuple[str, exact_words.Exact]]:
    """A row for all recordings, and one for each agent."""
    rows = [(f"all ({len(judged)})", exact_words.exact_total([one.exact for one in judged]))]
    for agent in sorted({one.agent for one in judged}):
        own = [one.exact for one in judged if one.agent == agent]
        rows.append((f"{agent} ({len(own)})", exact_words.exact_total(own)))
    return rows


def _measure_asked(pool: concurrent.futures.Executor, files: Iterable[Path]) -> list[tuple[str, asked.Asked]]:
    """Return what the engine knows of the waits for a permission; with zero configuration for each agent."""
    paths = {path.name.partition(".")[0]: path for path in files}
    paths = {name: path for name, path in paths.items() if name.partition("-")[0] in asked.CHOICES}
    rows: list[tuple[str, asked.Asked]] = []
    for index in range(2):
        names = recordings_for(ROWS[index], paths)
        found = list(pool.map(_judge_asked, [(paths[name], index) for name in names]))
        rows.append((ROWS[index].name, functools.reduce(asked.Asked.plus, found, asked.Asked())))
    for agent in sorted({name.partition("-")[0] for name in names}):
        own = [one for name, one in zip(names, found, strict=True) if name.partition("-")[0] == agent]
        rows.append((agent, functools.reduce(asked.Asked.plus, own, asked.Asked())))
    return rows


def _judge_asked(task: tuple[Path, int]) -> asked.Asked:
    path, index = task
    return asked_in(read(path), relay=not index, without=_SET_UP if index else ())


def _print_worst(row: Row, judged: list[Judged]) -> None:
    print(f"== {row.name}")
    for name, found, _, parted in sorted(judged, key=lambda one: -(one.score.missed_s + one.score.false_s)):
        if parted:
            spoilt = (
                f"missed {found.missed_s:.1f} s, false {found.false_s:.1f} s, working {found.wrong_working_s:.1f} s"
            )
            late = ", ".join(_seconds(value) for value in sorted(found.latencies_s)[-3:])
            print(f"{name}: {spoilt}; latest {late}")
            print("\n".join(f"    {line}" for line in parted))


if __name__ == "__main__":
    sys.exit(main())
