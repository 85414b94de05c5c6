"""A pane as an entry of the snapshot: what its agent says of itself, and whose question it shows."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from tallylight.agents import agent_files
from tallylight.evidence.process_table import ForegroundReader
from tallylight.model.timing import Timing
from tallylight.pane.entry import pane_entry
from tallylight.pane.pane import Look, Pane
from tallylight.parts.lab.scanner import Scanner
from tallylight.relay.core import RelayCore
from tallylight.snapshot.schema import Pane as PaneEntry
from tallylight.wire import decode
from tallylight.wire.scanner import Sequence
from tallylight.wire.user_var import UserVar
from tests.hosts.test_pane import CLAUDE, HandTable
from tests.tables import each

DIALOG = """\
 Do you want to proceed?
 ❯ 1. Yes
   2. No

 Esc to cancel
"""


@pytest.fixture
def pane(tmp_path: Path) -> Pane:
    """A pane in which Claude Code has just been started, behind a relay."""
    table = HandTable(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(CLAUDE.pid, 1.0)
    return pane


def entry(pane: Pane, title: str = "") -> PaneEntry:
    return pane_entry(pane, lambda at: at, id_="1", tab="", os_window="", title=title)


def said(pane: Pane, *bodies: str) -> None:
    """The program writes these sequences, and the pane is told what a relay makes of them."""
    core = RelayCore()
    for at, body in enumerate(bodies, 2):
        core.from_child(f"\x1b]{body}\x07".encode(), float(at))
        for item in Scanner().feed(core.to_terminal()):
            event = decode(item) if isinstance(item, Sequence) else None
            if isinstance(event, UserVar):
                pane.user_variable(event.value, float(at))
        pane.tick(at + 0.5)


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


@each(
    "body",
    [
        f"7501;state=working:title={encoded('Fix login')}",
        f"26;CodeAgent=claude;Status=running;SessionTitle={encoded('Fix login')}",
        "1338;state=working;title=Fix login",
    ],
)
def test_the_title_of_a_session(tmp_path: Path, body: str) -> None:
    """Whichever protocol tells what the conversation is about, it is the topic, unless the window is called so."""
    table = HandTable(str(tmp_path))
    agents, _ = agent_files.load_agents({"HOME": table.home})
    pane = Pane(Timing(), ForegroundReader(agents, table), table)
    pane.foreground(CLAUDE.pid, 1.0)
    said(pane, body)

    assert entry(pane, "work").topic == "Fix login"
    assert entry(pane, "Fix login").topic == ""


def test_what_a_turn_came_to(pane: Pane) -> None:
    """Without a record, the last sentence of what the agent says of its end."""
    said(pane, "1338;state=working", "1338;state=done;message=Two files changed. All 12 tests pass.")

    assert entry(pane).outcome == "All 12 tests pass."


def test_a_subagents_question_is_its_own(pane: Pane) -> None:
    """On the screen it stands without a name; in lists its subagent's name stands before it."""
    said(
        pane,
        f"7501;state=working:app=claude-code:title={encoded('Deploy')}",
        f"7501;state=blocked:kind=permission:id=eu:title={encoded('EU West')}:msg={encoded('Approve?')}",
    )
    look = Look(DIALOG.splitlines() + [""] * 15, 1, 0, 80)
    for at in (4.0, 4.3, 4.6):
        pane.screen(lambda: look, at)
    told = entry(pane)

    assert (told.message, told.topic) == ("EU West: Approve?", "Deploy")
    assert pane.dialog is not None and told.question == f"EU West: {pane.dialog.question}"
    assert [record.id for record in told.evidence.records] == ["", "eu"]


def test_what_it_does_is_told(pane: Pane) -> None:
    """Tasks, the mode, the worktree and what it does, each in a field of its own."""
    pairs = {"Status": "running", "TaskProgress": "1/3", "TaskList": encoded("a\nb\nc"), "Mode": encoded("plan")}
    pairs |= {"WorkTree": encoded("/w/fix"), "Detail": "edit-file"}
    said(pane, "26;CodeAgent=claude;" + ";".join(f"{key}={value}" for key, value in pairs.items()))
    told = entry(pane)

    assert (told.progress, told.tasks) == ("1/3", ("a", "b", "c"))
    assert (told.about.mode, told.about.worktree, told.detail) == ("plan", "/w/fix", "edit a file")
    assert told.reason.rule == "osc-26"
