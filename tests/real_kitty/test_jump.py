"""Jumps, by keys typed into the window: twenty agents in ten tabs of two OS windows."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import pytest

from tests.real_kitty.desk import Desk
from tests.real_kitty.harness import SMALL

_KEYS = """
map ctrl+n kitten {kittens}/jump.py
map ctrl+p kitten {kittens}/jump.py --previous
map ctrl+g kitten {kittens}/jump.py --any
"""
#: As xdotool names them. Function keys will not do: on this X server kitty 0.48 takes them for alt and the key.
NEXT, PREVIOUS, ANY = "ctrl+n", "ctrl+p", "ctrl+g"
TABS, AGENTS = 10, 20
#: Which of the twenty wait, in the order in which they began to: across tabs and both OS windows.
WAITING = (13, 2, 19, 7, 0)


@attrs.define
class Office:
    """A kitty with twenty agents: *agents* are their windows, *home* is a shell, where the person is."""

    desk: Desk
    home: int
    agents: list[int]

    @classmethod
    def open(cls, version: str) -> Office:
        """Ten tabs, five in each of two OS windows, with two agents in each tab, all at work."""
        desk = Desk(version, config="[kitty]\npulse = false\n", size=(1000, 300), scale=SMALL)
        kitty = desk.kitty
        kittens = kitty.home / ".local/share/tallylight/kittens"
        desk.reload(_KEYS.format(kittens=kittens))
        home = kitty.windows()[0]["id"]
        agents: list[int] = []
        for tab in range(TABS):
            kind = "os-window" if tab == TABS // 2 else "tab"
            beside = {"match": f"id:{kitty.tab_of(agents[-1])}"} if agents else {}
            agents.append(kitty.launch("cat", type=kind, keep_focus=kind == "tab", **beside))
            tab_id = kitty.tab_of(agents[-1])
            agents.append(kitty.launch("cat", type="window", keep_focus=True, match=f"id:{tab_id}"))
        office = cls(desk, home, agents)
        for agent in agents:
            desk.send(agent, "state=working;tool=scout")
        for agent in agents:
            desk.wait_status(agent, "working")
        return office

    def go_home(self) -> None:
        """The person is at the shell in the first OS window."""
        self.desk.kitty.focus_os_window(self.desk.kitty.ls()[0]["id"])
        self.desk.kitty.focus_window(self.home)
        self.wait_front(self.home)

    def ask(self, *numbers: int) -> None:
        """These agents begin to wait, one after the other."""
        for number in numbers:
            self.desk.send(self.agents[number], "state=waiting;kind=permission;tool=scout")
            self.desk.wait_status(self.agents[number], "waiting")

    def work(self) -> None:
        """All go on."""
        for agent in self.agents:
            self.desk.send(agent, "state=working;tool=scout")
        for agent in self.agents:
            self.desk.wait_status(agent, "working")

    def front(self) -> int | None:
        """The window that has the keyboard: of the OS window with the X focus the active tab's active window."""
        for os_window in self.desk.kitty.ls():
            if os_window["is_focused"]:
                for tab in os_window["tabs"]:
                    for window in tab["windows"]:
                        if tab["is_active"] and window["is_active"]:
                            return int(window["id"])
        return None

    def wait_front(self, window: int) -> None:
        """Wait until this window has the keyboard."""
        self.desk.kitty.wait_until(lambda: self.front() == window, 10, f"window {window} in front")

    def press(self, key: str) -> None:
        """Press a key on the keyboard of this screen."""
        self.desk.kitty.xdotool("key", key)


@pytest.fixture(scope="module")
def _office(kitty_version: str) -> Iterator[Office]:
    office = Office.open(kitty_version)
    yield office
    office.desk.close()


@pytest.fixture
def office(_office: Office) -> Office:
    """Twenty agents at work, and the person at the shell."""
    _office.work()
    _office.go_home()
    return _office


def test_there_are_twenty_agents_in_ten_tabs_and_two_os_windows(office: Office) -> None:
    """The room is what the other tests say it is."""
    os_windows = office.desk.kitty.ls()
    tabs = [tab for os_window in os_windows for tab in os_window["tabs"] if tab["windows"][0]["id"] != office.home]

    assert (len(os_windows), len(tabs), sum(len(tab["windows"]) for tab in tabs)) == (2, TABS, AGENTS)
    assert [len(os_window["tabs"]) for os_window in os_windows] == [1 + TABS // 2, TABS // 2]


def test_five_presses_visit_the_five_that_wait_and_the_sixth_returns(office: Office) -> None:
    """Oldest first, across tabs and OS windows; a visit answers none; after the last one the person is back."""
    office.ask(*WAITING)

    for number in WAITING:
        office.press(NEXT)
        office.wait_front(office.agents[number])
    office.press(NEXT)
    office.wait_front(office.home)

    assert [office.desk.status(office.agents[number]) for number in WAITING] == ["waiting"] * 5


def test_the_way_back_and_the_other_way_round(office: Office) -> None:
    """`--previous` goes back the way one came; from the start, to the one that has waited for the shortest time."""
    office.ask(*WAITING[:3])
    oldest, middle, youngest = (office.agents[number] for number in WAITING[:3])

    for key, window in [(NEXT, oldest), (NEXT, middle), (PREVIOUS, oldest), (PREVIOUS, office.home)]:
        office.press(key)
        office.wait_front(window)
    for window in (youngest, middle, oldest, office.home):
        office.press(PREVIOUS)
        office.wait_front(window)


def test_errors_and_ends_come_after_questions_and_what_was_put_off_does_not_come(office: Office) -> None:
    """Waiting, error, done; a snoozed question is skipped."""
    office.ask(3, 4)
    error, done = office.agents[9], office.agents[16]
    office.desk.send(error, "state=error;tool=scout")
    office.desk.send(done, "state=done;tool=scout")
    office.desk.wait_status(error, "error")
    office.desk.wait_status(done, "done")
    _ask_host(office, "snooze", office.agents[3])

    for window in (office.agents[4], error, done, office.home):
        office.press(NEXT)
        office.wait_front(window)


def test_any_agent(office: Office) -> None:
    """`--any` goes to an agent though none needs anything, and where none needs anything the plain key stays."""
    office.press(NEXT)
    office.desk.let_pass(0.3)
    assert office.front() == office.home

    office.press(ANY)
    office.desk.kitty.wait_until(lambda: office.front() in office.agents, what="any agent in front")


def test_by_command(office: Office) -> None:
    """`tally jump` does what the key does; `--dry-run` says where it would go, in order, and goes nowhere."""
    office.ask(*WAITING[:2])
    kitty = office.desk.kitty
    first, second = (office.agents[number] for number in WAITING[:2])

    def told() -> list[str]:
        lines = kitty.run(["tally", "jump", "--dry-run"]).stdout.decode().splitlines()
        return [line.split()[0].rpartition(":")[2] for line in lines]

    # The snapshot that it reads may be a moment behind.
    kitty.wait_until(lambda: told() == [str(first), str(second)], what="both in the order of jumps")
    assert office.front() == office.home

    for window in (first, second, office.home):
        kitty.run(["tally", "jump"])
        office.wait_front(window)


def _ask_host(office: Office, verb: str, window: int) -> None:
    """Put a request to the host, and wait until it shows."""
    snapshot = office.desk.snapshot()
    assert snapshot is not None
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tallylight.snapshot import requests\n"
        "requests.send(sys.argv[2], requests.Request(sys.argv[3], sys.argv[4]))"
    )
    library = str(office.desk.kitty.home / ".local/share/tallylight/lib")
    office.desk.kitty.run(["python3", "-c", code, library, snapshot.name, verb, str(window)])

    def is_snoozed() -> bool:
        found = office.desk.snapshot()
        return found is not None and any(
            pane.id == str(window) and pane.attention.snoozed_until for pane in found.panes
        )

    office.desk.kitty.wait_until(is_snoozed, what=f"{verb} of {window}")
