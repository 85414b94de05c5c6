"""
Prompts of agents: the screens of real ones, each with what it showed, and screens that only look like a prompt.

`screens/AGENT/NAME-COLUMNS.txt` is the end of a screen as a terminal showed it, of the version that its first line
names, driven by a scripted model; only paths were renamed. Above `---` stands what the rules have to make of it.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallylight.agents.agent import Agent
from tallylight.evidence.frame import NO_TOP
from tallylight.evidence.prompts import read_screen
from tallylight.evidence.tail import MAX_MATCHED_CHARS, TAIL_REACH_ROWS, is_edge, read_tail
from tallylight.model.dialog import Dialog
from tallylight.model.status import Kind, Status
from tests.evidence.agents import AGENTS, agent
from tests.helpers import least_seconds
from tests.tables import each

SCREENS = sorted((Path(__file__).parent / "screens").rglob("*.txt"))
UNKNOWN = Agent(name="unknown", display="Unknown")


@attrs.frozen
class Screen:
    """One file."""

    agent: Agent
    cursor: int
    facts: dict[str, str]
    lines: list[str]


def load(path: Path) -> Screen:
    head, _, text = path.read_text("utf-8").partition("---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    return Screen(agent(path.parent.name), int(facts["cursor"]), facts, text.removesuffix("\n").split("\n"))


@pytest.mark.slow
@each("path", SCREENS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_screens_of_real_agents(path: Path) -> None:
    """Each is read as what it was: status and kind, the question, what it is about, the choices with their keys."""
    screen = load(path)

    found = read_screen(screen.agent, screen.lines, screen.cursor, columns=int(screen.facts["columns"]))

    shows = "nothing" if found is None else f"{found.status}/{found.kind}" if found.kind else str(found.status)
    assert shows == screen.facts["shows"]
    if found is not None:
        assert found.rule == screen.facts["rule"]
        dialog = found.dialog or Dialog(None, "")
        assert dialog.question == screen.facts.get("question", "")
        assert dialog.what == screen.facts.get("what", "")
        assert [[c.keys, c.label] for c in dialog.choices] == json.loads(screen.facts.get("choices", "[]"))
        assert dialog.missing == screen.facts.get("missing", "")


@each("path", [p for p in SCREENS if p.parent.name == "qwen"], ids=str)
def test_how_a_mark_is_drawn_changes_nothing(path: Path) -> None:
    """Qwen writes a selector behind its marks, as in `●` U+FE0E; a terminal hands it back, a recording does not."""
    screen = load(path)
    drawn = [re.sub("[●◆✕✓]", "\\g<0>\ufe0e", line) for line in screen.lines]

    found = read_screen(screen.agent, drawn, screen.cursor, columns=int(screen.facts["columns"]))

    assert (found.rule if found is not None else None) == screen.facts.get("rule")


def test_every_agent_that_was_run_has_its_screens() -> None:
    """Idle, and a question or permission for each of them; nothing else is known of its screen than what was seen."""
    names = ("claude", "codex", "opencode", "gemini", "qwen", "copilot", "kilo", "aider", "kimi", "pi", "cline")
    for name in (*names, "grok", "nanocoder", "vibe"):
        shown = {load(path).facts["shows"] for path in SCREENS if path.parent.name == name}
        assert {"idle", "waiting/permission", "working"} <= shown, name
    assert not [a.name for a in AGENTS if a.screen_rules and not any(p.parent.name == a.name for p in SCREENS)]


@pytest.mark.slow
@each("path", [p for p in SCREENS if p.stem.startswith(("permission", "question"))], ids=str)
def test_an_answered_dialog_in_the_transcript_says_nothing(path: Path) -> None:
    """The same dialog, printed by whatever, above the agent's own input box."""
    screen = load(path)
    idle = load(
        next(
            p
            for p in SCREENS
            if p.parent == path.parent and p.stem.startswith(("idle-after", "done", "idle", "interrupted"))
        )
    )
    box = [line for line in idle.lines if line.strip()][-5:]

    found = read_screen(screen.agent, [*screen.lines, "", *box], len(screen.lines) + len(box))

    assert found is None or found.status is not Status.WAITING


LONG_ERRORS = ("claude", "cline", "copilot", "gemini", "grok", "kimi", "nanocoder", "qwen", "vibe")


@each("path", [p for p in SCREENS if p.stem.startswith("error") and p.parent.name in LONG_ERRORS], ids=str)
def test_a_long_error(path: Path) -> None:
    """What a server says may take four more rows; and what was answered before it is of another turn."""
    screen = load(path)
    rule = next(rule for rule in screen.agent.screen_rules if rule.name == screen.facts["rule"])
    at = next(n for n, row in enumerate(read_tail(screen.lines)) if rule.lines[0].match(row.text))
    lines = [*screen.lines[: at + 1], *["   and more of what the server says"] * 4, *screen.lines[at + 1 :]]

    found = read_screen(screen.agent, lines, screen.cursor + 4, columns=int(screen.facts["columns"]))

    assert found is not None and found.status is Status.ERROR


PRINTED = [
    "⠙ reify:lamp: http fetch",
    "404 pages are mended.",
    "Error: 0. API errors: 0.",
    "Unauthorized: 0.",
    "Interrupted work goes on.",
]
BOXED = ("claude", "copilot", "gemini", "grok", "qwen", "vibe")
RESTING = [
    p
    for p in SCREENS
    if p.parent.name in BOXED and not re.match("menu|idle-old", p.stem) and "rule: input box\n" in p.read_text()
]


@each("path", RESTING, ids=str)
def test_what_was_printed_is_no_status(path: Path) -> None:
    """A command's spinner and errors above the last rows of a reply do not take the light of an agent at rest."""
    screen = load(path)
    boxed = [
        at for at in range(1, len(screen.lines)) if is_edge(screen.lines[at - 1]) and not is_edge(screen.lines[at])
    ]
    box = next(at - 1 for at in reversed(boxed) if re.match(r"[ │┃]*[>❯!/*]", screen.lines[at]))
    above = [*PRINTED, *["The lamp of the stage is on."] * 4, ""]
    lines = [*screen.lines[:box], *above, *screen.lines[box:]]

    found = read_screen(screen.agent, lines, screen.cursor + len(above), columns=int(screen.facts["columns"]))

    assert found is not None and (found.status, found.is_stopped) == (Status.IDLE, False)


DIALOG = ["Do you want to proceed?", "❯ 1. Yes", "  2. No", "", " Esc to cancel"]

#: Screens on which something talks about a prompt, but nothing asks.
NEGATIVES: dict[str, list[str]] = {
    "git log": [
        "commit 5f1c2", "Author: A <a@example.com>", "", "    Ask: Do you want to proceed?", "    ❯ 1. Yes",
        "      2. No", "", "commit 4d3e1", "Author: B <b@example.com>", "", "    Fix [y/N] prompts", ":",
    ],
    "a transcript that is printed": [*DIALOG, "⎿  approved", "", "$ "],
    "a REPL": [">>> print(text)", "Do you want to proceed?", "❯ 1. Yes", "  2. No", ">>> "],
    "vim on a log": [
        "Do you want to proceed?", "❯ 1. Yes", "  2. No", "~", "~", "~", '"log.txt" 3L, 48B                 1,1   All',
    ],
    "an answer that talks about it": [
        "● The dialog says: Do you want to proceed? 1. Yes 2. No", "", "─" * 60, "❯ ", "─" * 60, "  ? for shortcuts",
    ],
    "an answer that quotes it": ["● It looks so:", *DIALOG, "", "─" * 60, "❯ ", "─" * 60, "  ? for shortcuts"],
    "an answer that quotes it above an input": ["It looks so:", *DIALOG, "", "> Type your message or use @path", ""],
    "a question in an answer": ["● Shall I go on? Do you want to proceed?", "", "─" * 60, "> ", "─" * 60],
    "a list without a pointer": ["Do you want one of these?", "1. Red", "2. Green", "", "Enter to select"],
    "text right below that had room beside": ["Which of these is it?", "❯ 1. Red", "  2. Blue", "  and so on"],
    "text below a long choice": ["─" * 60, "x" * 60, "Which?", "❯ 1. Red", "  2. All that is green or blue", "  ok"],
    "text below, and not far enough to the right": ["Which?", "❯ 1. Red", "  2. Green", "", " " * 40 + "so it was"],
    "a list that does not begin at 1": ["Which?", "❯ 4. Red", "  5. Green"],
    "two pointers": ["Which?", "❯ 1. Red", "❯ 2. Green"],
    "one choice": ["Which?", "❯ 1. Red"],
    "a [y/N] that was answered": ["Continue? [y/N] y", "Installing…", "done", ""],
    "a [y/N] that is not where the cursor is": ["Continue? [y/N] ", "ok"],
    "a password in a sentence": ["The password: it is in the vault, and nobody asks", ""],
    "a file of passwords": ["user: me", "password: hunter2 and more"],
    "a pasted question": ["─" * 60, "❯ the log ends in", "  Password:", "─" * 60, "  ? for shortcuts"],
    "an answer that quotes a pointed one": [
        "It looks so:", "Which?", "❯ Red", "  Green", "", "Enter to select · Esc to cancel", "", "─" * 60, "❯ ",
        "─" * 60,
    ],
    "an answer that quotes one in a box": [
        "╭──────────╮", "│ Allow it? │", "│ ● 1. Yes  │", "│   2. No   │", "╰──────────╯", "", "> ", "",
    ],
    "an answer that quotes buttons": [
        "It asks:", "Allow it?", "", "Allow   Deny   enter confirm", "", "─" * 60, "❯ ", "─" * 60,
    ],
    "an answer that quotes buttons above a box with words in it": [
        "Allow it?", "Allow   Deny", "⇆ select  enter confirm", "╭" + "─" * 58 + "╮",
        "│ > Type your message" + " " * 39 + "│", "╰" + "─" * 58 + "╯", "~/project   main   model",
    ],
    "less": ["Do you want to proceed?", "❯ 1. Yes", "  2. No", "and so on", ":"],
    "the end of less": ["Which?", "❯ Red", "  Green", "Enter to select", "(END)"],
    "fzf": ["  src/a.py", "▌ src/b.py", "  2/10", "> b"],
    "fzf, reversed": ["> b", "  2/10", "> src/b.py", "  src/a.py"],
    "git add -p": ["@@ -1 +1 @@", "-a", "+b", "(1/1) Stage this hunk [y,n,q,a,d,e,?]? "],
    "a footer of keys": ["text", "", "[a] left  [b] right  [q] quit"],
    "a footer with a cancel": ["text", "", "[enter] open  [esc] cancel"],
    "a table of contents": ["Contents:", "1. Start   2. End", "", "Enter to select"],
    "nothing": [],
    "blanks": ["", "   ", ""],
}  # fmt: skip


@pytest.mark.slow
@each("name", NEGATIVES)
@each("who", [UNKNOWN, *AGENTS], ids=lambda a: a.name)
def test_what_only_looks_like_a_prompt(name: str, who: Agent) -> None:
    """No screen that merely has the text of a dialog on it waits for anyone, whichever agent shows it."""
    lines = NEGATIVES[name]
    found = read_screen(who, lines, max(len(lines) - 1, 0))

    assert found is None or found.status is not Status.WAITING


@each(
    ("lines", "kind", "rule", "question", "keys"),
    [
        (DIALOG, Kind.PERMISSION, "numbered choices", "Do you want to proceed?", ["1", "2"]),
        (["Which colour?", "> 1) Red", "  2) Green"], Kind.QUESTION, "numbered choices", "Which colour?", ["1", "2"]),
        (["Log in with?", "→ 1. Browser", "  2. API key"], Kind.AUTH, "numbered choices", "Log in with?", ["1", "2"]),
        (
            ["╭" + "─" * 20 + "╮", "│ Apply this change? │", "│ › 1. Yes           │", "│   2. No            │",
             "╰" + "─" * 20 + "╯"],
            Kind.PERMISSION, "numbered choices", "Apply this change?", ["1", "2"],
        ),
        (["Allow it?", "o 1. Yes", "  2. No"], Kind.PERMISSION, "numbered choices", "Allow it?", ["1", "2"]),
        (["Allow it?", ": 1. Yes", "  2. No"], Kind.PERMISSION, "numbered choices", "Allow it?", ["1", "2"]),
        (
            ["Pick a colour?", "  Red", "❯ Green", "  Blue", "", "↑/↓ to move, Enter to select"],
            Kind.QUESTION, "pointed choices", "Pick a colour?", ["\x1b[A\r", "\r", "\x1b[B\r"],
        ),
        (["Overwrite a.txt? [y/N] "], Kind.PERMISSION, "yes or no", "Overwrite a.txt? [y/N]", ["y\r", "n\r"]),
        (["Really (yes/no)? "], Kind.QUESTION, "yes or no", "Really (yes/no)?", ["yes\r", "no\r"]),
        (
            ["Run it? (Y)es/(N)o/(D)on't ask again [Yes]: "],
            Kind.PERMISSION, "yes or no", "Run it? (Y)es/(N)o/(D)on't ask again [Yes]:", ["y\r", "n\r", "d\r"],
        ),
        (["[sudo] password for me: "], Kind.AUTH, "password", "[sudo] password for me:", []),
        (["Enter passphrase for key '/k': "], Kind.AUTH, "password", "Enter passphrase for key '/k':", []),
        (["Paste your API key: "], Kind.AUTH, "password", "Paste your API key:", []),
    ],
)  # fmt: skip
def test_generic_prompts(lines: list[str], kind: Kind, rule: str, question: str, keys: list[str]) -> None:
    """An agent nobody knows asks as programs ask: the kind, the question and what to type are read off its screen."""
    found = read_screen(UNKNOWN, ["some output", "─" * 60, *(f"  {line}" for line in lines)], len(lines) + 1)

    assert found is not None and found.dialog is not None
    assert (found.status, found.kind, found.rule, found.dialog.question) == (Status.WAITING, kind, rule, question)
    assert [choice.keys for choice in found.dialog.choices] == keys
    bare = read_screen(UNKNOWN, ["some output", "", *lines], len(lines) + 1)
    assert bare is not None and bare.dialog is not None
    if lines[0].startswith("╭"):
        return
    assert bare.dialog.missing == NO_TOP
    assert [(choice.keys, choice.label) for choice in bare.dialog.choices] == [
        ("", choice.label) for choice in found.dialog.choices
    ], "nobody can tell where it begins"


@each("line", ["Overwrite it? [y/N]", "Password:", "What is this: Allow? (Y)es/(N)o [Yes]:"])
def test_a_question_behind_the_agents_own_prompt_was_typed(line: str) -> None:
    """Text that a person has pasted into the input, row by row behind the prompt, asks nothing, however it ends."""
    aider = next(agent for agent in AGENTS if agent.name == "aider")
    rows = ["diff> the lamp is on", f"diff> {line}"]
    found = read_screen(aider, rows, 1)

    assert found is None or found.status is not Status.WAITING
    asked = read_screen(aider, ["some output", line], 1)
    assert asked is not None and asked.status is Status.WAITING


@pytest.mark.parametrize("line", ["Overwrite? [y/N] ", "password: "])
def test_a_question_in_a_row_wants_the_cursor(line: str) -> None:
    """Such a row in the output of something, with the cursor elsewhere, is not asked."""
    assert read_screen(UNKNOWN, ["some output", line], 1) is not None
    assert read_screen(UNKNOWN, ["some output", line], 0) is None
    assert read_screen(UNKNOWN, ["some output", line, ""], 2) is None


def test_no_agent_no_prompt() -> None:
    """Where no agent holds the foreground, nothing is read."""
    assert read_screen(None, DIALOG, 4) is None


def test_the_fingerprint_is_the_dialogs() -> None:
    """It stays while hints below change, and is another one for another question and for other choices."""
    first, again, other = (
        asked(lines)
        for lines in (
            DIALOG,
            ["noise", "", *DIALOG[:-1], " Esc to cancel · Tab to amend"],
            ["Do you want to proceed now?", *DIALOG[1:]],
        )
    )

    assert len(first.fingerprint) == 16
    assert first.fingerprint != other.fingerprint
    assert asked(list(DIALOG)) == first and again.question == first.question


def asked(lines: list[str]) -> Dialog:
    found = read_screen(UNKNOWN, lines, len(lines) - 1)
    assert found is not None and found.dialog is not None
    return found.dialog


hostile = st.text(alphabet="❯›>1234567890.)[]()yYnN?: \x00\x1b\u00a0\u202e─│╭█password\U0001f469\ud800", max_size=300)


@given(st.lists(hostile, max_size=60), st.integers(-5, 99))
def test_nothing_raises(lines: list[str], cursor: int) -> None:
    """Any text, any cursor: a prompt comes out or none, and what is for display is sanitised."""
    for who in (UNKNOWN, agent("claude"), agent("aider"), agent("opencode")):
        found = read_screen(who, lines, cursor)
        if found is not None and (dialog := found.dialog) is not None:
            for text in (dialog.question, dialog.what, *dialog.lines, *(choice.label for choice in dialog.choices)):
                assert text.isprintable()


@pytest.mark.slow
@each(
    "line",
    ["(" * 400, "a" * 400, "1. " * 200, "(Y)" * 150, "[y/n]" * 90, "esc to " * 60, "password " * 50, "❯ 1. " * 90],
)
def test_hostile_lines_cost_no_time(line: str) -> None:
    """A full screen of rows made to be slow takes the rules of every agent a few milliseconds at most."""
    lines = [line] * 500
    took = [
        (least_seconds(functools.partial(read_screen, who, lines, 499), 0.05), who.name) for who in (UNKNOWN, *AGENTS)
    ]

    assert max(took)[0] < 0.05, max(took)


def test_only_the_end_of_a_screen_is_read() -> None:
    """At most so many rows of so many characters, at the limit and one above it."""
    rows = read_tail([*["x" * (MAX_MATCHED_CHARS + 1)] * (TAIL_REACH_ROWS + 1), "", ""])

    assert len(rows) == TAIL_REACH_ROWS
    assert rows[0].number == 1
    assert {len(row.text) for row in rows} == {MAX_MATCHED_CHARS}
