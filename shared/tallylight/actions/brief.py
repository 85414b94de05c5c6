"""
A question in brief: the form in which a notification can show it and have it answered by a button.

Any program on the session bus can claim that a button was pressed. So only a question that is known to be plain has
buttons, and no permission. A person who presses one has seen only the notification, and desktops cut long ones. So it
must hold every row of the dialog, and every choice must fit on a button: a part of them would look like all. Any other
notification leads to the pane. Pure.
"""

from __future__ import annotations

import re

import attrs

from tallylight.actions.answer import Choice, Question
from tallylight.wire.text import width

#: The text that desktops show without a cut, as far as was seen: rows, cells of a row, and cells of one paragraph.
MAX_BRIEF_ROWS, MAX_BRIEF_ROW_CELLS, MAX_BRIEF_CELLS = 6, 50, 300
#: Buttons, and cells of one: GNOME shows three beside each other, and cuts longer labels.
MAX_BUTTONS, MAX_LABEL_CELLS = 3, 24

#: Rows that agents add to the choices of a question, to write instead of choosing: a button cannot do that.
_WRITES = re.compile(
    r"(?:type|write|enter) (?:something|here|in|my own|your own|your answer|a custom|a different)\b"
    r"|(?:chat|talk|discuss) (?:about )?(?:this|it)\b"
    r"|(?:something else|other|none of the above|custom)(?: \(| · |  |\W*$)",
    re.IGNORECASE,
)


@attrs.frozen
class Brief:
    """All of the dialog of a *question* for a notification: its *body*, and the *choices* that have a button."""

    question: Question
    body: str
    choices: tuple[Choice, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the buttons."""
        return tuple(choice.label for choice in self.choices)


def brief(question: Question) -> Brief | None:
    """Return *question* in brief; None for a permission, or if a notification cannot show all of it."""
    body, choices = _body(question), _buttons(question)
    return Brief(question, body, choices) if question.is_plain and body and choices else None


def _body(question: Question) -> str:
    """Return all rows of the dialog; "" if a notification would cut them."""
    rows = [row for line in question.context[question.first :] if (row := line.strip())]
    is_short = len(rows) <= MAX_BRIEF_ROWS and all(width(row) <= MAX_BRIEF_ROW_CELLS for row in rows)
    body = "\n".join(rows) if is_short else " · ".join(rows)
    return body if "…" not in body and (is_short or width(body) <= MAX_BRIEF_CELLS) else ""


def _buttons(question: Question) -> tuple[Choice, ...]:
    """Return the choices, rows for writing left out; none unless each fits on a button of its own."""
    offered = tuple(choice for choice in question.choices if not _WRITES.match(choice.label))
    are_whole = all(
        choice.keys and 0 < width(choice.label) <= MAX_LABEL_CELLS and "…" not in choice.label for choice in offered
    )
    are_apart = len({choice.label for choice in offered}) == len(offered) <= MAX_BUTTONS
    return offered if are_whole and are_apart else ()
