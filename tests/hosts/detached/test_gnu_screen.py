"""GNU Screen as a source, with a program in its place that says what it is told to: what is asked, and when."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tallylight.evidence.process_table import ProcTable
from tallylight.files.program import StuckError
from tallylight.hosts.gnu_screen.source import ScreenSource

_SCREEN = """#!/bin/sh
echo "$*" >>"$HOME/asked"
case "$*" in
*-ls*) cat "$HOME/list" ;;
*hardcopy*) for path; do :; done; [ -e "$HOME/stuck" ] || cat "$HOME/screen" >"$path" ;;
*info*) printf '(3,2)/(20,4)+100 +flow UTF-8' ;;
*-v*) echo 'Screen version 4.09.00 (GNU) 30-Jan-22' ;;
esac
"""


class OneChild(ProcTable):
    """A process table in which every session has one window, number 0."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid

    def children(self, pid: int) -> tuple[int, ...]:
        return (pid + 1,) if pid == self._pid else ()

    def environ(self, pid: int) -> dict[str, str]:
        return {"STY": f"{self._pid}.work", "WINDOW": "0"} if pid == self._pid + 1 else {}

    def start(self, pid: int) -> int | None:
        return 1 if pid in (self._pid, self._pid + 1) else super().start(pid)


class Stage:
    """A home with that program, a socket, and a source that looks at it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "bin").mkdir()
        program = home / "bin/screen"
        program.write_text(_SCREEN)
        program.chmod(0o755)
        self.sockets = home / "sockets"
        self.sockets.mkdir()
        self.socket = self.sockets / "4711.work"
        self.socket.touch(0o600)
        self.list("Detached")
        (home / "screen").write_bytes(b"a\nbc\n\n\n")
        (home / "run").mkdir(mode=0o700)
        self.environ = {"HOME": str(home), "PATH": f"{home}/bin:/usr/bin:/bin", "XDG_RUNTIME_DIR": str(home / "run")}
        self.source = ScreenSource(self.environ, OneChild(4711))

    def list(self, state: str) -> None:
        lines = f"There is a screen on:\r\n\t4711.work\t(d)\t({state})\n1 Socket in {self.sockets}.\r\n"
        (self.home / "list").write_text(lines)
        self.socket.chmod(0o700 if "ttached" in state and "Det" not in state else 0o600)

    def asked(self) -> list[str]:
        """What Screen was asked since this was last called."""
        path = self.home / "asked"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_a_look_without_a_change_asks_nothing(stage: Stage) -> None:
    """Once it is known where the sockets are, the list is asked for only after their directory has changed."""
    stage.source.look()
    stage.source.look()
    assert stage.asked() == ["-ls", "-ls"]
    for _ in range(5):
        stage.source.look()
    (stage.sockets / "4711.work-queryA").touch()
    stage.source.look()
    assert stage.asked() == []

    stage.list("Attached")
    source_panes = stage.source.look()
    assert stage.asked() == ["-ls"]
    assert source_panes is not None
    assert source_panes[0].attach == ("screen", "-x", "4711.work", "-p", "0")
    assert source_panes[0].visible


def test_a_session_that_comes_during_the_first_list(stage: Stage) -> None:
    """A session that comes after the first list was made, and before anybody knew where to look, is not missed."""
    listed = stage.home / "list"
    with_one = listed.read_text()
    listed.write_text(f"No Sockets found in {stage.sockets}.\r\n")
    assert stage.source.look() == []
    listed.write_text(with_one)

    assert len(stage.source.look() or ()) == 1


def test_a_screen(stage: Stage) -> None:
    """A detached session is addressed by its whole name, and asked for its cursor after its text."""
    (source_pane,) = stage.source.look() or ()
    stage.asked()
    assert source_pane.read is not None
    look = source_pane.read()

    assert look is not None
    assert (look.lines, look.cursor_row, look.cursor_column, look.columns) == (["a", "bc", "", ""], 1, 2, 20)
    hardcopy, info, version = stage.asked()
    private = stage.source._directory()
    assert hardcopy == f"-S 4711.work -p 0 -X hardcopy {private}/4711-0"
    assert info == "-S 4711.work -p 0 -Q info"
    assert version == "-v"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert list(private.iterdir()) == []


def test_an_unchanged_screen_is_not_asked_about(stage: Stage) -> None:
    """The second time the text is the same, nothing but the text is asked for."""
    (source_pane,) = stage.source.look() or ()
    assert source_pane.read is not None
    first = source_pane.read()
    stage.asked()

    assert source_pane.read() == first
    assert len(stage.asked()) == 1


def test_who_is_attached_is_not_disturbed(stage: Stage) -> None:
    """No question is put to an attached session: the answer would be drawn on its display."""
    stage.list("Attached")
    (source_pane,) = stage.source.look() or ()
    stage.asked()
    assert source_pane.read is not None
    look = source_pane.read()

    assert look is not None
    assert not look.cursor_visible
    assert not [line for line in stage.asked() if "-Q" in line]


def test_a_session_that_hangs(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file within the time means a session that hangs; none, and no socket either, one that is gone."""
    monkeypatch.setattr("tallylight.hosts.gnu_screen.source.WRITTEN_S", 0.1)
    (source_pane,) = stage.source.look() or ()
    assert source_pane.read is not None
    (stage.home / "stuck").touch()

    with pytest.raises(StuckError):
        source_pane.read()
    stage.socket.unlink()
    assert source_pane.read() is None


def test_no_screen_here(stage: Stage) -> None:
    """Without the program there are no sessions, and nothing is wrong."""
    (stage.home / "bin/screen").unlink()
    source = ScreenSource({**stage.environ, "PATH": f"{stage.home}/bin"}, OneChild(4711))

    assert source.look() == []


def test_private_directories_of_the_dead_are_swept(stage: Stage) -> None:
    """What a killed host left goes; what a living one has stays; a stranger's directory is left alone."""
    runtime = stage.home / "run/tallylight"
    runtime.mkdir(mode=0o700)
    dead, alive, other = (runtime / name for name in ("screen-4194305-x", f"screen-{os.getpid()}-x", "screenplay-1-x"))
    for path in (dead, alive, other):
        path.mkdir()
        (path / "file").touch()
    stage.source._directory()

    assert not dead.exists()
    assert alive.exists()
    assert other.exists()


def test_it_leaves_nothing(stage: Stage) -> None:
    """`close` takes the private directory away, with all that is in it."""
    private = stage.source._directory()
    (private / "left").touch()
    stage.source.close()

    assert not private.exists()
