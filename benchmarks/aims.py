"""The aims of the benchmarks: a number for each thing that is measured, and one line that says whether it is met.

A module that measures speed has its aims in `AIMS`, and prints each with `Aim.say` once it is measured. `python -m
benchmarks` starts it with the arguments in its `QUICK`. Of an aim that is printed more than once, the worst value
counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

#: The variable with the file that keeps the results too, a JSON list [what, value] a line; unset: no file.
KEPT = "TALLY_BENCHMARKS_SAID"


class Aim(NamedTuple):
    """
    A thing that is measured, the thing that it is compared with, and the number that is wanted: `most` or `least`.
    Without such a number it only tells about the machine.
    """

    what: str
    against: str
    most: float | None = None
    least: float | None = None
    #: The unit behind the number: "×" for a ratio, "% of a core", "ms", "MB", "MB/s".
    unit: str = "×"

    @property
    def text(self) -> str:
        """The aim in words."""
        if self.most is None and self.least is None:
            return ""
        word, number = ("≤", self.most) if self.most is not None else ("≥", self.least)
        return f"{word} {number:g} {self.unit}"

    def shown(self, value: float) -> str:
        """A value as it is printed, with three digits that count."""
        places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
        return f"{value:.{places}f} {self.unit}"

    def is_met(self, value: float) -> bool:
        """Whether it is as good as wanted, with the digits that are printed."""
        number = float(self.shown(value).partition(" ")[0])
        return number <= self.most if self.most is not None else number >= (self.least or 0.0)

    def verdict(self, value: float) -> str:
        """`met` or `missed`; nothing where no number is wanted."""
        if not self.text:
            return ""
        return "met" if self.is_met(value) else "missed"

    def worst(self, values: Iterable[float]) -> float:
        """Of several, the one that is farthest from what is wanted."""
        return max(values) if self.most is not None else min(values)

    def say(self, value: float) -> None:
        """Print it beside its aim; the runner of all reads it, too."""
        wanted = f"; aim {self.text}: {self.verdict(value)}" if self.text else ""
        print(f"{self.what}: {self.shown(value)}, against {self.against}{wanted}")
        if path := os.environ.get(KEPT):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps([self.what, value]) + "\n")
