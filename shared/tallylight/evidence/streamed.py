"""
Dialogs that are only quoted: the text of a model grows, row by row, above the input of its agent.

A real dialog is drawn at once, or within a quarter of a second. A dialog is a text if two earlier looks show more and
more of it, above the input. One of them has to show some of its choices. It stays a text as long as it is there.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence

from tallylight.evidence.offers import EMPTY, INPUT, PLACEHOLDER
from tallylight.evidence.screen import Look
from tallylight.evidence.tail import Row, read_tail
from tallylight.model.dialog import Dialog

#: The most looks that are kept, and the looks without a change after which they are of no use.
_KEPT_LOOKS, _QUIET_LOOKS = 12, 12
#: The least characters of a question that has begun.
_BEGUN_CHARS = 4
#: The least number of different parts of a dialog that earlier looks show.
_STAGES = 2


class StreamWatch:
    """Watches one screen for dialogs that grow as text does."""

    def __init__(self) -> None:
        self._looks: deque[Look] = deque(maxlen=_KEPT_LOOKS)
        self._quiet = 0
        #: The dialog of the last answer, and that answer: it is asked for at each look, and read at a change.
        self._asked: Dialog | None = None
        self._is_text = False
        #: The rows of the dialog that is a text, and how often its first one is on the screen.
        self._text: tuple[str, ...] = ()
        self._times = 0

    def look(self, look: Look) -> None:
        """Take in one look at a screen."""
        last = self._looks[-1] if self._looks else None
        is_other = last is not None and (last.columns, len(last.lines)) != (look.columns, len(look.lines))
        self._quiet = self._quiet + 1 if last is not None and last.lines == look.lines else 0
        if is_other or self._quiet == _QUIET_LOOKS:
            self._looks.clear()
        if not self._quiet or not self._looks:
            self._looks.append(look)

    def is_text(self, dialog: Dialog, look: Look) -> bool:
        """Return whether *dialog*, which the last *look* shows, is a quoted one."""
        if dialog is not self._asked:
            self._asked, self._is_text = dialog, self._judged(dialog, look)
        return self._is_text

    def _judged(self, dialog: Dialog, look: Look) -> bool:
        place = dialog.place
        now = [row for row in read_tail(look.lines) if row.text]
        its = [row for row in now if place is not None and place.asks <= row.number < place.end]
        if place is None or dialog.is_known or not its:
            return False
        texts = tuple(row.text for row in its)
        times = sum(row.text == texts[0] for row in now)
        if times <= self._times and _goes_on(texts, self._text):
            return True
        stages = set(self._stages(texts, times, [choice.label for choice in dialog.choices]))
        first = next((at for at, row in enumerate(its) if row.number in place.starts), 0)
        # A question may end a message that grew, with the dialog below it drawn at once.
        is_text = len(stages) >= _STAGES and max(stages) > (first, 0)
        self._text, self._times = (texts, times) if is_text else (self._text, self._times)
        return is_text

    def _stages(self, its: Sequence[str], times: int, labels: Sequence[str]) -> Iterator[tuple[int, int]]:
        """
        Yield how many of the texts *its* each look shows above an input, and how many characters of the next one.

        Their first one is there so many *times*, the last time maybe in part. A look with none, with all, or with one
        of the choices *labels* below the others, is left out.
        """
        for look in self._looks:
            drawn = [row for row in read_tail(look.lines) if row.text or row.is_edge or row.is_boxed]
            begun = [at for at, row in enumerate(drawn) if _begins(row.text, its[0])]
            if sum(drawn[at].text == its[0] or at == begun[-1] for at in begun) < times:
                continue
            *stage, end = _grown(drawn[begun[-1] :], its)
            below = drawn[begun[-1] + end :]
            is_moved = any(label in row.text for row in below for label in labels)
            if stage[0] < len(its) and not is_moved and _is_input(below):
                yield stage[0], stage[1]


def _goes_on(texts: Sequence[str], begun: Sequence[str]) -> bool:
    """Return whether *texts* are those that have *begun* before, or go on with them."""
    last = len(begun) - 1
    return 0 <= last < len(texts) and texts[:last] == begun[:last] and texts[last].startswith(begun[last])


def _grown(rows: Sequence[Row], its: Sequence[str]) -> tuple[int, int, int]:
    """Return how many of the texts *its* begin *rows*, the characters of the next one there, and the row after both."""
    texts = [at for at, row in enumerate(rows) if row.text]
    alike = itertools.takewhile(lambda pair: rows[pair[0]].text == pair[1], zip(texts, its, strict=False))
    whole = sum(1 for _ in alike)
    rest = rows[texts[whole]].text if whole < min(len(texts), len(its)) else ""
    part = len(rest) if rest and its[whole].startswith(rest) else 0
    return whole, part, texts[whole - (not part)] + 1


def _begins(text: str, question: str) -> bool:
    return text == question or (len(text) >= _BEGUN_CHARS and question.startswith(text))


def _is_input(rows: Sequence[Row]) -> bool:
    """Return whether an input is in one of *rows*: its prompt, its hint, or its edges."""
    named = any(one.match(row.text) for row in rows for one in (INPUT, EMPTY, PLACEHOLDER))
    return named or sum(row.is_edge or (row.is_boxed and not row.text) for row in rows) > 1
