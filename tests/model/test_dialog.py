"""The value of a dialog: what is kept of its text, and its fingerprint."""

from __future__ import annotations

import attrs

from tallylight.evidence.tail import DIALOG_LINE_CELLS, clean_lines
from tallylight.model.dialog import MAX_DIALOG_CHOICES, MAX_DIALOG_LINES, Choice, Dialog, Place
from tallylight.model.status import Kind


def dialog(*lines: str, choices: tuple[Choice, ...] = ()) -> Dialog:
    return Dialog(Kind.QUESTION, "test", lines[0] if lines else "", lines, choices)


def test_empty_lines_at_the_ends() -> None:
    """They go, those between stay; of nothing, nothing is left."""
    for lines, expected in (
        (["", " ", "a", "", "b", "", ""], ("a", "", "b")),
        (["", "a", "b"], ("a", "b")),
        (["a", "b", ""], ("a", "b")),
        (["a"], ("a",)),
        (["", " "], ()),
        ([], ()),
    ):
        assert clean_lines(lines) == expected


def test_bounds() -> None:
    """So many cells of a line, so many lines, so many choices."""
    assert (DIALOG_LINE_CELLS, MAX_DIALOG_LINES, MAX_DIALOG_CHOICES) == (240, 48, 20)
    assert clean_lines(["x" * (DIALOG_LINE_CELLS + 1)] * (MAX_DIALOG_LINES + 1)) == clean_lines(
        ["x" * (DIALOG_LINE_CELLS + 1)] * MAX_DIALOG_LINES
    )
    assert (
        len(clean_lines(["x" * (DIALOG_LINE_CELLS + 1)])[0])
        == len(clean_lines(["x" * DIALOG_LINE_CELLS])[0])
        == DIALOG_LINE_CELLS
    )
    assert len(clean_lines(["x"] * (MAX_DIALOG_LINES + 1))) == MAX_DIALOG_LINES


def test_what_makes_two_dialogs_one() -> None:
    """Not where they stand; unless told otherwise it is nowhere."""
    moved = attrs.evolve(dialog("a"), place=Place(1, 1, (), 2))
    assert moved == dialog("a") and dialog("a").place is None


def test_fingerprint() -> None:
    """It differs by every line, key and label, and by where they end; what has no lines has none."""
    dialogs = [
        dialog("a", "b"),
        dialog("b", "a"),
        dialog("a"),
        dialog("ab"),
        dialog("a", choices=(Choice("1", "yes"),)),
        dialog("a", choices=(Choice("1", "no"),)),
        dialog("a", choices=(Choice("2", "yes"),)),
        dialog("a", choices=(Choice("1", "yes"), Choice("2", "no"))),
        dialog("a", choices=(Choice("2", "no"), Choice("1", "yes"))),
    ]

    assert len({each.fingerprint for each in dialogs}) == len(dialogs)
    assert {len(each.fingerprint) for each in dialogs} == {16}
    assert dialog().fingerprint == dialog(choices=(Choice("1", "yes"),)).fingerprint == ""
