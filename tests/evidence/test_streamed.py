"""A dialog that grows as a text does, above the input of its agent, is quoted; one that is drawn at once is real."""

from __future__ import annotations

from collections.abc import Iterable

from tallylight.evidence.looks import ScreenReader
from tallylight.evidence.screen import Look
from tallylight.evidence.unknown import candidate
from tallylight.model.status import Status
from tests.tables import each

COLUMNS, LINES = 80, 30
EDGE = "─" * COLUMNS
SAYS = "● I have read how it asks."
LIST = "Overwrite the file?\n❯ Yes\n  No\n  Never\n\nEnter to confirm"
QUOTES = {
    "a list with its keys": LIST,
    "numbers": "Do you want to proceed?\n❯ 1. Yes\n  2. Yes, and do not ask again\n  3. No, and say what to do",
    "keys in brackets": "Allow this command?\n  (y) yes, once\n  (a) yes, always\n  (n) no",
    "buttons": "Run this command?\n  Allow once   Allow always   Reject     ⇆ select  enter confirm",
    "a box": "╭──────────────────────────╮\n│ Allow execution of: 'rm'?│\n│ ● 1. Allow once          │\n"
    "│   2. No (esc)            │\n╰──────────────────────────╯",
}
#: Those that are a dialog if they are drawn at once.
AT_ONCE = {name: text for name, text in QUOTES.items() if name != "buttons"}


def screen(text: str, says: str = SAYS) -> Look:
    """A conversation that ends in *text*, and the input below it."""
    rows = [says, "", *(f"  {row}" if row else "" for row in text.splitlines()), "", EDGE, "> ", EDGE]
    return Look((*rows, *[""] * (LINES - len(rows))), 0, 0, COLUMNS, cursor_visible=False)


def is_waiting_after(looks: Iterable[Look]) -> bool:
    """Whether somebody is waited for after *looks*, four a second, and two seconds of the last one."""
    reader, told = ScreenReader(candidate("mystery")), None
    seen = list(looks)
    for number, look in enumerate(seen + seen[-1:] * 8):
        reader.look(look)
        told = reader.read(look, number / 4) or told
    return told is not None and told.status is Status.WAITING


def grown(text: str, step: int) -> list[Look]:
    """The looks at *text* while a model writes it, *step* characters at a time."""
    return [screen("")] * 4 + [screen(text[:end]) for end in range(step, len(text), step)] + [screen(text)]


@each("name", QUOTES)
@each("step", {"slow": 5, "quick": 14})
def test_grown(name: str, step: str) -> None:
    """A text that grows is no dialog."""
    assert not is_waiting_after(grown(QUOTES[name], {"slow": 5, "quick": 14}[step]))


@each("name", AT_ONCE)
def test_drawn_at_once(name: str) -> None:
    """The same rows, drawn at once, are one."""
    assert is_waiting_after([screen("")] * 4 + [screen(QUOTES[name])])


def test_a_frame_in_two_parts() -> None:
    """One look at half of a frame proves nothing."""
    assert is_waiting_after([screen("")] * 4 + [screen(LIST[:32]), screen(LIST)])


def test_a_question_that_was_said_before() -> None:
    """A message that ends in the question grows; its choices are drawn at once."""
    question = LIST.partition("\n")[0]
    assert is_waiting_after([*grown(question, 5), screen(question), screen(LIST)])


def test_a_moved_pointer() -> None:
    """A list whose pointer is moved has all of its choices all the time."""
    rows = LIST.splitlines()
    moved = (
        screen("\n".join([rows[0], *(f"{'❯' if at == chosen else ' '} {row[2:]}" for at, row in enumerate(rows[1:4]))]))
        for chosen in (0, 1, 2, 1)
    )
    assert is_waiting_after([screen("")] * 4 + list(moved))


def test_a_real_one_below_the_quoted() -> None:
    """A dialog with the same words as a quoted one above it is real."""
    below = screen(f"{LIST}\n\nSo I ask.\n\n{LIST}")
    assert is_waiting_after([*grown(LIST, 9), screen(LIST), below])


def test_it_stays_a_text() -> None:
    """A quoted dialog is one for as long as it is there, also when nothing has moved for long."""
    assert not is_waiting_after([*grown(LIST, 9), *[screen(LIST)] * 40, *[screen(LIST, says=SAYS + " ✓")] * 4])
