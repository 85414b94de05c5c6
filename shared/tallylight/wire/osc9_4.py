"""
Progress: `OSC 9 ; 4 ; st ; pr ST`. https://conemu.github.io/en/AnsiEscapeCodes.html#ConEmu_specific_OSC

In: one sequence. Out: `ProgressReport`, or DecodeError. OSC 9 has other users: ConEmu's `9;1` to `9;12` and
iTerm2's plain notification text. Only `9;4;` and one digit 0 to 4 is progress.
"""

from __future__ import annotations

import enum
import re

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire.scanner import Sequence

NUMBER = 9
_PROGRESS = re.compile(rb"4;([0-4])(?:;([^;]*))?(?:;.*)?", re.DOTALL)


class ProgressState(enum.Enum):
    """What the bar shows."""

    CLEAR = 0
    NORMAL = 1
    ERROR = 2
    #: Busy with no known end.
    BUSY = 3
    PAUSED = 4


_STATES = {b"%d" % state.value: state for state in ProgressState}


@attributes.frozen
class ProgressReport:
    """
    A progress report.

    *percent* is None when the sender left *pr* out or sent no number, which is not the same as 0: an error without a
    percentage leaves the bar where it stood. CLEAR and BUSY have none.
    """

    state: ProgressState
    percent: int | None = None


def decode(sequence: Sequence) -> ProgressReport:
    """Read one progress report; `not-ours` otherwise. More than 100 percent counts as 100, as it is drawn."""
    if sequence.number != NUMBER or not (match := _PROGRESS.fullmatch(sequence.body)):
        raise DecodeError("not-ours")
    digit, number = match.groups()
    state = _STATES[digit]
    percent = None
    if number and number.isdigit() and state is not ProgressState.CLEAR and state is not ProgressState.BUSY:
        # Cut before int(), which refuses thousands of digits.
        digits = number.lstrip(b"0")
        percent = 100 if len(digits) > 3 else min(100, int(digits or b"0"))
    return ProgressReport(state, percent)
