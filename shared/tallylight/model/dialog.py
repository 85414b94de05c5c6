"""
A dialog: what an agent asks a person, what it is about, and the answers with the keys that give them.

A value for display and for a person's own answer. `evidence.prompts` reads it off a screen, hooks and records complete
what it is about, snapshots and `actions.answer` carry it on. All text in it is sanitised by whoever made it.
"""

from __future__ import annotations

import functools

from tallylight.model import attributes
from tallylight.model.status import Kind

#: Lines and choices of one dialog.
MAX_LINES = 48
MAX_CHOICES = 20
#: Cells of what a dialog is about. What is longer is cut in the middle.
WHAT_CELLS = 200


@attributes.frozen
class Choice:
    """
    One answer: what to type to choose it (`1`, `y\\r`, `\\x1b`; nothing if that is not known), and its label.

    *is_selected*: the agent points at it, and Enter alone would choose it. It does not decide what to type.
    """

    keys: str
    label: str
    is_selected: bool = attributes.field(default=False, eq=False)


@attributes.frozen
class Place:
    """
    The place of a dialog, in rows of the screen from 0.

    *top* is the first row of its text, *asks* the one with the question, *starts* the first row of each choice, *end*
    the row behind all of it.
    """

    top: int
    asks: int
    starts: tuple[int, ...]
    end: int


@attributes.frozen
class Dialog:
    """
    What is asked.

    *rule* names the rule that read it; *is_known*: that is one of the agent's own file, which is surer
    than what dialogs in general look like. *question* is its first line for display, *what* the one thing needed to
    decide, such as `Bash: npm test`, and *lines* all of its text. *choices* is empty where any text may be the answer.

    *top* is the first row of its frame, 0 where that is not known. *missing* says what of it is not on the screen;
    nothing if it is whole. Of a dialog that is not whole no choice has keys (`evidence.frame`).
    """

    kind: Kind | None
    rule: str
    question: str = ""
    lines: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    #: None where it has no text. A dialog that has moved is the same.
    place: Place | None = attributes.field(default=None, eq=False)
    what: str = ""
    is_known: bool = attributes.field(default=False, eq=False)
    top: int = attributes.field(default=0, eq=False)
    missing: str = attributes.field(default="", eq=False)

    @property
    def is_list(self) -> bool:
        """Whether its answers are in rows of their own, or in columns: it was drawn, and not printed."""
        return bool(self.choices) and self.place is not None and bool(self.place.starts)

    @property
    def fingerprint(self) -> str:
        """
        A stable hash of its lines and keys, to notice another dialog; nothing for one without lines.

        It says nothing of the rest of the screen: what is answered is compared by `evidence.fingerprint`.
        """
        return _fingerprint(self.lines, self.choices) if self.lines else ""


@functools.lru_cache(maxsize=256)
def _fingerprint(lines: tuple[str, ...], choices: tuple[Choice, ...]) -> str:
    parts = [*lines, *(f"{choice.keys}\x1f{choice.label}" for choice in choices)]
    import hashlib  # loads OpenSSL, which a relay never needs

    return hashlib.blake2s("\x1e".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()
