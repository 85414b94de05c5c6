"""Real Claude Code with our hooks, which have no terminal of their own: each event arrives at Claude's, as a report.

The truth is the model's marks, and a key press for what the model cannot know.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.real_agents.driver import Launch, Pane, RemoteModel, prepare_claude
from tests.real_agents.hooked import Hooked, install_hooks
from tests.real_kitty.roots import Room

pytestmark = pytest.mark.agents

#: A hook is a process: it takes its turn on a busy machine.
PROMPTLY = 2.0
#: Claude leaves keys alone that come with a dialog.
SETTLES = 0.6


@attrs.frozen
class Place:
    """A home with the suite and the hooks in it, and the model."""

    room: Room
    model: RemoteModel
    home: Path
    launch: Launch


@pytest.fixture
def place(agent_room: Room, claude_program: Path, workspace: Path) -> Iterator[Place]:
    """A home in which `tally hooks install claude --yes` was run."""
    model = RemoteModel(agent_room, workspace)
    home = workspace / "home"
    launch = prepare_claude(home, claude_program, model.port)
    install_hooks(agent_room, home, "claude")
    try:
        yield Place(agent_room, model, home, launch)
    finally:
        model.close()


@pytest.fixture
def pane(place: Place) -> Iterator[Pane]:
    """Claude at its prompt."""
    pane = Pane(place.room, place.launch)
    try:
        pane.wait_text("manual mode on", 30)
        yield pane
    finally:
        pane.close()


def press(pane: Pane, dialog: str, key: str) -> float:
    """Wait for a dialog and answer it; the time of the key."""
    pane.wait_text(dialog)
    time.sleep(SETTLES)  # no event says when it listens
    return pane.send(key)


def test_every_event_arrives(place: Place, pane: Pane) -> None:
    """Start, work, permission, question, subagent, end of turn, error and exit of one session arrive as reports."""
    hooked, model = Hooked(pane), place.model
    ready = hooked.wait("idle")
    assert ready.report.agent == "claude"
    assert ready.report.cwd == str(place.home / "project")

    pane.submit("TOOL touch made; sleep 1 THEN fine")
    working = hooked.wait("working")
    asked = model.wait_mark("waiting:permission")["monotonic"]
    waiting = hooked.wait("waiting/permission")
    pressed = press(pane, "Do you want to proceed", "1")
    again = hooked.wait("working", since=pressed)
    done = hooked.wait("done", since=pressed)

    assert working.report.session == ready.report.session != ""
    assert waiting.report.message == "Bash: touch made; sleep 1"
    assert 0 <= waiting.at - asked < PROMPTLY
    assert pressed < again.at < done.at
    assert done.at - model.wait_mark("done")["monotonic"] < PROMPTLY

    pane.submit("ASK THEN fine")
    question = hooked.wait("waiting/question", since=done.at)
    pressed = press(pane, "Enter to select", "\r")
    answered = hooked.wait("done", since=pressed)
    assert question.report.message.endswith("?")

    pane.submit("TASK SUB SLOW 1 THEN fine")
    child = hooked.wait("working", since=answered.at, id_="*")
    over = hooked.wait("clear", since=child.at, id_=child.report.id)
    done = hooked.wait("done", since=over.at)
    assert child.report.title, "what kind of subagent it is"
    of_agent = [one for one in hooked.arrived if child.at <= one.at <= over.at and not one.report.id]
    # This Claude lets subagents run in the background: its turn is over, and one task still runs.
    assert {one.name for one in of_agent} <= {"working", "background"}, "a subagent's events are its own"
    assert [one.report.background for one in of_agent if one.name == "background"] == [1]

    failed = pane.submit("ERROR 400")
    hooked.wait("error", since=failed)

    left = pane.submit("/exit")
    hooked.wait("clear", since=left)
    assert "hook" not in pane.text().lower()


def test_gone_behind_its_back(place: Place) -> None:
    """Tallylight is deleted with its hooks still in the settings: Claude works, and shows no error of any hook."""
    shutil.rmtree(place.home / ".local")
    assert "tally" in (place.home / ".claude/settings.json").read_text()
    pane = Pane(place.room, place.launch)
    try:
        pane.wait_text("manual mode on", 30)
        pane.submit("TOOL touch made THEN fine")
        press(pane, "Do you want to proceed", "1")
        place.model.wait_mark("done")
        pane.wait_text(r"✻ \w+ for .* · done", 5)

        assert (place.home / "project/made").exists()
        assert Hooked(pane).arrived == []
        for word in ("hook", "tally", "not found", "No such file"):
            assert word not in pane.text()
    finally:
        pane.close()
