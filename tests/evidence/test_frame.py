"""The frame of a dialog: where it begins, and what is missing of it. Real ones are in `screens/`."""

from __future__ import annotations

import attrs
import pytest

from tallylight.agents.screens import ScreenRule
from tallylight.evidence.frame import LEFT_OUT, NO_ROOM, NO_TOP, framed, inside
from tallylight.evidence.prompts import read_screen
from tallylight.model.dialog import Choice, Dialog, Place
from tallylight.model.status import Kind, Status
from tests.actions.desk import SCREENS, look
from tests.evidence.agents import agent
from tests.tables import each

COLUMNS = 40
_LINE, _DASHES = "─" * COLUMNS, "╌" * COLUMNS
_ASKS = [" Do you want to proceed?", " ❯ 1. Yes", "   2. No"]
_CHOICES = (Choice("1", "Yes"), Choice("2", "No"))


def frame(lines: list[str], place: Place, rule: ScreenRule | None = None) -> tuple[int, str]:
    """Where the dialog at *place* begins, and what is missing."""
    found = framed(Dialog(Kind.PERMISSION, "x", choices=_CHOICES, place=place), lines, COLUMNS, rule)
    assert [choice.keys for choice in found.choices] == (["", ""] if found.missing else ["1", "2"])
    return found.top, found.missing


#: A screen of 40 columns above the three rows of `_ASKS`; where its dialog begins, None if that cannot be told.
TOPS: dict[str, tuple[list[str], int | None]] = {
    "the line above": (["past", _LINE, " Bash"], 1),
    "the nearest line": ([_LINE, "past", _LINE, " Bash"], 2),
    "a line of what is asked": (["past", _LINE, " Bash", " " + "─" * 39, " more"], 1),
    "a line of what is asked, and its own is gone": ([" Bash", " " + "─" * 39, " more"], None),
    "a line as long as half the screen": ([" Bash", "─" * 20, " more"], None),
    "dashed lines": ([_LINE, " Bash", _DASHES, " rm", _DASHES], 0),
    "dashed lines alone": ([" Bash", _DASHES, " rm", _DASHES], None),
    "a line with a name in it": ([" Bash", "── rm " + "─" * 34, " rm"], None),
    "a box of what is asked": ([_LINE, " ╭" + "─" * 37 + "╮", " │ rm", " ╰" + "─" * 37 + "╯"], 0),
    "the same alone": ([" ╭" + "─" * 37 + "╮", " │ rm", " ╰" + "─" * 37 + "╯"], None),
    "text left of the line": (["past", " " + "─" * 38, "rm"], None),
    "a gap": (["past", "", "", " echo"], None),
    "nothing but text": (["past", " echo"], None),
    "the first row": ([_LINE, " echo"], 0),
    "a bar beside what it quotes": ([" Bash", " │ rm", " │ ls"], None),
}


def test_where_a_dialog_begins() -> None:
    """At a line across the screen, left of all below it. Its text cannot draw one, and nothing else begins it."""
    found: dict[str, int | None] = {}
    for name, (above, _) in TOPS.items():
        first = len(above)
        top, missing = frame([*above, *_ASKS, ""], Place(first, first, (first + 1, first + 2), first + 3))
        assert missing in ("", NO_TOP)
        found[name] = None if missing else top

    assert found == {name: top for name, (_, top) in TOPS.items()}


def test_a_box_is_found_by_its_choices() -> None:
    """It goes up beside its side to the corner; without a corner it is cut, and another box above is another one."""
    box = ["past", "╭────╮", "│ go?│", "│ Go?", "│ ❯ 1. Yes", "│   2. No", "╰────╯"]
    assert frame(box, Place(2, 2, (4, 5), 6)) == (1, "")
    assert frame(box[2:], Place(0, 0, (2, 3), 4))[1] == NO_TOP
    assert frame(["past", "", *box[2:]], Place(2, 2, (4, 5), 6))[1] == NO_TOP, "what scrolls stands below a row of tabs"
    two = ["╭────╮", "│ old", "╭────╮", "│ Go?", "│ ❯ 1. Yes", "│   2. No"]
    assert frame(two, Place(3, 3, (4, 5), 6)) == (2, "")
    below = ["╭────╮", "╰────╯", "│ Go?", "│ ❯ 1. Yes", "│   2. No"]
    assert frame(below, Place(2, 2, (3, 4), 5))[1] == NO_TOP
    within = ["│ rm -rf /", "│ ╭───╮", "│ │ ok│", "│ Go?", "│ ❯ 1. Yes", "│   2. No"]
    assert frame(within, Place(2, 3, (4, 5), 6))[1] == NO_TOP, "a corner of what is asked"
    open_ = ["past", "╭────╮", "│ go?│", "Go?", "│ ❯ 1. Yes", "│   2. No"]
    assert frame(open_, Place(2, 2, (4, 5), 6))[1] == NO_TOP


def test_a_bar_ends_in_sight() -> None:
    """A bar begins below a row without one; a thin one may be the side of a box that is cut."""
    bar = ["", "┃", "┃ Go?", "┃ ❯ 1. Yes", "┃   2. No", "┃ Esc"]
    assert frame(bar, Place(2, 2, (3, 4), 5)) == (1, "")
    assert frame(bar[1:], Place(1, 1, (2, 3), 4))[1] == NO_TOP
    assert frame([line.replace("┃", "│") for line in bar], Place(2, 2, (3, 4), 5))[1] == NO_TOP
    assert frame([*bar, "┗━━━"], Place(2, 2, (3, 4), 5))[1] == NO_TOP, "it was a box"


def test_the_row_that_a_rule_names() -> None:
    """It counts with the blanks in front of it, and of several the first: what is asked may say the same."""
    rule = next(rule for rule in agent("codex").screen_rules if rule.name == "permission")
    asked = ["  Would you like to run it?", "", "  $ a", "    Would you like to run b?", "› 1. Yes", "  2. No"]
    lines, place = ["• Ran c", *asked], Place(1, 1, (5, 6), 7)

    assert frame(lines, place, rule) == (1, "")
    assert frame([*lines[:4], lines[1], *lines[5:]], place, rule) == (1, "")
    assert frame([_LINE, *lines[1:]], place, rule) == (1, "")
    assert frame(lines[2:], Place(1, 2, (3, 4), 5), rule)[1] == NO_TOP


@each("above", ["", "  rm -rf /", "    rm -rf /"])
def test_a_row_like_it_that_is_asked_is_no_top(above: str) -> None:
    """Where all above it could be of the dialog itself, nobody knows whether its own top has left the screen."""
    rule = next(rule for rule in agent("codex").screen_rules if rule.name == "permission")
    lines = [above, "  Would you like to run it?", "  $ a", "› 1. Yes", "  2. No"]

    assert frame(lines, Place(1, 1, (3, 4), 5), rule) == (0, NO_TOP)


def test_what_stands_above_it_at_its_margin_belongs_to_it() -> None:
    """Another rule may take a row of the text for its own: the dialog still begins below what is certainly above."""
    rule = next(rule for rule in agent("codex").screen_rules if rule.name == "question")
    lines = ["• Ran c", "", "  Run it?", "  rm", "  Question 1/1", "  ls", "› 1. Yes", "  2. No"]

    assert frame(lines, Place(4, 5, (6, 7), 8), rule) == (2, "")
    assert frame(["• Ran c", "    + Show details", *lines[1:]], Place(5, 6, (7, 8), 9), rule) == (3, "")
    assert frame([_LINE, *lines[2:3], "", *lines[3:]], Place(4, 5, (6, 7), 8), rule) == (1, "")


def test_a_row_left_of_all_that_is_asked() -> None:
    """Qwen Code's title needs nothing above it: what is asked stands further to the right, whatever it says."""
    rule = next(rule for rule in agent("qwen").screen_rules if rule.name == "permission")
    asked = ["     rm", "     ? Shell ls", "   Allow it?", "   › 1. Yes", "     2. No"]

    assert frame(["  ? Shell rm", *asked], Place(3, 3, (4, 5), 6), rule) == (0, "")
    assert frame(asked, Place(2, 2, (3, 4), 5), rule)[1] == NO_TOP


@each(
    ("row", "missing"),
    [
        ("… 27 more lines", LEFT_OUT), ("↑ 27 more lines", LEFT_OUT), ("[… 52 lines] ^a view all", LEFT_OUT),
        ("... last 38 lines hidden ...", LEFT_OUT), ("... 36 hidden (Ctrl+O) ...", LEFT_OUT),
        ("Press ctrl-s to show more lines", LEFT_OUT), ("… +12 lines (ctrl+o to expand)", LEFT_OUT),
        ("+ Show details", LEFT_OUT), ("ctrl+e to expand", LEFT_OUT), ("a long comm…", LEFT_OUT), ("…and", LEFT_OUT),
        ("a long comm…'", LEFT_OUT), ("(truncated)", LEFT_OUT), ("output truncated", LEFT_OUT), ("↓ 3 more", LEFT_OUT),
        ("show the last 20 lines", ""), ("ctrl+f fullscreen", ""), ("ctrl+e to explain", ""), ("wait...", ""),
        ("echo '…' > x", ""), ("head -n 5", ""),
    ],
)  # fmt: skip
def test_rows_that_say_that_lines_are_left_out(row: str, missing: str) -> None:
    """In the words of real agents; wherever they stand in the dialog, or below its choices."""
    place = Place(2, 3, (4, 5), 6)
    assert frame([_LINE, "", f" {row}", *_ASKS, "", " Esc to cancel"], place)[1] == missing
    boxed = ["╭──────╮", "│ Go │", f"│ {row} │", "│ Ok?│", "│ ❯ 1. Yes│", "│   2. No│", "╰──────╯"]
    assert frame(boxed, place)[1] == missing


def test_rows_below_it() -> None:
    """Up to the end of its box, or a line: what stands below that is the program's own."""
    more, place = " ↑ 36 more lines", Place(1, 1, (2, 3), 4)

    assert frame([_LINE, *_ASKS, more], place)[1] == LEFT_OUT
    assert frame([_LINE, *_ASKS, _LINE, more], place)[1] == ""


def test_what_a_box_tells() -> None:
    """A scroll bar in its side, or a box within that has nothing in it: Gemini CLI leaves that of a tall command."""
    place = Place(1, 1, (2, 3), 4)
    assert frame(["╭──╮", "│ a█", "│ ❯ 1. Yes│", "│   2. No│"], place)[1] == LEFT_OUT
    assert frame(["╭──╮", "│ a│", "│ ❯ 1. Yes│", "│   2. No▼"], place)[1] == LEFT_OUT
    empty = ["╭────╮", "│ ╭──╮ │", "│ ╰──╯ │", "│ Ok?│", "│ ❯ 1. Yes│", "│   2. No│"]
    assert frame(empty, Place(1, 3, (4, 5), 6))[1] == LEFT_OUT
    assert frame([*empty[:2], "│ │ rm│ │", *empty[2:]], Place(1, 4, (5, 6), 7))[1] == ""


def test_room() -> None:
    """What an agent would cut without a sign is not known to be whole if it is as tall as that."""
    rule = ScreenRule(name="x", status=Status.WAITING, room=4)
    place = Place(1, 1, (2, 3), 4)
    assert frame([_LINE, *_ASKS], place, rule)[1] == ""
    assert frame([_LINE, *_ASKS], place, attrs.evolve(rule, room=3))[1] == NO_ROOM


def test_a_dialog_without_a_place() -> None:
    """Nobody knows what of the screen it is."""
    found = framed(Dialog(None, "x", choices=_CHOICES), ["a"], COLUMNS, None)

    assert found.missing == NO_TOP and not any(choice.keys for choice in found.choices)
    assert inside(found, ["a"]) == []


def test_only_its_own_frame_is_taken_off() -> None:
    """Bars and boxes within it stay: they tell what is quoted from what the agent says itself."""
    box = ["╭──────╮", "│ Bash │", "│ │ ls │ │", "│ Ok?  │", "│ ❯ 1. Yes  │", "│   2. No   │", "╰──────╯"]
    found = framed(Dialog(None, "x", place=Place(1, 3, (4, 5), 6)), box, COLUMNS, None)
    assert inside(found, box) == ["──────", " Bash", " │ ls │", " Ok?", " ❯ 1. Yes", "   2. No"]

    plain = [_LINE, " Bash", " │ rm", *_ASKS]
    found = framed(Dialog(None, "x", place=Place(1, 3, (4, 5), 6)), plain, COLUMNS, None)
    assert inside(found, plain) == plain


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen", "kimi", "pi", "copilot", "opencode", "kilo"])
def test_no_keys_where_it_is_not_whole(name: str) -> None:
    """A dialog that is cut is read, and none of its choices can be typed: nothing that shows it has keys to press."""
    for path in sorted((SCREENS / name).glob("permission-*.txt")):
        shown = look(f"{name}/{path.stem}")
        found = read_screen(agent(name), shown.lines, shown.cursor_row, columns=shown.columns)
        assert found is not None and found.dialog is not None
        cut = shown.lines[found.dialog.top + 1 :]
        read = read_screen(agent(name), cut, shown.cursor_row, columns=shown.columns)
        if read is not None and read.dialog is not None:
            assert read.dialog.missing and not any(choice.keys for choice in read.dialog.choices), (path.stem, cut)
