"""
Asking: a question as the list shows it, all of it, wrapped and scrolled; and whether the person has seen it all.

What is asked and its choices are one text of `Line`s. Its end is shown first. A choice can be pressed once every line
from the dialog's beginning on has been drawn: what could not be shown cannot be agreed to. Of a question that is not
whole on its screen, the choices are shown without numbers, and what is missing is said.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from tallylight.actions.answer import Choice, Question
from tallylight.model.status import Status
from tallylight.snapshot.rows import Row
from tallylight.ui.layout import chop, clean, wrap
from tallylight.wire.text import sanitise

#: Only so many choices have a key of their own.
MAX_CHOICES = 9
#: Of a label, in cells, as long as the question's own.
_LABEL = 8000
#: How far the lines of a choice are indented: a number and two blanks.
_INDENT = 3
#: How a person sees keys that draw nothing.
_KEY_NAMES = {"\r": "⏎", "\n": "⏎", "\x1b": "Esc", "\t": "Tab", " ": "Space", "\x7f": "Backspace",
              "\x1b[A": "Up", "\x1b[B": "Down", "\x1b[C": "Right", "\x1b[D": "Left", "\x1b[Z": "Shift+Tab"}  # fmt: skip
_LONGEST = max(map(len, _KEY_NAMES))


#: A line of the text, and the number of the choice that begins in it, else 0.
Line = tuple[str, int]


@attrs.frozen(kw_only=True)
class Asking:
    """
    *question* as *lines* of so many *columns*, of which *height* are drawn from *top* on.

    *address* is that of its pane, for two agents may ask the very same. *reported* are the status and the prompt that
    the pane's host had reported then, which may be older than what stood on the screen.
    """

    question: Question
    address: str
    reported: tuple[Status, str]
    columns: int
    height: int
    lines: tuple[Line, ...]
    #: The line with which the dialog begins.
    first: int
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
        return len(self.lines) - self.first - sum(number >= self.first for number in self.seen)


def opened(question: Question, row: Row, columns: int) -> Asking:
    """*question* of the pane of *row* on a screen of so many *columns*, before anything of it is drawn."""
    lines, first = _wrapped(question, columns)
    reported = (row.pane.status, row.pane.prompt)
    return Asking(
        question=question, address=row.address, reported=reported, columns=columns, height=0, lines=lines, first=first
    )


def _wrapped(question: Question, columns: int) -> tuple[tuple[Line, ...], int]:
    """The lines of *question*, and with which of them the dialog begins."""
    rows = [chop(_shown(row), columns) for row in question.context or (question.question,)]
    first = sum(map(len, rows[: question.first])) if question.first < len(rows) else 0
    lines: list[Line] = [(text, 0) for texts in rows for text in texts]
    for choice in question.choices:
        lines += _choice(choice, columns, is_whole=not question.missing)
    if question.missing:
        lines += [(text, 0) for line in wrap(_shown(question.missing), columns) for text in chop(line, columns)]
    return tuple(lines), first


def _choice(choice: Choice, columns: int, *, is_whole: bool) -> Iterator[Line]:
    label = _shown(choice.label)
    if is_whole:
        label += f"  types {keys_named(choice.keys)}" if choice.keys else "  keys not known"
        label += ", no key here" if choice.number > MAX_CHOICES else ""
    for position, text in enumerate(chop(label, max(1, columns - _INDENT))):
        number = choice.number if is_whole and not position else 0
        yield f"{number or '':<{_INDENT}}{text}", number


def _shown(text: str) -> str:
    return sanitise(text, cells=_LABEL, graphemes=_LABEL)


def sized(asking: Asking, columns: int, height: int) -> Asking:
    """The same on so many *columns*, of which *height* lines are drawn; on others nothing of it has been seen."""
    if columns != asking.columns:
        lines, first = _wrapped(asking.question, columns)
        asking = attrs.evolve(asking, columns=columns, height=0, lines=lines, first=first, top=0, seen=frozenset())
    if height == asking.height:
        return asking
    # The end first, and where the person has scrolled to after that.
    at_end = asking.top + asking.height >= len(asking.lines)
    asking = attrs.evolve(asking, height=height)
    return scrolled(asking, len(asking.lines) if at_end or not asking.seen else 0)


def scrolled(asking: Asking, step: int) -> Asking:
    """So many lines further down, or up."""
    last = max(0, len(asking.lines) - asking.height)
    return attrs.evolve(asking, top=max(0, min(asking.top + step, last)))


def drawn(asking: Asking) -> Asking:
    """What is to be drawn was drawn."""
    seen = asking.seen.union(asking.window)
    return asking if seen == asking.seen else attrs.evolve(asking, seen=seen)


def keys_named(keys: str) -> str:
    """*keys* as a person reads what will be typed: `y ⏎`."""
    words: list[str] = []
    while keys:
        known = next((keys[:n] for n in range(min(_LONGEST, len(keys)), 0, -1) if keys[:n] in _KEY_NAMES), "")
        control = f"ctrl+{chr(ord(keys[0]) ^ 0x40).lower()}"
        words.append(_KEY_NAMES.get(known) or (control if keys[0] < " " else clean(keys[0], 4)))
        keys = keys[len(known) or 1 :]
    return " ".join(words)
