"""Agents whose files are taken away: what is shown of them all the same, and with a file that was made of recordings.

`python -m benchmarks.unknown` measures it on all recordings; here are a few of the quickest.
"""

from __future__ import annotations

import pytest
from benchmarks import accuracy, taught, unknown
from benchmarks.accuracy import Recording

from tallylight.parts.lab import scoring
from tallylight.parts.lab.check import check
from tests.tables import each, sampled

pytestmark = pytest.mark.slow

#: A difference of so much, as a share of the time, is that of a look or two.
NOISE = 0.005
#: Of one agent, at most so many recordings.
MOST = 4


def recording(name: str) -> Recording:
    return accuracy.read(unknown.recordings(name.partition("-")[0])[name])


@each(
    "name", ["claude-permission", "codex-denial", "copilot-permission", "qwen-denial", "pi-permission", "aider-denial"]
)
def test_without_a_file(name: str) -> None:
    """Its dialogs are a light, and nothing else is taken for one."""
    found = recording(name)
    score = scoring.score(found.truth, unknown.undescribed(found), found.end)

    assert score.waiting_s > 3
    assert score.missed_waiting <= 0.35
    assert score.false_waiting <= 0.02


@each("name", sampled(["pi-denial", "kimi-denial", "cline-denial", "aider-denial", "aider-interrupt"]))
def test_with_a_made_file(name: str) -> None:
    """Three recordings make a file that is right on another one."""
    agent = unknown.made(name.partition("-")[0])
    found = recording(name)
    score = check(found.header, found.events, agent).score

    assert score is not None and score.waiting_s > 3
    assert score.missed_waiting <= 0.1
    assert score.false_waiting <= 0.03


@each("name", taught.NAMES)
def test_a_file_takes_nothing_away(name: str) -> None:
    """A file from one recording misses no more, and calls for no more, than none does on the others."""
    given = unknown.recordings(name)
    scene = next(scene for scene in ("permission", "turns") if f"{name}-{scene}" in given)
    others = sorted(given.keys() - {f"{name}-{scene}"})
    agent = unknown.made(name, learnt=(scene,))
    without = with_ = scoring.Score()
    for stem in others[:: -(-len(others) // MOST)]:
        found = recording(stem)
        without = without.plus(scoring.score(found.truth, unknown.undescribed(found), found.end))
        with_ = with_.plus(check(found.header, found.events, agent).score or scoring.Score())

    assert with_.missed_waiting <= without.missed_waiting + NOISE
    assert with_.false_waiting <= without.false_waiting + NOISE


@each("name", ["gemini-text", "kilo-text", "opencode-text"])
def test_nobody_is_called_for_nothing(name: str) -> None:
    """A conversation without a question calls nobody."""
    found = recording(name)

    assert all(word != "waiting" for _, word in unknown.undescribed(found))
