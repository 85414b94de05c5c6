"""A question in brief: buttons only where a notification shows every row and every choice."""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Choice, Question
from tallylight.actions.brief import MAX_BUTTONS, MAX_CELLS, MAX_LABEL, MAX_ROW, MAX_ROWS, brief
from tests.tables import each

YES, NO = Choice(1, "Yes", "1"), Choice(3, "No", "\x1b")
ALWAYS = Choice(2, "Yes, and always allow access to /home/user/project from this project", "2")
QUESTION = Question(
    pane="3",
    agent="claude",
    pid=7,
    start=8,
    fingerprint="f",
    prompt="p",
    question="Do you want to proceed?",
    context=("● I will clean up.", "", "Bash command", "  rm -rf build", "", "Do you want to proceed?"),
    first=2,
    choices=(YES, ALWAYS, NO),
    is_plain=True,
)


def test_all_of_the_dialog_and_nothing_before_it() -> None:
    """The rows of the dialog without empty ones; a button for each choice that fits on one, whole."""
    found = brief(QUESTION)
    assert found is not None
    assert found.body == "Bash command\nrm -rf build\nDo you want to proceed?"
    assert found.choices == (YES, NO) and found.labels == ("Yes", "No")
    assert found.question is QUESTION


def test_more_rows_than_a_notification_has_flow() -> None:
    """Nothing is left out: the rows are set behind each other."""
    rows = tuple(f"row {n}" for n in range(MAX_ROWS + 1))
    found = brief(attrs.evolve(QUESTION, context=rows, first=0))
    assert found is not None and found.body == " · ".join(rows)
    wide = brief(attrs.evolve(QUESTION, context=("x" * (MAX_ROW + 1), "y"), first=0))
    assert wide is not None and wide.body == "x" * (MAX_ROW + 1) + " · y"


def test_as_many_as_desktops_show() -> None:
    """Of many short choices the first ones have buttons."""
    many = tuple(Choice(n, f"Choice {n}", str(n)) for n in range(1, MAX_BUTTONS + 3))
    found = brief(attrs.evolve(QUESTION, choices=many))
    assert found is not None and found.choices == many[:MAX_BUTTONS]


@each(
    "changes",
    [
        {"is_plain": False},
        {"choices": ()},
        {"choices": (ALWAYS,)},
        {"choices": (attrs.evolve(NO, keys=""),)},
        {"choices": (YES, attrs.evolve(YES, number=2))},
        {"choices": (attrs.evolve(NO, label=""),)},
        {"choices": (attrs.evolve(NO, label="x" * (MAX_LABEL + 1)),)},
        {"choices": (attrs.evolve(NO, label="漢" * (MAX_LABEL // 2 + 1)),)},
        {"choices": (attrs.evolve(NO, label="No, and…"),)},
        {"context": ()},
        {"first": 6},
        {"context": ("x" * (MAX_CELLS + 1),), "first": 0},
        {"context": ("漢" * (MAX_CELLS // 2 + 1),), "first": 0},
        {"context": ("rm -rf a b c …",), "first": 0},
    ],
)
def test_none_where_something_is_missing(changes: dict[str, object]) -> None:
    """A permission, a dialog too long, no label that fits, one that is cut or cannot be typed: go to the pane."""
    assert brief(attrs.evolve(QUESTION, **changes)) is None  # type: ignore[arg-type]
