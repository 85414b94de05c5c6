"""Looks at windows: what happens in them is seen in the next tick."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tallylight.evidence import process_table
from tallylight.evidence.foreground import Identity
from tests.hosts.kitty.fakes import Boss, Kitty, ProgressState
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture

#: Looks after which a pane in which nothing moves may rest.
SETTLED = 40


@pytest.fixture
def programs() -> Iterator[tuple[int, int]]:
    """Two programs that are no agents."""
    with subprocess.Popen(["sleep", "1000"]) as one, subprocess.Popen(["sleep", "1000"]) as other:
        yield one.pid, other.pid
        one.kill()
        other.kill()


class Desk:
    """A host over one window, with a count of what is asked of the process table and of kitty."""

    def __init__(self, kitty: Kitty, programs: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
        self.kitty, self.programs = kitty, programs
        self.boss = Boss()
        self.window = self.boss.open(1, programs[0])
        self.boss.arrange([1])
        self.asked = 0
        real = process_table.ForegroundReader.look

        def look(reader: Any, pgid: int) -> Identity:
            self.asked += 1
            return real(reader, pgid)

        monkeypatch.setattr(process_table.ForegroundReader, "look", look)
        self.host = kitty.host_module.KittyHost(self.boss)
        self.ticks(SETTLED)

    def ticks(self, number: int = 1) -> int:
        """Let ticks pass; in how many of them the process in the foreground was looked at."""
        before = self.asked
        for _ in range(number):
            self.host.tick()
        return self.asked - before


@pytest.fixture
def desk(kitty: Kitty, programs: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(kitty, programs, monkeypatch)


@pytest.mark.parametrize("is_seen", [False, True])
def test_another_group_is_seen_at_once(desk: Desk, is_seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whichever tick another program comes to the foreground, it is looked at in that one, and in those after it."""
    if is_seen:
        monkeypatch.setattr("tallylight.hosts.kitty.windows.visible", lambda _: {1})
    for _ in range(2):
        desk.ticks(1)
        one, other = desk.programs
        desk.window.child.child_fd = other if desk.window.child.child_fd == one else one
        assert desk.ticks(8) == 8
        desk.ticks(SETTLED)


def _bar(desk: Desk) -> None:
    """A progress bar comes, or goes."""
    progress = desk.window.progress
    progress.state = ProgressState.shown if progress.state is ProgressState.unset else ProgressState.unset


def _command(desk: Desk) -> None:
    desk.host.on_cmd_startstop(desk.window, True, None)


@pytest.mark.parametrize("happens", [_bar, _command])
def test_what_happens_is_looked_at_at_once(desk: Desk, happens: Callable[[Desk], None]) -> None:
    """A progress bar that comes, and a command that starts, which may take the place of its shell."""
    for _ in range(2):
        desk.ticks(SETTLED + 1)
        before = desk.asked
        happens(desk)
        desk.ticks(1)
        assert desk.asked > before


def test_after_a_command_has_started_each_look_is_a_whole_one(desk: Desk) -> None:
    """`exec` puts an agent in the place of the shell without a new group."""
    _command(desk)
    assert desk.ticks(8) == 8


def test_windows_that_come_and_go(desk: Desk) -> None:
    """They have a pane in the next tick, or none any more, also where one takes the place of another."""
    desk.boss.open(2, desk.programs[1])
    desk.ticks(1)
    assert set(desk.host.panes) == {1, 2}
    del desk.boss.window_id_map[1]
    desk.boss.open(3, desk.programs[1])
    desk.ticks(1)
    assert set(desk.host.panes) == {2, 3}


def test_the_same_screen_is_the_same_look(desk: Desk) -> None:
    """Where nothing changed nothing is made; a cursor that moves, and text that changes, make a new one."""
    looks = desk.host._looks
    desk.window.screen.text = "one\ntwo"
    first = looks.screen(desk.window)
    assert first.lines == ["one", "two"] and looks.screen(desk.window) is first
    desk.window.screen.cursor.x = 2
    second = looks.screen(desk.window)
    assert second.cursor_column == 2 and second.lines == first.lines
    desk.window.screen.text = "one\nthree"
    assert looks.screen(desk.window).lines == ["one", "three"]
    assert first.lines == ["one", "two"]
