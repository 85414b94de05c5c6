"""
A question in brief: what a notification can show of it and still have it answered by a button.

Any program on the session bus can say that a button was pressed. So a permission has none, and neither has what is not
known to be a plain question. And who presses one has seen nothing but the notification, and desktops cut what is long:
it must hold every row of the dialog, and the labels of the choices must be short enough to be seen whole on a button.
For all else it leads to the pane. Pure.
"""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Choice, Question
from tallylight.wire.text import width

#: What desktops show of a text without cutting it, as far as was seen: rows, cells of one, and cells of one that flows.
MAX_ROWS, MAX_ROW, MAX_CELLS = 6, 50, 300
#: Buttons, and cells of one: GNOME shows three beside each other, and cuts longer labels.
MAX_BUTTONS, MAX_LABEL = 3, 24


@attrs.frozen
class Brief:
    """All of the dialog of a *question* for a notification: its *body*, and the *choices* that have a button."""

    question: Question
    body: str
    choices: tuple[Choice, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """What stands on the buttons."""
        return tuple(choice.label for choice in self.choices)


def brief(question: Question) -> Brief | None:
    """*question* in brief; None for a permission, or if not all of it can be shown, or nothing fits on a button."""
    if not question.is_plain:
        return None
    rows = [row.strip() for row in question.context[question.first :]]
    rows = [row for row in rows if row]
    is_short = len(rows) <= MAX_ROWS and all(width(row) <= MAX_ROW for row in rows)
    body = "\n".join(rows) if is_short else " · ".join(rows)
    if not rows or "…" in body or (not is_short and width(body) > MAX_CELLS):
        return None
    choices = [choice for choice in question.choices if choice.keys and _fits(choice.label)][:MAX_BUTTONS]
    labels = [choice.label for choice in question.choices]
    if not choices or any(labels.count(choice.label) > 1 for choice in choices):
        return None
    return Brief(question, body, tuple(choices))


def _fits(label: str) -> bool:
    return 0 < width(label) <= MAX_LABEL and "…" not in label
