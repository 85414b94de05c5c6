"""The times in docs/trust.md, and the counts of a flood in docs/protocol.md, are those that the code has."""

from __future__ import annotations

import re
from pathlib import Path

from tallylight.config.settings import Config
from tallylight.evidence import sent, titles, traffic
from tallylight.relay.core import PACE
from tallylight.tracker import after_exit, attention, startup, table, tracker
from tallylight.wire.inbox import Limits

DOCS = Path(__file__).parents[1] / "docs"
_SETTINGS = Config()
_WORDS = {"one second": 1.0, "a minute": 60.0, "a quarter of a second": 0.25, "tenth of a second": 0.1}
_UNITS = {"s": 1.0, "ms": 0.001, "second": 1.0, "seconds": 1.0, "minute": 60.0, "minutes": 60.0}
_TIME = re.compile(rf"({'|'.join(_WORDS)})|([\d.]+)\s(ms|s|seconds?|minutes?)\b")

#: What stands before each time on the page of trust, in its order, and what the code has.
TIMES: list[tuple[str, float]] = [
    ("must be contradicted for", table.CONTRADICTION_S),
    ("stays `working` for up to", table.FILE_LAG_S),
    ("the end in a record** by", table.SHOWN_DIALOG_S),
    ("visible output every", _SETTINGS.stale_s),
    ("from a protocol every", _SETTINGS.fuse_s),
    ("for guesses only:", _SETTINGS.silence_s),
    ("at rest, and for", sent.SENT_LOOKS * _SETTINGS.poll_ms / 1000),
    ("Changes within", _SETTINGS.debounce_ms / 1000),
    ("changes within", traffic.SCREEN_S),
    ("nothing has come for", traffic.STREAM_S),
    ("for at most", traffic.MOST_S),
    ("After", traffic.LATE_ANSWER_S),
    ("It has", startup.SLOW_STARTUP_S),
    ("Then it has", startup.LOADING_S),
    ("or", startup.STARTUP_S),
    ("At most", startup.STARTUP_DRAWING_S),
    ("A spinner within", titles.TITLE_START_S),
    ("gone within", titles.SPINNER_TURN_S),
    ("A report up to", tracker.ADOPT_S),
    ("ended well within", after_exit.EXIT_CODE_S),
    ("A look is", attention.DWELL_S),
]


def text(page: str) -> str:
    return re.sub(r"\s+", " ", (DOCS / page).read_text("utf-8"))


def test_every_time_on_the_page_is_that_of_the_code() -> None:
    page = text("trust.md")
    found = [
        (page[: match.start()].rstrip(), _WORDS.get(match[1] or "", 0.0) or float(match[2]) * _UNITS[match[3]])
        for match in _TIME.finditer(page)
    ]
    assert [value for _, value in found] == [value for _, value in TIMES]
    for (before, _), (words, _) in zip(found, TIMES, strict=True):
        assert before.endswith(words)


def test_every_count_of_a_flood_is_that_of_the_code() -> None:
    limits, page = Limits(), text("protocol.md")
    assert limits.at_once == 8
    assert f"the first eight in each {limits.every * 1000:g} ms" in page
    assert f"is read soon, {limits.a_go} at a time" in page
    assert f"At most {limits.kept} reports" in page
    assert f"{PACE.at_once} sequences in each tenth of a second" in page and PACE.every == 0.1
