"""Recordings that were made before all else on their machine, of newer versions: word for word what was true."""

from __future__ import annotations

import gzip
import re

import pytest
from benchmarks import exact_words
from benchmarks.accuracy import CORPUS, engine, read

from tallylight.model.report import Source
from tests.accuracy.test_corpus import SECRETS
from tests.parts.lab.test_own_records import ends
from tests.tables import sampled

PATHS = sorted((CORPUS / "quiet").rglob("*.cast.gz"))
AGENTS = sorted({path.name.partition("-")[0] for path in PATHS})
#: The share of the time of each word in which exactly that is to be shown, with zero configuration.
LEAST = 0.97


@pytest.mark.slow
@pytest.mark.parametrize("agent", sampled(AGENTS))
def test_exact_words(agent: str) -> None:
    """Each word of each agent, over all of its recordings."""
    found = []
    for path in PATHS:
        if path.name.partition("-")[0] == agent:
            recording = read(path)
            light = engine(recording, relay=False, without={Source.PROTOCOL})
            found.append(exact_words.exact(recording.truth, light, recording.end))
    whole = exact_words.exact_total(found)
    shares = {word: share for word in exact_words.EXACT if (share := whole.right(word)) is not None}

    assert {word: share for word, share in shares.items() if share < LEAST} == {}
    assert shares.keys() >= {"working", "done", "waiting"}


@pytest.mark.slow
@pytest.mark.parametrize("agent", sampled(["kilo", "opencode", "pi", "cline"]))
def test_how_soon_an_end_is_shown(agent: str) -> None:
    """Of 95 in a hundred ends each is shown within 0.6 s, as the agent's own record tells it."""
    late: list[float] = []
    for path in (CORPUS / "quiet").glob(f"{agent}-*.cast.gz"):
        recording = read(path)
        late += ends(recording, engine(recording, relay=False, without={Source.PROTOCOL}))

    assert len(late) >= 8
    assert exact_words.quantile(late, 0.95) <= 0.6


def test_they_name_nobody() -> None:
    """No person, machine or key stands in them, and each tells the version of its agent."""
    for path in PATHS:
        text = gzip.decompress(path.read_bytes()).decode()
        assert SECRETS.search(text) is None, path.name
        assert re.search(rf'"agent {path.name.partition("-")[0]} \d+\.\d+\.\d+', text), path.name
