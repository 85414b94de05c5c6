"""Recordings of agents in their modes and appearances: they are those scenes, name nobody, and are shown rightly."""

from __future__ import annotations

import functools
import gzip
import re
from pathlib import Path

import pytest
from benchmarks.accuracy import MODES, ROWS, Recording, read

from tallylight.parts.lab import scoring
from tallylight.parts.lab.asciicast import Mark
from tests.accuracy.test_corpus import SECRETS, WORDS
from tests.real_agents import modes
from tests.tables import sampled

pytestmark = pytest.mark.slow

PATHS = sorted(MODES.glob("*.cast.gz"))
SCENES = {scene.file: scene for scene in modes.scenes()}
#: A truth that lasts so long is shown in its last seconds, whatever the machine did meanwhile.
LASTS_S, LAST_S = 4.0, 3.0
#: What nothing on the screen and in the title tells: an answer that pauses, where nothing moves.
UNTOLD = {("codex-mode-still", "working"), ("codex-mode-untitled", "working")}


@functools.cache
def recording(path: Path) -> Recording:
    """One of them, read once."""
    return read(path)


@pytest.mark.parametrize("path", sampled(PATHS), ids=lambda path: path.name.partition(".")[0])
def test_it_is_its_scene(path: Path) -> None:
    """Each is whole, in its size, tells the version of its agent, and names no person, machine or key."""
    found, scene = recording(path), SCENES[path.name]

    assert (found.header.columns, found.header.rows) == scene.size
    marks = [event.what.label for event in found.events if isinstance(event.what, Mark)]
    assert re.fullmatch(rf"agent {scene.agent} \d+\.\d+\.\d+", marks[0])
    assert found.problems == []
    assert [found.truth[0][1], found.truth[1][1], found.truth[-1][1]] == ["starting", "idle", "gone"]
    assert {word for _, word in found.truth} <= WORDS
    assert SECRETS.search(gzip.decompress(path.read_bytes()).decode()) is None


@pytest.mark.parametrize("path", sampled(PATHS), ids=lambda path: path.name.partition(".")[0])
def test_it_is_shown(path: Path) -> None:
    """With nothing set up, whatever lasts is shown in its last seconds, by its class."""
    found = recording(path)
    light = ROWS[1].light(found)
    ends = [at for at, _ in found.truth[1:]] + [found.end]
    wrong = []
    for (start, word), end in zip(found.truth, ends, strict=True):
        before = next((status for at, status in reversed(light) if at <= end - LAST_S), "idle")
        shown = {before, *(status for at, status in light if end - LAST_S < at <= end)}
        is_told = word not in ("starting", "gone") and (found.name, word) not in UNTOLD
        if is_told and end - start >= LASTS_S and scoring.class_of(word) not in map(scoring.class_of, shown):
            wrong.append(f"{start:.2f} to {end:.2f}: {word}, shown {shown}")

    assert wrong == []
