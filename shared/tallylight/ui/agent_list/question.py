"""
Asking: a question as the list shows it, whole, wrapped and scrolled; and whether the person has seen all of it.

What is asked and its choices are one text of `Part`s. A choice can be pressed once every line of the dialog has been
drawn: what could not be shown cannot be agreed to. Of a question that is not whole on its screen, the choices are shown
without numbers, with what is missing. Blank lines of the dialog go first where there is little room.
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

#: Only so many choices have a key of their own.
MAX_CHOICES = 9
#: Of a label, in cells, as long as the question's own.
_LABEL = 8000
#: Cells in front of each line: a blank, a bar, a blank; in front of a choice its number and a blank more.
INDENT, NUMBER = 3, 5
#: A row that is nothing but a line across says no more than a blank one.
_RULE = re.compile("[ ─━═╌┄┈╍┅┉▔▁▀▄]*")
#: Characters of a command that a row must share with it, to be taken for a part of it.
_SHARED = 4


@attrs.frozen
class Part:
    """One line: the *number* of the choice that begins in it, else 0; whether it is of the command; what was before."""

    text: str
    number: int = 0
    is_choice: bool = False
    is_command: bool = False
    is_before: bool = False


@attrs.frozen(kw_only=True)
class Asking:
    """
    *question* as *lines* of so many *columns*; *height* of them are drawn from *top* on; the first *must* have to be
    seen before it is answered.

    *address* is that of its pane, for two agents may ask the very same. *reported* are the status and the prompt that
    the pane's host had reported then, which may be older than the screen. *what* it is about is marked.
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
        """Whether all of the dialog is on the screen at once."""
        return 0 < self.must <= self.height


def opened(question: Question, row: Row) -> Asking:
    """*question* of the pane of *row*, before anything of it is drawn."""
    reported = (row.pane.status, row.pane.prompt)
    return Asking(question=question, address=row.address, reported=reported, what=row.pane.what)


def sized(asking: Asking, columns: int, height: int, *, is_page: bool) -> Asking:
    """
    The same on so many *columns* and *height* lines, as a page of its own or in the detail of the list.

    Where its lines are others than before, nothing of it has been seen.
    """
    if columns <= NUMBER + 1:
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
    """*lines* in *height*: all choices, and of what is before them what has room; the same where not even they have."""
    first = next((number for number, part in enumerate(lines) if part.is_choice), len(lines))
    room = height - (len(lines) - first) - 1
    return [*lines[:room], Part("…"), *lines[first:]] if 0 < room < first else lines


def _dialog(asking: Asking, columns: int, *, is_roomy: bool) -> list[Part]:
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
    """Which of *rows* hold what is asked for: from the first to the last that *what* has, whatever parts its words."""
    sought = "".join(tool_call.request(what).split())
    # Of one that is cut in the middle both ends are known.
    *_, end = ends = sought.split("…")

    def is_part(row: str) -> bool:
        found = "".join(row.split())
        if len(found) < min(_SHARED, len(sought)):
            return False
        return any(found in part for part in ends) or (len(ends) > 1 and len(end) >= _SHARED and found.endswith(end))

    found = [number for number, row in enumerate(rows) if is_part(row)] if sought else []
    return range(found[0], found[-1] + 1) if found else range(0)


def _before(question: Question, columns: int) -> Iterator[Part]:
    """The rows above the dialog on the screen, below a line of its own."""
    rows = [_shown(row).rstrip() for row in question.context[: question.first]]
    while rows and not rows[0]:
        del rows[0]
    if rows:
        yield Part("")
        yield Part("earlier text", is_before=True)
    for row in rows:
        yield from (Part(part, is_before=True) for part in folded(row, max(1, columns - INDENT)))


def _choice(choice: Choice, columns: int, *, is_whole: bool) -> Iterator[Part]:
    label = _shown(choice.label)
    if is_whole and not choice.keys:
        label += " (answer this in its own pane)"
    for position, text in enumerate(folded(label, max(1, columns - NUMBER))):
        is_numbered = is_whole and not position and choice.number <= MAX_CHOICES
        yield Part(text, choice.number if is_numbered else 0, is_choice=True)


def _shown(text: str) -> str:
    return sanitise(text, cells=_LABEL)


def scrolled(asking: Asking, step: int) -> Asking:
    """So many lines further down, or up."""
    last = max(0, len(asking.lines) - asking.height)
    return attrs.evolve(asking, top=max(0, min(asking.top + step, last)))


def drawn(asking: Asking) -> Asking:
    """What is to be drawn was drawn."""
    seen = asking.seen.union(asking.window)
    return asking if seen == asking.seen else attrs.evolve(asking, seen=seen)
