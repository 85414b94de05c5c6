"""The states that a hardcopy of GNU Screen can show, by the names they were published under, through real bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.hosts.gnu_screen.hardcopy import decode
from tallylight.model.status import Kind, Status
from tallylight.model.timing import Timing
from tallylight.pane.pane import Look, Pane
from tests.hosts.detached.test_hardcopy import low
from tests.hosts.test_pane import CLAUDE, SHELL, HandTable

LINE = "─" * 80
BOX = f"{LINE}\n❯ \n{LINE}\n  ? for shortcuts"

UNKNOWN = ""
IDLE = f"● Done! The file was saved.\n\n{BOX}"
THINKING = f"● I will look at it.\n\n✻ Thinking… (3s · esc to interrupt)\n\n{BOX}"
WORKING = f"● Bash(pytest -q)\n  ⎿  Running…\n\n✶ Testing… (12s · ↓ 10 tokens)\n\n{BOX}"
WAITING = f"""● Bash(touch made)
  ⎿  Running…

{LINE}
 Bash command

   touch made
   Make a file

 Do you want to proceed?
 ❯ 1. Yes
   2. Yes, and don’t ask again for: touch commands
   3. No

 Esc to cancel · Tab to amend"""
ERROR = f"> go on\n\n● API Error: 400 the model refused\n\n{BOX}"


class Window:
    """A window of Screen with Claude Code in it, of which nothing is known but its screen."""

    def __init__(self, home: Path, *, keeps_text: bool) -> None:
        self.keeps_text = keeps_text
        self.now = 0.0
        table = HandTable(str(home))
        agents, problems = agent_files.load_agents({"HOME": str(home)})
        assert not problems
        self.pane = Pane(Timing(), ForegroundReader(agents, table), table)

    def shows(self, text: str, looks: int = 6, every: float = 0.5) -> Status:
        """Let the screen show *text* for some looks; the status in the end."""
        data = text.encode() if self.keeps_text else low(text)
        rows = decode(data + b"\n", keeps_text=self.keeps_text)
        rows += [""] * (30 - len(rows))
        for _ in range(looks):
            self.now += every
            self.pane.foreground(CLAUDE.pid, self.now)
            self.pane.screen(lambda: Look(rows, len(rows) - 1, 0, 80, cursor_visible=False), self.now)
            self.pane.tick(self.now)
        return self.pane.decision.status


@pytest.fixture(params=[False, True], ids=["4.9", "5.0"])
def window(request: pytest.FixtureRequest, tmp_path: Path) -> Window:
    return Window(tmp_path, keeps_text=request.param)


def test_unknown(window: Window) -> None:
    """UNKNOWN: a plain program, or an empty screen of a shell, has no light."""
    window.pane.foreground(SHELL.pid, 0)
    window.pane.screen(lambda: pytest.fail("the screen of a shell was read"), 0)

    assert window.pane.decision.status is Status.ACTIVE
    assert not window.pane.decision.is_lit


def test_idle(window: Window) -> None:
    """IDLE: at its prompt with nothing to do."""
    assert window.shows(IDLE) is Status.IDLE


@pytest.mark.parametrize("text", [THINKING, WORKING], ids=["thinking", "working"])
def test_working(window: Window, text: str) -> None:
    """THINKING and WORKING: a spinner above the prompt, with its word and its time."""
    window.shows(IDLE)

    assert window.shows(text) is Status.WORKING


def test_waiting(window: Window) -> None:
    """WAITING: a dialog, with its kind, its question and its answers."""
    window.shows(WORKING)

    assert window.shows(WAITING) is Status.WAITING
    assert window.pane.decision.kind is Kind.PERMISSION
    dialog = window.pane.dialog
    assert dialog is not None
    assert dialog.question == "Do you want to proceed?"
    assert [choice.keys for choice in dialog.choices][:3] == ["1", "2", "3"]


def test_error(window: Window) -> None:
    """ERROR: the last thing above the prompt is that it failed."""
    window.shows(WORKING)

    assert window.shows(ERROR) is Status.ERROR


def test_a_single_reading_does_not_count(window: Window) -> None:
    """After the first, a state that is read only once is not believed: a hardcopy may have been made in mid-drawing."""
    assert window.shows(WAITING) is Status.WAITING
    assert window.shows(ERROR, looks=1) is Status.WAITING
    assert window.shows(ERROR, looks=3) is Status.ERROR


def test_noise_around_the_question(window: Window) -> None:
    """What ssh-agent and the like printed before is not taken for the question."""
    noise = "Agent pid 4711\nIdentity added: /home/me/.ssh/id_ed25519 (me@here)\n\n"
    window.shows(WORKING)
    window.shows(noise + WAITING)

    assert window.pane.decision.report.message == "Do you want to proceed?"
