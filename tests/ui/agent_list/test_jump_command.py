"""`tally jump`: which terminal it asks, for what, and what it says without one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tallylight.cli import jump
from tallylight.cli.main import main
from tallylight.snapshot import requests
from tallylight.snapshot.addresses import Panes, Row
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import SnapshotWriter
from tests.entries import new_pane
from tests.tables import each
from tests.ui.agent_list.panes import NOW, asking, pane


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> requests.Spool:
    """The requests to this process, which is a terminal with an old and a young question."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("KITTY_PID", raising=False)
    writer = SnapshotWriter.for_host("kitty", os.environ, time.time)
    now = time.time()
    writer.publish(
        [Pane(id=name, status=asking(1).status, since=now - age) for name, age in (("5", 30), ("4", 3000))],
        time.monotonic(),
    )
    assert not writer.error
    return requests.Spool("kitty")


@pytest.mark.parametrize(
    ("options", "asked"),
    [([], ()), (["--previous"], ("--previous",)), (["--any", "--previous"], ("--previous", "--any"))],
)
def test_it_asks_the_terminal(spool: requests.Spool, options: list[str], asked: tuple[str, ...]) -> None:
    """The terminal gets the request with its options, and decides itself."""
    assert main(["jump", *options]) == 0
    assert [(r.verb, r.pane, r.args) for r in spool.take()] == [("jump", "", asked)]


def test_a_dry_run_tells_the_order(spool: requests.Spool, capsys: pytest.CaptureFixture[str]) -> None:
    """--dry-run lists the stops, oldest first, or with --previous the other way round, and asks nothing."""
    main(["jump", "--dry-run"])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["4", "5"]
    main(["jump", "--dry-run", "--previous"])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["5", "4"]
    assert spool.take() == []


def test_a_dry_run_has_the_panes_of_an_attached_tmux(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """kitty jumps to them, so they are listed, by their own names, in place of the window that shows tmux."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    inside = [
        asking(f"tmux/1/%{number}", 90, attach=("tmux", "attach"), terminals=(f"/dev/pts/{number}",))
        for number in (7, 8)
    ]
    own = [asking(2), asking(3, 90, terminal="/dev/pts/7")]
    for host, panes in (("kitty", own), ("sessions", inside)):
        SnapshotWriter.for_host(host, os.environ, time.time).publish(panes, 0.0)

    main(["jump", "--dry-run"])
    assert [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()] == ["tmux 7", "2"]


def test_without_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no terminal runs it says so, and fails."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))

    assert main(["jump"]) == 1
    assert "tally doctor" in capsys.readouterr().out


def test_only_a_detached_session_needs_somebody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A jump shows panes of terminals; where only what no terminal shows needs one, it says so and where to go."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    writer = SnapshotWriter.for_host("sessions", os.environ, time.time)
    status = asking(1).status
    writer.publish([new_pane(id="tmux/1/%0", status=status, since=time.time(), attach=("tmux", "attach"))], 0.0)

    assert main(["jump"]) == 0
    assert capsys.readouterr().out == "only agents in detached sessions need you; use `tally agents` to go there\n"


def hosts(*found: tuple[str, Pane]) -> Panes:
    return Panes(tuple(Row(host, pane) for host, pane in found), tuple(sorted({host for host, _ in found})))


@each(
    ("environ", "host"),
    [({}, "kitty-2"), ({"KITTY_PID": "1"}, "kitty-1"), ({"KITTY_PID": "9"}, "kitty-2")],
    ids=["from outside", "from within a terminal", "from within one that shows nothing"],
)
def test_which_terminal(environ: dict[str, str], host: str) -> None:
    """The one we are in; from elsewhere the one that has the neediest pane; never one without a window."""
    panes = hosts(
        ("kitty-1", pane(1)),
        ("kitty-2", asking(1)),
        ("sessions-3", asking(1, 900, attach=("screen", "-r"))),
    )

    assert jump.find_host(panes, environ, NOW, is_any=False) == host


def test_nobody_to_ask() -> None:
    """Where nothing needs anybody no terminal is asked, unless for any agent."""
    panes = hosts(("kitty-1", pane(1)))

    assert jump.find_host(panes, {}, NOW, is_any=False) == ""
    assert jump.find_host(panes, {}, NOW, is_any=True) == "kitty-1"


def test_another_terminal_is_asked_for_the_pane_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WezTerm's sidecar is asked to show the next pane, and not the one we are in; with --previous the last one."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("TERM_PROGRAM", "WezTerm")
    monkeypatch.setenv("WEZTERM_UNIX_SOCKET", "/run/user/0/wezterm/gui-sock-77")
    monkeypatch.setenv("WEZTERM_PANE", "4")
    writer = SnapshotWriter.for_host("wezterm", os.environ, time.time)
    tmp_path.joinpath("tallylight", "wezterm-77.lock").write_text(str(os.getpid()))
    now, status = time.time(), asking(1).status
    writer.publish(
        [Pane(id=name, status=status, since=now - age) for name, age in (("5", 30), ("4", 3000), ("6", 200))],
        time.monotonic(),
    )
    spool = requests.Spool("wezterm")
    assert main(["jump"]) == main(["jump", "--previous"]) == 0
    assert [(r.verb, r.pane) for r in spool.take()] == [("focus", "6"), ("focus", "5")]


WAITING = asking(1).status
TMUX = {"TMUX": "/tmp/tmux-0/default,1867,0", "TMUX_PANE": "%1"}


def sessions(monkeypatch: pytest.MonkeyPatch, folder: Path, *panes: Pane) -> requests.Spool:
    """A host of sessions, of which this process is in the pane %1."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    for name in ("KITTY_PID", "WEZTERM_UNIX_SOCKET"):
        monkeypatch.delenv(name, raising=False)
    for name, value in TMUX.items():
        monkeypatch.setenv(name, value)
    SnapshotWriter.for_host("sessions", os.environ, time.time).publish(panes, 0.0)
    return requests.Spool("sessions")


def in_tmux(number: int, age: float, server: int = 1867, *terminals: str) -> Pane:
    """A pane of tmux that asks."""
    made = time.time() - age
    attach = ("tmux", "attach")
    return new_pane(id=f"tmux/{server}/%{number}", status=WAITING, since=made, attach=attach, terminals=terminals)


def test_within_tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after another of the server that is attached, also of its other sessions; no other server's, and not back."""
    panes = [in_tmux(1, 9, 1867, "/dev/pts/1"), in_tmux(2, 8), in_tmux(3, 7), in_tmux(4, 600, server=99)]
    spool = sessions(monkeypatch, tmp_path, *panes)
    asked = []
    for here in (0, 1, 2, 3):
        monkeypatch.setenv("TMUX_PANE", f"%{here}")
        assert main(["jump"]) == 0
        asked += [(request.verb, request.pane) for request in spool.take()]
    assert asked == [("focus", f"tmux/1867/%{there}") for there in (1, 2, 3, 1)]


def test_to_a_tmux_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of the desktop brings the tmux that somebody is attached to there."""
    spool = sessions(monkeypatch, tmp_path, in_tmux(1, 9, 1867, "/dev/pts/1"), in_tmux(2, 80))
    monkeypatch.delenv("TMUX")
    assert main(["jump"]) == 0
    assert [(request.verb, request.pane) for request in spool.take()] == [("focus", "tmux/1867/%2")]


def test_the_tmux_in_a_kitty_is_left_to_kitty(spool: requests.Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tmux runs in a terminal of ours, the terminal jumps as ever."""
    SnapshotWriter.for_host("sessions", os.environ, time.time).publish((in_tmux(1, 9, 1867, "/dev/pts/1"),), 0.0)
    monkeypatch.setenv("KITTY_PID", str(os.getpid()))
    for name, value in TMUX.items():
        monkeypatch.setenv(name, value)
    assert main(["jump"]) == 0
    assert [request.verb for request in spool.take()] == ["jump"]
