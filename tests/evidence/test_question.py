"""The value of a prompt: what is kept of its text, and its fingerprint."""

from __future__ import annotations

import attrs

from tallylight.evidence.question import CELLS, MAX_CHOICES, MAX_LINES, Choice, Place, Prompt, clean_lines
from tallylight.model.status import Kind, Status


def prompt(*lines: str, choices: tuple[Choice, ...] = ()) -> Prompt:
    return Prompt(Status.WAITING, Kind.QUESTION, "test", lines[0] if lines else "", lines, choices)


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
    assert (CELLS, MAX_LINES, MAX_CHOICES) == (240, 48, 20)
    assert clean_lines(["x" * (CELLS + 1)] * (MAX_LINES + 1)) == clean_lines(["x" * (CELLS + 1)] * MAX_LINES)
    assert len(clean_lines(["x" * (CELLS + 1)])[0]) == len(clean_lines(["x" * CELLS])[0]) == CELLS
    assert len(clean_lines(["x"] * (MAX_LINES + 1))) == MAX_LINES


def test_what_makes_two_prompts_one() -> None:
    """Not where they stand; unless told otherwise it is nowhere, and no menu."""
    moved = attrs.evolve(prompt("a"), place=Place(1, 1, (), 2))
    assert moved == prompt("a") and prompt("a").place is None
    assert not prompt("a").is_menu


def test_fingerprint() -> None:
    """It differs by every line, key and label, and by where they end; what has no lines has none."""
    prompts = [
        prompt("a", "b"),
        prompt("b", "a"),
        prompt("a"),
        prompt("ab"),
        prompt("a", choices=(Choice("1", "yes"),)),
        prompt("a", choices=(Choice("1", "no"),)),
        prompt("a", choices=(Choice("2", "yes"),)),
        prompt("a", choices=(Choice("1", "yes"), Choice("2", "no"))),
        prompt("a", choices=(Choice("2", "no"), Choice("1", "yes"))),
    ]

    assert len({each.fingerprint for each in prompts}) == len(prompts)
    assert {len(each.fingerprint) for each in prompts} == {16}
    assert prompt().fingerprint == prompt(choices=(Choice("1", "yes"),)).fingerprint == ""
