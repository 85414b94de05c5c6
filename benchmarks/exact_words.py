"""
Arithmetic of accuracy, of the very words and of many tracks: how far a light and the truth are apart. Pure.

`exact` compares the words themselves, where `recordings.scoring` compares their classes. docs/measurements.md is the
specification.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import NamedTuple

from tallylight.parts.lab.scoring import GRACE_S, Score, Track, class_of, segments, within

#: Before a person's next prompt is sent, or the agent is gone, so many seconds are not counted: they type it, or leave,
#: and what is over has been seen. No mark tells when they began.
TYPING_S = 1.0
#: The truths that are compared by their exact word. While an agent starts, or when it is gone, no one word is right.
EXACT = ("done", "idle", "background", "error", "working", "waiting")


class Exact(NamedTuple):
    """Seconds by truth and by what was shown, one pair after the other; those of many tracks may be added up."""

    seconds: tuple[tuple[tuple[str, str], float], ...] = ()

    def plus(self, other: Exact) -> Exact:
        """Both together."""
        found: dict[tuple[str, str], float] = {}
        for pair, seconds in (*self.seconds, *other.seconds):
            found[pair] = found.get(pair, 0.0) + seconds
        return Exact(tuple(sorted(found.items())))

    def shown(self, word: str) -> dict[str, float]:
        """Return what was shown while `word` was true, and for how many seconds."""
        return {shown: seconds for (true, shown), seconds in self.seconds if true == word}

    def right(self, word: str) -> float | None:
        """The share of the time of `word` in which exactly that was shown; None if it was never true."""
        shown = self.shown(word)
        total = sum(shown.values())
        return shown.get(word, 0.0) / total if total else None


def total(scores: Iterable[Score]) -> Score:
    """All of them together."""
    return functools.reduce(Score.plus, scores, Score())


def exact_total(scores: Iterable[Exact]) -> Exact:
    """All of them together."""
    return functools.reduce(Exact.plus, scores, Exact())


def exact(truth: Track, light: Track, end: float) -> Exact:
    """
    Return what was shown in the time of each truth of `EXACT`, without the first `GRACE_S` seconds of it.

    Of a rest the last `TYPING_S` before work or the end are not counted either.
    """
    found = Exact()
    named = [(at, word.partition(":")[0]) for at, word in truth]
    for start, until, word in segments(named, end):
        after = next((later for at, later in named if at >= until), "")
        is_typed = class_of(word) == "rest" and after in ("working", "gone")
        stop = max(start, until - TYPING_S) if is_typed else until
        if word in EXACT and stop > start:
            parts = within(light, start, stop)
            spent = (((word, shown), max(0.0, to - max(at, start + GRACE_S))) for at, to, shown in parts)
            found = found.plus(Exact(tuple(spent)))
    return found


def quantile(values: Iterable[float], part: float) -> float:
    """The smallest of `values` that at least `part` of them do not exceed; 0 of none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]
