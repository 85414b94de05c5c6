"""Dialogs that are known by their structure alone: in any notation, with no key to press, and no input among them."""

from __future__ import annotations

import pytest

from tallylight.evidence.prompts import read_screen
from tallylight.evidence.structure import WEIGHTS, read_structure
from tallylight.evidence.tail import read_tail
from tallylight.evidence.unknown import candidate
from tallylight.model.dialog import Dialog
from tallylight.model.status import Status
from tests.tables import each

EDGE = "─" * 60


def read(text: str, cursor: int | None = None) -> Dialog | None:
    """What is read of the rows of *text*; the cursor is hidden, or visible in row *cursor*."""
    rows = text.strip("\n").splitlines()
    return read_structure(read_tail(rows), cursor)


ASKING = {
    "an ASCII pointer": """
The agent wants to run a command:

  npm test

Allow this command?
  > Yes, once
    Yes, always
    No, tell it what to do instead
""",
    "a star as pointer": """
Do you trust this folder?

 * Trust it
   Do not trust it

 Press Escape to cancel
""",
    "numbers of which only a colour tells the selected one": """
Would you like to apply the patch?

  1. Apply
  2. Apply and do not ask again
  3. Reject

  up/down to move, enter to select
""",
    "labels with their key at the end": """
Run `rm -r build`?

  Allow once (a)
  Always allow (w)
  Deny (d)
""",
    "a row of state below": """
 ╭──────────────────────────────────────────────────╮
 │ Edit notes.txt?                                  │
 │                                                  │
 │ » Accept (enter)                                 │
 │   Reject (esc)                                   │
 ╰──────────────────────────────────────────────────╯
 ⏸ Awaiting decision…
""",
    "nothing but a box": """
 ╭──────────────────────────────────────────────────╮
 │ May I run make install?                          │
 │                                                  │
 │   ● Yes                                          │
 │   ○ No                                           │
 ╰──────────────────────────────────────────────────╯
""",
    "radio buttons": """
Pick a way to sign in:

  (•) With a browser
  ( ) With an API key

Enter to confirm
""",
}


@each("name", ASKING)
def test_asks(name: str) -> None:
    """Whatever its notation, it waits, says what it asks, and shows choices with no key to press."""
    dialog = read(ASKING[name])

    assert dialog is not None
    assert dialog.question in ASKING[name] and dialog.question.endswith(("?", ":"))
    assert len(dialog.choices) >= 2
    assert {choice.keys for choice in dialog.choices} == {""}
    assert dialog.rule.startswith("structure: ")


@each(
    ("text", "cursor"),
    [
        ("Run the tests now? [(y)es, (n)o]:", 0),
        ("The tool wants to write notes.txt.\nProceed? (y/n)\n\n> ", 3),
        ("Apply these edits? yes/no/always ", 0),
        ("Delete 3 files?\n\n  [ Yes ]   [ No ]   [ Cancel ]\n\n  tab to move, enter to choose", None),
    ],
)
def test_answers_in_a_row(text: str, cursor: int | None) -> None:
    """A yes and a no in one row, with the cursor behind them, below them, or hidden."""
    dialog = read(text, cursor)

    assert dialog is not None
    assert "?" in dialog.question
    assert not any(choice.keys for choice in dialog.choices)


QUIET = {
    "an input with a status row": ("› Ask it to do anything\n\n  ? for shortcuts", 0),
    "an input between two lines": (
        f"Here is a short answer.\n\n{EDGE}\n> a prompt that is\n  wrapped\n{EDGE}\n  model · project",
        3,
    ),
    "a transcript": (
        "● Read notes.txt\n  59 lines\n\n● Ran npm test\n  ok\n\n● All tests pass. Shall I go on?\n\n> ",
        8,
    ),
    "numbered advice": (
        f"I suggest:\n\n1. Run the tests\n2. Fix what fails\n\nThat should do.\n\n{EDGE}\n> \n{EDGE}\n  42 % context",
        8,
    ),
    "a menu of commands below an input": (
        f"{EDGE}\n> /ex\n{EDGE}\n  > exit     leave the program\n    export   write the conversation to a file\n",
        1,
    ),
    "an answered prompt": ("Run shell command? (Y)es/(N)o [Yes]: y\n\nRunning make\n\nmade\nall done\ndiff> ", 6),
    "a table": ("name    size\nyes     1\nno      2\nother   3\nmore    4\n$ ", 5),
    "nothing": ("", 0),
}


@each("name", QUIET)
def test_does_not_ask(name: str) -> None:
    """An input, a transcript, a menu of the person's own, and what was answered ask nothing."""
    text, cursor = QUIET[name]
    dialog = read_structure(read_tail(text.splitlines()), cursor)

    assert dialog is None, dialog


def test_is_the_last_to_be_asked() -> None:
    """What other rules know is read by them; what none of them knows is read by its structure, and says by what."""
    agent = candidate("mystery")
    numbered = ["Do you want to go on?", "❯ 1. Yes", "  2. No", "Enter to select, Esc to cancel"]
    unheard = ASKING["an ASCII pointer"].strip("\n").splitlines()

    known, found = read_screen(agent, numbered, 1), read_screen(agent, unheard, len(unheard) - 1, cursor_visible=False)

    assert known is not None and known.rule == "numbered choices"
    assert found is not None and found.status is Status.WAITING
    assert set(found.rule.removeprefix("structure: ").split(", ")) <= WEIGHTS.keys()


@pytest.mark.parametrize(
    "rows", [["> " * 3000] * 300, ["> a", "  b"] * 200, ["(y/n) " * 500] * 60, ["1. x", "2. y"] * 99]
)
def test_any_screen(rows: list[str]) -> None:
    """No screen is too large or too odd to be read, and no dialog has more choices than one may have."""
    dialog = read_structure(read_tail(rows), 0)

    assert dialog is None or len(dialog.choices) <= 20
