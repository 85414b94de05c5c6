"""
Consents: the page that asks a person to let programs do something from now on, and their answers. Pure.

A person agrees by `yes` in letters, for a key may have been meant for the program below. They are asked only where all
of the page can be seen at once, and are left alone for a while after a no.
"""

from __future__ import annotations

import attrs

from tallylight.actions.caller import Being
from tallylight.actions.gate import Refusal
from tallylight.actions.page import Act, Line, fitted, wrapped
from tallylight.actions.permission import MAX_PAIRS, Pairs

#: Seconds after a no until a person is asked again.
DECLINED_S = 600.0
#: Columns at least to read a sentence; and columns that are enough.
MIN_CONSENT_COLUMNS, GOOD_COLUMNS = 30, 60
YES = "yes"
_HOW = (
    "Write yes and press Enter to allow it. No or Esc refuses it; then you are not asked about this again for "
    f"{DECLINED_S / 60:.0f} minutes."
)
_NO = ("", "n", "no")
#: Characters of a typed answer, and of one sentence; with a longer sentence a person is not asked.
_MAX_TYPED_CHARS, _MAX_SENTENCE_CHARS = 16, 2000


@attrs.define
class Consent:
    """
    A page with the sentences *what* about the permission, the most important first, and the answer *typed* so far.
    """

    what: tuple[str, ...]
    typed: str = ""
    title: str = "Tallylight asks"
    verb: str = "after yes"
    refusal: Refusal | None = None

    def body(self, columns: int) -> list[Line]:
        """Return every sentence, and how to answer."""
        rows: list[Line] = []
        for number, text in enumerate((*self.what, _HOW)):
            rows += [(), *wrapped(text, max(10, columns - 2), "" if number else "title")]
        return fitted(rows, columns)

    def keys(self, columns: int) -> list[Line]:
        """Return the line with the typed answer."""
        return fitted([(("key", "  > "), ("", f"{self.typed}▏"))], columns)

    def key(self, key: str) -> Act:
        """Take one key; Enter after anything but yes and no begins again."""
        if key in ("escape", "\x03", "\x04"):
            return Act.LEAVE
        if key == "enter":
            word, self.typed = self.typed.lower(), ""
            return Act.GO if word == YES else Act.LEAVE if word in _NO else Act.STAY
        if key in ("\x7f", "\b"):
            self.typed = self.typed[:-1]
        elif len(key) == 1 and key.isprintable():
            self.typed = f"{self.typed}{key}"[:_MAX_TYPED_CHARS]
        return Act.STAY

    def lines(self, columns: int) -> int:
        """Return how many lines the page takes in a window of so many *columns*."""
        return len(self.body(columns)) + 1 + len(self.keys(columns))

    def fits(self, columns: int, rows: int) -> bool:
        """Return whether a window of this size shows all of it at once."""
        is_short = all(len(text) <= _MAX_SENTENCE_CHARS for text in self.what)
        return is_short and columns >= MIN_CONSENT_COLUMNS and self.lines(columns) <= rows


@attrs.frozen
class Wanted:
    """The request of a caller: the *agent* in the *pane*, both identified by their first process."""

    pane: Being
    agent: Being


#: To start agents in new panes, and to start them outside of the caller's sandbox.
STARTS, ESCAPES = Wanted((0, 0), (0, 0)), Wanted((0, 0), (0, 1))


@attrs.define
class Consents:
    """
    The answers of a person to what callers want to do.

    A yes counts for that caller and that agent. A no counts `DECLINED_S` seconds for the pane, against every caller
    from the same window, and every caller without a known window.
    """

    _agreed: Pairs = attrs.Factory(Pairs)
    #: Until when nobody is asked again.
    _declined: dict[tuple[Being | None, Being], float] = attrs.Factory(dict)

    def put(self, caller: Being, place: Being | None, wanted: Wanted, now: float, *, is_allowed: bool) -> None:
        """Remember the person's answer."""
        if is_allowed:
            self._agreed.put(caller, wanted.agent)
            return
        self._declined = {key: until for key, until in self._declined.items() if until > now}
        while len(self._declined) >= MAX_PAIRS:
            del self._declined[next(iter(self._declined))]
        for where in {place, None}:
            self._declined[where, wanted.pane] = now + DECLINED_S

    def get(self, caller: Being, place: Being | None, wanted: Wanted, now: float) -> bool | None:
        """Return the person's answer; None if they may be asked."""
        if (caller, wanted.agent) in self._agreed:
            return True
        return False if self._declined.get((place, wanted.pane), 0.0) > now else None
