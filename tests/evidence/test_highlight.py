"""Which choice is selected where only colours tell: on screens of real agents, and never on a guess."""

from __future__ import annotations

from pathlib import Path

import attrs
from hypothesis import given
from hypothesis import strategies as st

from tallylight.evidence.highlight import highlighted
from tallylight.evidence.prompts import read_screen
from tallylight.model.dialog import Place
from tallylight.wire.styled import plain
from tallylight.wire.styled import read_screen as read_styled
from tests.evidence.styled import STYLED, load, named
from tests.tables import each


@each("path", STYLED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_screens_of_real_agents(path: Path) -> None:
    """The rule, which choice is selected, and what would choose each; without colours nothing that depends on them."""
    shown = load(path)
    rows = (shown.agent, shown.look.lines, shown.look.cursor_row)
    found, bare = read_screen(*rows, shown.styled), read_screen(*rows)

    assert found is not None and found.dialog is not None and bare is not None and bare.dialog is not None
    assert found.rule == bare.rule == shown.rule
    choices = found.dialog.choices
    assert [[choice.keys, choice.label] for choice in choices] == shown.choices
    assert [index for index, choice in enumerate(choices, 1) if choice.is_selected] == [shown.selected]
    assert not any(choice.is_selected for choice in bare.dialog.choices)
    assert not found.wants_style
    by_arrows = any(choice.keys.endswith("\r") for choice in choices)
    assert bare.wants_style is by_arrows
    assert not by_arrows or not any(choice.keys for choice in bare.dialog.choices)


def test_there_is_one_of_each_agent_and_place() -> None:
    """The selection was moved to every one of the three answers to a permission, and to both of the two after it."""
    for name in ("opencode", "kilo"):
        seen = {(path.stem.partition("-")[0], load(path).selected) for path in STYLED if path.parent.name == name}
        wanted = {*(("permission", number) for number in (1, 2, 3)), *(("always", number) for number in (1, 2))}
        assert wanted <= seen, name


def test_colours_of_another_screen_tell_nothing() -> None:
    """A screen that was drawn anew between the look at its text and that at its colours."""
    first, other = named("opencode/permission-80"), named("opencode/always-80")
    found = read_screen(first.agent, first.look.lines, first.look.cursor_row, other.styled)

    assert found is not None and found.dialog is not None
    assert [choice.keys for choice in found.dialog.choices] == ["", "", ""]
    assert not any(choice.is_selected for choice in found.dialog.choices)


_HEAD = "Go on?"
#: Rows of choices, two blanks or more apart, and the index of the one that is selected.
_SURE = (
    ("reverse video", "\x1b[7mYes\x1b[0m  Always  No", 0),
    ("a background", "Yes  \x1b[44mAlways\x1b[0m  No", 1),
    ("a background where others have one, too", "\x1b[41m Yes \x1b[41m Always \x1b[42m No \x1b[0m", 2),
    ("a background, and letters of several colours", "Yes  Always  \x1b[44;31mN\x1b[32mo\x1b[0m", 2),
    ("reverse video of the same colour", "\x1b[31mYes  Always\x1b[0m  \x1b[7;31mNo\x1b[0m", 2),
    ("a colour", "\x1b[90mYes\x1b[0m  \x1b[36mAlways\x1b[90m  No\x1b[0m", 1),
    ("one of two in reverse video", "Yes  \x1b[7mNo\x1b[0m", 1),
    ("one of two on a background, with its blanks", "\x1b[44m Yes \x1b[0m No ", 0),
    ("a label that stands in another one", "Always yes  \x1b[7mAlways\x1b[0m  No", 1),
)
_UNSURE = (
    ("nothing", "Yes  Always  No"),
    ("all of them", "\x1b[7mYes  Always  No\x1b[0m"),
    ("the whole row", "\x1b[44mYes\x1b[44m  Always  No  "),
    ("two of four", "\x1b[7mYes\x1b[0m  \x1b[7mAlways\x1b[0m  No  \x1b[41mNever\x1b[0m"),
    ("three in three ways", "\x1b[41mYes\x1b[0m  \x1b[42mAlways\x1b[0m  \x1b[43mNo\x1b[0m"),
    ("half of a label", "\x1b[7mY\x1b[0mes  Always  No"),
    ("dim", "Yes  \x1b[2mAlways\x1b[0m  No"),
    ("three colours", "\x1b[31mYes\x1b[0m  \x1b[32mAlways\x1b[0m  No"),
    ("of two, a colour", "\x1b[31mYes\x1b[0m  No"),
    ("two backgrounds of two", "\x1b[41m Yes \x1b[42m No \x1b[0m"),
    ("bold and underlined", "\x1b[1;4mYes\x1b[0m  Always  No"),
)


def _read(row: str, above: str = _HEAD) -> int | None:
    styled = read_styled([above, row, "enter submit"], 60)
    lines = [plain(line) for line in styled.lines]
    labels = [label.strip() for label in lines[1].split("  ") if label.strip()]
    return highlighted(styled, lines, Place(0, 0, (1,), 2), labels)


@each(("name", "row", "expected"), _SURE)
def test_one_that_is_drawn_unlike_the_others(name: str, row: str, expected: int) -> None:
    """By what it stands on, else by its colour."""
    assert _read(row) == expected, name


@each(("name", "row"), _UNSURE)
def test_what_is_not_certain_is_none(name: str, row: str) -> None:
    """None, several, or what is drawn so for another reason."""
    assert _read(row) is None, name


def test_of_two_the_other_has_to_stand_on_what_is_around() -> None:
    """A background of both says nothing, until one of them is that of the dialog itself."""
    both = "\x1b[41m Yes \x1b[42m No \x1b[0m"
    assert _read(both) is None
    assert _read(both, "\x1b[42mGo on?\x1b[0m") == 0
    assert _read(both, "\x1b[41mGo \x1b[42mon?\x1b[0m") is None


def test_what_kitty_writes_in_cells_of_its_own_count() -> None:
    """Glyphs whose width a program names are text as any other, in both looks at a window."""
    rows = ["\x1b[m\x1b]66;w=1;△\x07 Go on?", "\x1b[48:2:1:2:3m Yes \x1b[m All  No   \x1b]66;w=1;⇆\x07 select"]
    lines = ["△ Go on?", " Yes  All  No   ⇆ select"]

    assert highlighted(read_styled(rows, 60), lines, Place(0, 0, (1,), 2), ("Yes", "All", "No")) == 0


def test_choices_in_rows_of_their_own() -> None:
    """Each label is looked for in its own row, and one that is not there, or was wrapped, makes all of it unsure."""
    rows = ["Which?", "1. 1", "   one", "\x1b[7m2. 22\x1b[0m", "3. 333"]
    styled = read_styled(rows, 40)
    lines = [plain(line) for line in styled.lines]
    place = Place(0, 0, (1, 3, 4), 5)

    assert highlighted(styled, lines, place, ("1", "22", "333")) == 1
    for labels in (("1", "22", "33"), ("1", "", "333"), ("1", "22 3", "333"), ("1", "22")):
        assert highlighted(styled, lines, place, labels) is None, labels
    assert highlighted(styled, lines, attrs.evolve(place, starts=(1, 3)), ("1", "22", "333")) is None
    assert highlighted(styled, [*lines[:4], "3. 444"], place, ("1", "22", "333")) is None, "another screen"
    assert highlighted(styled, [*lines[:4], "3. 333 ", "more"], place, ("1", "22", "333")) == 1


_STYLES = st.sampled_from(["0", "7", "1", "2", "31", "32", "41", "42", "48;5;9", "38;2;1;2;3"])


@given(st.lists(st.tuples(_STYLES, st.sampled_from(["Yes", "No", "All", " ", "日本", "│"])), max_size=8), _STYLES)
def test_nothing_raises(parts: list[tuple[str, str]], around: str) -> None:
    """However a row is drawn, one of its labels comes out, or none."""
    row = "  ".join(f"\x1b[0;{style}m{text}\x1b[0m" for style, text in parts)
    found = _read(f"\x1b[{around}mx\x1b[0m  {row}")

    assert found is None or 0 <= found <= len(parts)
