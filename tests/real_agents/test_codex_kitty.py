"""Real Codex in a real kitty, which drops what Codex says of itself: the light comes from its title and its screen.

A title tells less than the truth: Codex clears the spinner alike after an answer and an interrupt, which both look
done; a question looks like a permission there, and only its screen tells them apart; and its title speaks of a
permission dialog up to a second after it is on the glass. `tally run` knows better (test_relay_kitty).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.real_agents.desk import CODEX, PROMPTLY, Desk, Tab

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

#: Where the session runs is Codex's affair, and what is read of it kitty's: each is tried with one of the other.
IN_ONE_KITTY = {"alone": "0.41", "daemon": "0.48"}
#: By how much Codex's title lags behind its permission dialog: 0.85 to 0.95 s on a quiet machine.
TITLE_LAG = 1.0


@pytest.fixture(params=["codex --no-daemon", "codex"], ids=["alone", "daemon"])
def tab(request: pytest.FixtureRequest, borrow: Callable[[str, str], Tab]) -> Tab:
    """A tab with Codex at its prompt: with the session in its own process, and in the daemon all Codexes share."""
    return borrow("codex", request.param)


def test_ready(desk: Desk) -> None:
    """Codex that has just come to its prompt has done nothing yet: it is not green."""
    tab = Tab(desk, "codex", "codex --no-daemon")
    try:
        tab.kitty.wait_until(lambda: tab.kitty.window(tab.window)["title"] == "project", 30, "Codex's own title")
        time.sleep(PROMPTLY)  # nothing is awaited: that no green comes is the claim
        assert "done" not in tab.names(tab.started)
    finally:
        tab.close()


def test_answer(tab: Tab) -> None:
    """Blue while it works, green when it has finished, and known by its name."""
    tab.submit(f"HOLD {(text := tab.new('text'))}")
    working = tab.wait("working", since=tab.truth("working"))
    tab.shows("scripted model answers")
    tab.model.release(text)
    done = tab.wait("done", since=tab.truth("done"))

    tab.promptly(working, tab.truth("working"))
    tab.promptly(done, tab.truth("done"))
    assert done.variables["tally_agent"] == "codex"


def test_permission(tab: Tab) -> None:
    """Amber for the permission dialog, blue from the approval on, green at the end."""
    tab.submit(f"TOOL touch {(made := tab.new())}; sleep 2 THEN fine")
    asked = tab.shows(CODEX.permission)
    waiting = tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    pressed = tab.answer(CODEX.permission, CODEX.approve)
    working = tab.wait("working", since=pressed)
    done = tab.wait("done", since=tab.truth("done"))

    tab.at_once(waiting, asked, within=TITLE_LAG + PROMPTLY)
    tab.promptly(working, tab.made_at(made))
    assert working.at < tab.truth("done")
    tab.promptly(done, tab.truth("done"))


def test_permission_dismissed(tab: Tab) -> None:
    """Esc in the dialog is not amber any more; that it was no end of a turn its record tells, where that is known."""
    tab.submit(f"TOOL touch {tab.new()}")
    tab.wait("waiting/permission", since=tab.truth("waiting:permission"))
    tab.answer(CODEX.permission, key="escape")
    shown = tab.shows(CODEX.interrupted)
    over = tab.wait("idle", "done", since=shown)

    tab.promptly(over, shown)


def test_question(tab: Tab) -> None:
    """A question, which Codex asks in plan mode only, is amber."""
    tab.submit(f"{CODEX.plan}ASK THEN fine")
    asked = tab.shows(CODEX.question)
    waiting = tab.wait("waiting/question", since=tab.truth("waiting:question"))
    tab.answer(CODEX.question, "1")
    done = tab.wait("done", since=tab.truth("done"))

    tab.promptly(waiting, asked)
    tab.promptly(done, tab.truth("done"))


def test_interrupted(tab: Tab) -> None:
    """Esc in mid-answer is not blue any more; that it was no end of a turn its record tells, where that is known."""
    tab.submit(f"HOLD {tab.new('text')}")
    tab.shows("scripted model answers")
    tab.wait("working", since=tab.truth("working"))
    tab.key("escape")
    interrupted = tab.truth("interrupted")
    over = tab.wait("idle", "done", since=interrupted)

    tab.promptly(over, interrupted)


def test_error(tab: Tab) -> None:
    """After an API error it is not blue any more, and red where its record is known."""
    tab.submit("ERROR 400")
    failed = tab.truth("error")
    tab.shows(CODEX.failed)
    over = tab.wait("error", "done", since=failed)

    tab.promptly(over, failed)


def test_exit(tab: Tab) -> None:
    """After /quit the tab is a shell's: no agent, no light."""
    tab.submit("hello")
    tab.wait("done", since=tab.truth("done"))
    tab.look()
    left = time.monotonic()
    prompt = tab.leave()
    light = tab.unlit()

    tab.promptly(light, prompt)
    assert light.status in {"", "idle", "active"}
    assert not {"down", "done"} & tab.names(left)
