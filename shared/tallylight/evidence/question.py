"""
A prompt that was read off a screen: what it means, the question, and the answers with the keys that give them.

Values for display and for a person's own answer; `evidence.prompts` makes them. All text in them is sanitised.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence

import attrs

from tallylight.model.status import Kind, Status
from tallylight.wire.text import sanitise

#: Cells of a line of a prompt that are kept, and how many lines and choices.
CELLS = 240
MAX_LINES = 48
MAX_CHOICES = 20


@attrs.frozen
class Choice:
    """One answer: what to type to choose it (`1`, `y\\r`, `\\x1b`; nothing if that is not known), and its label."""

    keys: str
    label: str


@attrs.frozen
class Place:
    """
    Where a prompt stands, in rows of the screen from 0.

    *top* is the first row of its text, *asks* the one with the question, *starts* the first row of each choice, *end*
    the row behind all of it.
    """

    top: int
    asks: int
    starts: tuple[int, ...]
    end: int


@attrs.frozen
class Prompt:
    """
    What the screen says.

    *rule* names the rule that read it. A `waiting` prompt has a *question*, its first line for display, and *lines*,
    all of its text; both are sanitised. *choices* is empty where any text may be the answer.
    """

    status: Status
    kind: Kind | None
    rule: str
    question: str = ""
    lines: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    #: None where it has no text. A prompt that has moved is the same.
    place: Place | None = attrs.field(default=None, eq=False)
    #: Whether it is a menu that the person at that terminal has opened.
    is_menu: bool = False
    #: Whether it shows that a person stopped the turn, or refused what it asked for.
    is_stopped: bool = False

    @property
    def fingerprint(self) -> str:
        """
        A stable hash of its lines and keys, to notice another prompt; nothing for one without lines.

        It says nothing of the rest of the screen: what is answered is compared by `evidence.fingerprint`.
        """
        return _fingerprint(self.lines, self.choices) if self.lines else ""


@functools.lru_cache(maxsize=256)
def _fingerprint(lines: tuple[str, ...], choices: tuple[Choice, ...]) -> str:
    parts = [*lines, *(f"{choice.keys}\x1f{choice.label}" for choice in choices)]
    return hashlib.blake2s("\x1e".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def clean_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """*lines* for display, without empty ones at the ends."""
    cleaned = [sanitise(line, cells=CELLS).rstrip() for line in lines[:MAX_LINES]]
    while cleaned and not cleaned[0]:
        del cleaned[0]
    while cleaned and not cleaned[-1]:
        del cleaned[-1]
    return tuple(cleaned)
