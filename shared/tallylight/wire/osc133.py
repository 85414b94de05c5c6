"""
Marks of a shell, OSC 133:
https://gitlab.freedesktop.org/Per_Bothner/specifications/blob/master/proposals/semantic-prompts.md

In: one sequence. Out: `Mark`, or DecodeError. Options after the letter are ignored, except for the exit code of
`D`. kitty's `133;k` and letters of other dialects are not ours.
"""

from __future__ import annotations

import re

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire.scanner import Sequence

NUMBER = 133
#: A shell's exit code is 0 to 255, negative on Windows; ten digits hold any 32-bit number.
_EXIT_CODE = re.compile(rb"-?[0-9]{1,10}")


#: The part of the shell's output that starts at a mark, by its letter.
PROMPT_START, PROMPT_END, COMMAND_START, COMMAND_END = MARKS = ("A", "B", "C", "D")


@attributes.frozen
class Mark:
    """
    A shell's mark. *exit_code* belongs to COMMAND_END.

    It is None if the shell left it out or sent no number: the command has ended all the same.
    """

    kind: str
    exit_code: int | None = None


def decode(sequence: Sequence) -> Mark:
    """Read one mark; `not-ours` otherwise."""
    if sequence.number != NUMBER:
        raise DecodeError("not-ours")
    letter, _, options = sequence.body.partition(b";")
    kind = letter.decode("ascii", "replace")
    if kind not in MARKS:
        raise DecodeError("not-ours", f"mark {letter[:16]!r}")
    code = options.partition(b";")[0]
    return Mark(kind, int(code) if kind == COMMAND_END and _EXIT_CODE.fullmatch(code) else None)
