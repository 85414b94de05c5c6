"""
Titles: OSC 0 and OSC 2. https://invisible-island.net/xterm/ctlseqs/ctlseqs.html#h3-Operating-System-Commands

In: one sequence. Out: `Title`, or DecodeError. OSC 1 names the icon, which no tab shows: it is not ours. The
text is all that follows the first `;`, further ones included, sanitised, and 1024 characters at most.
"""

from __future__ import annotations

from tallylight.model import attributes
from tallylight.model.errors import DecodeError
from tallylight.wire.frame import utf8
from tallylight.wire.scanner import Sequence
from tallylight.wire.text import sanitise

NUMBERS = (0, 2)
#: vibeflow's cap; kitty and WezTerm have none of their own.
TITLE_LIMIT = 1024


@attributes.frozen
class Title:
    """The title that a program set. It may be empty."""

    text: str


def decode(sequence: Sequence) -> Title:
    """Read one title; `not-ours` or `malformed` otherwise."""
    if sequence.number not in NUMBERS:
        raise DecodeError("not-ours")
    _, semicolon, body = sequence.payload.partition(b";")
    if not semicolon:
        raise DecodeError("malformed", "a title without ;")
    text = sanitise(utf8(body)[:TITLE_LIMIT], cells=TITLE_LIMIT)
    if len(text) > TITLE_LIMIT:
        # Normalising makes a few characters longer, so it may need a second cut.
        text = sanitise(text[:TITLE_LIMIT], cells=TITLE_LIMIT)
    return Title(text)
