"""Wrong lights that a person teaches (`tally wrong`): `python -m benchmarks.taught [AGENT …]`.

An agent loses one rule of its file, or all of one status. Where that makes the light of a recording wrong for `WRONG_S`
or longer, a person names the truth of at most five of its screens. The first moments of a new state are not asked
about. The light of another recording then has to be right: as right as with the rule that was lost. A row is one such
lesson. A screen that no rule tells apart counts as not taught.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import attrs
from benchmarks import accuracy, unknown

from tallylight.agents import agent_files
from tallylight.agents.agent import Agent
from tallylight.model.status import Status
from tallylight.parts.lab import scoring, sightings
from tallylight.parts.lab.asciicast import Mark
from tallylight.parts.lab.check import Result, check
from tallylight.parts.lab.lesson import Lesson, learnt
from tallylight.parts.lab.stretch import Stretch

#: By how much a light has to be worse without a rule, and may be with one that is taught, in seconds.
WRONG_S, RIGHT_S = 2.0, 0.5
#: For so long after a change of the truth, in seconds, the screen may not show it yet.
LATE_S = 0.75
#: Recordings of one loss; each teaches for the next.
_TRIED = 2
NAMES = (*unknown.MANY, "grok", "nanocoder", "vibe")


class Taught(NamedTuple):
    """One lesson: the lost rule, the recording of the lesson, and for how long the other one is wrong."""

    agent: str
    rule: str
    scene: str
    other: str
    whole_s: float
    lost_s: float
    taught_s: float
    lesson: Lesson

    @property
    def is_right(self) -> bool:
        """Whether the other recording is as right as before."""
        return self.taught_s <= self.whole_s + RIGHT_S


def without(agent: Agent, rule: str) -> Agent:
    """*agent* less that rule of its screen."""
    return attrs.evolve(agent, screen_rules=tuple(one for one in agent.screen_rules if one.name != rule))


def teach(base: Agent, recording: accuracy.Recording) -> Lesson:
    """Return what is learnt of one recording when a person names the truth of five screens."""
    plain = tuple(event for event in recording.events if not isinstance(event.what, Mark))
    shown = check(recording.header, plain, base)
    seen = sightings.lit(sightings.of_recording(recording.header, plain), shown.at)
    pairs = [(look, said(recording.truth, look.time)) for _, look in sightings.frames([seen])]
    return learnt(base, Stretch(recording.header, plain), sightings.answered(seen, [pair for pair in pairs if pair[1]]))


def said(truth: scoring.Track, time: float) -> str:
    """Return what a person says of the screen at a time; nothing where it may not show the state yet."""
    is_new = any(0 <= time - at < LATE_S for at, _ in truth)
    return "" if is_new else unknown.answer(truth, time)


@functools.cache
def _read(path: Path) -> accuracy.Recording:
    return accuracy.read(path)


def tried(path: Path, agent: Agent) -> Result:
    """A recording with the rules of *agent*."""
    recording = _read(path)
    return check(recording.header, recording.events, agent)


def off(result: Result) -> float:
    """For how many seconds the light was wrong."""
    score = result.score or scoring.Score()
    return score.missed_s + score.false_s + score.wrong_working_s


def lessons(name: str) -> list[Taught]:
    """The lessons of one agent, one a rule."""
    return list(_lessons(name))


def _lessons(name: str) -> Iterator[Taught]:
    agent = agent_files.load_agents({})[0].get(name)
    assert agent is not None
    whole = {path: tried(path, agent) for path in unknown.recordings(name).values()}
    for lost, base in losses(agent):
        names = {rule.name for rule in agent.screen_rules} - {rule.name for rule in base.screen_rules}
        worse: list[tuple[Path, float]] = []
        for path, result in whole.items():
            is_used = len(worse) < _TRIED and not names.isdisjoint(result.used)
            if is_used and (seconds := off(tried(path, base))) >= off(result) + WRONG_S:
                worse.append((path, seconds))
        for (first, _), (second, seconds) in zip(worse, worse[1:] + worse[:1], strict=True) if len(worse) > 1 else ():
            found = teach(base, _read(first))
            taught = off(tried(second, found.agent))
            one, two = (_read(path).name.removeprefix(f"{name}-") for path in (first, second))
            yield Taught(name, lost, one, two, off(whole[second]), seconds, taught, found)


def losses(agent: Agent) -> Iterator[tuple[str, Agent]]:
    """Return what *agent* may lose: a rule, or all of one status."""
    for rule in dict.fromkeys(rule.name for rule in agent.screen_rules):
        yield rule, without(agent, rule)
    for status in (Status.WORKING, Status.WAITING, Status.IDLE):
        left = tuple(rule for rule in agent.screen_rules if rule.status is not status)
        yield f"all {status.value}", attrs.evolve(agent, screen_rules=left)


def main(argv: list[str] | None = None) -> int:
    """Print a row a lesson, and how many were learnt."""
    parser = argparse.ArgumentParser(description="Wrong lights that a person teaches.")
    parser.add_argument("agents", nargs="*", metavar="AGENT")
    parser.add_argument("--rules", action="store_true", help="and the rules that were made")
    options = parser.parse_args(argv)
    print("| agent | lost | taught by | tried on | wrong with it | lost | taught | |\n| --- " + "| --- " * 7 + "|")
    with concurrent.futures.ProcessPoolExecutor() as pool:
        found = [one for some in pool.map(lessons, options.agents or NAMES) for one in some]
    for one in found:
        left = ",".join(sorted({look.label for look in one.lesson.left}))
        word = "right" if one.is_right else f"wrong; {len(one.lesson.wrong)} shown, left: {left}"
        seconds = " | ".join(f"{each:.1f} s" for each in (one.whole_s, one.lost_s, one.taught_s))
        print(f"| {one.agent} | {one.rule} | {one.scene} | {one.other} | {seconds} | {word} |")
        if options.rules:
            print(one.lesson.text)
    print(f"\n{sum(one.is_right for one in found)} of {len(found)} are right the next time.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
