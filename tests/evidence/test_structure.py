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
    "a list with an empty input and a foot of keys below": """
  A step of the script: rm -rf build

  Confirm 1 action(s)?
                                                                     ▄
  > Yes
    No
    Always


 ╭────────────────────────────────────────────────────────────────────╮
 │ Type your message, @mention a file, or / for commands              │
 ╰────────────────────────────────────────────────────────────────────╯
 [Ctrl+L for multi-line] ~/project ctx 10

 ^q Quit the application  ^l Toggle input
""",
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
    "below it a key that leaves, and one that changes it": """
──────────────────────────────────────────────────────────────────────────
 Bash command
 A command of the script
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
 curl -s http://127.0.0.1:9/x | sh
╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
 │ Auto mode can't check actions in this session, so this one needs your
 │ approval

 Do you want to proceed?
 ❯ No
   Yes

 Esc to cancel · Tab to amend
""",
    "labels with their key at the end": """
Run `rm -r build`?

  Allow once (a)
  Always allow (w)
  Deny (d)
""",
    "a list and its keys in a box, above an input": """
┌────────────────────────────────────────┐
│ >>> execute Requires Approval <<<      │
│  rm -r build                           │
│  Run it?                               │
│   › 1. Approve (y)                     │
│     2. Approve for this thread (a)     │
│     3. Reject (n)                      │
│ ↑/↓ navigate • Enter select            │
└────────────────────────────────────────┘
┌────────────────────────────────────────┐
│ >                                      │
└────────────────────────────────────────┘
 manual  ~/project
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
    "a list behind a bar": """
┃ Which provider do you use?
┃ > One
┃   Another
┃   A third one

↑ up • ↓ down • / filter • enter submit
""",
    "a list in a box, told by its colour alone": """
   ╭────────────────────────────────────────────────╮
   │                                                │
   │ How do you want to sign in?                    │
   │ ▊▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▎ │
   │ ▊ With a browser                             ▎ │
   │ ▊ With a key                                 ▎ │
   │ ▊ Not now                                    ▎ │
   │ ▊▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▎ │
   │                                                │
   ╰────────────────────────────────────────────────╯
""",
    "a list without hints": """
Choose a provider:

❯ One
  Another
  Local
""",
    "a list told by its colour, above the keys of the program": """
Which colour?

   Red
   Green

 Enter to select
""",
    "all that is on the screen": """
New conversation or load previous?

* New conversation
  Load more
""",
    "circles behind a bar": """
◆  The agent would like to call the above tool. Do you allow?
│  ● Allow (allow it once)
│  ○ Always allow
│  ○ Deny
└
""",
    "hints above the choices": """
────────────────────────────────────────────────────────────
 Trust this folder?
 ↑↓ navigate · Enter select · Esc exit

 /home/user/project

  ❯ Trust this folder
    Enable its servers. Remembered for this folder.

    Don't trust
    Exit. Asked again next time.

────────────────────────────────────────────────────────────
""",
}


@each("name", ASKING)
def test_asks(name: str) -> None:
    """Whatever its notation, it waits, says what it asks, and shows choices with no key to press."""
    dialog = read(ASKING[name])

    assert dialog is not None
    assert dialog.question in ASKING[name] and any(sign in dialog.question for sign in "?:")
    assert len(dialog.choices) >= 2
    assert {choice.keys for choice in dialog.choices} == {""}
    assert dialog.rule.startswith("structure: ")


#: What is filled in, and where one key is enough: each with the row of the visible cursor, if it is one.
GIVEN = {
    "a number": ("Select a provider:\n1) One\n2) Another\n3) A third one (local)\n\nEnter choice [1-3]: ", 5),
    "one of several": (
        "How would you like to connect?\n  1. Account (browser)\n  2. Key of a provider\nConnection [1/2] (1): ",
        3,
    ),
    "a question with the cursor behind it": ("See license for details.\n\n\nWho are you? ", 3),
    "a word with a default": ("Model name [large]: ", 0),
    "words to choose from": ("Choose a theme [dark/light] (dark): ", 0),
    "a key that has a name": ("PROVIDER_API_KEY: ", 0),
    "a name": ("To get started, set up your model.\n\nEnter your default model (e.g., maker/large): ", 2),
    "a yes and a no below the cursor": (
        "24. A line.\n25. A line.\nSave modified buffer?\n Y Yes\n N No           ^C Cancel",
        2,
    ),
    "a comment or nothing": (
        "Execute 1 action(s)? Enter to confirm, type comment to reject, or /h for\nmore\n> ",
        2,
    ),
    "a code": ("Open this page to sign in:\n\nhttps://example.org/authorize?id=1\n\nPaste the code here: ", 4),
    "behind a library's mark": ("◆  What is your key?\n│  _\n└", None),
    "with help of a library": ("? Select a model (Use arrow keys)\n » large\n   small", 0),
    "in a box": (
        "╭──────────────────────────────╮\n│ Enter your API key           │\n│                              │\n"
        "│ > █                          │\n│                              │\n│ Enter to submit              │\n"
        "╰──────────────────────────────╯",
        None,
    ),
    "in a browser": (
        "To sign in, open https://example.org/device and enter the code ABCD-1234\n\n⠋ Waiting for authorization...",
        None,
    ),
    "one key": ("Signed in as somebody@example.org. Press Enter to continue…", None),
    "a form": (
        "┌────────────────────────────────────────────────┐\n│ Provider:                                      │\n"
        "│ ▊▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▎ │\n│ ▊ One                                     ▼  ▎ │\n"
        "│ ▊▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▎ │\n│ API Key:                                       │\n"
        "│ ▊▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▎ │\n│ ▊ Enter your API key                         ▎ │\n"
        "│ ▊▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▎ │\n│       ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔  ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔       │\n"
        "│         Save & Start          Skip             │\n│       ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁       │\n"
        "└────────────────────────────────────────────────┘",
        None,
    ),
}


@each("name", GIVEN)
def test_wants_something(name: str) -> None:
    """What is to be filled in, opened or confirmed is waited for, although it shows no choices."""
    text, cursor = GIVEN[name]
    dialog = read(text, cursor)

    assert dialog is not None
    assert not any(choice.keys for choice in dialog.choices)


#: A yes and a no in one row, each with the row of the visible cursor, if it is one.
IN_A_ROW: list[tuple[str, int | None]] = [
    ("Run the tests now? [(y)es, (n)o]:", 0),
    ("The tool wants to write notes.txt.\nProceed? (y/n)\n\n> ", 3),
    ("Apply these edits? yes/no/always ", 0),
    ("Delete 3 files?\n\n  [ Yes ]   [ No ]   [ Cancel ]\n\n  tab to move, enter to choose", None),
]


@each(("text", "cursor"), IN_A_ROW)
def test_answers_in_a_row(text: str, cursor: int | None) -> None:
    """A yes and a no in one row, with the cursor behind them, below them, or hidden."""
    dialog = read(text, cursor)

    assert dialog is not None
    assert "?" in dialog.question
    assert not any(choice.keys for choice in dialog.choices)


QUIET = {
    "a footer whose items are rows, above an input": (
        """
workspace (/directory)
~/project branch
main sandbox
no sandbox /model
Auto
? for shortcuts
Shift+Tab to accept edits
>    Type your message or @path/to/file
""",
        None,
    ),
    "a hint above an input that says how to send what is typed there": (
        f"press enter to send the message, write \\ and enter to add a new line\n{EDGE}\n >\n\n ctrl+? help    Model",
        None,
    ),
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
    "the prompt of a chat": ("There is nothing about it.\n\nYou: ", 2),
    "a prompt below a question in prose": ("I changed two files. Shall I go on?\n> ", 1),
    "an input of a chat in a box": (
        f"Here is an answer.\n\n▊{'▔' * 40}▎\n▊ Ask anything                           ▎\n▊{'▁' * 40}▎\n ^q Quit",
        None,
    ),
    "an answered field": ("Execute 1 action? Enter to confirm, or /h\n>\n", 2),
    "answered questions of a library": ("? Which region? Europe\n? Proceed? Yes\nInstalling\n", 3),
    "a key above an input": (
        " Interrupted by user - Press enter to continue\n╭────────────────────────╮\n│ ● ▋Ask anything        │\n"
        "╰────────────────────────╯\n  /home/user/project",
        None,
    ),
    "a page in an answer": (
        "I started it. Open http://localhost:3000 in your browser.\n\n╭────────────────────────╮\n"
        "│ >                      │\n╰────────────────────────╯",
        None,
    ),
    "the hint of an input behind a bar": (
        "Shall I do it?\n\n┃ Ask anything...\n┃\n┃ Build  model\n  ctrl+p commands",
        None,
    ),
    "an answered list above the hint of an input": (
        f"? Question\n  Allow this command?\n\n  touch three\n\n❯ Allow once\n\n{EDGE}\nQueue a follow-up…",
        None,
    ),
    "what came of a prompt": (
        "Press CTRL-C to exit.\n\n> touch three\n\n\n  touch three\n\n\n  Would you like to run this code? (y/n)\n\n"
        "  y\n\n\n  touch three",
        None,
    ),
    "a row of answers below the cursor": ("some output\nOverwrite? [y/N] ", 0),
    "the prompt of an interpreter": ("Yes or no?\nphp > ", 1),
    "a refusal above a prompt": ("$ ./run.sh\nbash: ./run.sh: Permission denied\n❯ ", 2),
    "a command that is typed": ('user@host:~/project$ echo "Continue? [y/N]"', 0),
    "a line of an interpreter": ("In [2]: select name = ?", 0),
    "a picture": ("? >ｱｲ ?3]E24]9@.0c5 + #55c@?  E4 2=@..7>* 86-.ｵ9E F2F*@ｳaｳ4 6- 4 $7 76?", 0),
    "what a program prints once it was answered": (
        "┌──────────────────────────┐\n│ Trust this folder?       │\n│ ● 1. Yes, trust it       │\n"
        "│   2. No                  │\n└──────────────────────────┘\n Restarting to apply the new trust settings.",
        None,
    ),
    "nothing": ("", 0),
}


SUBMITTED = {
    "a field of a form": (
        "› please look at the parser\n\n\n• I looked at it.\n\n\n  Field 1/1 (1 required unanswered)\n  Enter a name\n"
        "\n  Name\n  › Type your answer\n\n\n  enter to submit | esc to cancel",
        10, "Name",
    ),
    "a text": (
        "• Done.\n\n  Question 1/1\n  Which name shall it have?\n\n  › Type your answer\n\n  enter to submit answer",
        5, "Which name shall it have?",
    ),
    "notes beside choices": (
        "  Question 1/1\n  Choose an option.\n\n  › 1. One\n    2. Two\n\n  › Add notes\n\n"
        "  esc to clear | enter to submit",
        6, "Choose an option.",
    ),
    "a text in a box": (
        "┌──────────────────────────────┐\n│ Name it                      │\n│ > e.g. card                  │\n"
        "│ Enter submit · Esc cancel    │\n└──────────────────────────────┘", None, "Name it",
    ),
    "a page of answers": (
        "┌──────────────────────────────┐\n│ Review your answers          │\n│ Colour → red                 │\n"
        "│ Enter to submit · Esc to go back │\n└──────────────────────────────┘", None, "Review your answers",
    ),
}  # fmt: skip


@each("name", SUBMITTED)
def test_what_is_submitted(name: str) -> None:
    """A text that is asked for is no prompt: its hint names the key that submits it, and what leaves or answers it."""
    text, cursor, question = SUBMITTED[name]
    dialog = read_structure(read_tail(text.splitlines()), cursor)

    assert dialog is not None
    assert dialog.question == question


LISTS = {
    "one that does not begin with 1": ("What next?\n\n  2. Test\n  3. Review\n› 4. Build\n\n  enter to select", "234"),
    "one with keys at its end": (
        "Run this command?\n → Run (once) (y) (enter)\n   Allow it? (tab)\n   Skip (esc or n)", "RAS",
    ),
    "an error between it and its keys": (
        "Do you trust it?\n\n› 1. Yes, go on\n  2. No, quit\n\n  Failed to write the file\n\n  Press enter to continue",
        "12",
    ),
}  # fmt: skip


@each("name", LISTS)
def test_lists(name: str) -> None:
    """Choices are those that belong together, wherever the numbers begin and whatever is in their column."""
    text, labels = LISTS[name]
    dialog = read_structure(read_tail(text.splitlines()), None)

    assert dialog is not None
    assert "".join(choice.label[0] for choice in dialog.choices) == labels


HEADINGS = {
    "the title of the box": (
        f"╭{'─' * 30} Permission: bash {'─' * 30}╮\n│ {{{' ' * 76}│\n│   npm test{' ' * 67}│\n│ }}{' ' * 76}│\n"
        f"╰{'─' * 29} [y] Allow  [n] Deny {'─' * 28}╯\n> ",
        5, "Permission: bash", ["[y] Allow", "[n] Deny"],
    ),
    "above two rows of buttons": (
        " Tool wants to run: bash\n {'command': 'npm test'}\n\n      Allow Once      Allow for Session\n\n"
        "    Allow Always    Deny",
        None, "Tool wants to run: bash", ["Allow Once", "Allow for Session", "Allow Always", "Deny"],
    ),
    "above a field for a reason": (
        f"{'─' * 30}\n Approval required: bash\n {{'command': 'npm test'}}\n ▊{'▔' * 30}▎\n ▊ A reason{' ' * 21}▎\n"
        f" ▊{'▁' * 30}▎\n {'▔' * 16}\n     Approve\n {'▁' * 16}\n {'▔' * 16}\n       Deny\n {'▁' * 16}",
        None, "Approval required: bash", ["Approve", "Deny"],
    ),
}  # fmt: skip


def words_of(text: str, cursor: int | None) -> tuple[str, list[str]]:
    """The question and the choices of the dialog on a screen."""
    dialog = read_structure(read_tail(text.splitlines()), cursor)

    assert dialog is not None
    return dialog.question, [choice.label for choice in dialog.choices]


@each("name", HEADINGS)
def test_headings(name: str) -> None:
    """Without a question the heading is shown, also where the frame, a row of buttons or a field is between."""
    text, cursor, heading, labels = HEADINGS[name]
    assert words_of(text, cursor) == (heading, labels)


#: Each with the row of the visible cursor, if it is one; its question, and its choices.
SHOWN = {
    "choices below a library's question that all have the same mark": (
        "? Which files may I edit? …\n✔ app.py\n✔ README.md", None, "Which files may I edit?", ["app.py", "README.md"],
    ),
    "a list whose number is asked for below": (
        "Shall I go on?\n  1) Yes\n  2) No\nYour choice (1-2): ", 3, "Shall I go on?", ["1) Yes", "2) No"],
    ),
    "a filter between a question and its choices": (
        "◆  Which one shall it be?\n│  Search: _\n│  ● Yes\n│  ○ No\n└", None, "Which one shall it be?", ["Yes", "No"],
    ),
    "boxes to be checked behind a pointer": (
        "? Which files may I edit? ›\n❯ ○ app.py\n  ○ a.md", None, "Which files may I edit?", ["app.py", "a.md"],
    ),
}  # fmt: skip


@each("name", SHOWN)
def test_what_is_shown(name: str) -> None:
    """The question is shown without what a library puts around it, and the choices without their boxes."""
    text, cursor, question, labels = SHOWN[name]
    assert words_of(text, cursor) == (question, labels)


@each(("below", "asks"), [([], False), ([""], False), (["", ""], True), (["", "", "", ""], False), (["y", ""], False)])
def test_an_answer_two_rows_below(below: list[str], asks: bool) -> None:
    """A prompt that is but blank: the cursor is behind an empty row. In the next row anything is printed."""
    rows = ["> remove it", "", "  rm -rf build", "", "  Would you like to run this code? (y/n)"]
    found = read_structure(read_tail([*rows, *below]), len(rows) - 1 + len(below)) if below else None

    assert (found is not None) is asks


@each("name", QUIET)
def test_does_not_ask(name: str) -> None:
    """An input, a transcript, a menu of the person's own, the prompt of a chat and what was answered ask nothing."""
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
