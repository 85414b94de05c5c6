"""
The codecs by OSC number: who reads a sequence, never what it means.

In: one sequence of any kind. Out of `decode`: an event, or None for every sequence that is foreign, broken, or
addressed to the terminal. A broken sequence changes nothing, so that callers need not tell the three apart.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias

from tallylight.errors import DecodeError
from tallylight.report import Report
from tallylight.scanner import Sequence
from tallylight.wire import osc9_4, osc26, osc133, osc1338, title, user_var

Event: TypeAlias = Report | osc26.Update | osc133.Mark | osc9_4.ProgressReport | title.Title | user_var.UserVar

#: Each raises DecodeError for a sequence that is not its own or breaks its rules.
CODECS: MappingProxyType[int, Callable[[Sequence], Event]] = MappingProxyType(
    {
        0: title.decode,
        2: title.decode,
        9: osc9_4.decode,
        26: osc26.decode,
        133: osc133.decode,
        1337: user_var.decode,
        1338: osc1338.decode,
    }
)


def decode(sequence: Sequence) -> Event | None:
    """Read one sequence. None means that it says nothing to us."""
    codec = None if sequence.number is None else CODECS.get(sequence.number)
    try:
        return codec(sequence) if codec else None
    except DecodeError:
        return None
