"""What a dialog is about, read off its rows: the ways in which programs show it, and what is none."""

from __future__ import annotations

import functools
from pathlib import Path

from tallylight.evidence.prompts import read_screen
from tallylight.evidence.subject import subject
from tallylight.model.dialog import SUBJECT_CELLS, Dialog, Place
from tallylight.wire.text import width
from tests.evidence.agents import agent
from tests.evidence.test_prompts import UNKNOWN
from tests.helpers import least_seconds

EDGE, DASHED = "─" * 40, "╌" * 40
YES_NO = ["❯ 1. Yes", "  2. No"]


def what(*lines: str) -> str:
    """What an agent that nobody knows asks on a screen of *lines* within a margin, the cursor in the last one."""
    rows = [line if line in (EDGE, DASHED) else f"  {line}" for line in lines]
    found = read_screen(UNKNOWN, rows, len(rows) - 1, columns=40)
    assert found is not None and found.dialog is not None, lines
    return found.dialog.what


#: What stands above the choices, and what it is about.
ABOVE: dict[str, tuple[list[str], str]] = {
    "a command behind a prompt": (["Run this command?", "", "  $ npm test", ""], "Shell: npm test"),
    "that is wrapped": (["Run it?", "", "$ npm test", "  --workspace web", ""], "Shell: npm test --workspace web"),
    "said above the dialog, and explained below": (
        [
            "● Running a command · $ npm tes…",
            EDGE,
            "Run it?",
            "",
            "$ npm test --offline --silent",
            "  --workspaces",
            "  To see it",
            "",
        ],
        "Shell: npm test --offline --silent --workspaces",
    ),
    "in lines, and shown above as well": (
        ["$ cat > a <<E", "  one", "  E", "", EDGE, "Run it?", "", "$ cat > a <<E", "one", "E", ""],
        "Shell: cat > a <<E one E",
    ),
    "in lines": (
        ["● Running a command · $ cat > a <<E…", EDGE, "Run it?", "", "$ cat > a <<E", "· one", "· E", "To see it", ""],
        "Shell: cat > a <<E one E",
    ),
    "a block between lines": (
        [EDGE, " Bash command", " Tip: more of it", DASHED, " make", DASHED, "Do you want to proceed?"],
        "Bash: make",
    ),
    "a block of a subagent": (
        [EDGE, " Bash command · from the Explore agent", DASHED, " make", DASHED, "Do you want to proceed?"],
        "Bash: make",
    ),
    "a block with a remark below it": (
        [EDGE, " Bash command", DASHED, " rm $X", DASHED, "A variable can't be checked", "", "Proceed?"],
        "Bash: rm $X",
    ),
    "a tool of a server": (
        [
            EDGE,
            " Tool use",
            " ledger — Add Entry Tool: (MCP)",
            DASHED,
            " title: x",
            DASHED,
            "About it:",
            " │ It adds",
            "Proceed?",
        ],
        "ledger — Add Entry: title: x",
    ),
    "two rows in a block": (
        [EDGE, " Bash command", DASHED, " make a", " make b", DASHED, "Proceed?"],
        "Bash: make a make b",
    ),
    "a block that nothing names": ([EDGE, "So it is", DASHED, "this", DASHED, "Allow it?"], ""),
    "a block of a command": ([EDGE, "So it is", DASHED, "ls", DASHED, "Run this command?"], "Shell: ls"),
    "a command below its heading": (["⚠ Dangerous command:", "", "  rm -r build", "", "Allow?"], "Shell: rm -r build"),
    "a heading with nothing below": (["Dangerous command:", "Allow?"], ""),
    "a row with the tool": (["? Shell ls -l", "", "Allow execution?"], "Shell: ls -l"),
    "a tool, wrapped, and in full": (
        ["? Shell ls -l (to see", "what there is)", "", "ls -l", "", "Allow execution?"],
        "Shell: ls -l",
    ),
    "below a question that names the tool": (
        [EDGE, "Allow the fs.bash tool (rm *)?", "rm -rf build; touch", "made", ""],
        "Shell: rm -rf build; touch made",
    ),
    "a call above a tree": (
        [
            "⏺ Run bash command(npm test",
            "--silent)",
            "  ⎿ Requesting confirmation",
            "  ⎿ Command: npm test",
            "",
            "Proceed?",
        ],
        "Shell: npm test --silent",
    ),
    "a tool in lines, and in full": (
        [
            "? Shell cat > a <<E of it all     ←",
            "one",
            "E (to see)",
            "",
            "cat > a <<E of it all",
            "one",
            "E",
            "",
            "Allow it?",
        ],
        "Shell: cat > a <<E of it all one E",
    ),
    "a tool with what it is for": (
        ["? Shell touch two (to try it) ←", "", "touch two", "", "Allow it?"],
        "Shell: touch two",
    ),
    "a file that is made": (["Do you want to create a/new.txt?"], "Write a/new.txt"),
    "a file that is changed": (["Do you want to make this edit to app.py?"], "Edit app.py"),
    "nothing that is a file": (["Do you want to create it?"], ""),
    "a file and its stat": (
        ["src/api.py +12 -3", "", "Do you want to overwrite src/api.py?"],
        "Write src/api.py (+12 −3)",
    ),
    "the stat of another file": (["b.py +12 -3", "", "Do you want to overwrite a.py?"], "Write a.py"),
    "numbered rows that are counted": (
        ["→ Edit a.py", "", "1 + x", "2 - y", "3   z", "4 - w", "", "Apply this change?"],
        "Edit a.py (+1 −2)",
    ),
    "numbered rows that are cut": (["→ Edit a.py", "1 + x", "... 4 lines hidden", "Apply?"], "Edit a.py"),
    "an address": (["URLs to fetch:", " - https://example.org/x", "Do you want to proceed?"], "Fetch example.org/x"),
    "an address that is not safe": (["url: http://a.example", "Allow it?"], "Fetch http://a.example"),
    "an address for more of it": (["Read more:", "https://example.org/x", "Do you want to proceed?"], ""),
    "a folder": (["/home/me/src", "", "Do you trust the files in this folder?"], "Trust /home/me/src"),
    "a question alone": (["Do you want to proceed?"], ""),
    "a price": (["It costs 5 $", "Proceed?"], ""),
    "a question with answers of its own": (["$ ls", "", "Which colour?"], ""),
}


def test_what_stands_above_the_choices() -> None:
    """Each of these."""
    found = {name: what(*lines, *YES_NO) for name, (lines, _) in ABOVE.items()}

    assert found == {name: expected for name, (_, expected) in ABOVE.items()}


def test_what_stands_above_a_question_in_a_row() -> None:
    """The rows right above it, up to an empty one; by the question it is told what they are."""
    assert what("past", "", "npm test", "Run shell command? [y/N]") == "Shell: npm test"
    assert what("a.py", "Create new file? [y/N]") == "Write a.py"
    assert what("a.py", "Add file to the chat? [y/N]") == "Read a.py"
    assert what("https://a.example", "Add URL to the chat? [y/N]") == "Fetch a.example"
    assert what("npm test", "", "Run shell command? [y/N]") == ""
    assert what("3 passed", "Add command output to the chat? [y/N]") == ""
    assert what("so it is", "Really? [y/N]") == ""


def test_a_transcript_above_is_not_read() -> None:
    """A command that ran before, above the line that a dialog begins with, is not what it is about."""
    assert what("$ rm -rf /", EDGE, " Bash command", DASHED, "ls", DASHED, "Proceed?", *YES_NO) == "Bash: ls"
    assert what("$ rm -rf /", EDGE, "Do you want to proceed?", *YES_NO) == ""


def test_how_long() -> None:
    """What is longer than 200 cells is cut in the middle, and of a full screen of it every row is read once."""
    long = what("Run it?", "", "$ " + "x" * 150, "y" * 150, "", *YES_NO)
    assert width(long) <= SUBJECT_CELLS == 200 and "…" in long
    assert long.startswith("Shell: xxx") and long.endswith("yyy")
    for line in ("$ " * 200, "? Shell " * 50, "https://x " * 40, "1 + " * 100, "a.py +1 -1 " * 30, "│ " * 200):
        lines = [line] * 500
        dialog = Dialog(None, "x", line, place=Place(400, 400, (490, 495), 500), top=400)
        assert least_seconds(functools.partial(subject, lines, dialog), 0.05) < 0.05, line


def test_a_title_alone_says_nothing() -> None:
    """The rows below it may be gone, or empty."""
    for below in ([], [""]):
        rows = ["Bash command", *below]
        dialog = Dialog(None, "x", "Bash command", place=Place(0, 0, (len(rows), len(rows) + 1), len(rows) + 2), top=0)
        assert subject([*rows, *YES_NO], dialog) == ""


def test_a_part_is_called_a_part() -> None:
    """Where lines are left out it ends in `…`; where the beginning is gone, the rest would be another command."""
    cut = [EDGE, "Bash command", DASHED, "touch a", "… 27 more lines", DASHED, "Do you want to proceed?", *YES_NO]
    assert what(*cut) == "Bash: touch a … 27 more lines …"

    lines = (Path(__file__).parent / "screens/claude/permission-tall-80.txt").read_text().partition("---\n")[2]
    found = read_screen(agent("claude"), lines.splitlines(), 0, columns=80)
    assert found is not None and found.dialog is not None
    assert (found.dialog.what, found.dialog.question) == ("", "Do you want to proceed?")


def test_real_agents_in_small_windows() -> None:
    """What is wrapped there is put together again; the file is what the question names."""
    found = read_screen(agent("codex"), [
        "• Running", "", "  Would you like to run the following", "  command?", "", "  $ git commit --amend",
        "    --no-edit", "", "› 1. Yes, proceed (y)", "  2. No (esc)",
    ], 9)  # fmt: skip
    assert found is not None and found.dialog is not None
    assert found.dialog.what == "Shell: git commit --amend --no-edit"
