"""Real agents behind the relay in a real kitty: the light is what the agent itself says, and comes at once.

`tally run` answers for the terminal, so that Claude Code speaks OSC 7501, and reads what Codex says anyway. The claims
are the same for both, but for what only one of them has: Claude's subagents, Codex's shared daemon. That the light is
made from the agent's own words, and not from its status file or title, is in its reason; the others may say the same a
moment before, so what is awaited, and has to come at once, is the light with that reason.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from tests.real_agents.desk import Desk, Tab
from tests.real_agents.driver import wait_until

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

CLAUDE_RUN = ("claude", "tally run claude --permission-mode manual")
CODEX_RUN = ("codex", "tally run codex --no-daemon")
DAEMON_RUN = ("codex", "tally run codex")
#: What an agent says reaches every kitty by the same relay.
IN_ONE_KITTY = {"claude": "0.48", "codex": "0.41", "daemon": "0.48", "test_daemon_is_shared": "0.48"}

#: What a light's reason begins with that is made from the agent's own words.
OWN = "protocol"

Borrow = Callable[[str, str], Tab]


@pytest.fixture(params=[CLAUDE_RUN, CODEX_RUN], ids=["claude", "codex"])
def tab(request: pytest.FixtureRequest, borrow: Borrow) -> Tab:
    """A tab with an agent at its prompt, behind the relay."""
    return borrow(*request.param)


@pytest.fixture(params=[CLAUDE_RUN, CODEX_RUN, DAEMON_RUN], ids=["claude", "codex", "daemon"])
def any_tab(request: pytest.FixtureRequest, borrow: Borrow) -> Tab:
    """The same, with a Codex too whose session is in the daemon that all Codexes share."""
    return borrow(*request.param)


def test_answer(any_tab: Tab) -> None:
    """Blue while it works, green when it has finished, from its own words."""
    tab = any_tab
    tab.submit(f"HOLD {(text := tab.new('text'))}")
    working = tab.wait("working", since=tab.truth("working"), source=OWN)
    tab.shows("scripted model answers")
    tab.model.release(text)
    done = tab.wait("done", since=tab.truth("done"), source=OWN)

    tab.at_once(working, tab.truth("working"), "working")
    tab.at_once(done, tab.truth("done"), "done")
    assert done.variables["tally_agent"] == tab.agent


def test_permission(any_tab: Tab) -> None:
    """Amber as long as the permission dialog is open, blue from the approval on, green at the end."""
    tab = any_tab
    tab.submit(f"TOOL touch {(made := tab.new())}; sleep 1 THEN fine")
    asked = tab.truth("waiting:permission")
    waiting = tab.wait("waiting/permission", since=asked, source=OWN)
    pressed = tab.answer(tab.manner.permission, tab.manner.approve)
    working = tab.wait("working", since=pressed, source=OWN)
    done = tab.wait("done", since=tab.truth("done"), source=OWN)

    tab.at_once(waiting, asked, "permission")
    tab.at_once(working, tab.made_at(made), "approved")
    tab.at_once(done, tab.truth("done"), "done")
    assert working.at < tab.truth("done")


def test_permission_dismissed(tab: Tab) -> None:
    """Esc in the dialog is idle: not amber, and not green either."""
    tab.submit(f"TOOL touch {tab.new()}")
    tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    pressed = tab.answer(tab.manner.permission, key="escape")
    idle = tab.wait("idle", since=pressed, source=OWN)
    shown = tab.shows(tab.manner.interrupted)

    tab.at_once(idle, shown, "dismissed")
    assert "done" not in tab.names(pressed)


def test_question(tab: Tab) -> None:
    """A question is amber and says that it is one; its answer turns the light blue."""
    tab.submit(f"{tab.manner.plan}ASK THEN HOLD {(more := tab.new('more'))}")
    asked = tab.truth("waiting:question")
    waiting = tab.wait("waiting/question", since=asked, source=OWN)
    pressed = tab.answer(tab.manner.question, "1")
    answered = tab.truth("working", 2)
    working = tab.wait("working", since=pressed, source=OWN)
    tab.model.release(more)
    done = tab.wait("done", since=tab.truth("done"), source=OWN)

    tab.at_once(waiting, asked, "question")
    tab.at_once(working, answered, "answered")
    tab.at_once(done, tab.truth("done"), "done")


def test_interrupted(tab: Tab) -> None:
    """Esc in mid-answer is idle, and never done."""
    tab.submit(f"HOLD {tab.new('text')}")
    tab.shows("scripted model answers")
    tab.wait("working", since=tab.truth("working"))
    pressed = tab.key("escape")
    interrupted = tab.truth("interrupted")
    idle = tab.wait("idle", since=pressed, source=OWN)
    time.sleep(1.0)  # nothing is awaited: that no other source turns it green is the claim

    tab.at_once(idle, interrupted, "interrupted")
    assert tab.names(idle.at) == {"idle"}


def test_error(tab: Tab) -> None:
    """An API error is red, and stays so."""
    tab.submit("ERROR 400")
    tab.truth("error")
    tab.shows(tab.manner.failed)
    failed = tab.model.marks[-1]["monotonic"]  # Claude tries a few variants of a request that was refused so
    error = tab.wait("error", since=failed, source=OWN)
    time.sleep(1.0)  # nothing is awaited: that no other source turns it green is the claim

    tab.at_once(error, failed, "error")
    assert tab.names(error.at) == {"error"}


def test_subagents(borrow: Borrow) -> None:
    """A subagent of Claude's is a record below the tab's own, with its title, for as long as it works."""
    tab = borrow(*CLAUDE_RUN)
    inner, outer = tab.new("inner"), tab.new("outer")
    tab.submit(f"TASK SUB HOLD {inner} THEN HOLD {outer}")
    started = tab.truth("sub:working")
    began = wait_until(lambda: next((x for x in tab.lights(started) if "working" in x.below.values()), None), 5, "it")
    entry = wait_until(lambda: next((r for r in tab.records() if r.id in began.below), None), 2, "it in the snapshot")
    tab.model.release(inner)
    finished = tab.truth("sub:done")
    ended = wait_until(
        lambda: next((x for x in tab.lights(finished) if "working" not in x.below.values()), None), 5, "its end"
    )

    def over() -> bool:
        tab.model.release(outer)  # Claude may ask once more, when it hears of its subagent's end
        return any(light.name == "done" for light in tab.lights(ended.at))

    wait_until(over, 20, "done", 0.2)

    tab.at_once(began, started, "subagent working")
    tab.at_once(ended, finished, "subagent done")
    assert entry.source == "protocol"
    assert entry.fields["title"] == "A task"
    assert began.name == ended.name == "working"


def test_subagent_asks(borrow: Borrow) -> None:
    """A subagent that asks for permission makes its tab amber."""
    tab = borrow(*CLAUDE_RUN)
    tab.submit(f"TASK SUB TOOL touch {tab.new()} THEN HOLD {(outer := tab.new('outer'))}")
    asked = tab.truth("sub:waiting:permission")
    waiting = tab.wait("waiting/permission", since=asked, source=OWN)
    pressed = tab.answer(tab.manner.permission, tab.manner.approve)
    tab.wait("working", since=pressed, source=OWN)
    tab.truth("sub:done")
    tab.model.release(outer)

    tab.at_once(waiting, asked, "subagent's permission")


def test_background(borrow: Borrow) -> None:
    """A turn of Claude's that is over but left a shell running is not done before that is over, too.

    Claude itself says `working` meanwhile, its status file that only the shell runs: the light may follow either.
    """
    tab = borrow(*CLAUDE_RUN)
    tab.submit(f"BACKGROUND touch {tab.new()}; sleep 3 THEN started")
    pressed = tab.answer(tab.manner.permission, tab.manner.approve)
    approved = tab.wait("working", "background", since=pressed)  # told up to 100 ms after the model has said `done`
    tab.wait("done", since=(again := tab.truth("done", 2)))
    meanwhile = {light.name for light in tab.lights(approved.at) if light.at < again}

    assert meanwhile <= {"working", "background"}


def test_daemon_is_shared(borrow: Borrow) -> None:
    """Two Codexes with one daemon light a tab each: what one does is not seen in the other's."""
    one, other = borrow(*DAEMON_RUN), borrow(*DAEMON_RUN)
    other.submit("hello")
    other.wait("done", since=other.truth("done"), source=OWN)
    began = time.monotonic()
    one.submit(f"TOOL touch {one.new()}; sleep 1 THEN fine")
    waiting = one.wait("waiting/permission", since=(asked := one.truth("waiting:permission")), source=OWN)
    one.answer(one.manner.permission, one.manner.approve)
    one.wait("done", since=one.truth("done", 2))

    one.at_once(waiting, asked, "permission")
    assert other.names(began) == {"done"}


def test_exit(any_tab: Tab) -> None:
    """At the end it takes back all it said: the tab is a shell's, without an agent and without a light."""
    tab = any_tab
    tab.submit("hello")
    tab.wait("done", since=tab.truth("done"))
    tab.look()
    left = time.monotonic()
    prompt = tab.leave()
    light = tab.unlit()

    tab.at_once(light, prompt, "exit")
    assert light.status in {"", "idle", "active"}
    assert not light.below
    assert not {"down", "done", "working"} & tab.names(left)


def test_exit_after_interrupt(any_tab: Tab) -> None:
    """A turn that was broken off is not done because the agent was ended after it."""
    tab = any_tab
    tab.submit(f"HOLD {tab.new('text')}")
    tab.shows("scripted model answers")
    pressed = tab.key("escape")
    tab.wait("idle", since=pressed)
    tab.shows(tab.manner.interrupted)
    tab.leave()
    tab.unlit()

    assert "done" not in tab.names(pressed)


def test_killed(any_tab: Tab) -> None:
    """`kill -9` of an agent in mid-answer is down, though it took nothing back."""
    tab = any_tab
    tab.submit(f"HOLD {tab.new('text')}")
    tab.wait("working", since=tab.truth("working"))
    os.kill(tab.pid(), signal.SIGKILL)
    killed = time.monotonic()
    down = tab.wait("down", since=killed)

    tab.promptly(down, killed)  # nobody says so: it is seen


def test_kitty_is_spared(desk: Desk, borrow: Borrow) -> None:
    """kitty is sent none of the sequences it would complain about."""
    tab = borrow(*CODEX_RUN)
    tab.submit("hello")
    tab.wait("done", since=tab.truth("done"))

    assert "7501" not in desk.kitty.log
