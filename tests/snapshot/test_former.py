"""What earlier runs of a host left for the next one: what is believed of it, and how long it is kept."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tallylight.model.status import Kind, Status
from tallylight.snapshot import writer
from tallylight.snapshot.former import CLOCK_SLACK_S, KEEP_S, MAX_FORMER_FILES, read_former
from tallylight.snapshot.lives import birth_of
from tallylight.snapshot.schema import Pane, Snapshot
from tallylight.snapshot.writer import SnapshotWriter
from tests.entries import new_pane
from tests.tables import each

NOW = time.time()
ASKS = new_pane(
    id="a", status=Status.WAITING, kind=Kind.PERMISSION, agent="claude", pid=20, since=NOW - 1400, waited_s=60.0
)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": str(tmp_path)}


def folder_of(environ: dict[str, str]) -> Path:
    return writer.checked_directory(writer.directory(environ), create=True)


def leave(environ: dict[str, str], *panes: Pane, host: str = "sessions", pid: int = 7, written: float = NOW) -> Path:
    """A run of *host* ends."""
    path = folder_of(environ) / f"{host}-{pid}.json"
    run = SnapshotWriter(path, host, lambda: written, pid=pid)
    run._birth = birth_of(os.getpid())
    run.publish(panes, 0.0)
    run.leave()
    return path.with_suffix(".former")


def test_a_run_that_has_ended(environ: dict[str, str]) -> None:
    """What it last showed is there for the next run of that host, and for no reader."""
    path = leave(environ, ASKS)
    assert list(folder_of(environ).iterdir()) == [path]
    assert writer.read_snapshots(folder_of(environ)) == ([], [])
    assert read_former("sessions", environ, NOW) == {"a": [ASKS]}
    assert read_former("kitty", environ, NOW) == {}


def test_a_run_without_panes_leaves_nothing(environ: dict[str, str]) -> None:
    """There is nothing to tell."""
    leave(environ)
    assert list(folder_of(environ).iterdir()) == []


def test_a_run_that_was_killed(environ: dict[str, str]) -> None:
    """Whichever host starts next puts its file aside; that of other machines' panes goes, for they tell it again."""
    gone = 2**22 + 5
    for host, more in (("sessions", {}), ("machines", {"machines": [{"name": "desk", "state": "up"}]})):
        found = Snapshot(host=host, pid=gone, started=0.0, written=NOW, birth="", panes=(ASKS,)).to_json()
        found["birth"] = birth_of(os.getpid())
        path = folder_of(environ) / f"{host}-{gone}.json"
        path.write_text(json.dumps(found | more))
        path.chmod(0o600)
    SnapshotWriter.for_host("kitty", environ, time.time)
    assert [path.name for path in folder_of(environ).iterdir()] == [f"sessions-{gone}.former"]
    assert read_former("sessions", environ, NOW) == {"a": [ASKS]}


def test_a_run_in_this_process(environ: dict[str, str]) -> None:
    """A host that is loaded again finds its own file, and leaves it to what is written next."""
    run = SnapshotWriter.for_host("kitty", environ, lambda: NOW)
    run.publish([ASKS], 0.0)
    assert read_former("kitty", environ, NOW) == {"a": [ASKS]}
    assert run.path.exists()


def test_of_several_runs_the_newest_tells(environ: dict[str, str]) -> None:
    """Of each process; two terminals of a kind may have panes of the same number."""
    older = Pane(id="a", status=Status.WORKING, pid=20, since=NOW - 3000)
    other = Pane(id="a", status=Status.DONE, pid=21, since=NOW - 4000)
    leave(environ, ASKS, pid=7, written=NOW - 10)
    leave(environ, older, pid=8, written=NOW - 20)
    leave(environ, other, pid=9, written=NOW - 30)
    assert read_former("sessions", environ, NOW) == {"a": [ASKS, other]}


def test_few_are_kept_and_not_for_long(environ: dict[str, str]) -> None:
    """The newest ones of a host; what was put aside a day ago is removed."""
    paths = [leave(environ, ASKS, pid=100 + n) for n in range(MAX_FORMER_FILES + 2)]
    for n, path in enumerate(paths):
        os.utime(path, (NOW - n, NOW - n))
    os.utime(paths[2], (NOW - KEEP_S - 1, NOW - KEEP_S - 1))
    read_former("sessions", environ, NOW)
    assert sorted(folder_of(environ).iterdir()) == sorted({*paths[: MAX_FORMER_FILES + 1]} - {paths[2]})


def test_a_file_that_cannot_be_removed(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs nothing but itself: the newer ones are read."""
    leave(environ, ASKS)
    old = leave(environ, ASKS, pid=8)
    os.utime(old, (NOW - KEEP_S - 1, NOW - KEEP_S - 1))

    def refused(*_args: object, **_options: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "unlink", refused)
    assert read_former("sessions", environ, NOW) == {"a": [ASKS]}


def test_what_was_waited_yesterday_is_not_of_today(environ: dict[str, str]) -> None:
    """The age is."""
    leave(environ, ASKS)
    (pane,) = read_former("sessions", environ, NOW + 86400)["a"]
    assert (pane.since, pane.attention.waited_s) == (ASKS.since, 0)


def _with(pane: dict[str, object] | None = None, **fields: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        found = json.loads(path.read_text())
        found["panes"][0] |= pane or {}
        path.write_text(json.dumps(found | fields))

    return change


LIES: dict[str, Callable[[Path], object]] = {
    "another boot": _with(birth="c0ffee/pid:[4026531836]/77"),
    "another namespace": _with(birth=birth_of(os.getpid()).replace("pid:[", "pid:[9")),
    "no birth": _with(birth=""),
    "written in the future": _with(written=NOW + 3600),
    "since the future": _with(pane={"since": NOW + 3600}),
    "since nothing": _with(pane={"since": 0}),
    "since before everything": _with(pane={"since": -5}),
    "since a word": _with(pane={"since": "yesterday"}),
    "since no number": _with(pane={"since": float("nan")}),
    "since for ever": _with(pane={"since": 1e300}),
    "another version": _with(version=2),
    "another host": _with(host="kitty"),
    "another process": _with(pid=8),
    "cut": lambda path: path.write_text(path.read_text()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
    "no text": lambda path: path.write_bytes(bytes(range(256))),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
}


@each("name", LIES)
def test_lies(tmp_path: Path, name: str) -> None:
    """What cannot be so says nothing, and costs nothing else."""
    environ = {"XDG_RUNTIME_DIR": str(tmp_path / name)}
    Path(environ["XDG_RUNTIME_DIR"]).mkdir()
    path = leave(environ, ASKS)
    leave(environ, Pane(id="b", status=Status.DONE, since=NOW - 5), pid=8)
    LIES[name](path)
    found = read_former("sessions", environ, NOW)
    assert found.pop("a", []) == []
    assert list(found) == ["b"]


def test_a_clock_that_was_set_a_little(environ: dict[str, str]) -> None:
    """A second in the future is no lie."""
    leave(environ, ASKS, written=NOW + CLOCK_SLACK_S / 2)
    assert list(read_former("sessions", environ, NOW)) == ["a"]


def test_no_directory(tmp_path: Path) -> None:
    """There was no earlier run."""
    assert read_former("sessions", {"XDG_RUNTIME_DIR": str(tmp_path / "gone")}, NOW) == {}
