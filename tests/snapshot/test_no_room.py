"""A runtime directory that takes nothing more, full or read-only: hosts say so, and so does who reads what is there."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tallylight.cli.main import main
from tallylight.hosts.polling.host import SourcePane
from tallylight.snapshot.feed import Feed
from tallylight.snapshot.schema import Pane
from tallylight.snapshot.writer import RETRY_WRITE_S, SnapshotWriter, StaleError, read_snapshots
from tests.hosts.detached.polling import HandSource, System
from tests.snapshot.test_snapshot import WAITING, make_writer


@attrs.define
class Disk:
    """A small file system, mounted for one test."""

    path: Path

    @property
    def filler(self) -> Path:
        return self.path / "filler"

    def fill(self) -> None:
        with pytest.raises(OSError), self.filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)

    def remount(self, how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", self.path], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    path = tmp_path / "run"
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", path], capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield Disk(path)
    subprocess.run(["umount", "-l", path], check=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "bus"
    path.mkdir(mode=0o700)
    return path


def big(message: str) -> Pane:
    """A pane whose entry needs room."""
    return attrs.evolve(WAITING, message=message, reply="x" * 3000)


def refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no snapshot be written from now on."""

    def refused(*_args: object, **_options: object) -> None:
        raise OSError(28, "No space left on device", "/run/tallylight/.kitty-1.json.abc123.new")

    monkeypatch.setattr(SnapshotWriter, "_write", refused)


def test_what_cannot_be_written_is_marked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that stays says that it is out of date, until it is written again; the error is the same each time."""
    made = make_writer(folder)
    made.publish([WAITING], 0.0)
    feed = Feed(folder)
    feed.poll(0.0)
    assert (len(feed.snapshots), feed.problems) == (1, ())

    with monkeypatch.context() as patch:
        refuse(patch)
        made.publish([big("new")], 1.0)
        assert made.error == f"{folder}: No space left on device"
        assert feed.poll(1.0)
        (problem,) = feed.problems
        assert isinstance(problem, StaleError) and len(feed.snapshots) == 1
        as_of = time.strftime("%H:%M:%S", time.localtime(1000.0))
        assert str(problem) == f"{made.path}: its host cannot write it; it is as of {as_of}"
        assert not feed.poll(1.1), "nothing is new"
        made.publish([WAITING], 1.0 + RETRY_WRITE_S)
    # It shows what it did before, but nobody can know that.
    assert made.due(2 + RETRY_WRITE_S) is not None
    made.flush(2 + 2 * RETRY_WRITE_S)
    assert feed.poll(2.0) and feed.problems == ()


@pytest.mark.slow
def test_a_full_disk(disk: Disk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`tally status` shows what there is, says how old it is, and fails; once there is room again all is well."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(disk.path))
    folder = disk.path / "tallylight"
    host = SnapshotWriter.for_host("kitty", {"XDG_RUNTIME_DIR": str(disk.path)}, time.time)
    host.publish([big("old")], 0.0)
    assert main(["status"]) == 0
    capsys.readouterr()

    disk.fill()
    host.publish([big("new")], 1.0)
    assert "No space left" in host.error
    found, problems = read_snapshots(folder)
    assert [pane.message for pane in found[0].panes] == ["old"]
    assert [type(problem) for problem in problems] == [StaleError, StaleError]
    for command in (["status"], ["status", "--json"], ["wait"], ["watch", "--once"]):
        code, said = main(command), capsys.readouterr()
        assert code == 1 or command[0] != "status"
        assert "its host cannot write it; it is as of" in said.out + said.err
        assert "is full; the state of these terminals is as of" in said.out + said.err

    disk.filler.unlink()
    host.flush(1.0 + RETRY_WRITE_S)
    assert main(["status"]) == 0
    assert "cannot write" not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("is_full", [True, False])
def test_a_host_that_begins_there(disk: Disk, *, is_full: bool) -> None:
    """Who reads is told why there is nothing; once there is room it is written."""
    environ, folder = {"XDG_RUNTIME_DIR": str(disk.path)}, disk.path / "tallylight"
    if is_full:
        disk.fill()
    else:
        disk.remount("ro")
    host = SnapshotWriter.for_host("kitty", environ, time.time)
    host.publish([big("new")], 1.0)
    found, (problem,) = read_snapshots(folder)
    why = "is full" if is_full else "is read-only"
    assert (found, str(problem)) == ([], f"{folder}: {why}; no terminal can write its state")
    if is_full:
        disk.filler.unlink()
    else:
        disk.remount("rw")
    host.flush(1.0 + RETRY_WRITE_S)
    found, problems = read_snapshots(folder)
    assert (len(found), problems) == (1, [])


@pytest.mark.slow
def test_a_read_only_disk(disk: Disk) -> None:
    """Nothing can be marked there; who reads sees what the disk is."""
    folder = disk.path / "tallylight"
    folder.mkdir(mode=0o700)
    made = make_writer(folder)
    made.publish([WAITING], 0.0)
    disk.remount("ro")
    made.publish([big("new")], 1.0)
    assert "Read-only" in made.error
    _, (problem,) = read_snapshots(folder)
    assert isinstance(problem, StaleError) and "is read-only; the state of these terminals is as of" in str(problem)
    disk.remount("rw")
    made.flush(1.0 + RETRY_WRITE_S)
    assert read_snapshots(folder)[1] == []


def test_a_host_beside_terminals_says_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no place to draw, but who started it is told."""
    reported: list[str] = []
    system = System(tmp_path, HandSource())
    monkeypatch.setattr(system.poller, "_report", reported.append)
    system.steps(1)
    refuse(monkeypatch)
    system.poller._asked[0].source.source_panes = [SourcePane(id="a")]  # type: ignore[attr-defined]
    system.steps(4 * RETRY_WRITE_S)
    assert reported == [f"snapshot: {tmp_path / 'tallylight'}: No space left on device"]
    system.poller.close()
