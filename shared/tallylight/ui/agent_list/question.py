"""
A question as the list shows it, whole, wrapped and scrolled; and whether the person has seen all of it.

The question and its choices are one text of `Part`s. A choice can be pressed once every line of the dialog has been
drawn: nobody can agree to a text that could not be shown. If the question is not whole on its screen, its choices are
shown without numbers, with a message about the missing part. Blank lines of the dialog go first where there is little
room.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from tallylight.actions.answer import Choice, Question
from tallylight.model import tool_call
from tallylight.model.status import Status
from tallylight.snapshot.rows import Row
from tallylight.ui.layout import folded
from tallylight.wire.text import sanitise

#: Choices with a key of their own.
MAX_KEYED_CHOICES = 9
#: Cells of a label, as long as the question's own.
_LABEL_CELLS = 8000
#: Cells in front of each line: a blank, a bar, a blank; in front of a choice its number and a blank more.
INDENT, NUMBER_CELLS = 3, 5
#: A row that is only a line across counts as a blank one.
_RULE = re.compile("[ ─━═╌┄┈╍┅┉▔▁▀▄]*")
#: Characters that a row must share with a command, to be taken for a part of it.
_SHARED_CHARS = 4


@attrs.frozen
class Part:
    """
    One line: the *number* of the choice that begins in it, else 0; and whether it is of the command, or of earlier
    text.
    """

    text: str
    number: int = 0
    is_choice: bool = False
    is_command: bool = False
    is_before: bool = False


@attrs.frozen(kw_only=True)
class Asking:
    """
    A *question* as *lines* of so many *columns*; *height* of them are drawn from *top* on.

    The first *must* lines have to be seen before it is answered. *address* is that of its pane, for two agents may ask
    the very same. *reported* are the status and the prompt in the host's snapshot then, which may be older than the
    screen. *what*, its subject, is marked.
    """

    question: Question
    address: str
    reported: tuple[Status, str]
    what: str = ""
    columns: int = 0
    height: int = 0
    is_page: bool = False
    lines: tuple[Part, ...] = ()
    must: int = 0
    top: int = 0
    #: The lines that were drawn.
    seen: frozenset[int] = frozenset()

    @property
    def window(self) -> range:
        """The lines to draw."""
        return range(self.top, min(self.top + self.height, len(self.lines)))

    @property
    def unread(self) -> int:
        """How many lines of the dialog were not drawn yet."""
        return self.must - sum(number < self.must for number in self.seen) if self.lines else 1

    @property
    def is_whole(self) -> bool:
        """Return whether all of the dialog is on the screen at once."""
        return 0 < self.must <= self.height


def opened(question: Question, row: Row) -> Asking:
    """Return the *question* of the pane of *row*, before any line of it is drawn."""
    reported = (row.pane.status, row.pane.prompt)
    return Asking(question=question, address=row.address, reported=reported, what=row.pane.what)


def sized(asking: Asking, columns: int, height: int, *, is_page: bool) -> Asking:
    """
    Return the same on so many *columns* and *height* lines, as a page of its own or in the detail of the list.

    Where its lines differ from before, none of them has been seen.
    """
    if columns <= NUMBER_CELLS + 1:
        height = 0  # a character of two cells would be cut at the edge
    if (columns, height, is_page) == (asking.columns, asking.height, asking.is_page):
        return asking
    lines = _dialog(asking, columns, is_roomy=True)
    if len(lines) > height:
        lines = _dialog(asking, columns, is_roomy=False)
    must, whole = len(lines), [*lines, *(_before(asking.question, columns) if is_page else ())]
    if must > height and not is_page:
        whole = _shortened(lines, height)
    is_same = must == asking.must and tuple(lines) == asking.lines[:must]
    seen = asking.seen if is_same else frozenset()
    top = asking.top if is_same and is_page else 0
    sized = attrs.evolve(asking, columns=columns, height=height, is_page=is_page, lines=tuple(whole), must=must)
    return scrolled(attrs.evolve(sized, seen=seen, top=top), 0)


def _shortened(lines: list[Part], height: int) -> list[Part]:
    """
    Return *lines* in *height*: all choices, and what fits of the rows before them. Unchanged if not even the choices
    fit.
    """
    first = next((number for number, part in enumerate(lines) if part.is_choice), len(lines))
    room = height - (len(lines) - first) - 1
    return [*lines[:room], Part("…"), *lines[first:]] if 0 < room < first else lines


def _dialog(asking: Asking, columns: int, *, is_roomy: bool) -> list[Part]:
    """Return the lines of the dialog with its choices; *is_roomy*: with its blank lines."""
    question = asking.question
    shown = map(_shown, question.context[question.first :] or (question.question,))
    rows = ["" if _RULE.fullmatch(row) else row.rstrip() for row in shown]
    margin = min((len(row) - len(row.lstrip()) for row in rows if row), default=0)
    of_command = _command(rows, asking.what)
    lines: list[Part] = []
    for number, row in enumerate(rows):
        if row or is_roomy:
            parts = folded(row[margin:], max(1, columns - INDENT))
            lines += [Part(part, is_command=number in of_command) for part in parts]
    lines += [Part("")] if is_roomy and lines and lines[-1].text else []
    for choice in question.choices:
        lines += _choice(choice, columns, is_whole=not question.missing)
    missing = folded(_shown(question.missing), max(1, columns - INDENT)) if question.missing else []
    return lines + [Part(text) for text in missing]


def _command(rows: list[str], what: str) -> range:
    """Return which of *rows* hold the command: from the first to the last that *what* has, wherever it is wrapped."""
    sought = "".join(tool_call.request(what).split())
    # If it is cut in the middle, both ends are known.
    *_, end = ends = sought.split("…")

    def is_part(row: str) -> bool:
        """Return whether *row* is a part of the command, or of one of its two ends if it was cut."""
        found = "".join(row.split())
        if len(found) < min(_SHARED_CHARS, len(sought)):
            return False
        return any(found in part for part in ends) or (
            len(ends) > 1 and len(end) >= _SHARED_CHARS and found.endswith(end)
        )

    found = [number for number, row in enumerate(rows) if is_part(row)] if sought else []
    return range(found[0], found[-1] + 1) if found else range(0)


def _before(question: Question, columns: int) -> Iterator[Part]:
    """Yield the rows above the dialog on the screen, below a line of their own."""
    rows = [_shown(row).rstrip() for row in question.context[: question.first]]
    while rows and not rows[0]:
        del rows[0]
    if rows:
        yield Part("")
        yield Part("earlier text", is_before=True)
    for row in rows:
        yield from (Part(part, is_before=True) for part in folded(row, max(1, columns - INDENT)))


def _choice(choice: Choice, columns: int, *, is_whole: bool) -> Iterator[Part]:
    """Yield the lines of *choice*, without its number if the dialog is not whole."""
    label = _shown(choice.label)
    if is_whole and not choice.keys:
        label += " (answer this in its own pane)"
    for position, text in enumerate(folded(label, max(1, columns - NUMBER_CELLS))):
        is_numbered = is_whole and not position and choice.number <= MAX_KEYED_CHOICES
        yield Part(text, choice.number if is_numbered else 0, is_choice=True)


def _shown(text: str) -> str:
    return sanitise(text, cells=_LABEL_CELLS)


def scrolled(asking: Asking, step: int) -> Asking:
    """Return the view moved by *step* lines, down or up."""
    last = max(0, len(asking.lines) - asking.height)
    return attrs.evolve(asking, top=max(0, min(asking.top + step, last)))


def drawn(asking: Asking) -> Asking:
    """Return the question with the lines in its window marked as seen."""
    seen = asking.seen.union(asking.window)
    return asking if seen == asking.seen else attrs.evolve(asking, seen=seen)
