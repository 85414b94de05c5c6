"""Nothing is published, drawn or marked unless what a person sees is different: kitty pays for each of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from tallylight.hosts.kitty import user_vars
from tallylight.model.decision import Decision, Reason
from tallylight.model.report import Report, Source
from tallylight.model.status import Status
from tests.hosts.kitty.fakes import TabManager, Window
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture
from tests.hosts.test_pane import CLAUDE, SHELL

#: In the first tab a shell in front and an agent behind it, in the second another shell.
FRONT, BEHIND, BESIDE = 2, 1, 3


@attrs.define
class Desk:
    """A host over these windows, and the variables that it sets."""

    rig: Rig
    manager: TabManager
    set_: list[tuple[str, str | None]]

    def report(self, id_: int, payload: str) -> None:
        """A program in a window reports; it is looked at."""
        self.rig.host.on_set_user_var(self.rig.boss.window_id_map[id_], "tally", payload)
        self.rig.tick()

    def title(self, title: str) -> None:
        """The agent sets its title."""
        window = self.rig.boss.window_id_map[BEHIND]
        window.title = title
        self.rig.host.on_title_change(window, title, True)

    def marks(self) -> int:
        """How often the tab bar was to be drawn since the last time."""
        times, self.manager.times_dirty = self.manager.times_dirty, 0
        return times

    def settle(self, wanted: Status, id_: int = BEHIND) -> None:
        """Wait until all of it is told, and forget that."""
        self.rig.until(lambda: self.rig.status(id_) is wanted, "the light")
        self.rig.until(lambda: self.rig.snapshot().get(str(id_)) is wanted, "the snapshot")
        for _ in range(8):
            self.rig.tick()
        self.marks()
        self.set_.clear()


@pytest.fixture
def desk(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Desk:
    rig.table.processes.update({CLAUDE.pid: CLAUDE, SHELL.pid: SHELL})
    for id_ in (FRONT, BESIDE):
        rig.boss.open(id_, SHELL.pid)
    rig.boss.open(BEHIND, CLAUDE.pid)
    manager = rig.boss.arrange([FRONT, BEHIND], [BESIDE])
    desk, real = Desk(rig, manager, []), Window.set_user_var

    def set_user_var(window: Window, name: str, value: str | None) -> None:
        desk.set_.append((name, value))
        real(window, name, value)

    monkeypatch.setattr(Window, "set_user_var", set_user_var)
    rig.start()
    rig.until(lambda: rig.host.reader.agents.get("claude") is not None, "the agents")
    return desk


@pytest.mark.slow
@pytest.mark.parametrize("every", [0.0, 0.5])
def test_a_frame_of_a_spinner(desk: Desk, every: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether each is read or only some, nothing comes of it: no mark, no variable, no snapshot."""
    monkeypatch.setattr("tallylight.hosts.kitty.spins.FRAME_S", every)
    desk.title("⠁ Fix the login")
    desk.settle(Status.WORKING)
    host: Any = desk.rig.host
    file = next((desk.rig.run / "tallylight").glob("kitty-*.json"))
    written = file.read_bytes()
    for number in range(2, 60):
        desk.title(f"{chr(0x2800 + number)} Fix the login")
        assert not host._is_unsaved
        if number % 3 == 0:
            desk.rig.tick()
    assert (desk.marks(), desk.set_) == (0, [])
    assert file.read_bytes() == written and desk.rig.kitty.log == []


@pytest.mark.slow
def test_a_spinner_is_read_now_and_then(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it says what is shown; all else is read at once, and so is a frame that ends another light."""
    read: list[str] = []
    monkeypatch.setattr("tallylight.hosts.kitty.spins.FRAME_S", 60.0)
    desk.title("⠁ Fix the login")
    desk.settle(Status.WORKING)
    pane = desk.rig.host.panes[BEHIND]
    real = type(pane).title
    monkeypatch.setattr(type(pane), "title", lambda pane, title, now: read.append(title) or real(pane, title, now))
    for title in ("⠂ Fix the login", "⠃ Fix the login", "⠄ Fix the logout", "⠅ Fix the logout", "✳ Fix the logout"):
        desk.title(title)
    assert read == ["⠂ Fix the login", "⠄ Fix the logout", "✳ Fix the logout"]
    desk.settle(Status.IDLE)
    for title in ("⠆ Fix the logout", "⠇ Fix the logout"):
        desk.title(title)
    assert read[3:] == ["⠆ Fix the logout"] and pane.decision.status is Status.WORKING


def test_another_title_is_drawn(desk: Desk) -> None:
    """The tab has the agent's title, so new words in it are drawn; what kitty itself shows in a tab it draws itself."""
    desk.title("⠁ Fix the login")
    desk.settle(Status.WORKING)
    desk.title("⠂ Fix the logout")
    assert desk.marks() == 1 and desk.set_ == []
    desk.rig.host.on_title_change(desk.rig.boss.window_id_map[BESIDE], "another", True)
    assert desk.marks() == 0


def test_what_is_behind_a_more_urgent_light(desk: Desk) -> None:
    """Its variables are set, for they are its own; the tab shows the same, so it is not drawn."""
    desk.report(FRONT, "state=waiting;tool=mine;message=Go on?")
    desk.report(BEHIND, "state=working;tool=claude;message=one")
    desk.settle(Status.WORKING)
    desk.report(BEHIND, "state=idle;tool=claude")
    desk.rig.until(lambda: desk.rig.status(BEHIND) is Status.IDLE, "the light")
    assert desk.marks() == 0 and dict(desk.set_)["tally_status"] == "idle"
    desk.report(FRONT, "state=waiting;tool=mine;message=Go on, then?")
    assert desk.marks() == 1, "a template may have what it waits for"


def test_a_bar_is_drawn_that_kitty_has_drawn_by_itself(desk: Desk) -> None:
    """What it showed then counts, and not what it was last marked for."""
    desk.report(FRONT, "state=waiting;tool=mine")
    desk.settle(Status.WAITING, FRONT)
    rollup: Any = desk.rig.host.surfaces.rollup
    desk.rig.host.panes[FRONT].attention.snoozed_until = 1e9
    rollup.refresh()
    rollup.note(1, [1, 2])
    desk.rig.host.panes[FRONT].attention.snoozed_until = None
    rollup.redraw()
    assert desk.marks() == 1
    rollup.redraw()
    assert desk.marks() == 0
    rollup.forget()
    rollup.redraw()
    assert desk.marks() == 1, "it is to look otherwise"


def test_code_of_the_persons_own_may_draw_all_of_a_report(desk: Desk) -> None:
    """Where it has asked for lights, a tab is drawn for whatever is reported; for another rule alone it is not."""
    desk.report(FRONT, "state=working;tool=mine;message=one")
    desk.settle(Status.WORKING, FRONT)
    desk.report(FRONT, "state=working;tool=mine;message=two")
    assert desk.marks() == 0
    desk.rig.host.surfaces.tabs.was_drawn_by_user()
    desk.report(FRONT, "state=working;tool=mine;message=three")
    assert desk.marks() == 1
    desk.report(FRONT, "state=working;tool=mine;message=four")
    assert desk.marks() == 1


def test_another_reason_alone_sets_no_variable() -> None:
    """It comes with the next change of what it is a reason of."""
    window = Window(1, None)  # type: ignore[arg-type]

    def publish(status: Status, rule: str, since: float) -> dict[str, str]:
        report = Report(source=Source.TITLE, status=status, agent="claude", rule=rule)
        decision = Decision(status, None, Reason(Source.TITLE, rule, since, ""), since, report)
        pane: Any = SimpleNamespace(decision=decision)
        user_vars.publish(window, pane)
        return dict(window.user_vars)

    first = publish(Status.WORKING, "title glyph", 1.0)
    assert first == {
        "tally_status": "working",
        "tally_kind": "",
        "tally_agent": "claude",
        "tally_reason": "title: title glyph",
    }
    assert publish(Status.WORKING, "title glyph ✳", 2.0) == first
    assert publish(Status.IDLE, "title glyph ✳", 3.0)["tally_reason"] == "title: title glyph ✳"
    assert publish(Status.ACTIVE, "", 4.0) == {}
