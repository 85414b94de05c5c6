"""Who overrules whom: for every two sources, whether the second one's word ends the first one's answer."""

from __future__ import annotations

import pytest

from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tallylight.tracker.table import CELLS
from tests.tables import each
from tests.tracker.test_questions import settled, tracker_of_an_agent

#: What each says: first that of the row, then that of the column; the columns are in the order of the rows. `+`: the
#: second one is believed; `.`: the first one still is; `\`: the same source, or one that never says this.
PAIRS = {
    "works, then idle": r"""
        heuristic     \ + + + + \ + + +
        screen        . \ + + + \ + + +
        notification  . + \ + + \ + + +
        progress      . + + \ + \ + + +
        title         . . . . \ \ + + +
        process       . . . . + \ + + +
        record        . + + + + \ \ + +
        registry      . . . . . \ + \ +
        protocol      . . . . + \ + + \
    """,
    "idle, then works": r"""
        heuristic     \ + + + + + + + +
        screen        . \ + + + + + + +
        notification  . + \ + + + + + +
        progress      . . . \ + + + + +
        title         . . . . \ + + + +
        process       \ \ \ \ \ \ \ \ \
        record        . + + + + + \ + +
        registry      . . . . + . + \ +
        protocol      . . . . + . + + \
    """,
    "asks, then works": r"""
        heuristic     \ + + + + + + + +
        screen        . \ + + + + + + +
        notification  . . \ . + + + + +
        progress      . + + \ + + + + +
        title         . . . . \ . + + +
        process       \ \ \ \ \ \ \ \ \
        record        . + + + + . \ + +
        registry      . . . . . . + \ +
        protocol      . . . . + . + + \
    """,
    "asks, then done": r"""
        heuristic     \ + + + + \ + + +
        screen        . \ + + + \ + + +
        notification  . . \ . . \ + + +
        progress      . + + \ + \ + + +
        title         . . . . \ \ + + +
        process       \ \ \ \ \ \ \ \ \
        record        . + + + + \ \ + +
        registry      . . . . . \ + \ +
        protocol      . . . . . \ + + \
    """,
    "asks, then failed": r"""
        heuristic     \ + + + + \ + + +
        screen        . \ + + + \ + + +
        notification  . . \ . + \ + + +
        progress      . + + \ + \ + + +
        title         . . . . \ \ + + +
        process       \ \ \ \ \ \ \ \ \
        record        . + + + + \ \ + +
        registry      . . . . . \ + \ +
        protocol      . . . . + \ + + \
    """,
    "works, then asks": r"""
        heuristic     \ + + + + \ + + +
        screen        . \ + + + \ + + +
        notification  . + \ + + \ + + +
        progress      . + + \ + \ + + +
        title         . + + + \ \ + + +
        process       . + + + + \ + + +
        record        . + + + + \ \ + +
        registry      . . . . . \ + \ +
        protocol      . . . . + \ + + \
    """,
    "done, then asks": r"""
        heuristic     \ + + + + \ + + +
        screen        . \ + + + \ + + +
        notification  . + \ + + \ + + +
        progress      . + + \ + \ + + +
        title         . + + + \ \ + + +
        process       \ \ \ \ \ \ \ \ \
        record        . + + + + \ \ + +
        registry      . . . . . \ + \ +
        protocol      . . . . + \ + + \
    """,
    "failed, then asks": r"""
        heuristic     \ + + + + \ + + +
        screen        . \ + + + \ + + +
        notification  . + \ + + \ + + +
        progress      . + + \ + \ + + +
        title         . . . . \ \ + + +
        process       \ \ \ \ \ \ \ \ \
        record        . + + + + \ \ + +
        registry      . . . . . \ + \ +
        protocol      . . . . + \ + + \
    """,
    "rest, then idle": r"""
        heuristic     \ + . + + \ + + +
        screen        . \ . + + \ + + +
        notification  + + \ + + \ + + +
        progress      + + + \ + \ + + +
        title         . . . . \ \ + + .
        process       \ \ \ \ \ \ \ \ \
        record        . . . . . \ \ + .
        registry      . . . . . \ . \ .
        protocol      . . . . . \ + + \
    """,
    "idle, then rest": r"""
        heuristic     \ + . . + \ + + +
        screen        . \ . . + \ + + +
        notification  + + \ . + \ + + +
        progress      . + . \ + \ + + +
        title         . + . . \ \ + + +
        process       \ \ \ \ \ \ \ \ \
        record        . . . . . \ \ + +
        registry      . . . . . \ + \ +
        protocol      . . . . + \ + + \
    """,
}
_WORDS = {"works": Status.WORKING, "asks": Status.WAITING, "rest": Status.BACKGROUND, "failed": Status.ERROR}


def status(word: str) -> Status:
    return _WORDS.get(word) or Status(word)


@pytest.mark.slow
@each("words", list(PAIRS))
def test_who_overrules_whom(words: str) -> None:
    """The second word is told two seconds after the first, and has six to be believed."""
    first, second = map(status, words.split(", then "))
    for row in PAIRS[words].strip().splitlines():
        name, *marks = row.split()
        for other, mark in zip(CELLS, marks, strict=True):
            tracker = tracker_of_an_agent()
            tracker.report(Report(source=Source[name.upper()], status=first), 1.0)
            settled(tracker, 2.9)
            tracker.report(Report(source=other, status=second), 3.0)
            shown = settled(tracker, 9.0).decision.status
            assert mark == "\\" or (shown is second) is (mark == "+"), f"{name} {first}, then {other.word} {second}"


@each(
    ("between", "ends"),
    [("title working", True), ("title idle", False), ("progress done", False), ("title error", True),
     ("notification working", True), ("notification done", True), ("notification error", True),
     ("progress working", True), ("progress error", True),
     ("record working", True), ("record idle", True), ("record error", True)],
)  # fmt: skip
def test_a_dialog_that_is_seen_again(between: str, ends: bool) -> None:
    """It outlives an end that leaves open what is asked, and no sign of work."""
    source, word = between.split()
    tracker = tracker_of_an_agent()
    for now, report in (
        (1.0, Report(source=Source.SCREEN, status=Status.WAITING)),
        (2.0, Report(source=Source[source.upper()], status=Status(word))),
        (3.0, Report(source=Source.SCREEN, status=Status.WAITING)),
    ):
        tracker.report(report, now)
    assert (settled(tracker, 9.0).decision.status is not Status.WAITING) is ends


#: What is shown of how a turn ended, where two sources tell it otherwise: the one who knows better.
KNOWERS = "heuristic progress title screen notification record registry protocol"


def test_who_knows_how_a_turn_ended() -> None:
    """Of two that are as good, the one with the better word."""
    order = [Source[name.upper()] for name in KNOWERS.split()]
    for number, better in enumerate(order):
        for worse in order[:number]:
            for first, second in ((better, worse), (worse, better)):
                tracker = tracker_of_an_agent()
                for now, source in ((1.0, first), (2.0, second)):
                    status = Status.ERROR if source is better else Status.DONE
                    tracker.report(Report(source=source, status=status), now)
                assert settled(tracker, 9.0).decision.status is Status.ERROR, (first, second)
