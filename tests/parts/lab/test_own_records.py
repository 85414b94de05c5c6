"""What the agents' own records add: recordings that hold what was read of them, with and without that."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from benchmarks import exact_words
from benchmarks.accuracy import CORPUS, Recording, engine, read

from tallylight.model.report import Source

RECORDED = sorted((CORPUS / "records").glob("*.cast.gz"))
#: Seconds from an end to the light that shows it, at most, of 95 in a hundred.
LATEST_S = {"copilot": 0.61, "kimi": 0.3, "opencode": 0.75}
_OVER = ("done", "error", "idle", "background")


def ends(recording: Recording, light: Sequence[tuple[float, str]]) -> list[float]:
    """How late each end of a turn was shown."""
    found = []
    for (_, before), (at, word) in zip(recording.truth, recording.truth[1:], strict=False):
        if before.partition(":")[0] in ("working", "waiting") and word in _OVER:
            shown = [(max(since, at), what) for since, what in light]
            first = max(number for number, (since, _) in enumerate(light) if since <= at)
            rest = (since for since, what in shown[first:] if what not in ("working", "waiting"))
            found.append(next(rest, math.inf) - at)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("agent", LATEST_S)
def test_how_soon_an_end_is_shown(agent: str) -> None:
    """Within the time that is promised, and sooner than without the record."""
    late: dict[bool, list[float]] = {True: [], False: []}
    for path in RECORDED:
        recording = read(path)
        if recording.agent == agent:
            for is_read, found in late.items():
                unheard = {Source.PROTOCOL} if is_read else {Source.PROTOCOL, Source.RECORD}
                found += ends(recording, engine(recording, relay=False, without=unheard))

    assert len(late[True]) >= 5
    assert exact_words.quantile(late[True], 0.95) <= LATEST_S[agent] < exact_words.quantile(late[False], 0.95)


@pytest.mark.slow
def test_what_no_screen_shows() -> None:
    """OpenCode's error is known by its record alone."""
    recording = read(CORPUS / "records/opencode-error.cast.gz")
    shares = []
    for unheard in ({Source.PROTOCOL}, {Source.PROTOCOL, Source.RECORD}):
        light = engine(recording, relay=False, without=unheard)
        shares.append(exact_words.exact(recording.truth, light, recording.end).right("error"))

    assert shares == [1.0, 0.0]


def test_a_command_in_the_background() -> None:
    """Copilot's turn is over while only a command of it runs on: it is no work."""
    recording = read(CORPUS / "records/copilot-background.cast.gz")
    light = engine(recording, relay=False, without={Source.PROTOCOL})
    share = exact_words.exact(recording.truth, light, recording.end).right("background")

    assert share is not None and share > 0.85
