"""The times and counts in docs/trust.md are those that the code has: no number stands there that is not compared."""

from __future__ import annotations

import re
from pathlib import Path

from tallylight.config.settings import Config
from tallylight.evidence import looks, titles
from tallylight.relay.core import PACE
from tallylight.tracker import after_exit, attention, claims, startup, tracker
from tallylight.wire.inbox import Limits

PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
_SETTINGS = Config()
_WORDS = {"one second": 1.0, "a minute": 60.0, "a quarter of a second": 0.25, "tenth of a second": 0.1}
_UNITS = {"s": 1.0, "ms": 0.001, "second": 1.0, "seconds": 1.0, "minute": 60.0, "minutes": 60.0}
_TIME = re.compile(rf"({'|'.join(_WORDS)})|([\d.]+)\s(ms|s|seconds?|minutes?)\b")

#: What stands before each time, in the order of the page, and what the code has.
TIMES: list[tuple[str, float]] = [
    ("A guessed `working` turns stale after", _SETTINGS.stale_s),
    ("a `working` from a protocol after", _SETTINGS.fuse_s),
    ("but only for guesses:", _SETTINGS.silence_s),
    ("Changes faster than", _SETTINGS.debounce_ms / 1000),
    ("must be made twice**,", _SETTINGS.poll_ms / 1000),
    ("If nothing comes of it within", looks.SENT_LOOKS * _SETTINGS.poll_ms / 1000),
    ("keeps doing so for", claims.CONTRADICTION_S),
    ("and after", claims.CONTRADICTION_S),
    ("is taken to stand there for", claims.SEEN_S),
    ("count as work:", startup.SLOW_START_S),
    ("while it draws nothing;", startup.LOADING_S),
    ("from its first output, or", startup.START_S),
    ("If it draws for longer than", startup.BUSY_S),
    ("a spinner in the title that comes within", titles.START_S),
    ("A report that is up to", tracker.ADOPT_S),
    ("the end of a command up to", after_exit.LAST_WORDS_S),
    ("for", attention.DWELL_S),
    ("the first eight in each", Limits().every),
    ("sequences in each", PACE.every),
]


def test_every_time_on_the_page_is_that_of_the_code() -> None:
    page = re.sub(r"\s+", " ", PAGE.read_text("utf-8"))
    found = [
        (page[: match.start()].rstrip(), _WORDS.get(match[1] or "", 0.0) or float(match[2]) * _UNITS[match[3]])
        for match in _TIME.finditer(page)
    ]
    assert [value for _, value in found] == [value for _, value in TIMES]
    for (before, _), (words, _) in zip(found, TIMES, strict=True):
        assert before.endswith(words)


def test_every_count_on_the_page_is_that_of_the_code() -> None:
    limits, page = Limits(), re.sub(r"\s+", " ", PAGE.read_text("utf-8"))
    assert limits.at_once == 8
    assert "the first eight in each" in page
    assert f"is queued and read soon, {limits.a_go} at a time" in page
    assert f"At most {limits.kept} reports" in page
    assert f"{PACE.at_once} sequences in each" in page
