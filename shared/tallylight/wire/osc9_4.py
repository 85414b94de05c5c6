"""
Progress: `OSC 9 ; 4 ; st ; pr ST`. https://conemu.github.io/en/AnsiEscapeCodes.html#ConEmu_specific_OSC

In: one sequence. Out: `ProgressReport`, or DecodeError. OSC 9 has other users: ConEmu's `9;1` to `9;12` and
iTerm2's plain notification text. Only `9;4;` and one digit 0 to 4 is progress.
"""

from __future__ import annotations

import re

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire.scanner import Sequence

NUMBER = 9
#: The state that removes the bar. 1 is progress, 2 an error, 3 busy with no known end, 4 paused.
CLEAR = 0
_PROGRESS = re.compile(rb"4;([0-4])(?:;.*)?", re.DOTALL)


@attributes.frozen
class ProgressReport:
    """A progress bar is drawn in a *state*, or removed."""

    state: int


def decode(sequence: Sequence) -> ProgressReport:
    """Read one progress report; `not-ours` otherwise."""
    if sequence.number != NUMBER or not (match := _PROGRESS.fullmatch(sequence.body)):
        raise DecodeError("not-ours")
    return ProgressReport(int(match[1]))
