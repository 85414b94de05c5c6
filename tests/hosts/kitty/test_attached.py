"""A tab with a tmux that is attached in it shows the most urgent pane in there, as the host of sessions knows it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import pytest

from tallylight.hosts.kitty.attached import decision_of, terminal_of
from tallylight.hosts.sessions_inside import by_terminal
from tallylight.model.status import Kind, Status
from tallylight.snapshot import rows
from tallylight.snapshot.requests import Request, Spool
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.snapshot.writer import SnapshotWriter
from tests.entries import new_pane
from tests.hosts.kitty.fakes import Boss, Child, Window
from tests.hosts.kitty.fakes import kitty as kitty  # a fixture
from tests.hosts.kitty.test_disk import Rig
from tests.hosts.kitty.test_disk import rig as rig  # a fixture

HERE, THERE = "/dev/pts/7", "/dev/pts/8"
Publish = Callable[..., None]


def pane(id_: str, status: Status, *terminals: str, **more: object) -> Pane:
    return new_pane(id=id_, status=status, terminals=terminals, agent="claude", title=f"title of {id_}", **more)  # type: ignore[arg-type]


@pytest.fixture
def publish(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Two tabs, the first with the terminal HERE; what is called has the host of sessions tell of panes."""
    rig.boss.open(1, 11).title = "tmux"
    rig.boss.open(2, 12).title = "zsh"
    rig.boss.open(3, 13)
    rig.boss.arrange([1, 3], [2])
    rig.start()
    attached = sys.modules[type(rig.host._attached).__module__]
    terminals = {11: HERE, 12: "/dev/pts/9", 13: ""}
    monkeypatch.setattr(attached, "terminal_of", lambda window: terminals[window.child.child_fd])
    writer = SnapshotWriter.for_host("sessions", {"XDG_RUNTIME_DIR": str(rig.run)}, time.time)
    now = [0.0]

    def publish(*panes: Pane) -> None:
        now[0] += 10.0
        writer.publish(panes, now[0])

    return publish


def light(rig: Rig, tab: int = 1) -> str:
    found = rig.host.surfaces.rollup.shown(tab)
    return str(found.decision.status) if found is not None and found.decision.is_lit else ""


def test_the_tab_takes_the_light_of_what_is_attached_in_it(rig: Rig, publish: Publish) -> None:
    """The most urgent of the panes on its terminal, with that pane's title; it goes when they have nothing to say."""
    publish(
        pane("a", Status.WORKING, HERE), pane("b", Status.WAITING, HERE, kind=Kind.PERMISSION),
        pane("c", Status.ERROR, THERE), pane("d", Status.WAITING),
    )  # fmt: skip
    rig.until(lambda: light(rig) == "waiting", "the light")
    assert light(rig, 2) == ""
    assert rig.host.surfaces.rollup.shown(1).title == "title of b"
    assert rig.host.surfaces.rollup.shown(1).decision.kind is Kind.PERMISSION
    publish(pane("a", Status.WORKING, HERE), pane("b", Status.IDLE, HERE))
    rig.until(lambda: light(rig) == "working", "the next most urgent")
    publish(pane("a", Status.WORKING))
    rig.until(lambda: light(rig) == "", "no light after detaching")
    assert rig.kitty.log == []


def test_what_the_tab_itself_says_counts_where_it_is_more_urgent(rig: Rig, publish: Publish) -> None:
    """As a report of a hook that tmux let through."""
    publish(pane("a", Status.WORKING, HERE))
    rig.until(lambda: light(rig) == "working", "the light")
    rig.host.on_set_user_var(rig.boss.window_id_map[1], "tally", "state=waiting;tool=claude")
    rig.until(lambda: light(rig) == "waiting", "its own light")


def test_work_in_tmux_goes_before_a_done_in_there_and_beside_it(rig: Rig, publish: Publish) -> None:
    """As among splits: green means that nothing is left to wait for; an unseen done is then a mark beside the work."""
    publish(pane("a", Status.DONE, HERE), pane("b", Status.WORKING, HERE))
    rig.until(lambda: light(rig) == "working" and rig.host.surfaces.rollup.shown(1).is_finished, "work, and the mark")
    publish(pane("a", Status.DONE, HERE))
    rig.until(lambda: light(rig) == "done" and not rig.host.surfaces.rollup.shown(1).is_finished, "done alone")
    rig.host.on_set_user_var(rig.boss.window_id_map[1], "tally", "state=working;tool=claude")
    rig.until(lambda: light(rig) == "working" and rig.host.surfaces.rollup.shown(1).is_finished, "work of its own")


def test_a_split_with_tmux_has_its_light(rig: Rig, publish: Publish) -> None:
    """What a badge stands for is the same as what the tab shows."""
    publish(pane("a", Status.DONE, HERE))
    rig.until(lambda: light(rig) == "done", "the light")
    rig.until(lambda: rig.kitty.logos.get(1), "the badge")
    assert "✓" in rig.kitty.logos[1] and set(rig.kitty.logos) == {1}
    assert rig.kitty.log == []


def test_a_jump_goes_to_the_very_pane_in_there(rig: Rig, publish: Publish) -> None:
    """Each that needs somebody is a stop, the oldest question first, and the host of sessions shows it; then back."""
    publish(
        pane("tmux/7/%1", Status.WAITING, HERE, since=5.0), pane("tmux/7/%2", Status.WAITING, HERE, since=4.0),
        pane("tmux/7/%3", Status.IDLE, HERE), pane("tmux/7/%4", Status.DONE),
    )  # fmt: skip
    rig.until(lambda: light(rig) == "waiting", "the light")
    rig.host.on_set_user_var(rig.boss.window_id_map[2], "tally", "state=error;tool=claude")
    rig.until(lambda: light(rig, 2) == "error", "the light of the other tab")
    spool = Spool("sessions", environ={"XDG_RUNTIME_DIR": str(rig.run)})
    rig.boss.set_active_window(rig.boss.window_id_map[3])
    for window, shown in ((1, "tmux/7/%2"), (1, "tmux/7/%1"), (2, ""), (3, "")):
        rig.host.carry_out([Request("jump", "")])
        assert rig.boss.active_window.id == window
        taken: list[Request] = []
        if shown:
            rig.until(lambda taken=taken: taken.extend(spool.take()) or bool(taken), "the request")  # type: ignore[misc]
        assert [request.pane for request in taken] == [shown] * bool(shown)
    assert spool.take() == [] and rig.kitty.log == []


def test_a_host_that_is_gone(rig: Rig, publish: Publish) -> None:
    """Without its snapshot nothing is known of what is attached."""
    publish(pane("a", Status.DONE, HERE))
    rig.until(lambda: light(rig) == "done", "the light")
    for path in (rig.run / "tallylight").glob("sessions-*.json"):
        path.unlink()
    rig.until(lambda: light(rig) == "", "no light")


def test_one_row_for_an_agent_in_tmux() -> None:
    """The pane of kitty that shows tmux has no row beside that of the same agent in there; another agent's has."""
    inner = Snapshot(host="sessions", pid=1, started=0, written=0, panes=(pane("t", Status.WAITING, HERE),))
    outer = [
        new_pane(id="1", status=Status.WAITING, agent="claude", terminal=HERE),
        new_pane(id="2", status=Status.WAITING, agent="codex", terminal=HERE),
        new_pane(id="3", status=Status.WAITING, agent="claude", terminal=THERE),
        Pane(id="4", status=Status.WAITING, agent="claude"),
    ]
    kitty_ = Snapshot(host="kitty", pid=2, started=0, written=0, panes=tuple(outer))

    assert {row.address for row in rows.build([inner, kitty_], "", 0)} == {
        "sessions-1:t", "kitty-2:2", "kitty-2:3", "kitty-2:4",
    }  # fmt: skip


def test_terminals_survive_the_snapshot() -> None:
    """They are read back as they were written, and what is no list of texts is none."""
    one = new_pane(id="1", status=Status.WAITING, terminals=(HERE, THERE), terminal=HERE)
    assert Pane.from_json(one.to_json()) == one
    for bad in (5, "x", [1], {"a": 1}):
        found = Pane.from_json({**one.to_json(), "terminals": bad})
        assert found is not None and found.place.terminals == ()


def test_of_equals_the_newest() -> None:
    """Of each status one, in the order of tabs: many panes in there cost no more than a few."""
    panes = (
        pane("c", Status.DONE, HERE), pane("d", Status.WORKING, HERE), pane("a", Status.WAITING, HERE, since=1.0),
        pane("b", Status.WAITING, HERE, since=2.0), pane("e", Status.IDLE, HERE),
    )  # fmt: skip
    found = by_terminal(panes)
    assert [pane.id for pane in found[HERE]] == ["b", "d", "c"]
    assert decision_of(panes[0]).is_lit


@pytest.mark.skipif(sys.platform != "linux", reason="asked by an ioctl of Linux")
def test_the_terminal_of_a_window() -> None:
    """It is the other side of what kitty holds; a descriptor that is none of a terminal, or closed, has none."""
    master, slave = os.openpty()
    reading, writing = os.pipe()
    try:
        assert terminal_of(Window(1, Child(master))) == os.ttyname(slave)
        assert terminal_of(Window(1, Child(reading))) == ""
    finally:
        for fd in (master, slave, reading, writing):
            os.close(fd)
    assert terminal_of(Window(1, Child(master))) == ""
    window = Boss().open(1, 0)
    window.child.child_fd = None  # type: ignore[assignment]
    assert terminal_of(window) == ""
