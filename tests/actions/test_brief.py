"""A question in brief: buttons only where a notification shows every row and every choice."""

from __future__ import annotations

import attrs

from tallylight.actions.answer import Choice, Question
from tallylight.actions.brief import (
    MAX_BRIEF_CELLS,
    MAX_BRIEF_ROW_CELLS,
    MAX_BRIEF_ROWS,
    MAX_BUTTONS,
    MAX_LABEL_CELLS,
    brief,
)
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
    choices=(YES, NO),
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
    rows = tuple(f"row {n}" for n in range(MAX_BRIEF_ROWS + 1))
    found = brief(attrs.evolve(QUESTION, context=rows, first=0))
    assert found is not None and found.body == " · ".join(rows)
    wide = brief(attrs.evolve(QUESTION, context=("x" * (MAX_BRIEF_ROW_CELLS + 1), "y"), first=0))
    assert wide is not None and wide.body == "x" * (MAX_BRIEF_ROW_CELLS + 1) + " · y"


def test_as_many_as_desktops_show() -> None:
    """Each choice has a button, or none has: some of them would look like all."""
    many = tuple(Choice(n, f"Choice {n}", str(n)) for n in range(1, MAX_BUTTONS + 2))
    found = brief(attrs.evolve(QUESTION, choices=many[:-1]))
    assert found is not None and found.choices == many[:-1]
    assert brief(attrs.evolve(QUESTION, choices=many)) is None


@each(
    "label",
    [
        "Type something.",
        "Type something...",
        "Chat about this",
        "Other",
        "Other (write your own)",
        "None of the above",
        "None of the above · Optionally, add details in notes (tab)",
        "None of the above  Optionally, add details in notes (tab)",
        "Write your own answer",
        "Something else",
    ],
)
def test_a_row_for_writing_is_no_choice(label: str) -> None:
    """An agent's own rows for typing have no button, and do not take those of the choices away."""
    writes = Choice(3, label, "3")
    found = brief(attrs.evolve(QUESTION, choices=(YES, attrs.evolve(NO, number=2), writes)))
    assert found is not None and found.labels == ("Yes", "No")
    assert brief(attrs.evolve(QUESTION, choices=(writes,))) is None


@each("label", ["Write tests first", "Other branch", "Type checks", "Enter maintenance"])
def test_a_choice_that_begins_like_one_stays(label: str) -> None:
    found = brief(attrs.evolve(QUESTION, choices=(YES, Choice(2, label, "2"))))
    assert found is not None and found.labels == ("Yes", label)


@each(
    "changes",
    [
        {"is_plain": False},
        {"choices": ()},
        {"choices": (ALWAYS,)},
        {"choices": (YES, ALWAYS, NO)},
        {"choices": (attrs.evolve(NO, keys=""),)},
        {"choices": (YES, attrs.evolve(YES, number=2))},
        {"choices": (attrs.evolve(NO, label=""),)},
        {"choices": (attrs.evolve(NO, label="x" * (MAX_LABEL_CELLS + 1)),)},
        {"choices": (attrs.evolve(NO, label="漢" * (MAX_LABEL_CELLS // 2 + 1)),)},
        {"choices": (attrs.evolve(NO, label="No, and…"),)},
        {"context": ()},
        {"first": 6},
        {"context": ("x" * (MAX_BRIEF_CELLS + 1),), "first": 0},
        {"context": ("漢" * (MAX_BRIEF_CELLS // 2 + 1),), "first": 0},
        {"context": ("rm -rf a b c …",), "first": 0},
    ],
)
def test_none_where_something_is_missing(changes: dict[str, object]) -> None:
    """A permission, a dialog too long, no label that fits, one that is cut or cannot be typed: go to the pane."""
    assert brief(attrs.evolve(QUESTION, **changes)) is None  # type: ignore[arg-type]
