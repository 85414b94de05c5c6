"""The main job: real Claude Code in a real kitty, and the light within a second of the truth.

No hook is installed and no file of Claude's is touched: the light comes from looking on.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.real_agents.desk import CLAUDE, PROMPTLY, Desk, Tab

#: The relay and whole commands are tried with Claude in the other kitty.
IN_ONE_KITTY = "0.41"

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

COMMAND = "claude --permission-mode manual"


@pytest.fixture
def tab(borrow: Callable[[str, str], Tab]) -> Tab:
    """A tab with Claude at its prompt."""
    return borrow("claude", COMMAND)


def test_ready(tab: Tab) -> None:
    """Claude at its prompt is idle, and known by its name."""
    light = tab.wait("idle", since=tab.ready)

    tab.promptly(light, tab.ready)
    assert light.variables["tally_agent"] == "claude"


def test_answer(tab: Tab) -> None:
    """Blue while it works, green when it has finished."""
    tab.submit(f"HOLD {(text := tab.new('text'))}")
    working = tab.wait("working", since=tab.truth("working"))
    tab.shows("scripted model answers")
    tab.model.release(text)
    done = tab.wait("done", since=tab.truth("done"))

    tab.promptly(working, tab.truth("working"))
    tab.promptly(done, tab.truth("done"))


def test_short_answer(tab: Tab) -> None:
    """A turn that is over before anyone could look is still done."""
    tab.look()  # the green that the turn before has left is not of this one
    tab.submit("SLOW 0.3")
    done = tab.wait("done", since=tab.truth("done"))

    tab.promptly(done, tab.truth("done"))


def test_permission(tab: Tab) -> None:
    """Amber as long as the permission dialog is open, blue from the approval on, green at the end."""
    tab.submit(f"TOOL touch {(made := tab.new())}; sleep 2 THEN fine")
    asked = tab.shows(CLAUDE.permission)  # the truth: out, and on the glass
    waiting = tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    pressed = tab.answer(CLAUDE.permission, CLAUDE.approve)
    working = tab.wait("working", since=pressed)
    done = tab.wait("done", since=tab.truth("done"))

    tab.promptly(waiting, asked)
    tab.promptly(working, tab.made_at(made))
    assert working.at < tab.truth("done")
    tab.promptly(done, tab.truth("done"))


def test_permission_dismissed(tab: Tab) -> None:
    """Esc in the dialog ends the turn: not amber, and not green either."""
    tab.submit(f"TOOL touch {tab.new()}")
    tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    pressed = tab.answer(CLAUDE.permission, key="escape")
    shown = tab.shows(CLAUDE.interrupted)
    idle = tab.wait("idle", since=pressed)

    tab.promptly(idle, shown)
    assert "done" not in tab.names(pressed)


def test_question(tab: Tab) -> None:
    """A question is amber and says that it is one; its answer turns the light blue."""
    tab.submit(f"ASK THEN HOLD {(more := tab.new('more'))}")
    asked = tab.shows(CLAUDE.question)  # the truth: out, and on the glass
    waiting = tab.wait("waiting/question", since=tab.truth("waiting:question"))
    pressed = tab.answer(CLAUDE.question, "1")
    working = tab.wait("working", since=pressed)
    answered = tab.truth("working", 2)
    tab.model.release(more)
    done = tab.wait("done", since=tab.truth("done"))

    tab.promptly(waiting, asked)
    tab.promptly(working, answered)
    tab.promptly(done, tab.truth("done"))


def test_interrupted(tab: Tab) -> None:
    """Esc in mid-answer is idle, never done."""
    tab.submit(f"HOLD {tab.new('text')}")
    tab.shows("scripted model answers")
    working = tab.wait("working", since=tab.truth("working"))
    pressed = tab.key("escape")
    idle = tab.wait("idle", since=pressed)
    interrupted = tab.truth("interrupted")
    time.sleep(PROMPTLY)  # nothing is awaited: that no green comes is the claim

    tab.promptly(idle, interrupted)
    assert "done" not in tab.names(working.at)


def test_error(tab: Tab) -> None:
    """An API error is red; the next turn is not, though the old error is still on the screen."""
    tab.submit("ERROR 400")
    tab.truth("error")
    tab.shows(CLAUDE.failed)
    failed = tab.model.marks[-1]["monotonic"]  # Claude tries a few variants of a request that was refused so
    error = tab.wait("error", since=failed)
    tab.submit(f"HOLD {(text := tab.new('text'))}")
    tab.shows("scripted model answers")
    working = tab.wait("working", since=tab.model.marks[-1]["monotonic"])
    tab.model.release(text)
    done = tab.wait("done", since=tab.truth("done"))

    tab.promptly(error, failed)
    assert working.at < done.at
    tab.promptly(done, tab.truth("done"))


def test_background(tab: Tab) -> None:
    """A turn that is over but left a shell running is in the background, and done when that is over too."""
    tab.submit(f"BACKGROUND touch {tab.new()}; sleep 3 THEN started")
    tab.answer(CLAUDE.permission, CLAUDE.approve)
    over = tab.truth("done")
    background = tab.wait("background", since=over)
    done = tab.wait("done", since=tab.truth("done", 2), timeout=10)

    tab.promptly(background, over)
    tab.promptly(done, tab.truth("done", 2))


def test_exit(tab: Tab) -> None:
    """After /exit the tab is a shell's: no agent, no light."""
    tab.submit("hello")
    tab.wait("done", since=tab.truth("done"))
    tab.look()
    left = time.monotonic()
    prompt = tab.leave()
    light = tab.unlit()

    tab.promptly(light, prompt)
    assert light.status in {"", "idle", "active"}
    assert not {"down", "done"} & tab.names(left)


def test_exit_after_interrupt(tab: Tab) -> None:
    """A turn that was broken off is not done because Claude was ended after it."""
    tab.submit(f"HOLD {tab.new('text')}")
    tab.shows("scripted model answers")
    pressed = tab.key("escape")
    tab.wait("idle", since=pressed)
    tab.shows(CLAUDE.interrupted)
    tab.leave()
    tab.unlit()

    assert "done" not in tab.names(pressed)


def test_killed(tab: Tab) -> None:
    """`kill -9` in mid-answer is down: it vanished and said nothing."""
    tab.submit(f"HOLD {tab.new('text')}")
    tab.wait("working", since=tab.truth("working"))
    os.kill(tab.pid(), signal.SIGKILL)
    killed = time.monotonic()
    down = tab.wait("down", since=killed)

    tab.promptly(down, killed)


def test_nothing_of_claudes_was_changed(desk: Desk, tab: Tab) -> None:
    """No hook is installed and no settings file of Claude's exists: the lights come from looking alone."""
    known: dict[str, Any] = json.loads((desk.kitty.home / ".claude.json").read_text())

    assert "hooks" not in known
    assert not list((desk.kitty.home / ".claude").glob("settings*.json"))
