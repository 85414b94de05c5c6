"""An agent that nobody has described: what makes a program a candidate, and which programs never are one."""

from __future__ import annotations

import attrs
import pytest

from tallylight.agents.agent import Agent, Agents, of_person, parse_agent
from tallylight.evidence.foreground import Identity, identify
from tallylight.evidence.process import Process
from tallylight.evidence.prompts import ScreenReading, read_screen
from tallylight.evidence.screen import Look
from tallylight.evidence.unknown import (
    EAGER_CHANCES,
    OFTEN_CHANCES,
    SELDOM_CHANCES,
    UnknownProgram,
    UnknownProgramWatch,
    candidate,
)
from tallylight.model.status import Kind, Status
from tests.evidence.agents import AGENTS
from tests.tables import each

PROCESS = Process(7, argv=("mystery",), start=70)
BOX = [
    "Hello",
    "",
    "{work}",
    "╭──────────────────────────────╮",
    "│ > {typed}                    │",
    "╰──────────────────────────────╯",
    " model",
]
BARS = ["Hello", "{work}", "  ┃", "  ┃  Build · Model", "  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀", "  ctrl+p commands"]
LINE = ["Hello", "{work}", "", "› Ask anything", "", "  12 % of context"]


def program() -> UnknownProgram:
    return UnknownProgram("mystery", PROCESS)


def look(found: UnknownProgram, rows: list[str], cursor: int, work: str = "", typed: str = "") -> None:
    found.look([row.format(work=work, typed=typed) for row in rows], cursor)


@each(("typed", "asks"), [("", True), (" ", True), (" y", False), (" always", False)])
def test_keys_behind_which_the_answer_is_typed(typed: str, asks: bool) -> None:
    """A row of keys asks until something is typed behind it, although it stands while the command runs."""
    rows = ["permission requested: rm -rf build", f"  [y] allow once  [a] always allow  [n] deny:{typed}"]
    found = read_screen(candidate("mystery"), rows, 1 if asks else 2)

    assert (found is not None and found.status is Status.WAITING) is asks


@each(("row", "is_one"), [(">>>", True), ("❯", True), ("❯ one of several", False)])
def test_an_input_with_a_cursor_of_its_own(row: str, is_one: bool) -> None:
    """The terminal's cursor is hidden: an empty prompt above a status is an input, and a marked choice is none."""
    found = program()
    for _ in range(2):
        found.look(["Hello", "", row, "model", "5 tokens"], 0, cursor_visible=False)
    found.note_request()

    assert (found.agent is not None) is is_one


def test_words_typed_at_the_top_of_a_screen() -> None:
    """What was typed is found above the empty rows of a screen that is not full yet."""
    found = program()
    for rows in (["Hello", "You:"], ["Hello", "You: fix the tests", "Thinking"]):
        found.look([*rows, *[""] * (30 - len(rows))], len(rows) - 1)
    found.note_request()

    assert found.agent is not None


@each(
    ("argv", "name"),
    [
        (("mystery",), "mystery"),
        (("/opt/x/bin/mystery", "--fast"), "mystery"),
        (("node", "/x/node_modules/@some/mystery/dist/cli.js"), "mystery"),
        (("npx", "-y", "mystery"), "mystery"),
        (("python3", "/x/bin/mystery"), "mystery"),
        (("env", "A=b", "mystery"), "mystery"),
        (("bash", "/x/bin/mystery"), "mystery"),
        (("tally", "run", "mystery"), "mystery"),
        (("vim.basic", "notes"), ""),
        (("/usr/bin/python3", "/usr/bin/ranger"), ""),
        (("python3.12",), ""),
        (("python3", "-c", "1"), ""),
        (("node",), ""),
        (("-bash",), ""),
        (("sudo", "mystery"), ""),
        (("git", "add", "-p"), ""),
        (("npm", "install"), ""),
        (("uv", "sync"), ""),
        (("ssh", "host", "mystery"), ""),
        (("tmux", "attach"), ""),
        (("claude", "mcp", "serve"), ""),
        (("node", "/x/dist/cli.js"), ""),
        (("\u0441laude",), ""),
        ((), ""),
    ],
)
def test_names(argv: tuple[str, ...], name: str) -> None:
    """A program that no file names is unknown by its own name; the best known ones, and what runs them, never are."""
    assert identify([Process(1, argv=argv)], AGENTS).unknown == name


def test_a_known_agent_is_not_unknown() -> None:
    assert identify([Process(1, argv=("claude",))], AGENTS).unknown == ""


@each(
    ("argv", "exe", "name"),
    [
        (("mystery",), "/usr/bin/node", "mystery"),
        (("mystery", "", ""), "/usr/bin/python3.12", "mystery"),
        (("node",), "/usr/bin/node", ""),
        (("python3",), "/usr/bin/python3.12", ""),
        (("sh",), "/bin/dash", ""),
        (("ipython",), "/usr/bin/python3.12", ""),
    ],
)
def test_a_title_of_its_own(argv: tuple[str, ...], exe: str, name: str) -> None:
    """A script that has written its own title over its arguments may be an agent; an interpreter at its prompt not."""
    assert identify([Process(1, argv=argv, exe=exe)], AGENTS).unknown == name


@each("titles", [("⠋ x", "⠙ x"), ("◐ x", "◑ x"), ("◇  Ready", "✦  Working"), ("✳\ufe0e x", "◐ x")])
def test_a_spinner_in_its_title(titles: tuple[str, str]) -> None:
    """Two glyphs of those by which agents tell their status, one after the other, in its title."""
    found = program()
    found.note_title(titles[0])
    assert found.agent is None
    found.note_title(titles[1])
    assert found.agent is not None
    assert found.signs == ("a spinner in its title",)


@each("title", ["mystery", "✳mystery", "[1/3] mystery", "* mystery", "user@host: ~", "⠋", ""])
def test_a_title_that_does_not_spin(title: str) -> None:
    """Another title, or the same glyph for ever, says nothing."""
    found = program()
    for _ in range(5):
        found.note_title(title)
    assert found.agent is None


@each(("rows", "cursor"), [(BOX, 4), (BARS, 2), (LINE, 3)])
@each(
    "frames",
    [("⠋ Thinking", "⠙ Thinking"), ("🌑 1s", "🌒 1s"), ("✢ Brewing…", "✳ Brewing…"), ("Esc to interrupt",) * 2],
)
def test_it_works_beside_its_input(rows: list[str], cursor: int, frames: tuple[str, str]) -> None:
    """An input of its own that stays, and a spinner or the hint at Esc beside it."""
    found = program()
    for frame in frames:
        assert found.agent is None
        look(found, rows, cursor, frame)
    assert found.agent is not None
    assert found.signs == ("an input of its own", "work shown beside its input")


@each(
    ("rows", "cursor", "is_visible"),
    [
        (["{work}", "", ">>> Send a message", "", " model"], 2, True),
        (["{work}", "╭" + "─" * 30 + "╮", "│ Ask anything…                │", "╰" + "─" * 30 + "╯", " model"], 2, True),
        (["{work}", "  ┃", "  ┃  Ask anything", "  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀", "  ctrl+p commands"], 0, False),
    ],
)
def test_other_inputs(rows: list[str], cursor: int, is_visible: bool) -> None:
    """An input behind `>>>`, one with a placeholder, and one behind a bar while the cursor is hidden elsewhere."""
    found = program()
    for frame in "⠋⠙":
        found.look([row.format(work=frame) for row in rows], cursor, cursor_visible=is_visible)
    assert found.agent is not None
    assert found.signs == ("an input of its own", "work shown beside its input")


@each(
    ("rows", "cursor"),
    [
        (BOX[:3], 2),
        (["{work}", ">>> "], 1),
        (["{work}", "$ "], 1),
        (["{work}", "> type here"], 1),
        (["{work}", "? Name › x"], 1),
        (["{work}", "│  Which one?", "│  ● This", "│  ○ That", "└"], 2),
        (["{work}", "────────────────────", "  text", "────────────────────"], 0),
    ],
)
def test_no_input(rows: list[str], cursor: int) -> None:
    """A prompt in the last row, a question, two lines around text: no interface with an input of its own."""
    found = program()
    for frame in ("⠋ x", "⠙ x", "⠹ x", "esc to interrupt"):
        look(found, rows, cursor, frame)
    assert found.agent is None


def test_an_input_alone_is_nothing() -> None:
    """Neither is one beside which rows change, or a list with bullets stands, nor a progress bar without an input."""
    found = program()
    for number in range(20):
        look(found, BOX, 4, f"* {number}")
    assert found.signs == ("an input of its own",)
    other = program()
    other.note_progress_bar(is_shown=True)
    for _ in range(5):
        other.note_prompt_mark()
    assert (found.agent, other.agent) == (None, None)


def test_an_input_and_another_call() -> None:
    """A progress bar or prompt marks are signs beside an input; the first mark may be the shell's."""
    bar, marks = program(), program()
    bar.note_progress_bar(is_shown=True)
    marks.note_prompt_mark()
    for found in (bar, marks):
        for _ in range(3):
            look(found, BOX, 4)
    assert (bar.agent is not None, marks.agent is None) == (True, True)
    marks.note_prompt_mark()
    assert marks.agent is not None


def test_hints_at_keys() -> None:
    """A hint at the keys of a dialog is one, unless the program shows the same beside its input."""
    plain, used = program(), program()
    for frame in ("⠋ x", "⠙ x"):
        look(plain, BOX, 4, frame)
        look(used, [*BOX, "Enter to submit"], 4, frame)
    asks = ["Which one?", "  Red   Green", "⇆ select  enter confirm"]

    assert plain.agent is not None and used.agent is not None
    found = read_screen(plain.agent, asks, 2)
    assert found is not None and (found.status, found.rule) == (Status.WAITING, "keys to choose")
    assert read_screen(used.agent, asks, 2) is None
    letters = read_screen(used.agent, ["Approve tool call?", "[y] Approve   [n] Deny", "model"], 0)
    assert letters is not None and letters.dialog is not None
    assert (letters.kind, letters.dialog.question) == (Kind.PERMISSION, "Approve tool call?")
    assert read_screen(plain.agent, [*asks, *"abcde"], 2) is None
    assert read_screen(plain.agent, [*asks, "", "> "], 4) is None
    assert read_screen(plain.agent, ["> /exit", "  /exit   leave", "", "Enter to select"], 0) is None
    assert read_screen(plain.agent, [" Interrupted - Press enter to continue", *BOX], 4) is None


#: A dialog above rows of state.
APPROVAL = [
    *(" Cline needs permission", "", " Approve tool call?", "", "   $ touch made", "", "  [y] Approve   [n] Deny"),
    *("", "", " scripted (10) $0.00      ○ Plan ● Act (Tab)", " project (main)", " Auto-approve (Shift+Tab)"),
]


def test_a_hint_hides_no_answers() -> None:
    """Where the structure of a dialog tells what is asked and with which answers, a hint at its keys is not all."""
    found = program()
    for frame in ("⠋ x", "⠙ x"):
        look(found, BOX, 4, frame)
    assert found.agent is not None
    read = read_screen(found.agent, APPROVAL, 0, cursor_visible=False)

    assert read is not None and read.dialog is not None
    assert (read.kind, read.dialog.question) == (Kind.PERMISSION, "Approve tool call?")
    assert [choice.label for choice in read.dialog.choices] == ["[y] Approve", "[n] Deny"]


def read_with(agent: Agent, rows: list[str]) -> ScreenReading | None:
    """What is read of *rows* where *agent* is of a file."""
    identity = UnknownProgramWatch().with_candidate(Identity(agent=agent, process=PROCESS))
    return read_screen(identity.agent, rows, 0, cursor_visible=False)


FILE = """
name = "mystery"
processes = ["mystery"]
[[screen.rules]]
name = "asks"
status = "waiting"
kind = "permission"
lines = ["Always allow this command"]
[[screen.rules]]
name = "prompt"
status = "idle"
priority = -5
lines = [".*Auto-approve"]
"""


def test_a_file_of_ones_own_hides_no_dialog() -> None:
    """One that tells one dialog and the prompt leaves every other dialog to the structure, as without the file."""
    agent = of_person(parse_agent(FILE, "mystery.toml"), ours=())
    ours = attrs.evolve(agent, is_own=False)
    for given, said in ((agent, Status.WAITING), (ours, Status.IDLE)):
        read = read_with(given, APPROVAL)
        assert read is not None and read.status is said


WORKS = """
name = "mystery"
processes = ["mystery"]
[[screen.rules]]
name = "works"
status = "working"
priority = -3
lines = ["[⠁-⣿] "]
"""


@each(
    ("rows", "said"),
    [
        ([" ⠹ Running", "", *APPROVAL], Status.WAITING),
        ([" ⠹ Running", "", " Which colour?", "", "   Red", "   Green", "", " Enter to select"], Status.WAITING),
        ([" ⠹ Running", "", " > "], Status.WORKING),
    ],
)
def test_a_spinner_of_a_file_hides_no_dialog(rows: list[str], said: Status) -> None:
    """A spinner may turn above what it asks: its rule says nothing against the structure, or a hint at keys."""
    agent = of_person(parse_agent(WORKS, "mystery.toml"), ours=())
    read = read_with(agent, rows)
    assert read is not None and read.status is said


def test_looks_are_few() -> None:
    """Two looks on end in each second of the first minutes, then in each ten; one is owed until it is taken."""
    found = program()
    taken = []
    for number in range(EAGER_CHANCES + 400):
        if found.wants_look():
            assert found.wants_look()
            taken.append(number)
            look(found, BOX[:2], 0)
    early = sum(number < EAGER_CHANCES for number in taken)

    assert early == pytest.approx(EAGER_CHANCES * 2 / OFTEN_CHANCES, abs=2)
    assert len(taken) - early == pytest.approx(400 * 2 / SELDOM_CHANCES, abs=3)


def test_looks_at_a_prompt_of_another_machine_are_as_few() -> None:
    """A shell that waits behind ssh is forgotten as an agent at every look, and not looked at more often for that."""
    watch = UnknownProgramWatch()
    ssh = Process(7, argv=("ssh", "box"), start=70)
    watch.note_foreground(identify([ssh], AGENTS), is_wanted=True)
    assert watch.is_remote
    prompt = Look(["me@box:~$ "], 0, 10, 80)
    taken = 0
    for _ in range(EAGER_CHANCES):
        if watch.wants_look():
            taken += 1
            watch.look(prompt)
    assert taken == pytest.approx(EAGER_CHANCES * 2 / OFTEN_CHANCES, abs=2)


def test_the_watch() -> None:
    """It follows one process: another one begins anew, a known one or a wish ends it."""
    watch = UnknownProgramWatch()
    unknown = Identity(leader=PROCESS, process=PROCESS, unknown="mystery")
    other = Process(8, argv=("mystery",), start=80)
    assert watch.note_foreground(unknown, is_wanted=True).agent is None
    assert watch.program is not None
    for title in ("⠋ x", "⠙ x"):
        watch.program.note_title(title)
    found = watch.note_foreground(unknown, is_wanted=True)

    assert found.agent is not None and found.agent.name == "mystery"
    assert found.rule == "mystery? by a spinner in its title"
    assert not watch.program.wants_look()
    assert watch.note_foreground(Identity(leader=other, process=other, unknown="mystery"), is_wanted=True).agent is None
    assert watch.note_foreground(unknown, is_wanted=False).agent is None and watch.program is None
    claude = identify([Process(9, argv=("claude",))], AGENTS)
    assert watch.note_foreground(claude, is_wanted=True).agent is AGENTS.get("claude")
    assert identify([PROCESS], Agents(())).unknown == "mystery"


def test_a_process_that_runs_another_program() -> None:
    """A launcher becomes the program itself in the same process: that begins anew, and has a package of its own."""
    watch = UnknownProgramWatch()
    launcher = Process(7, argv=("/bin/sh", "/opt/x/mystery"), exe="/bin/dash", start=70)
    own = Process(7, argv=("/opt/x/bin/python", "/opt/x/bin/mystery", "--now"), exe="/opt/x/bin/python3.11", start=70)
    for process in (launcher, own):
        watch.note_foreground(identify([process], AGENTS), is_wanted=True)
        program = watch.program
        assert program is not None and program.process is process and program.made_with is None
        program.note_package("", process.run)


@each("rows", [[], [""], ["\x00" * 500] * 60, ["│" * 500] * 300, ["─" * 300] * 300, [">"] * 500])
def test_any_screen(rows: list[str]) -> None:
    """Reading any screen ends, and makes no candidate."""
    found = program()
    for cursor in (0, 5, 10_000):
        found.look(rows, cursor)
    assert found.agent is None
