"""
What a person lets programs do from now on: the page that asks them, and what they said. Pure: lines out, keys in.

It is agreed to by `yes` in letters, for a key that was meant for the program below is none. A person is asked only
where all of the page can be seen at once, and after a no they are left alone for a while.
"""

from __future__ import annotations

import attrs

from tallylight.actions.caller import Being
from tallylight.actions.gate import Refusal
from tallylight.actions.page import Act, Line, fitted, wrapped
from tallylight.actions.permission import MAX_PAIRS, Pairs

#: For how long, in seconds, a person is not asked again after a no.
REST_S = 600.0
#: In a narrower window nobody can read a sentence; and what is enough.
MIN_COLUMNS, ENOUGH_COLUMNS = 30, 60
YES = "yes"
_HOW = (
    "Write yes and press Enter to allow it. No or Esc refuses it; then you are not asked about this again for "
    f"{REST_S / 60:.0f} minutes."
)
_NO = ("", "n", "no")
#: Of what is written, and of one sentence, in characters: what is longer is not cut, but not asked.
_MAX_TYPED, _MAX_SENTENCE = 16, 2000


@attrs.define
class Consent:
    """A page with *what* would be allowed, the most important sentence first. Here *typed* is kept so far."""

    what: tuple[str, ...]
    typed: str = ""
    title: str = "Tallylight asks"
    verb: str = "after yes"
    refusal: Refusal | None = None

    def body(self, columns: int) -> list[Line]:
        """Every sentence, and how to answer."""
        rows: list[Line] = []
        for number, text in enumerate((*self.what, _HOW)):
            rows += [(), *wrapped(text, max(10, columns - 2), "" if number else "title")]
        return fitted(rows, columns)

    def keys(self, columns: int) -> list[Line]:
        """What was written so far."""
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
            self.typed = f"{self.typed}{key}"[:_MAX_TYPED]
        return Act.STAY

    def lines(self, columns: int) -> int:
        """How many lines it takes in a window of so many *columns*."""
        return len(self.body(columns)) + 1 + len(self.keys(columns))

    def fits(self, columns: int, rows: int) -> bool:
        """Return whether a window of this size shows all of it at once."""
        is_short = all(len(text) <= _MAX_SENTENCE for text in self.what)
        return is_short and columns >= MIN_COLUMNS and self.lines(columns) <= rows


@attrs.frozen
class Wanted:
    """What a caller wants: the *agent* that runs in the *pane*, identified by its first process."""

    pane: Being
    agent: Being


#: To start agents in new panes, and from a sandbox, outside of which they run.
STARTS, ESCAPES = Wanted((0, 0), (0, 0)), Wanted((0, 0), (0, 1))


@attrs.define
class Consents:
    """
    The answers of a person to what callers wanted. *now* is monotonic seconds.

    A yes is for that caller and that agent alone. A no is for the whole pane and all that runs where the caller does,
    *place*, the first process of its window; and for what runs in no window, None, for that may have come from there.
    """

    _agreed: Pairs = attrs.Factory(Pairs)
    #: Until when nobody is asked.
    _declined: dict[tuple[Being | None, Being], float] = attrs.Factory(dict)

    def put(self, caller: Being, place: Being | None, wanted: Wanted, now: float, *, is_allowed: bool) -> None:
        """Remember what they said."""
        if is_allowed:
            self._agreed.put(caller, wanted.agent)
            return
        self._declined = {key: until for key, until in self._declined.items() if until > now}
        while len(self._declined) >= MAX_PAIRS:
            del self._declined[next(iter(self._declined))]
        for where in {place, None}:
            self._declined[where, wanted.pane] = now + REST_S

    def get(self, caller: Being, place: Being | None, wanted: Wanted, now: float) -> bool | None:
        """What they said; None if they may be asked."""
        if (caller, wanted.agent) in self._agreed:
            return True
        return False if self._declined.get((place, wanted.pane), 0.0) > now else None
