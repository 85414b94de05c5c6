"""Recordings of scenes that a seed dealt out: they are those, hold the truth, name nobody, and are shown rightly."""

from __future__ import annotations

import functools
import gzip
import re
from pathlib import Path

import pytest
from benchmarks import exact_words
from benchmarks.accuracy import UNSEEN, Recording, engine, read

from tallylight.model.report import Source
from tallylight.parts.lab.asciicast import Mark
from tests.accuracy.test_corpus import SECRETS, WORDS
from tests.real_agents import unseen
from tests.tables import sampled

PATHS = sorted(UNSEEN.glob("*.cast.gz"))
SCENES = {scene.file: scene for scene in unseen.scenes()}
AGENTS = sorted({scene.agent for scene in SCENES.values()})


@functools.cache
def recording(path: Path) -> Recording:
    """One of them, read once."""
    return read(path)


def test_the_seed_deals_every_step_at_most_once() -> None:
    """An agent plays none twice but the last, which is an end; the same seed deals the same."""
    for agent in AGENTS:
        steps = [step for scene in SCENES.values() if scene.agent == agent for step in unseen.steps_of(scene)]
        played = [step for step in steps if step not in ("leave", "cancel", "gone")]
        assert len(played) == len(set(played)) >= 7
    again = unseen.scenes()
    assert [(scene.file, scene.size, unseen.steps_of(scene)) for scene in again] == [
        (scene.file, scene.size, unseen.steps_of(scene)) for scene in SCENES.values()
    ]


@pytest.mark.slow
def test_they_are_those_scenes() -> None:
    """Each in its size and with its dialogs; the first mark tells the version of the agent."""
    assert {path.name for path in PATHS} == SCENES.keys()
    for path in PATHS:
        found, scene = recording(path), SCENES[path.name]
        assert (found.header.columns, found.header.rows) == scene.size, path.name
        marks = [event.what.label for event in found.events if isinstance(event.what, Mark)]
        assert re.fullmatch(rf"agent {scene.agent} \d+\.\d+\.\d+", marks[0]), path.name
        assert found.problems == []
        assert [found.truth[0][1], found.truth[1][1], found.truth[-1][1]] == ["starting", "idle", "gone"]
        assert {word for _, word in found.truth} <= WORDS


@pytest.mark.slow
def test_they_name_nobody() -> None:
    """No person, machine or key stands in them."""
    for path in PATHS:
        assert SECRETS.search(gzip.decompress(path.read_bytes()).decode()) is None, path.name


@pytest.mark.slow
@pytest.mark.parametrize("agent", sampled(AGENTS))
def test_exact_words(agent: str) -> None:
    """With zero configuration each word of each agent is shown for as much of its time as was published, or more."""
    found = []
    for path in PATHS:
        if SCENES[path.name].agent == agent:
            light = engine(recording(path), relay=False, without={Source.PROTOCOL})
            found.append(exact_words.exact(recording(path).truth, light, recording(path).end))
    whole = exact_words.exact_total(found)
    shares = {word: share for word in exact_words.EXACT if (share := whole.right(word)) is not None}

    assert {word: share for word, share in shares.items() if share < LEAST} == {}
    assert shares.keys() >= {"working", "done", "waiting", "idle"}


#: The share of the time of each word.
LEAST = 0.97
