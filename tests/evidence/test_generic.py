"""
The reader of dialogs that knows no agent, on the screens of real ones: what it reads without any agent's file.

Each class of dialogs stands here with the screens that show it, so that a change which costs one of them is seen.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.evidence.dialogs import read_dialog
from tallylight.evidence.prompts import before_prompt, read_screen
from tallylight.evidence.screen import Look
from tallylight.evidence.tail import read_tail
from tallylight.evidence.unknown import candidate
from tallylight.model.dialog import Dialog
from tallylight.model.status import Status
from tallylight.pane.screen_looks import ScreenLooks
from tallylight.tracker.foreground import Foreground
from tallylight.tracker.tracker import Tracker
from tests.evidence.test_prompts import SCREENS, Screen, load
from tests.tables import each

FOLDER = Path(__file__).parent / "screens"
SIZES = ("120", "80")

#: What a dialog has that makes it hard to read, and real screens that have it.
CLASSES: dict[str, list[str]] = {
    "a start: servers, without a question right above": [f"claude/start-mcp-{n}-{c}" for n in (1, 2) for c in SIZES],
    "a start: a warning": [f"claude/start-bypass-{columns}" for columns in (*SIZES, "48")],
    "a start: imports": [f"claude/start-imports-{columns}" for columns in (*SIZES, "48")],
    "a start: terms and a URL below the choices": [f"gemini/start-auth-{columns}" for columns in (*SIZES, "48")],
    "a start: a folder that is to be trusted": [
        "claude/trust-80",
        "copilot/trust-80",
        "gemini/trust-80",
        "qwen/trust-80",
    ],
    "a login": ["codex/login-80", "claude/login-menu-80"],
    "boxes to check, several of which may be chosen": [f"claude/question-multi-{columns}" for columns in SIZES],
    "choices in one row, told apart by colour": ["opencode/permission-80", "kilo/permission-120"],
    "in a box above the input, or in the middle of the screen": ["gemini/permission-80", "qwen/permission-120"],
    "below a panel of hints": ["codex/permission-exec-40", "codex/hooks-review-80"],
    "a question in a row": ["aider/permission-80", "aider/question-120"],
    "labels that are wrapped in a narrow terminal": ["copilot/permission-create-60", "claude/plan-approval-40"],
}
#: Dialogs that only their agent's file, or their structure, makes readable.
BY_FILE_ALONE = {
    "claude/agents-asks-120", "claude/agents-asks-45", "claude/agents-asks-80", "claude/auto-mode-120",
    "claude/auto-mode-45", "claude/auto-mode-80", "claude/permission-auto-120", "claude/permission-auto-45",
    "claude/permission-auto-80", "claude/permission-auto-note-80", "claude/permission-reader-100",
    "codex/permission-old-100", "copilot/menu-theme-80",
    "cline/permission-100", "cline/permission-edit-100", "cline/permission-tall-80", "cline/question-100",
    "cline/question-long-100",
    "kilo/denied-80", "kilo/question-120", "kilo/question-80", "kilo/review-90", "kimi/trust-100",
    "opencode/question-120", "opencode/question-80", "opencode/question-beside-132", "opencode/review-80",
    "qwen/login-80", "qwen/start-login-80",
    "auggie/login-90", "droid/login-90", "grok/permission-100", "grok-build/permission-100", "grok-build/question-100",
    "nanocoder/permission-100",
    "nanocoder/permission-edit-100", "nanocoder/question-100", "vibe/permission-100", "vibe/permission-edit-100",
    "vibe/question-100",
}  # fmt: skip
#: The person's own menus that look like a dialog in any program; `evidence.looks` tells who has opened them.
OWN_MENUS = {f"codex/menu-{name}" for name in ("approvals-80", "model-120", "model-40", "model-80")}
OWN_MENUS |= {"gemini/menu-editor-60", "gemini/menu-editor-80", "pi/menu-login-90"}


#: The texts of a workflow that reads agents off GNU Screen, and more: the light of each after a minute, and its words.
TEXTS = [
    ("", Status.IDLE, ""),
    ("Fix it\n\n✻ Thinking…", Status.WORKING, ""),
    ("● Thinking about the problem…", Status.WORKING, ""),
    ("Thinking", Status.WORKING, ""),
    ("⠋ Running the tests", Status.WORKING, ""),
    ("Read(/home/user/a.py)", Status.WORKING, ""),
    ("Bash(pytest tests/unit)\n  collected 12 items", Status.WORKING, ""),
    ("Running in the background (↓ to manage)", Status.WORKING, ""),
    ("✓ one\n✓ two", Status.QUIET, ""),
    ("Error: Failed to connect to the server", Status.QUIET, ""),
    ("Done! The file was saved.", Status.QUIET, ""),
    ("Done! The file was saved.\n\n>", Status.QUIET, "Done! The file was saved."),
    ("What would you like me to do for you?\n\n>", Status.WAITING, "What would you like me to do for you?"),
    ("I see two ways.\nWhich one?\n\n>█", Status.WAITING, "I see two ways. Which one?"),
    ("Save it?\n❯ 1. Yes\n  2. No\n\nEsc to cancel", Status.WAITING, "Save it?"),
]


def name_of(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def read(screen: Screen) -> Dialog | None:
    """What is read with no agent's rules."""
    return read_dialog(read_tail(screen.lines), screen.cursor)


@each(("name", "screens"), CLASSES.items())
def test_classes(name: str, screens: list[str]) -> None:
    """Every screen of a class is read: with its question, and at least two choices if it is none in a row."""
    for screen in screens:
        found = read(load(FOLDER / f"{screen}.txt"))

        assert found is not None, f"{name}: {screen}"
        assert found.question, screen
        assert len(found.choices) >= 2 or found.rule == "yes or no", screen


@each("path", SCREENS, ids=name_of)
def test_all_screens(path: Path) -> None:
    """Of all screens of all agents: each that waits is read, and no other is, but for those that are named here."""
    screen = load(path)
    waits = screen.facts["shows"].startswith("waiting")

    assert (read(screen) is not None) == ((waits and name_of(path) not in BY_FILE_ALONE) or name_of(path) in OWN_MENUS)


@each(
    ("screen", "works"),
    [
        ("The plan\n\n✻ Thinking…", True),
        ("Thinking", True),
        ("● Thinking about the schema", True),
        ("⠋ Running the tests", True),
        ("Bash(pytest tests/unit)", True),
        ("● Read(/home/me/api.py)\n  12 lines", True),
        ("The server is running.\nRunning in the background (↓ to manage)", True),
        ("--- ● working (3s) --------------\n\n+> Enter queues a follow-up · Ctrl-C interrupts", True),
        ("Nothing else is working (3s)", False),
        (" /help\n ⏳ Mystery is working (12s)...  🧰 Shell 1s", True),
        ("● ● Counting the lamps… 7s\n\n> ", True),
        ("I waited… 7s", False),
        ("Done! All is saved.", False),
        ("Error: Failed to connect", False),
        ("Thinking ahead, I would split the module.", False),
        ("✓ a\n✓ b", False),
        ("Bash(pytest)\n  ok\n>", False),
        ("⠋ Running\na\nb\nc", False),
        ("", False),
    ],
)
def test_a_program_that_says_that_it_works(screen: str, works: bool) -> None:
    """In words or glyphs that no agent file knows, on its last rows: it is not silent. One at a prompt does not."""
    found = read_screen(candidate("mine"), screen.splitlines(), 0)
    assert (found is not None and found.status is Status.WORKING) is works


@each(
    ("screen", "says", "is_question"),
    [
        ("> fix it\nI see two ways.\n\nWhich one?\n\n> ", "I see two ways. Which one?", True),
        ("Which one?\n>█", "Which one?", True),
        ("Which one?\n❯\u00a0", "Which one?", True),
        ("Which one?\n1. The first\n2. The second\n>", "Which one? 1. The first 2. The second", True),
        ("Which one? The first.\n>", "Which one? The first.", False),
        ("\n".join(map(str, range(20))) + "\n>", " ".join(map(str, range(10, 20))), False),
        ("> fix it\n>", "", False),
        ("Which one?\n> the fir", "", False),
        ("Which one?", "", False),
        ("", "", False),
    ],
)
def test_what_stands_before_a_prompt(screen: str, says: str, is_question: bool) -> None:
    """Up to ten rows above an empty prompt, as far as what the person typed before, and whether they ask anything."""
    assert before_prompt(screen.splitlines()) == (says, is_question)


@pytest.mark.slow
@each(("screen", "status", "says"), TEXTS)
def test_seventy_seconds_of_a_screen_that_no_file_knows(screen: str, status: Status, says: str) -> None:
    """What says that it works is at work; amber has a question, and all else is quiet, or starts while it is blank."""
    tracker = Tracker()
    looks = ScreenLooks(tracker)
    looks.begin(candidate("mine"))
    tracker.foreground(Foreground("mine", 1), 0.0)
    lines = screen.splitlines() or [""]
    for look in range(4 * 70):
        looks.take(Look(lines if look else [""], len(lines) - 1 if look else 0, 0, 80), None, look / 4)
        tracker.tick(look / 4)
    assert (tracker.decision.status, tracker.decision.report.message) == (status, says)
