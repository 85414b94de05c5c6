"""
Scores of accuracy: compares a light with the truth over the same time. Pure.

Both are tracks: lists of `(time, word)`, in order, each word true until the next one's time. `score` compares truth and
light as one of three classes: `working`, `waiting`, and `rest` for all else. docs/measurements.md is the specification.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tallylight.parts.lab.asciicast import Event, Mark

#: How long after a change of the truth, in seconds, nothing is counted: nobody looks faster.
GRACE_S = 0.5

Track = Sequence[tuple[float, str]]
#: The start of a recording's mark that gives the truth from then on.
_TRUTH = "truth "

_CLASSES = {"working": "working", "waiting": "waiting", "limited": "waiting"}
#: The truths after which a light that still calls or works is stuck.
_ENDS = frozenset({"done", "idle", "error", "gone", "background"})


def class_of(word: str) -> str:
    """Return the class of a truth or of a status: `waiting:permission` is `waiting`, `done` is `rest`."""
    return _CLASSES.get(word.partition(":")[0], "rest")


def truth_of(events: Iterable[Event]) -> list[tuple[float, str]]:
    """Return the truth in a recording, from its marks: `truth waiting`, and so on."""
    return [
        (event.time, event.what.label.removeprefix(_TRUTH))
        for event in events
        if isinstance(event.what, Mark) and event.what.label.startswith(_TRUTH)
    ]


def partings(truth: Track, light: Track, end: float) -> list[str]:
    """Return lines on the times when light and truth differed in class for longer than the grace."""
    times = sorted({at for at, _ in [*truth, *light]} | {end})
    found: list[tuple[float, float, str, str]] = []
    for at, until in itertools.pairwise(times):
        true, shown = _at(truth, at), _at(light, at) or "idle"
        if not true or (true == "starting" and class_of(shown) != "waiting"):
            continue
        if class_of(true) != class_of(shown):
            if found and found[-1][1] == at and found[-1][2:] == (true, shown):
                found[-1] = (found[-1][0], until, true, shown)
            else:
                found.append((at, until, true, shown))
    return [
        f"{at:7.2f} to {until:7.2f}: {shown}, and it was {true}"
        for at, until, true, shown in found
        if until - at > GRACE_S
    ]


def _at(track: Track, time: float) -> str:
    """Return the word of *track* at *time*; empty before the first."""
    return next((word for at, word in reversed(track) if at <= time), "")


class Score(NamedTuple):
    """Seconds of one track or of many, and the latencies of all transitions; infinity for one that was never shown."""

    waiting_s: float = 0.0
    missed_s: float = 0.0
    not_waiting_s: float = 0.0
    false_s: float = 0.0
    scored_s: float = 0.0
    wrong_working_s: float = 0.0
    stuck_s: tuple[float, ...] = ()
    latencies_s: tuple[float, ...] = ()

    def plus(self, other: Score) -> Score:
        """Return the sum of both."""
        return Score(*(mine + its for mine, its in zip(self, other, strict=True)))  # type: ignore[operator]

    @property
    def missed_waiting(self) -> float:
        """The share of waiting time in which the light does not show it."""
        return _share(self.missed_s, self.waiting_s)

    @property
    def false_waiting(self) -> float:
        """The share of the other time in which the light shows waiting."""
        return _share(self.false_s, self.not_waiting_s)

    @property
    def wrong_working(self) -> float:
        """The share of all time in which only one of light and truth is working."""
        return _share(self.wrong_working_s, self.scored_s)

    @property
    def stuck(self) -> float:
        """How long the light still called or worked after the end of a turn, in seconds, on average."""
        return sum(self.stuck_s) / len(self.stuck_s) if self.stuck_s else 0.0


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def score(truth: Track, light: Track, end: float) -> Score:
    """
    Compare a light with the truth, from the truth's first word to `end`.

    Before its first word the light counts as `idle`. The truth `starting` counts for false waiting alone.
    """
    waiting = missed = calm = false = scored = wrong = 0.0
    stuck: list[float] = []
    latencies: list[float] = []
    before = ""
    for start, stop, word in segments(_merged(truth), end):
        is_starting = word == "starting"
        wanted = class_of(word)
        shown = [(at, until, class_of(found)) for at, until, found in within(light, start, stop)]
        for at, until, found in shown:
            seconds = max(0.0, until - max(at, start + (GRACE_S if before else 0.0)))
            if wanted == "waiting":
                waiting += seconds
                missed += seconds * (found != "waiting")
            else:
                calm += seconds
                false += seconds * (found == "waiting")
            if not is_starting:
                scored += seconds
                wrong += seconds * ((found == "working") != (wanted == "working"))
        came = next((at - start for at, _, found in shown if found == wanted), math.inf)
        if before and before != "starting":
            if wanted != class_of(before) and stop - start >= GRACE_S:
                latencies.append(came)
            if word in _ENDS and class_of(before) != "rest":
                stuck.append(min(came, stop - start))
        before = word
    return Score(waiting, missed, calm, false, scored, wrong, tuple(stuck), tuple(latencies))


def _merged(track: Track) -> Track:
    """Return a track with changes of class only; `starting` is a class of its own."""
    found: list[tuple[float, str]] = []
    for at, word in track:
        if found and class_of(found[-1][1]) == class_of(word) and "starting" not in (found[-1][1], word):
            continue
        found.append((at, word))
    return found


def segments(track: Track, end: float) -> Iterator[tuple[float, float, str]]:
    """Yield each word of a track that was true for some time: start, end and word."""
    ends = [at for at, _ in track[1:]] + [end]
    for (start, word), stop in zip(track, ends, strict=True):
        if stop > start:
            yield start, stop, word


def within(track: Track, start: float, stop: float) -> Iterator[tuple[float, float, str]]:
    """Yield the parts of a track between two times."""
    word = next((found for at, found in reversed(track) if at <= start), "idle")
    at = start
    for time, found in track:
        if start < time < stop:
            if time > at:
                yield at, time, word
            at, word = time, found
    yield at, stop, word
