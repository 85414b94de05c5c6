"""The screen: what is output, what is typing, and what is only a clock; as little plays of looks."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tallylight.evidence.screen import LIVELY_LOOKS, WINDOW_LOOKS, Change, Look, ScreenWatch
from tests.tables import each

COLUMNS, ROWS = 48, 22
NONE, TYPING, MINOR, LIVE, MAJOR, REFLOW = (
    Change.NONE,
    Change.TYPING,
    Change.MINOR,
    Change.LIVELY,
    Change.MAJOR,
    Change.REFLOW,
)


class Screen:
    """A terminal just good enough to print, scroll, wrap and be drawn on."""

    def __init__(self) -> None:
        self.rows = [""] * ROWS
        self.row = self.column = 0
        self.visible = True
        self.columns = COLUMNS
        self.watch = ScreenWatch()
        self.look()

    def look(self) -> Change:
        return self.watch.look(Look(list(self.rows), self.row, self.column, self.columns, self.visible))

    def print(self, text: str) -> None:
        for character in text:
            if character == "\n":
                self._down()
            elif character == "\r":
                self.column = 0
            else:
                if self.column >= self.columns:
                    self._down()
                line = self.rows[self.row].ljust(self.column)
                self.rows[self.row] = line[: self.column] + character + line[self.column + 1 :]
                self.column += 1

    def _down(self) -> None:
        self.column = 0
        if self.row < len(self.rows) - 1:
            self.row += 1
        else:
            self.rows = [*self.rows[1:], ""]

    def draw(self, rows: Iterable[str], cursor: tuple[int, int]) -> None:
        drawn = list(rows)
        self.rows = (drawn + [""] * ROWS)[:ROWS]
        self.row, self.column = cursor


def test_first_look_is_not_output() -> None:
    """What stood there before says nothing, and an unchanged screen says nothing either."""
    watch = ScreenWatch()

    assert [watch.look(Look(["x"] * ROWS, 0, 0, COLUMNS)) for _ in range(3)] == [NONE] * 3


def test_printed_lines_are_output() -> None:
    """A program that prints a line at a time, scrolling or not, however short, is output each time."""
    screen = Screen()

    for number in range(60):
        screen.print(f"line {number}\n")
        assert screen.look() is MAJOR, number


@each("prompt", ["> ", "prompt> ", ""])
def test_printed_lines_with_a_prompt_are_output(prompt: str) -> None:
    """So is one that draws its prompt anew below each line."""
    screen = Screen()
    screen.print(prompt)
    screen.look()

    for number in range(60):
        screen.print(f"\rline {number}      \n{prompt}")
        assert screen.look() is MAJOR, number


@each("above", [0, 5, ROWS - 1])
def test_typing_at_a_prompt(above: int) -> None:
    """Typing, erasing and wrapping at a prompt is never output, at the top, the middle and the bottom of the screen."""
    screen = Screen()
    screen.print("text\n" * above + "> ")
    screen.look()

    for (
        character
    ) in "a person types more than one line of forty-eight columns and then goes on to type a third one, too":
        screen.print(character)
        assert screen.look() in (TYPING, NONE), character
    for _ in range(30):
        screen.rows[screen.row] = screen.rows[screen.row][:-1]
        screen.column = max(0, screen.column - 1)
        assert not screen.look().is_output


def test_erasing_a_wrapped_line() -> None:
    """A wrapped line that becomes short again is typing."""
    screen = Screen()
    screen.print("text\n> " + "x" * 46)
    screen.look()
    screen.print("yz")
    assert screen.look() is TYPING
    screen.rows[screen.row] = ""
    screen.row -= 1
    screen.column = 47
    assert not screen.look().is_output


def test_progress_on_the_cursors_line_is_like_typing() -> None:
    """A line that is written over and over where the cursor stays cannot be told from typing."""
    screen = Screen()
    for number in range(10):
        screen.print(f"\rdone {number} %")
        assert screen.look() is TYPING


def test_printed_lines_as_wide_as_the_screen_are_output() -> None:
    """A line that fills its row exactly is not taken for one that is typed and wrapped."""
    screen = Screen()

    for number in range(60):
        screen.print(f"{number:>{COLUMNS}}\n")
        assert screen.look() is MAJOR, number


def test_drawing_below_a_cursor_that_moved_is_output() -> None:
    """What stands below the cursor is a menu only as long as the cursor stays in its row."""
    screen = Screen()
    screen.draw(["a", "b", "c", "d"], (3, 1))
    screen.look()
    screen.draw(["a", "b", "c", "d", "", "a whole new line", "and another"], (1, 1))

    assert screen.look() is MAJOR


def test_line_after_enter_is_output() -> None:
    """The answer to what was typed is output."""
    screen = Screen()
    screen.print("> hello")
    screen.look()
    screen.print("\n")
    assert screen.look() is NONE
    screen.print("hi there\n> ")
    assert screen.look() is MAJOR


def box(text: str, width: int = 46, *, bars: bool = True) -> list[str]:
    """An input box, as agents draw it around what is typed."""
    inner = width - 4
    lines = [text[i : i + inner] for i in range(0, len(text), inner)] or [""]
    if not bars:
        return ["─" * width, *(f"> {line}" if not i else f"  {line}" for i, line in enumerate(lines)), "─" * width]
    return ["╭" + "─" * (width - 2) + "╮", *(f"│ {line:{inner}} │" for line in lines), "╰" + "─" * (width - 2) + "╯"]


def boxed(transcript: list[str], text: str, footer: list[str], *, bars: bool) -> tuple[list[str], tuple[int, int]]:
    """A screen with an input box at its bottom: rows, and where the cursor is."""
    input_box = box(text, bars=bars)
    below = [*input_box, *footer]
    above = transcript[-(ROWS - len(below)) :]
    rows = [*above, *below]
    last = max(0, len(input_box) - 3)
    return rows, (len(above) + 1 + last, 2 + len(text) - 42 * last)


STORY = [f"said line {i}" for i in range(40)]
MENU = [f"  /command-{i}   does a thing" for i in range(6)]


@each("bars", [True, False])
@each("visible", [True, False])
@each("story", [STORY, STORY[:5]])
def test_typing_in_a_box(bars: bool, visible: bool, story: list[str]) -> None:
    """A box that is typed into, grows and pushes the rest up, or opens a menu below itself, is not output."""
    screen = Screen()
    screen.visible = visible
    screen.draw(*boxed(story, "", ["? for shortcuts"], bars=bars))
    screen.look()
    text = "a long request that needs three rows of the box before it is said in full, with all that is to be done"

    steps = [(text[:i], [] if i < 60 else ["  120 characters"]) for i in range(1, len(text))]
    steps += [(text[:i], []) for i in range(len(text), 0, -7)]
    steps += [("/", MENU), ("/c", MENU[:3]), ("", ["? for shortcuts"]), ("a paste of very many characters " * 4, [])]
    for typed, footer in steps:
        screen.draw(*boxed(story, typed, footer, bars=bars))
        assert not screen.look().is_output, typed


@each("bars", [True, False])
@each("visible", [True, False])
def test_answer_above_a_box_is_output(bars: bool, visible: bool) -> None:
    """Text that appears above the box is output, also while somebody types."""
    screen = Screen()
    screen.visible = visible
    screen.draw(*boxed(STORY[:3], "", [], bars=bars))
    screen.look()

    for count in range(4, 38):
        screen.draw(*boxed([*STORY[:count], f"and more {count * 7919}"], "x" * (count % 3), [], bars=bars))
        assert screen.look().is_output, count


def composer(story: list[str], words: list[str]) -> tuple[list[str], tuple[int, int]]:
    """An input without a border that wraps between words, with a footer below: as Codex draws it."""
    lines = ["›"]
    for word in words:
        if len(lines[-1]) + 1 + len(word) > 40:
            lines.append(" ")
        lines[-1] += f" {word}"
    below = ["", *lines, "", "  gpt-5 high · 97% context left"]
    above = story[-(ROWS - len(below)) :]
    return [*above, *below], (len(above) + len(lines), len(lines[-1]))


@pytest.mark.parametrize("story", [STORY, STORY[:5]])
def test_typing_in_a_composer_without_border(story: list[str]) -> None:
    """An input without a border that wraps between words is typed into without being output."""
    screen = Screen()
    text = "please look at the tests of the parser and say which of them cannot fail at all because nothing is asserted"
    screen.draw(*composer(story, []))
    screen.look()

    for i in range(1, len(text)):
        screen.draw(*composer(story, text[:i].split()))
        assert not screen.look().is_output, text[:i]


def spinning(seconds: float, *, per_second: float) -> list[str]:
    """A screen on which a spinner and a clock move so many times a second."""
    frame = int(seconds * per_second)
    line = f"{'✶✻✽✢'[frame % 4]} Waiting… ({frame / per_second:.0f}s · esc to interrupt)"
    return [*STORY[:10], line, ""]


@each("per_second", [0.9, 1.1, 1.6, 2.0])
def test_clock_is_not_output(per_second: float) -> None:
    """A spinner or clock at the pace of an agent that waits for an approval never is output."""
    screen = Screen()

    def look(tick: int) -> Change:
        screen.draw([*spinning(tick / 4, per_second=per_second), *box("")], (13, 2))
        return screen.look()

    look(0)
    assert {look(tick) for tick in range(1, 200)} <= {NONE, MINOR}


def test_lively_animation_is_output() -> None:
    """One that moves at every look, as that of an agent at work does, is output after two seconds."""
    screen = Screen()
    seen = []
    for tick in range(40):
        screen.draw([*spinning(tick / 4, per_second=10), *box("")], (13, 2))
        seen.append(screen.look())

    assert seen[1:LIVELY_LOOKS] == [MINOR] * (LIVELY_LOOKS - 1)
    assert set(seen[WINDOW_LOOKS + 2 :]) == {LIVE}


def test_one_still_look_does_not_stop_liveliness() -> None:
    """One look without a change among eight is forgiven, two are not."""
    screen = Screen()

    def play(pattern: str) -> Change:
        change = NONE
        for number, step in enumerate(pattern):
            if step == "x":
                screen.rows[3] = f"spinner {number % 10}"
            change = screen.look()
        return change

    screen.draw([*STORY[:3], "spinner", "", "> "], (5, 2))
    screen.look()
    assert play("xxxx.xxx") is LIVE
    assert play("xx.xx.xx") is MINOR


def test_a_moving_logo_is_not_output() -> None:
    """Of dots, in three rows, as Vibe has it while it rests. A spinner of one dot beside what it does is watched."""
    screen = Screen()
    frames = (("⡠⣒⠄  ⡠⡀⡠⡀  Mistral", "⢸⠸⣀⡔⢉⢑⠇⠨⡠⢇", "⠉⠒⠣⠤⠵⠭⠭⠯⠇"), ("⢠⢢    ⡔⢄⠔⡄ Mistral", " ⢸⢸⣀⡔⢉⠱⣃⡐⣔⡣", "⠈⠒⠒⠣⠤⠵⠤⠬⠮⠆"))
    seen = set()
    for number in range(20):
        screen.draw([*frames[number % 2], "", "─" * COLUMNS, ">", "─" * COLUMNS], (5, 1))
        seen.add(screen.look())
    assert seen - {MAJOR} == {NONE}  # the first frame came to an empty screen
    assert screen.look() is NONE
    screen.draw(
        ["⡠⣒⠄  ⡠⡀⡠⡀  Mistral", "⠋ Reading", "⠋ Writing", "⠋ Running", "─" * COLUMNS, ">", "─" * COLUMNS], (5, 1)
    )
    assert screen.look().is_output


def test_blinking_line_is_not_output_for_long() -> None:
    """A line that comes and goes is output at first and a little thing when it repeats."""
    screen = Screen()
    seen = []
    for tick in range(24):
        screen.draw([*STORY[:5], "press enter to go on" if tick % 4 < 2 else "", "", "> "], (7, 2))
        seen.append(screen.look())

    assert not any(change.is_output for change in seen[10:])


@each(
    ("line", "change"),
    [
        ("9s left, 120 tokens", MINOR),
        ("10s left, 1.1k tokens", MINOR),
        ("Reading a whole other file of the project", MAJOR),
        ("", MAJOR),
    ],
)
def test_how_much_is_little(line: str, change: Change) -> None:
    """A few exchanged characters are little; another sentence, or a row that goes, is not."""
    screen = Screen()
    screen.draw(["above", "8s left, 110 tokens", "", "", "> "], (4, 2))
    screen.look()
    screen.rows[1] = line

    assert screen.look() is change


@each("rows", [1, 2, 3])
def test_rows_of_a_little(rows: int) -> None:
    """Two rows may move a little at once, a third makes it output."""
    screen = Screen()
    screen.draw([f"row {i}: 1" for i in range(5)], (20, 0))
    screen.look()
    screen.rows[:rows] = [f"row {i}: 2" for i in range(rows)]

    assert screen.look() is (MINOR if rows <= 2 else MAJOR)


def test_resize_is_not_output() -> None:
    """A new size, and what is drawn anew right after it, is not output; what comes later is."""
    screen = Screen()
    screen.print("some text that is reflowed\n" * 5)
    screen.look()
    screen.columns = 30
    screen.rows = [line[:30] for line in screen.rows]
    assert screen.look() is REFLOW
    for number in range(3):
        screen.print(f"redrawn {number}\n")
        assert screen.look() is REFLOW
    screen.print("new line\n")
    assert screen.look() is MAJOR


def test_cursor_movement_is_not_output() -> None:
    """A cursor that moves over an unchanged screen is nothing."""
    screen = Screen()
    screen.print("a\nb\nc")
    screen.look()
    for row in range(ROWS):
        screen.row = row
        assert screen.look() is NONE


def test_trailing_blanks_are_not_output() -> None:
    """Blanks at the end of rows come and go unseen."""
    screen = Screen()
    screen.print("a\nb\n")
    screen.look()
    screen.rows = [row + "   " for row in screen.rows]

    assert screen.look() is NONE


EMPTY, OUTSIDE = Look([], 0, 0, 0), Look(["x"] * 3, 99, 99, 10)


@each("odd", [EMPTY, Look(["x" * 100_000] * 5_000, 4_999, 0, 100_000), OUTSIDE, Look(["y"] * 3, -1, -1, 10)])
def test_odd_screens(odd: Look) -> None:
    """No size of screen and no place of the cursor is an error, and what is kept is bounded."""
    watch = ScreenWatch()
    for look in (odd, OUTSIDE, odd, EMPTY, odd):
        watch.look(look)
        watch.look(look)

    assert len(watch._rows) <= 500 and all(len(row) <= 1000 for row in watch._rows)


def test_what_an_inner_terminal_shows() -> None:
    """Rows of bars below it are left out, where it is as wide as all of it; else nothing is."""
    look = Look(["a", "b", "c", "d", "e"], 0, 0, COLUMNS)
    sizes = [None, (COLUMNS, 3), (COLUMNS, 5), (COLUMNS, 9), (COLUMNS, 1), (COLUMNS - 1, 3), (0, 0)]

    assert [len(look.inside(size).lines) for size in sizes] == [5, 3, 5, 5, 5, 5, 5]
