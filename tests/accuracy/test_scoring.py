"""Tests for the arithmetic of accuracy, each worked out by hand."""

from __future__ import annotations

import math

import pytest
from benchmarks.exact_words import exact, exact_total, quantile

from tallylight.parts.lab.scoring import Score, class_of, score
from tests.tables import each

#: Ten seconds at the prompt, ten of work, ten of a dialog, ten of rest.
TRUTH = [(0.0, "idle"), (10.0, "working"), (20.0, "waiting:permission"), (30.0, "done")]


@each(
    ("word", "expected"),
    [
        ("working", "working"),
        ("waiting", "waiting"),
        ("waiting:question", "waiting"),
        ("done", "rest"),
        ("background", "rest"),
        ("starting", "rest"),
    ],
)
def test_class_of(word: str, expected: str) -> None:
    """Every word is of one of three classes, with or without a kind."""
    assert class_of(word) == expected


def test_perfect() -> None:
    """A light that is the truth is never wrong and never late."""
    found = score(TRUTH, TRUTH, 40.0)

    assert found.missed_waiting == found.false_waiting == found.wrong_working == found.stuck == 0
    assert found.latencies_s == (0.0, 0.0, 0.0)
    assert found.waiting_s == pytest.approx(9.5)  # ten, less the grace
    assert found.not_waiting_s == pytest.approx(10 + 9.5 + 9.5)  # there is none before the first word


def test_late() -> None:
    """A light that follows two seconds late misses one and a half of nine and a half waiting seconds, and so on."""
    light = [(at + 2 if at else 0.0, word) for at, word in TRUTH]
    found = score(TRUTH, light, 40.0)

    assert found.missed_waiting == pytest.approx(1.5 / 9.5)
    assert found.false_waiting == pytest.approx(1.5 / 29)  # the dialog is over, and it still calls
    assert found.wrong_working == pytest.approx((1.5 + 1.5) / 38.5)  # at the start of work, and at its end
    assert found.stuck_s == (2.0,)
    assert found.latencies_s == (2.0, 2.0, 2.0)


def test_within_grace() -> None:
    """What is wrong for half a second after a change is counted in the latency and in nothing else."""
    light = [(at + 0.5 if at else 0.0, word) for at, word in TRUTH]
    found = score(TRUTH, light, 40.0)

    assert found.missed_s == found.false_s == found.wrong_working_s == 0
    assert found.latencies_s == (0.5, 0.5, 0.5)


def test_never() -> None:
    """A light that stays dark misses all waiting, is late for ever, and is stuck at nothing."""
    found = score(TRUTH, [], 40.0)

    assert found.missed_waiting == 1
    assert found.false_waiting == 0
    assert found.wrong_working == pytest.approx(9.5 / 38.5)
    assert found.latencies_s == (math.inf, math.inf, 0.0)
    assert quantile(found.latencies_s, 0.95) == math.inf
    assert found.stuck_s == (0.0,)


def test_always_waiting() -> None:
    """A light that always calls misses nothing and is false all the rest of the time, and stuck to the end."""
    found = score(TRUTH, [(0.0, "waiting")], 40.0)

    assert found.missed_waiting == 0
    assert found.false_waiting == 1
    assert found.stuck_s == (10.0,)


def test_flicker() -> None:
    """A light that is right, then wrong, then right again is late only once, and wrong for the time between."""
    light = [(0.0, "idle"), (10.0, "working"), (14.0, "waiting"), (15.0, "working"), (20.0, "waiting"), (30.0, "idle")]
    found = score(TRUTH, light, 40.0)

    assert found.false_s == found.wrong_working_s == pytest.approx(1.0)
    assert found.latencies_s == (0.0, 0.0, 0.0)


def test_same_class() -> None:
    """Truths of one class on end are one: no transition, no grace, no end."""
    truth = [(0.0, "idle"), (5.0, "working"), (10.0, "done"), (15.0, "idle"), (20.0, "gone")]
    found = score(truth, truth, 30.0)

    assert len(found.latencies_s) == 2
    assert found.stuck_s == (0.0,)
    assert found.scored_s == pytest.approx(5 + 4.5 + 19.5)


def test_starting() -> None:
    """While an agent starts only a false call counts; that it then stands at its prompt is no transition."""
    truth = [(0.0, "starting"), (4.0, "idle"), (8.0, "working")]
    light = [(0.0, "working"), (2.0, "waiting"), (3.0, "idle"), (8.0, "working")]
    found = score(truth, light, 10.0)

    assert found.false_s == pytest.approx(1.0)
    assert found.wrong_working_s == 0
    assert found.scored_s == pytest.approx(3.5 + 1.5)
    assert found.latencies_s == (0.0,)


def test_short_truth() -> None:
    """A truth that is over before the grace is counts for no latency: nobody could have seen it."""
    truth = [(0.0, "idle"), (5.0, "working"), (5.4, "done")]
    found = score(truth, [], 10.0)

    assert found.latencies_s == (0.0,)
    assert found.wrong_working_s == 0


def test_exact() -> None:
    """Of each truth the share in which its very word is shown, without the grace; the start and the end count not."""
    truth = [(0.0, "starting"), (2.0, "idle"), (10.0, "working"), (20.0, "waiting:permission"), (30.0, "done")]
    truth += [(40.0, "idle"), (50.0, "gone")]
    light = [(0.0, "working"), (2.0, "idle"), (9.1, "done"), (10.2, "working"), (20.0, "waiting"), (35.25, "done")]
    light += [(48.0, "idle"), (49.1, "active")]
    found = exact(truth, light, 60.0)

    assert found.right("working") == found.right("waiting") == 1
    assert found.right("done") == pytest.approx(4.75 / 9.5)  # it still waits for five seconds
    # Green is not idle, although both rest. What is shown while the person types or leaves does not count.
    assert found.right("idle") == pytest.approx((6.5 + 1) / (6.5 + 8.5))
    assert found.shown("idle") == pytest.approx({"idle": 7.5, "done": 7.5})
    assert found.right("error") is None
    assert found.plus(found).right("idle") == found.right("idle")
    assert exact_total([]).right("idle") is None


def test_exact_short() -> None:
    """A truth that is over within the grace counts for nothing, and before the light's first word it is idle."""
    found = exact([(0.0, "idle"), (5.0, "working"), (5.4, "error")], [(5.0, "error")], 6.0)

    assert found.shown("working") == {"error": 0.0}
    assert (found.right("working"), found.right("idle"), found.right("error")) == (None, 1, 1)
    assert exact([(0.0, "done"), (5.0, "gone")], [(0.0, "done"), (4.1, "idle")], 5.0).right("done") == 1
    assert exact([(0.0, "idle"), (0.8, "working")], [], 5.0).right("idle") is None  # all of it was typing


def test_sum() -> None:
    """Scores are added by their seconds, so that a long recording weighs more than a short one."""
    one, other = Score(waiting_s=10, missed_s=1), Score(waiting_s=30, missed_s=0)

    assert one.plus(other).missed_waiting == pytest.approx(1 / 40)
    assert Score().missed_waiting == Score().stuck == 0


@each(
    ("values", "part", "expected"),
    [
        ([3.0, 1.0, 2.0, 4.0], 0.5, 2.0),
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        ([float(n) for n in range(1, 21)], 0.95, 19.0),
        ([float(n) for n in range(1, 20)], 0.95, 19.0),
        ([1.0], 0.95, 1.0),
        ([0.1] * 9 + [math.inf], 0.95, math.inf),
        ([], 0.95, 0.0),
    ],
)
def test_quantile(values: list[float], part: float, expected: float) -> None:
    """A quantile is one of the values: the smallest that so great a part does not exceed."""
    assert quantile(values, part) == expected
