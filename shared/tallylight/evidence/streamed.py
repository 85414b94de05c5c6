"""
Dialogs that are only quoted: the text of a model grows, row by row, above the input of its agent.

A real dialog is drawn at once, or within a quarter of a second. So a dialog of whose rows two earlier looks show more
and more, each time with an input below them, is a text. It stays one as long as it stands there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tallylight.evidence.offers import EMPTY, INPUT, PLACEHOLDER
from tallylight.evidence.tail import Row, read_tail
from tallylight.model.dialog import Dialog

#: Looks that are kept, and looks without a change after which they are of no use.
_KEPT_LOOKS, _QUIET_LOOKS = 12, 12
#: Characters of a dialog's first row by which its beginning is known, at least.
_BEGUN_CHARS = 4
#: Looks that show less of a dialog than there is now, each another part.
_STAGES = 2


class StreamWatch:
    """Watches one screen for dialogs that grow as text does."""

    def __init__(self) -> None:
        self._looks: deque[Sequence[str]] = deque(maxlen=_KEPT_LOOKS)
        self._quiet = 0
        #: The lines of the dialog that is a text, and how often its last one is on the screen.
        self._text: tuple[str, ...] = ()
        self._times = 0

    def look(self, lines: Sequence[str]) -> None:
        """Take in one look at the rows of a screen."""
        if self._looks and self._looks[-1] == lines:
            self._quiet += 1
            if self._quiet == _QUIET_LOOKS:
                last = self._looks[-1]
                self._looks.clear()
                self._looks.append(last)
            return
        self._quiet = 0
        self._looks.append(lines)

    def is_text(self, dialog: Dialog, lines: Sequence[str]) -> bool:
        """Return whether *dialog*, which the rows *lines* show, is a quoted one."""
        its = [line.strip() for line in dialog.lines if any(map(str.isalnum, line))]
        if not its or (dialog.is_known and dialog.choices):
            return False
        times = sum(its[-1] == row.text for row in read_tail(lines))
        if dialog.lines == self._text and 0 < times <= self._times:
            return True
        stages = {_stage(read_tail(earlier), its) for earlier in self._looks} - {None}
        if len(stages) < _STAGES:
            return False
        self._text, self._times = dialog.lines, times
        return True


def _stage(rows: Sequence[Row], its: Sequence[str]) -> tuple[int, int] | None:
    """
    Return how many of the rows *its* are on a screen above an input, and how many characters of the next one.

    None if none or all are there, or no input is below.
    """
    drawn = [row for row in rows if row.text or row.is_edge or row.is_boxed]
    first = next((at for at in range(len(drawn) - 1, -1, -1) if _begins(drawn[at].text, its[0])), None)
    if first is None:
        return None
    texts = [at for at in range(first, len(drawn)) if drawn[at].text]
    whole = 0
    while whole < min(len(its), len(texts)) and drawn[texts[whole]].text == its[whole]:
        whole += 1
    if whole == len(its):
        return None
    rest = drawn[texts[whole]].text if whole < len(texts) else ""
    part = len(rest) if rest and its[whole].startswith(rest) else 0
    below = texts[whole + (part > 0) :]
    return (whole, part) if _is_input(drawn[below[0] - 1 if below else texts[-1] + 1 :]) else None


def _begins(text: str, first: str) -> bool:
    return text == first or (len(text) >= _BEGUN_CHARS and first.startswith(text))


def _is_input(rows: Sequence[Row]) -> bool:
    """Return whether an input is in one of *rows*: its prompt, its hint, or its edges."""
    named = any(one.match(row.text) for row in rows for one in (INPUT, EMPTY, PLACEHOLDER))
    return named or sum(row.is_edge or (row.is_boxed and not row.text) for row in rows) > 1
