"""
A dialog: an agent's question on the screen, its subject, and its choices with the keys for them.

It is a value for display and for a person's own answer. `evidence.prompts` reads it from a screen, hooks and records
add the subject, snapshots and `actions.answer` carry it. Its maker has sanitised all text in it.
"""

from __future__ import annotations

import functools

from tallylight.model import attributes
from tallylight.model.status import Kind

#: The most lines and choices of one dialog.
MAX_DIALOG_LINES = 48
MAX_DIALOG_CHOICES = 20
#: The most cells of a dialog's subject. A longer one is cut in the middle.
SUBJECT_CELLS = 200


@attributes.frozen
class Choice:
    """
    One choice: the keys that take it (`1`, `y\\r`, `\\x1b`; empty if unknown), and its label.

    *is_selected*: the agent's pointer is on it, so that Enter alone would take it. That does not decide the keys.
    """

    keys: str
    label: str
    is_selected: bool = attributes.field(default=False, eq=False)


@attributes.frozen
class Place:
    """
    The place of a dialog, in rows of the screen from 0.

    *top* is the first row of its text, and *end* the row after its last one. *asks* is the row with the question, and
    *starts* has the first row of each choice.
    """

    top: int
    asks: int
    starts: tuple[int, ...]
    end: int


@attributes.frozen
class Dialog:
    """
    A question of an agent on the screen.

    *rule* names the rule that read it. *is_known*: it is a rule of the agent's own file, which is surer than one for
    dialogs in general. *question* is the first line for display, *what* the subject, such as `Bash: npm test`, and
    *lines* all of its text. *choices* is empty if any text may be the answer.

    *top* is the first row of its frame, 0 if unknown. *missing* says which part is not on the screen; empty if it is
    whole. The choices of a dialog that is not whole have no keys (`evidence.frame`).
    """

    kind: Kind | None
    rule: str
    question: str = ""
    lines: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    #: None if it has no text. A dialog that has moved is still equal.
    place: Place | None = attributes.field(default=None, eq=False)
    what: str = ""
    is_known: bool = attributes.field(default=False, eq=False)
    top: int = attributes.field(default=0, eq=False)
    missing: str = attributes.field(default="", eq=False)

    @property
    def is_list(self) -> bool:
        """Return whether its choices have rows or columns of their own: such a dialog was drawn, not printed."""
        return bool(self.choices) and self.place is not None and bool(self.place.starts)

    @property
    def fingerprint(self) -> str:
        """
        A stable hash of its lines and keys, to notice another dialog; empty for a dialog without lines.

        It does not cover the rest of the screen: before an answer `evidence.fingerprint` compares that.
        """
        return _fingerprint(self.lines, self.choices) if self.lines else ""


@functools.lru_cache(maxsize=256)
def _fingerprint(lines: tuple[str, ...], choices: tuple[Choice, ...]) -> str:
    """Return the hash of *lines* and *choices*."""
    parts = [*lines, *(f"{choice.keys}\x1f{choice.label}" for choice in choices)]
    import hashlib  # loads OpenSSL, which a relay never needs

    return hashlib.blake2s("\x1e".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()
