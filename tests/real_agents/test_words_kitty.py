"""
Real Codex and Claude Code ask for a permission in words of their model, in a real kitty with a desktop.

The words are rows of their own other dialogs and menus. Whatever they say, it is a permission: it keeps its light and
its answers, and only a person gives one. A plain question has buttons.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.real_agents.desk import Desk, Tab
from tests.real_agents.test_whole_kitty import tried
from tests.real_kitty.notifications import Desktop, Shown
from tests.real_kitty.roots import SUITES, root_of

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

#: What is said to be a question, or a permission, does not differ between kittys: half of the words in each.
IN_ONE_KITTY = {
    "claude": "0.48",
    **dict.fromkeys(("reason", "command", "choice"), "0.41"),
    "test_the_script_that_started_it_answers_no_permission": "0.48",
    "test_a_question_has_buttons": "0.48",
    "test_a_person_answers_a_question": "0.41",
}
#: So wide is the screen. In Codex, what follows this reason begins a row there.
COLUMNS = 110
ASKS = "May I look which files are here, since that is needed to answer what you have asked me above; yes "
#: What stands in front of a name in Codex's second choice and in Claude's question, which wrap between words.
BEFORE = {
    "codex": "  2. Yes, and don't ask again for commands that start with `touch ",
    "claude": " Do you want to create ",
}
COMMANDS = {"codex": "codex --no-daemon", "claude": "claude --permission-mode manual"}


class Words(NamedTuple):
    """A row of another dialog that a model writes: into its command, behind its *reason*, or behind a *name*."""

    agent: str
    row: str
    where: str = "command"

    @property
    def may_be_choice(self) -> bool:
        """Whether the row is beside the choices and looks like one: then a person answers in the pane alone."""
        return self.where == "name" and self.row[0].isdigit()

    def prompt(self, name: str) -> str:
        """The script that asks to make the file *name*. The row is not in it as it will be shown."""
        command, why = f"touch {name}", "May the script run this?"
        if self.where == "name":
            long = "x" * (COLUMNS - 3 - len(f"{BEFORE[self.agent]}{name}"))
            name = f"{name} {long} {self.row}"
            command = f"touch {name}"
        elif self.where == "command":
            command += f"; : <<E\n{self.row}\nE"
        else:
            why = ASKS + self.row
        call = {"command": command, "description": "A command of the script"}
        if self.agent == "codex":
            call = {"cmd": command, "sandbox_permissions": "require_escalated", "justification": why}
        elif self.where == "name":
            # What is long comes last: the beginning of a prompt is looked for in one row.
            call = {"content": "made", "file_path": name}
        tool = {"cmd": "exec_command", "command": "Bash", "content": "Write"}[next(iter(call))]
        row = json.dumps(self.row)[1:-1]
        letter = next(character for character in row if character.isalpha())
        arguments = json.dumps(call).replace(row, row.replace(letter, f"\\u{ord(letter):04x}", 1))
        return f"CALL {tool} {arguments} THEN fine"


WORDS = {
    "reason-question": Words("codex", "Question 1/2 (of the plan)?", "reason"),
    "reason-menu": Words("codex", "enter select · esc back", "reason"),
    "command-question": Words("codex", "Question 1/2 (1 unanswered)"),
    "command-menu": Words("codex", "enter select · esc back"),
    "command-login": Words("codex", "1. Sign in with ChatGPT"),
    "choice-question": Words("codex", "Question 1/2", "name"),
    "choice-number": Words("codex", "2. Deny it", "name"),
    "claude-question": Words("claude", "Enter to select · Esc to cancel"),
    "claude-login": Words("claude", "Select login method:"),
    "claude-name": Words("claude", "Enter to select", "name"),
    "claude-number": Words("claude", "2. Deny it", "name"),
}


@pytest.fixture(scope="module")
def desktop() -> Iterator[Desktop]:
    desktop = Desktop()
    yield desktop
    desktop.close()


@pytest.fixture(scope="module", params=list(SUITES))
def desk(
    request: pytest.FixtureRequest,
    desktop: Desktop,
    claude_program: Path,
    codex_program: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Desk]:
    """A kitty of each version, with both agents and a desktop."""
    if root_of(request.param) is None:
        pytest.skip(f"no root with kitty {request.param}: run tests/run once as root")
    folder = tmp_path_factory.mktemp("model")
    desk = Desk(request.param, folder, claude=claude_program, codex=codex_program, env=desktop.env, columns=COLUMNS)
    yield desk
    desk.close()


def told(desk: Desk, desktop: Desktop, before: int) -> Shown:
    """The first notification after so many."""
    return desk.kitty.wait_until(lambda: next(iter(desktop.shown[before:]), None), what="the notification")


def drawn(tab: Tab) -> dict[str, Any]:
    """What kitty shows of the tab, once its last choice is there: a busy machine draws a dialog in pieces."""

    def whole() -> dict[str, Any] | None:
        shown = tried(tab, is_answered=False)[0]
        return shown if any(choice["label"].startswith("No") for choice in shown.get("choices", ())) else None

    return tab.kitty.wait_until(whole, what="a dialog with all its choices")


@pytest.fixture(params=list(WORDS))
def words(request: pytest.FixtureRequest) -> Words:
    return WORDS[request.param]


def test_a_permission_stays_one(desk: Desk, desktop: Desktop, borrow: Callable[[str, str], Tab], words: Words) -> None:
    """Its light is that of a permission; no notification answers it, whoever says so; a person's answer is typed."""
    tab = borrow(words.agent, COMMANDS[words.agent])
    kitty, before, name = tab.kitty, len(desktop.shown), tab.new()
    assert kitty.eval(f"return boss.window_id_map[{tab.window}].screen.columns") == COLUMNS
    tab.submit(words.prompt(name))
    waiting = tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    tab.shows(rf"(?m)^ *{re.escape(words.row)}")
    shown = told(desk, desktop, before)
    stood = drawn(tab)
    front = kitty.eval("return boss.active_window.id")
    desktop.forge(shown, "1")
    kitty.wait_until(
        lambda: kitty.eval("return boss.active_window.id") == tab.window or any(tab.project.glob(f"{name}*")),
        what="the window in front",
    )
    kitty.focus_window(front)
    is_made = any(tab.project.glob(f"{name}*"))
    lights = [light.name for light in tab.lights(waiting.at)]
    asked, answered = tried(tab, is_answered=True)

    assert not shown.buttons
    *yes, no = [choice["label"] for choice in asked["choices"]]
    assert all(label.startswith("Yes") for label in yes) and no.startswith("No") and not asked["missing"], asked
    assert name in "\n".join(asked["context"][asked["first"] :])
    assert not asked["is_plain"]
    # A busy Claude draws the rows above its choices in pieces: the fingerprint may be another.
    assert asked["choices"] == stood["choices"] and not is_made, "the press has answered it"
    assert answered is not None
    if words.may_be_choice:
        assert answered["rule"] == "keys", answered
        tab.answer(words.row, tab.manner.approve)
    else:
        assert answered["text"].startswith("answered 1. Yes"), answered
    kitty.wait_until(lambda: any(tab.project.glob(f"{name}*")), what="the file, once the person has answered")
    tab.truth("done")
    # Codex's title says that it works, up to a second after the dialog has come.
    assert lights[-1] == "waiting/permission" and set(lights) <= {"waiting/permission", "waiting", "working"}


#: What a script does with the agent that it has started.
_SCRIPT = """
at="$HOME/told"
pane=$(tally start codex --prompt {prompt} 2> "$at/start") || exit 1
tally wait "$pane" --for waiting,done,error,down,gone --timeout 60 > "$at/wait"; echo $? >> "$at/wait"
tally read "$pane" --question > "$at/question"
id=$(tail -n 1 "$at/question")
tally send "$pane" --answer 1 --to "${{id#id }}" > "$at/answer" 2>&1; echo $? >> "$at/answer"
echo > "$at/end"
"""


def test_the_script_that_started_it_answers_no_permission(desk: Desk) -> None:
    """By default a program answers only plain questions of what it has started, and this is none."""
    kitty, launch = desk.kitty, desk.launches["codex"]
    told = kitty.home / "told"
    told.mkdir()
    prompt = WORDS["reason-question"].prompt("told")
    (told / "script").write_text(_SCRIPT.format(prompt=shlex.quote(prompt)))
    before = {window["id"] for window in kitty.windows()}
    env = {name: value for name, value in launch.env.items() if name.startswith("SCRIPTED")}
    shell = kitty.launch("sh", str(told / "script"), env=env, cwd=str(launch.cwd), keep_focus=True, hold=True)
    try:
        kitty.wait_until(lambda: (told / "end").exists(), 150, "the end of the script")
    finally:
        found = {path.name: path.read_text() for path in told.iterdir()}
        print(found)  # noqa: T201 - pytest shows it with a failed test
        made = [window["id"] for window in kitty.windows() if window["id"] not in {*before, shell}]
        shown = [kitty.get_text(window) for window in made]
        print(*shown)  # noqa: T201
        for window in (*made, shell):
            kitty.close_window(window)

    assert found["wait"].endswith("\n3\n")
    assert "Would you like to run the following command?" in found["question"]
    assert found["answer"].startswith("tally send: permission: only a person answers a permission")
    assert found["answer"].endswith("\n7\n")
    assert "Press enter to confirm or esc to cancel" in shown[0]
    assert not (launch.cwd / "told").exists()


def test_a_question_has_buttons(desk: Desk, desktop: Desktop, borrow: Callable[[str, str], Tab]) -> None:
    """Behind the relay Codex itself says that it is a question, as its screen does."""
    tab, before = borrow("codex", "tally run codex --no-daemon"), len(desktop.shown)
    tab.submit("/plan ASK THEN fine")
    tab.wait("waiting/question", since=tab.truth("waiting:question"))
    shown = told(desk, desktop, before)
    assert "Which colour?" in shown.body
    desktop.press(shown, next(label for label in shown.buttons.values() if label.startswith("Green")))
    tab.shows("answer: Green")
    tab.wait("done", since=tab.truth("done"))


def test_a_person_answers_a_question(borrow: Callable[[str, str], Tab]) -> None:
    """Whatever else says that it is one."""
    tab = borrow("codex", "codex")
    tab.submit("/plan ASK THEN fine")
    tab.wait("waiting/question", since=tab.truth("waiting:question"))
    tab.shows(tab.manner.question)
    asked, answered = tried(tab, is_answered=True)
    assert asked["question"] == "Which colour?"
    assert answered is not None and answered["text"].startswith("answered 1. Red")
    tab.shows("answer: Red")
    tab.wait("done", since=tab.truth("done"))
