"""Each stretch of time in which a light was wrong, and why: `python -m benchmarks.wrong [--all-sources] [FILE …]`.

For every recording the very words are compared, as in the exact tables of `benchmarks.accuracy`. A row is one stretch:
its length, its begin, its recording, what was true and what was shown, and the rule and source that had decided.
Longest first; then the seconds by truth, word and rule. Without FILE: the recordings that rules may be made with.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import exact_words
from benchmarks.accuracy import CORPUS, ROWS, SITUATIONS, Recording, name_of, read, recordings_for
from tests.selective import SelectiveTracker

from tallylight.agents.agent_files import load_agents
from tallylight.model.decision import Decision
from tallylight.model.report import Source
from tallylight.parts.lab.replay import Replay
from tallylight.relay.core import RelayCore

#: Stretches that are shorter, in seconds, are no more than how often a screen is looked at.
LEAST_S = 0.1


class Stretch(NamedTuple):
    """One stretch of time in which the word was wrong."""

    seconds: float
    at: float
    name: str
    true: str
    shown: str
    why: str

    def __str__(self) -> str:
        place = f"{self.name} at {self.at:.2f}"
        return f"{self.seconds:6.2f}  {place:34} {self.true:10} shown {self.shown:10} {self.why}"


def shown_in(recording: Recording, *, relay: bool, without: frozenset[Source]) -> list[tuple[float, str, str]]:
    """Return what was shown, from when on, and the rule and source that decided."""
    agents, _ = load_agents(os.environ)
    core = RelayCore(agent=name_of(recording.header.command, agents)) if relay else None
    replay = Replay(recording.header, agents, relay=core, tracker=SelectiveTracker(without))
    track: list[tuple[float, str, str]] = []
    for event in recording.events:
        for decision in replay.play(event):
            now = (str(decision.status), _why(decision))
            if not track or track[-1][1:] != now:
                track.append((replay.now, *now))
    return track


def _why(decision: Decision) -> str:
    source = decision.reason.source
    return f"{source.word if source is not None else 'nothing'}: {decision.reason.rule}"


def stretches(recording: Recording, track: list[tuple[float, str, str]]) -> Iterator[Stretch]:
    """The stretches of a recording in which another word than the true one was shown, as `exact_words.exact` counts."""
    times = [at for at, _, _ in track] + [recording.end]
    for (at, word, why), until in zip(track, times[1:], strict=True):
        alone = exact_words.exact(recording.truth, [(0.0, ""), (at, word), (until, "")], recording.end)
        for (true, shown), seconds in alone.seconds:
            if shown and shown == word != true and seconds >= LEAST_S:
                yield Stretch(seconds, at, recording.name, true, shown, why)


def _of_file(path: Path, *, relay: bool) -> list[Stretch]:
    recording = read(path)
    without = frozenset[Source]() if relay else frozenset({Source.PROTOCOL})
    return list(stretches(recording, shown_in(recording, relay=relay, without=without)))


def main(argv: list[str] | None = None) -> int:
    """Print the stretches, and their sums."""
    parser = argparse.ArgumentParser(description="Each stretch of time in which a light was wrong, and why.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--all-sources", action="store_true", help="with relay and hooks, where there are any")
    options = parser.parse_args(argv)
    files = options.files or [*sorted(CORPUS.glob("*.cast*")), *sorted(SITUATIONS.glob("*.cast*"))]
    # A scene of the one folder may have the name of one of the other.
    by_folder: dict[Path, dict[str, Path]] = defaultdict(dict)
    for path in files:
        by_folder[path.parent][path.name.partition(".")[0]] = path
    row = ROWS[0 if options.all_sources else 1]
    wanted = [paths[name] for paths in by_folder.values() for name in recordings_for(row, paths)]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        found = [
            one for some in pool.map(functools.partial(_of_file, relay=options.all_sources), wanted) for one in some
        ]
    for one in sorted(found, reverse=True):
        print(one)
    sums: dict[tuple[str, str, str, str], float] = defaultdict(float)
    for one in found:
        sums[one.true, one.shown, one.name.partition("-")[0], one.why] += one.seconds
    print("\nSeconds by truth, word, agent and rule:\n")
    for (true, shown, agent, why), seconds in sorted(sums.items(), key=lambda item: -item[1]):
        print(f"{seconds:7.2f}  {true:10} shown {shown:10} {agent:9} {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
