"""
Real Claude Code asks in a hidden tab of a real kitty: the person is notified once, though Claude reminds too.

What the notification of a permission says was pressed answers nothing, whoever says it; a question has buttons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_agents.desk import CLAUDE, Desk, Tab
from tests.real_kitty.conftest import VERSIONS
from tests.real_kitty.notifications import Desktop, Shown

pytestmark = [pytest.mark.agents, pytest.mark.kitty]

#: Claude reminds 6.5 s after its dialog has opened, on a machine that has nothing else to do.
REMINDED_S = 30.0

_HEARD = """
from tallylight.hosts.kitty.watcher import _host as host
manager = host.boss.notification_manager
real = manager.notify_with_command
host.heard = []

def noting(command, channel_id):
    number = real(command, channel_id)
    host.heard.append((command.title, command.body, number is None))
    return number

manager.notify_with_command = noting
"""


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    desktop = Desktop()
    yield desktop
    desktop.close()


@pytest.fixture
def desk(desktop: Desktop, claude_program: Path, tmp_path: Path) -> Iterator[Desk]:
    """The newest kitty, with Claude and a desktop."""
    desk = Desk(VERSIONS[-1], tmp_path, claude=claude_program, env=desktop.env)
    yield desk
    desk.close()


def test_one_notification_for_one_question(desk: Desk, desktop: Desktop) -> None:
    """Ours, with the question; Claude's reminder of the same is heard and left out; the answer takes ours back."""
    tab = desk.borrow("claude", "claude --permission-mode manual")
    desk.kitty.eval(_HEARD)
    tab.submit(f"TOOL touch {tab.new()} THEN fine")
    tab.shows(CLAUDE.permission)

    def reminded() -> list[list[object]]:
        found: list[list[object]] = desk.kitty.eval(
            "from tallylight.hosts.kitty.watcher import _host as host; return list(host.heard)"
        )
        return found

    shown = desk.kitty.wait_until(lambda: desktop.shown[0] if desktop.shown else None, what="the notification")
    assert (shown.application, ": touch " in shown.title) == ("Tallylight", True)
    assert shown.body.startswith("claude asks for permission: Do you want to")
    heard = desk.kitty.wait_until(reminded, REMINDED_S, "Claude's own reminder")
    # What has no text at all shows nothing anyway.
    assert [taken for title, _, taken in heard if title] == [True], heard
    assert desktop.shown == [shown] and shown.closed_at is None

    tab.answer(CLAUDE.permission, CLAUDE.approve)
    desk.kitty.wait_until(lambda: not desktop.open, what="the end of the notification")
    tab.wait("done", since=tab.truth("done"))
    assert desktop.shown == [shown], "a turn of ten seconds is none to be told of"


def asked(desk: Desk, desktop: Desktop, prompt: str) -> tuple[Tab, Shown]:
    """A hidden tab in which Claude asks, and the notification of that."""
    tab = desk.borrow("claude", "claude --permission-mode manual")
    tab.submit(prompt)
    return tab, desk.kitty.wait_until(lambda: desktop.shown[0] if desktop.shown else None, what="the notification")


@pytest.mark.parametrize("action", ["1", "2", "default"])
def test_nobody_on_the_bus_answers_a_permission(desk: Desk, desktop: Desktop, action: str) -> None:
    """Another program of the session says that its button was pressed: the person is taken there, and it still asks."""
    name = "made"
    tab, shown = asked(desk, desktop, f"TOOL touch {name} THEN fine")
    desktop.forge(shown, action)
    desk.kitty.wait_until(
        lambda: desk.kitty.eval("return boss.active_window.id") == tab.window or (tab.project / name).exists(),
        what="the window in front",
    )
    assert re.search(CLAUDE.permission, desk.kitty.get_text(tab.window)) and not (tab.project / name).exists()
    assert shown.buttons == {} and shown.title.endswith(f": touch {name}")
    tab.answer(CLAUDE.permission, CLAUDE.approve)
    desk.kitty.wait_until((tab.project / name).exists, what="the file, once the person has answered")


def test_a_button_answers_a_question(desk: Desk, desktop: Desktop) -> None:
    """The notification holds the question and its answers, and a button gives that answer."""
    tab, shown = asked(desk, desktop, "ASK THEN fine")
    assert "claude asks you something" in f"{shown.title}\n{shown.body}" and "Which colour?" in shown.body

    def is_answered() -> bool:
        # A busy machine may draw the dialog to its end only now: then the press is refused, and it is asked once more.
        for one in desktop.open:
            for label in one.buttons.values():
                if label.startswith("Green"):
                    desktop.press(one, label)
        return "Which colour? → Green" in desk.kitty.get_text(tab.window)

    try:
        desk.kitty.wait_until(is_answered, what="the answer")
    finally:
        print(*desktop.shown, sep="\n")  # noqa: T201 - pytest shows it with a failed test


def test_each_notification_names_its_own_command(desk: Desk, desktop: Desktop) -> None:
    """Of two permissions in one turn the second notification names the second command, and nothing of the first."""
    tab, shown = asked(desk, desktop, "TOOL touch zz0 THEN TOOL touch zz1 THEN fine")
    assert shown.title.endswith(": touch zz0") and "zz1" not in shown.body
    tab.answer(CLAUDE.permission, CLAUDE.approve)
    desk.kitty.wait_until(lambda: len(desktop.shown) > 1, what="the second notification")
    assert desktop.shown[1].title.endswith(": touch zz1") and "zz0" not in desktop.shown[1].body
    tab.answer(CLAUDE.permission, CLAUDE.approve)
    desk.kitty.wait_until((tab.project / "zz1").exists, what="the second file")
